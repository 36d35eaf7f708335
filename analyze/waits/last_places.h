/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ranks were when a run broke off: the call of MPI that they never left, or what they did outside. A process that
 * crashes leaves no word, so this is all that there is to say of it.
 */
#pragma once
#include "analyze/waits/reader.h"

/* For each rank whose main thread did not end in order. Of calls of several threads the main one's comes first. */
void last_places_write(struct analysis *analysis, struct sites *sites, const struct reader *reader);
