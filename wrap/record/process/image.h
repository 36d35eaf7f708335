/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that records may become another program by exec, and then its files just stop, as if it had been killed.
 * The recorder is loaded into the other program too, as a rule. So the one before leaves word for it in the environment
 * and it writes into the file how that ended. In a program that a recorded one has started beside itself, the word is
 * of another process: there the recorder takes itself and its options out of the environment.
 */
#pragma once
#include <stdbool.h>

/* This process records. */
void image_leave_word(const char *run_dir, int rank);
/* The run directory of the program before this one in this process; NULL = it did not record. *was_cut: it had not
 * ended its recording. */
const char *image_before(bool *was_cut);
