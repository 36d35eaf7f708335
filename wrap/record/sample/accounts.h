/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU time of a thread by now: what the helper reads, and what the thread itself has read, at calls or with its
 * samples (timer.h), on their way into its gaps (gap.h), and gaps on their way into its file. For the helper only.
 */
#pragma once
#include "wrap/record/recorder.h"
#include "wrap/record/sample/gap.h"

/* Of a thread that is sampled: an account that was just read, behind what the thread has read before. */
void accounts_take(struct recorder_thread *thread, struct gap_account account);
/* Writes what is known of its gaps by now. */
void accounts_write_gaps(struct recorder_thread *thread);
/* If its switches are not recorded: all since the last time was a gap. */
void accounts_follow(struct recorder_thread *thread, uint64_t now_ns);
