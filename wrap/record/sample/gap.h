/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a thread was on a CPU while its switches were lost.
 *
 * The kernel's ring holds some thousand switches, and a helper that does not run for a while finds it full. What a
 * thread did then is not known, but the kernel counts its time on a CPU. Between two of these accounts the switches
 * that are known tell of the rest:
 *
 *     on a CPU in the gaps = account - account before - on a CPU between the two as far as switches tell
 *
 * Where a thread switches so often that each ring is found full, all accounts lie inside gaps. Then a gap has two
 * parts, and what is on a CPU between two accounts is shared out by length over the parts between them.
 *
 * Everything here is given times; only gap_read_account asks the kernel.
 */
#pragma once
#include "wrap/format.h"
#include <stdbool.h>

enum { GAP_PARTS = 8 };

struct gap_account {
    uint64_t time_ns;          /* 0 = there is none */
    uint64_t cpu_ns, ready_ns; /* so far: on a CPU, runnable without one */
};
struct gap {
    uint64_t last_ns;     /* the last switch that is known */
    uint64_t on_since_ns; /* on a CPU since; 0 = it is not */
    struct gap_account account, next;
    uint64_t on_ns; /* on a CPU since the account, as far as switches tell */
    struct gap_part {
        uint64_t from_ns, until_ns;
    } part[GAP_PARTS]; /* of gaps since then */
    unsigned n_parts;
    struct ww_gap told[GAP_PARTS]; /* what is known of those before, for the caller to take */
    unsigned n_told;
};

/* False when the thread has ended. Some microseconds. */
bool gap_read_account(int32_t tid, uint64_t now_ns, struct gap_account *account);
/* A thread is looked at from now on, as of the account. */
void gap_begin(struct gap *gap, const struct gap_account *account, bool is_on_cpu);
/* One that may be of a later time than the switches that follow; dropped where they do not reach the one before yet. */
void gap_take_account(struct gap *gap, const struct gap_account *account);
/* In order of time. */
void gap_switch(struct gap *gap, bool is_out, uint64_t time_ns);
/* Switches since the last and before this time were lost. */
void gap_lost(struct gap *gap, uint64_t time_ns);
