/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/task.h"
#include "analyze/engine/call.h"
#include "analyze/engine/launched.h"
#include "wrap/base/keys.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fewer records take less than a tenth of a second, and are a section. Each process has what the analysis keeps. */
enum { RECORDS_EACH = 1 << 20, MOST_FORKED = 16 };

/* 0 = it is not there. */
static uint64_t file_number(const char *path)
{
    struct stat at;
    if (stat(path, &at))
        return 0;
    uint64_t number = hash_u64((uint64_t)at.st_size + 1);
    return hash_u64(number ^ (uint64_t)at.st_mtim.tv_sec) ^ (uint64_t)at.st_mtim.tv_nsec;
}

/* Nodes may have got the same file at different times. */
static uint64_t modules_number(const struct trace *trace)
{
    uint64_t number = trace->n_modules;
    for (uint32_t i = 0; i < trace->n_modules; i++) {
        struct stat at;
        bool is_there = !stat(trace->modules[i].path, &at);
        number = hash_u64(number ^ (is_there ? (uint64_t)at.st_size + 1 : 0));
    }
    return number;
}

/* All zero where the anchor has gone. */
static struct task task_of(const struct trace *trace, const struct wanted *wanted)
{
    struct task task;
    memset(&task, 0, sizeof task); /* gaps as well */
    if (!realpath(trace->path, task.path))
        return task;
    task.file = file_number(task.path);
    task.modules = modules_number(trace);
    task.is_settled = trace_is_settled(trace);
    task.threshold = wanted->threshold;
    task.wants_facts = wanted->facts;
    task.n_most_of_timeline = wanted->timeline ? wanted->timeline->n_most : 0;
    return task;
}

/* As many as a launcher has started on this node; else as many as there are idle CPUs, where the run is worth it. */
static uint32_t forked_wanted(const struct trace *trace)
{
    const char *wanted = getenv("WHYWAIT_PROCESSES");
    uint32_t n = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : launcher_n_processes();
    cpu_set_t cpus;
    double load;
    if (n || getloadavg(&load, 1) != 1 || sched_getaffinity(0, sizeof cpus, &cpus))
        return n;
    double n_idle = (double)CPU_COUNT(&cpus) - load + 0.5,
           n_worth = trace->n_records ? (double)trace->n_records / RECORDS_EACH : MOST_FORKED;
    n_idle = n_idle < n_worth ? n_idle : n_worth;
    return n_idle < 2 ? 1 : n_idle > MOST_FORKED ? MOST_FORKED : (uint32_t)n_idle;
}

struct engine *task_engine(const struct trace *trace, const struct wanted *wanted, struct engine *forked)
{
    struct engine *launched = launched_engine();
    if (!launched->n_others) {
        engine_fork(forked, forked_wanted(trace));
        return forked;
    }
    const struct task task = task_of(trace, wanted);
    call_others(launched, (struct parcel){&task, sizeof task});
    return launched;
}

struct trace *task_open(const struct task *task, char *refusal, size_t size_bytes)
{
    char node[128] = "";
    struct trace *trace = NULL;
    uint64_t file = file_number(task->path);
    int why = errno;
    gethostname(node, sizeof node - 1);
    if (!file)
        snprintf(refusal, size_bytes, "%s cannot read %s: %s", node, task->path, strerror(why));
    else if (file != task->file)
        snprintf(refusal, size_bytes, "%s has another file as %s", node, task->path);
    else if (!(trace = task->is_settled ? trace_open(task->path) : trace_open_unchecked(task->path)))
        snprintf(refusal, size_bytes, "%s cannot read %s", node, task->path);
    else if (modules_number(trace) != task->modules)
        snprintf(refusal, size_bytes, "%s has other program files than were found for %s", node, task->path);
    else
        return trace;
    if (trace)
        trace_close(trace);
    return NULL;
}
