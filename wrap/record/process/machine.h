/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node's share for this process: its CPUs, which of them a thread may use, the time that a control group allows,
 * and who else takes time. Read from the kernel's files, some of which may be missing or mean the whole node in a
 * container: what cannot be read is 0.
 */
#pragma once
#include "wrap/format.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The beginning of one of the kernel's files, as text: "" when it cannot be read. Returns its length. */
size_t machine_read_text(const char *path, char *text, size_t size_bytes);

/* Of the present, and where the counting of times begins. Not to be called twice at a time, as machine_watch. */
void machine_begin(struct ww_machine *machine);
/* The times since machine_begin, which was `watched_ns` ago. Takes some 50 us. */
void machine_watch(struct ww_machine *machine, uint64_t watched_ns);
/* The CPUs that a thread of this process may use (0 = the calling one), as in struct ww_header. */
void machine_read_cpus(int32_t tid, uint8_t cpus[WW_CPUS_BYTES]);
/* The clock of the time on a CPU of a thread of this process, and what it shows; 0 when the thread has ended. */
clockid_t machine_thread_clock(int32_t tid);
uint64_t machine_thread_ns(int32_t tid);
/* The kernel's account of a thread of this process so far. False when it has ended. Takes some 10 us. */
struct machine_thread {
    uint64_t n_faults;  /* of pages */
    uint64_t kernel_ns; /* on a CPU in the kernel, in whole hundredths of a second */
};
bool machine_read_thread(int32_t tid, struct machine_thread *thread);
/* For so long the calling thread was ready to run but had no CPU; 0 where the kernel does not tell. */
uint64_t machine_ready_ns(void);
/* The thread is on a CPU or waits for one. */
bool machine_is_runnable(int32_t tid);

/* The tightest limit on the way from the group of this process (a line of `groups`, which is as /proc/self/cgroup) up
 * to the root `mount` of the control groups, in thousandths of a CPU; 0 = there is none. `dir`: where it was found. */
enum { MACHINE_PATH_BYTES = 4096 };
uint32_t machine_read_limit(const char *groups, const char *mount, char dir[MACHINE_PATH_BYTES]);
