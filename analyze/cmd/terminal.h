/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands that print reports share. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Columns of the terminal behind stdout, or 110. */
unsigned terminal_width(void);
/* The value of --option, at least `least`; dies with one line when it is no such number. */
uint32_t option_number(const char *option, const char *text, uint32_t least);
/* The value of --format: text or json; anything else ends the tool. */
bool option_is_json(const char *text);
