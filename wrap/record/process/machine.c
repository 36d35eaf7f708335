/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/process/machine.h"
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    struct ww_machine start; /* the times at machine_begin */
    char limit_dir[MACHINE_PATH_BYTES];
} machine_self;

size_t machine_read_text(const char *path, char *text, size_t size_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, size_bytes - 1);
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    text[n] = '\0';
    return (size_t)n;
}

static const char *read_text(const char *dir, const char *name, char *text, size_t size_bytes)
{
    char path[MACHINE_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s%s", dir, name);
    machine_read_text(path, text, size_bytes);
    return text;
}

/* In thousandths of a CPU, as the group in `dir` says itself: version 2 of control groups, then version 1. */
static uint32_t limit_of(const char *dir)
{
    char text[64];
    long long quota = -1, period = 0;
    if (sscanf(read_text(dir, "/cpu.max", text, sizeof text), "%lld %lld", &quota, &period) != 2) {
        quota = strtoll(read_text(dir, "/cpu.cfs_quota_us", text, sizeof text), NULL, 10);
        period = strtoll(read_text(dir, "/cpu.cfs_period_us", text, sizeof text), NULL, 10);
    }
    return quota > 0 && period > 0 ? (uint32_t)(1000 * quota / period) : 0;
}

/* The folder of a group in `mount`, from its line: "4:cpu,cpuacct:/path" (version 1), "0::/path" (version 2). False: it
 * is not about CPU time. `root_bytes`: how much of it is the root of all groups. */
static bool find_group(const char *line, const char *mount, char dir[MACHINE_PATH_BYTES], size_t *root_bytes)
{
    char names[256] = ",", path[MACHINE_PATH_BYTES / 2] = "";
    bool is_version_2 = sscanf(line, "0::%2047[^\n]", path) == 1;
    if (!is_version_2 && sscanf(line, "%*u:%253[^:]:%2047[^\n]", names + 1, path) != 2)
        return false;
    strcat(names, ",");
    if (*path != '/' || (!is_version_2 && !strstr(names, ",cpu,")))
        return false;
    *root_bytes = (size_t)snprintf(dir, MACHINE_PATH_BYTES, "%s%s", mount, is_version_2 ? "" : "/cpu");
    snprintf(dir + *root_bytes, MACHINE_PATH_BYTES - *root_bytes, "%s", path);
    return true;
}

uint32_t machine_read_limit(const char *groups, const char *mount, char dir[MACHINE_PATH_BYTES])
{
    char at[MACHINE_PATH_BYTES];
    size_t root_bytes;
    uint32_t tightest = 0;
    for (const char *line = groups; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (!find_group(line, mount, at, &root_bytes))
            continue;
        for (char *last = at; last; last = strrchr(at + root_bytes, '/')) {
            if (last > at)
                *last = '\0';
            uint32_t limit = limit_of(at);
            if (limit && (!tightest || limit < tightest)) {
                tightest = limit;
                strcpy(dir, at);
            }
        }
    }
    return tightest;
}

/* Of all CPUs together. The share of our guests is in `user` as well. */
static void read_node_times(struct ww_machine *machine)
{
    char text[256];
    unsigned long long user = 0, nice = 0, system = 0, irq = 0, softirq = 0, steal = 0;
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    sscanf(read_text("/proc", "/stat", text, sizeof text), "cpu %llu %llu %llu %*u %*u %llu %llu %llu", &user, &nice,
           &system, &irq, &softirq, &steal);
    machine->busy_ns = (user + nice + system + irq + softirq) * tick_ns;
    machine->stolen_ns = steal * tick_ns;
}

static void read_throttled(struct ww_machine *machine)
{
    char text[1024];
    const char *at;
    if (!machine_self.limit_dir[0])
        return;
    read_text(machine_self.limit_dir, "/cpu.stat", text, sizeof text);
    if ((at = strstr(text, "throttled_usec ")) != NULL)
        machine->throttled_ns = 1000 * strtoull(strchr(at, ' '), NULL, 10);
    else if ((at = strstr(text, "throttled_time ")) != NULL)
        machine->throttled_ns = strtoull(strchr(at, ' '), NULL, 10);
}

static uint64_t cpu_clock_ns(clockid_t clock)
{
    struct timespec used = {0, 0};
    clock_gettime(clock, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void machine_begin(struct ww_machine *machine)
{
    char groups[4096];
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    *machine = (struct ww_machine){.n_cpus = n_cpus > 0 ? (uint64_t)n_cpus : 0};
    read_text("/proc/self", "/cgroup", groups, sizeof groups);
    machine->limit_milli = machine_read_limit(groups, "/sys/fs/cgroup", machine_self.limit_dir);
    read_node_times(&machine_self.start);
    read_throttled(&machine_self.start);
    machine_self.start.own_ns = cpu_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void machine_watch(struct ww_machine *machine, uint64_t watched_ns)
{
    struct ww_machine now = {0};
    const struct ww_machine *start = &machine_self.start;
    read_node_times(&now);
    read_throttled(&now);
    machine->own_ns = cpu_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start->own_ns;
    machine->busy_ns = now.busy_ns > start->busy_ns ? now.busy_ns - start->busy_ns : 0;
    machine->stolen_ns = now.stolen_ns > start->stolen_ns ? now.stolen_ns - start->stolen_ns : 0;
    machine->throttled_ns = now.throttled_ns > start->throttled_ns ? now.throttled_ns - start->throttled_ns : 0;
    machine->watched_ns = watched_ns;
}

void machine_read_cpus(int32_t tid, uint8_t cpus[WW_CPUS_BYTES])
{
    /* The kernel refuses a buffer that could be too small. */
    unsigned char mask[8 * WW_CPUS_BYTES] = {0};
    if (sched_getaffinity(tid, sizeof mask, (cpu_set_t *)(void *)mask) == 0)
        memcpy(cpus, mask, WW_CPUS_BYTES);
}

/* The kernel's number for it. */
clockid_t machine_thread_clock(int32_t tid)
{
    enum { PER_THREAD = 4, SCHEDULER = 2 };
    return ~(clockid_t)tid * 8 + (PER_THREAD | SCHEDULER);
}

uint64_t machine_thread_ns(int32_t tid)
{
    return cpu_clock_ns(machine_thread_clock(tid));
}

/* Behind the name, which may contain anything: state, six numbers, minor faults, those of children, major faults, those
 * of children, ticks in user space, ticks in the kernel. */
bool machine_read_thread(int32_t tid, struct machine_thread *thread)
{
    char path[64], text[1024];
    unsigned long long n_minor, n_major, ticks;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    machine_read_text(path, text, sizeof text);
    const char *name_end = strrchr(text, ')');
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    if (!name_end || ticks_per_s <= 0 ||
        sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu %*u %*u %llu", &n_minor, &n_major, &ticks) != 3)
        return false;
    *thread = (struct machine_thread){n_minor + n_major, ticks * (1000000000u / (uint64_t)ticks_per_s)};
    return true;
}

/* Time on a CPU, time ready, turns. */
uint64_t machine_ready_ns(void)
{
    char text[128], *end;
    machine_read_text("/proc/thread-self/schedstat", text, sizeof text);
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10);
}

/* Behind the name, which may contain anything. */
bool machine_is_runnable(int32_t tid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    machine_read_text(path, text, sizeof text);
    const char *name_end = strrchr(text, ')');
    return name_end && !strncmp(name_end, ") R", 3);
}
