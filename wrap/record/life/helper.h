/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's one thread: prepares spool segments, looks for new modules, takes what the sampler's rings hold.
 * It blocks all signals and never calls MPI.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* False with errno. */
bool helper_start(void);
/* A thread of the program begins: it is to be sampled soon. From any thread. */
void helper_thread_began(void);
/* Wakes it, lets it drain everything once more, and waits for its end. Its CPU time. */
uint64_t helper_stop(void);
