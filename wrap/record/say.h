/* SPDX-License-Identifier: BSD-3-Clause */
/* What the recorder tells: lines for the user on stderr, notes for the report. */
#pragma once
#include "wrap/record/spool.h"

/* "whywait: ..." and a new line, in one write. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes the notes that were not written yet (record_note keeps them). One caller at a time. */
void say_write_notes(struct spool *spool);
