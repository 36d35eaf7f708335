/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU time of a thread while its switches were lost.
 *
 * The kernel's ring holds some thousand switches, and a helper that does not run for a while finds it full. A thread's
 * doing then is not known, but the kernel counts its time on a CPU. Between two of these accounts the switches that are
 * known tell of the rest:
 *
 *     on a CPU in the gaps = account - account before - on a CPU between the two as far as switches tell
 *
 * The helper reads accounts when it empties the ring. A thread that leaves the CPU so often that the ring may fill adds
 * its own, where a long stretch outside MPI or a long call begins or ends. So a gap is cut where the thread entered and
 * left MPI, and each part has its own time on a CPU. CPU time between two accounts is shared out by length over the
 * parts between them.
 *
 * Was it asleep in the rest, or ready to run? The helper's accounts say for how long it was ready, and its own behind a
 * long time off the CPU. In MPI calls such a thread polls and yields, so of what lies between two of these it slept
 * outside, as far as there is time off the CPU there.
 *
 * If switches are not recorded at all, all of a thread's life is such a gap.
 *
 * Everything here is given times. Only gap_read_account asks the kernel.
 */
#pragma once
#include "wrap/format.h"
#include <stdbool.h>

enum { GAP_PARTS = 96, GAP_TOLD = 2 * GAP_PARTS, GAP_ACCOUNTS = 72 };

struct gap_account {
    uint64_t time_ns;  /* 0 = there is none */
    uint64_t cpu_ns;   /* so far on a CPU, */
    uint64_t ready_ns; /* and runnable without one, where has_ready */
    bool has_ready;
    bool in_call; /* inside MPI by then */
};
enum gap_state { GAP_UNKNOWN, GAP_ON, GAP_READY, GAP_ASLEEP, GAP_STATES };
struct gap {
    uint64_t last_ns; /* the last switch that is known */
    enum gap_state state;
    uint64_t since_ns;                /* the state is accounted for up to here */
    uint64_t in_state_ns[GAP_STATES]; /* since the account, but GAP_READY since the last that has_ready */
    uint64_t ready_ns;                /* at that */
    struct gap_account account;
    struct gap_account next[GAP_ACCOUNTS];
    unsigned n_next;
    struct gap_part {
        uint64_t from_ns, until_ns, cpu_ns;
        bool in_call;
    } part[GAP_PARTS];            /* of gaps since the last account that has_ready; */
    unsigned n_parts, n_settled;  /* the cpu_ns of so many is known */
    struct ww_gap told[GAP_TOLD]; /* what is known of those before, for the caller to take */
    unsigned n_told;
};

/* False when the thread has ended. Some microseconds. */
bool gap_read_account(int32_t tid, uint64_t now_ns, struct gap_account *account);
/* A thread is looked at from now on, as of the account. */
void gap_begin(struct gap *gap, const struct gap_account *account, bool is_on_cpu);
/* In order of time. They may be later than the switches that follow. Those before the last switch are too late. */
void gap_take_account(struct gap *gap, const struct gap_account *account);
/* In order of time: since then the thread is in this state. */
void gap_switch(struct gap *gap, enum gap_state state, uint64_t time_ns);
/* Switches since the last and before this time were lost. An account of that time may have been taken. */
void gap_lost(struct gap *gap, uint64_t time_ns);
