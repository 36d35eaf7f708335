/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording is switched off and on: by the program (MPI_Pcontrol), and by the clock (record --window --every).
 *
 * A window begins and ends behind the same collective call of all processes on every rank, so that whatever such a call
 * orders is inside it or outside it as a whole. Which call that is, rank 0's clock decides, one plan ahead of the
 * other: behind some of these calls all ranks take the plan that rank 0 sent behind the last one of these, by a
 * broadcast that had all the time since to arrive, and rank 0 sends the next one. A plan says whether recording is
 * switched here, and how many calls there are to the next plan: so many that plans cost nothing, so few that windows
 * are as long as they shall be.
 *
 * The first window begins with the run. So a program without such calls is recorded as a whole.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Collective, before files are made: what rank 0 was asked for is what all do. */
void windows_choose(void);
/* Collective, when recording has begun, or could not. */
void windows_begin(void);
/* Collective, in MPI_Finalize. */
void windows_end(void);
/* MPI_Pcontrol. */
void windows_control(int level);
/* Windows were asked for, and this is how many there were; 0 = none was asked for. */
uint32_t windows_n(void);
/* Rank 0's part, for itself: a plan. */
struct windows_plan {
    uint64_t n_next; /* calls to the next plan */
    uint64_t turns;  /* recording is switched here */
};
struct windows_clock {
    uint64_t window_ns, every_ns;
    uint64_t begin_ns, due_ns; /* of the present or next window; of the next switch */
    uint64_t seen_ns, each_ns; /* when the last plan was made; from call to call, of late */
    bool is_on;
};
/* The plan `taken` is followed now, n_last calls after the one before: what does the next one say? */
struct windows_plan windows_decide(struct windows_clock *clock, uint64_t now_ns, struct windows_plan taken,
                                   uint64_t n_last);
