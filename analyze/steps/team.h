/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of a process at one time.
 *
 * While one of its threads is off the CPU, a process does what its other threads do. So the time off the CPU of one
 * thread is split by the states of the others: one of them ran; none did, though some were ready; or one of them was
 * inside MPI. Sums over time are kept for the process, and a thread looks at them when it leaves the CPU and when it is
 * back.
 *
 * Threads that are ready while others run may compete for CPUs or take turns. A thread cannot have missed more of a CPU
 * than it then used before it slept: whoever is ready, gets a CPU, finds a lock taken and sleeps again, lacked nothing.
 * So a thread that was ready for r while others ran, and then used c, lacked a CPU for min(r, c). With n threads
 * running or ready, a thread without a CPU holds up 1/n of the process.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum thread_state { THREAD_AWAY, THREAD_RUNS, THREAD_READY, THREAD_IN_MPI, THREAD_STATES };

/* Time during which some thread ran outside MPI. None did, but some were ready; neither, but some were inside MPI. */
struct team_sums {
    uint64_t run_ns, kept_ns, mpi_ns;
};

struct team {
    struct team_sums sums; /* up to now_ns */
    uint64_t now_ns;
    uint64_t quiet_ns; /* since then no thread runs, while that is so */
    double each_ns;    /* while some ran: the time divided by how many ran or were ready */
    double lacked_ns;  /* of run_ns, as far as it is known by now */
    uint32_t n[THREAD_STATES];
};

struct team_member {
    enum thread_state state;
    uint64_t since_ns;
    double each_ns;             /* the team's, when it became ready */
    uint64_t ready_ns, used_ns; /* since it slept */
    double held_up_ns;          /* likewise, its part of the process's time while it was ready */
};

/* In order of time. */
void team_move(struct team *team, struct team_member *member, enum thread_state state, uint64_t now_ns);
/* The member was found running. Nothing told that it began to. It has run since the others do not, no longer than
 * since it slept, and no longer than it used a CPU since it was last seen; UINT64_MAX = not known. */
void team_found_running(struct team *team, struct team_member *member, uint64_t used_ns, uint64_t now_ns);
struct team_sums team_sums_at(struct team *team, uint64_t now_ns);
