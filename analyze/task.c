/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/task.h"
#include "wrap/base/keys.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

struct task task_of(const struct trace *trace, double threshold, bool wants_facts)
{
    struct task task;
    memset(&task, 0, sizeof task); /* gaps as well */
    if (!realpath(trace->path, task.path))
        return task;
    task.file = file_number(task.path);
    task.modules = modules_number(trace);
    task.threshold = threshold;
    task.is_settled = trace_is_settled(trace);
    task.wants_facts = wants_facts;
    return task;
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
