/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that a woken thread waited for a CPU.
 *
 * Switches tell when a thread fell asleep and when it ran again. It was woken in between, and on a busy machine it then
 * waits for a CPU, perhaps for longer than it slept. The kernel counts for how long a thread was ready to run without
 * one. Times off the CPU although runnable, which switches show exactly, do not explain all of that: the rest passed at
 * the ends of sleeps, and those between two readings share it by their lengths.
 *
 * A thread did not sleep either while the whole process was stopped: by a signal, as batch systems stop a job for
 * another one, or with its virtual machine. No switch tells, but the helper sleeps most of the time, and is late then.
 * A helper that lacks a CPU is late as well. The kernel counts most of that as time ready, but not all: it may count
 * none where a thread loses its CPU on the way to sleep. So two threads must agree: the helper was late without being
 * ready, and another one was off the CPU meanwhile without being runnable.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct wake {
    uint64_t ready_ns;                /* the kernel's count at the last reading */
    uint64_t preempted_ns, asleep_ns; /* off the CPU since then, as far as it is over */
    double share;                     /* of the sleeps that ended between the last two readings */
};

/* Off the CPU for so long, asleep or runnable. */
void wake_take_absence(struct wake *wake, bool was_asleep, uint64_t off_ns);
/* The kernel's count now. `is_whole`: all times off the CPU that ended since the last one were taken. */
void wake_take_count(struct wake *wake, uint64_t ready_ns, bool is_whole);
/* Of a sleep that ended between the last two readings, and lasted for so long, the part at its end in which the thread
 * was ready; 0 = none that matters. */
uint64_t wake_ready_ns(const struct wake *wake, uint64_t asleep_ns);

struct stop {
    uint64_t from_ns, until_ns; /* the same = there was none */
};
/* A thread that slept since began_ns until it was due is back now, and was ready without a CPU for so long since it
 * began. If it is late by less than a tenth of a second beyond that, nothing is said. Else the stop may have begun at
 * any time since it slept. */
struct stop stop_between(uint64_t began_ns, uint64_t due_ns, uint64_t now_ns, uint64_t ready_ns);
/* The part of a time off the CPU that it explains; 0 if that is less than half of it. Then the thread was not stopped.
 */
uint64_t stop_within(const struct stop *stop, uint64_t from_ns, uint64_t until_ns);
