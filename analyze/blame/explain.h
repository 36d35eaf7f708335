/* SPDX-License-Identifier: BSD-3-Clause */
/* One line that says why a cause makes others wait, from what was measured of it. */
#pragma once
#include "analyze/result/result.h"

void explain_cause(struct arena *arena, struct cause *cause);
/* Adds that it is itself a wait, of which nobody knows for whom. */
void explain_spinning(struct arena *arena, struct cause *cause);
/* Adds what the two sides allocate there, once `bytes` of the ranks are filled in; nothing where they do not. */
void explain_space(struct arena *arena, struct cause *cause);
/* Adds how many threads share it at a time, where the two sides differ in that; nothing where it is not known of both.
 */
void explain_threads(struct arena *arena, struct cause *cause);
/* Adds that most of it is inside this library, of which nothing is counted. */
void explain_library(struct arena *arena, struct cause *cause, const char *path);
/* Adds its files, and how much of them the two sides read and write there; there is at least one. */
void explain_files(struct arena *arena, struct cause *cause);
