/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool's words on stderr while it works, and how it says what comes from elsewhere (never used inside a recorded
 * program).
 *
 * The four tiers of what can go wrong:
 *   bug    our fault: says where, aborts
 *   die    the user's error, only in commands and in main: one line, exit status 1
 *   error  one line, returns -1 for the caller to pass on
 *   warn   one line, goes on
 * Every line names what failed, where, and what to do. All go to stderr as "whywait: ...". A line that would be
 * repeated is not. Of many lines with one format the first few are printed. The others are counted: one line says how
 * many they are and repeats the last, before the next line with a new format or at the end.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define bug(...) err_bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void err_bug(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
int error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void err_out_of_memory(size_t size_bytes);
/* Asks before the first line of die or error: where not, no such line is printed. */
void err_ask(bool (*may_speak)(void));

/* A name may hold what a terminal obeys. Copies `text` to `to`, which has room for 4 * strlen(text) + 1 bytes:
 * printable ASCII and well-formed UTF-8 as it is, every other byte as \xNN. Returns the length. */
size_t plain_text(char *to, const char *text);

/* `n` bytes in hexadecimal; `to` has room for 2 * n + 1. */
void plain_hex(char *to, const uint8_t *bytes, size_t n);

/*
 * The progress of a long piece of work, as one line on stderr that is written over again and cleared at the end. It
 * appears after two seconds, and only where stderr is a terminal. Work is counted in units of any kind.
 *
 *     meter_stage(&meter, "reading 1 of 2", "events", n, n);     n units now, n more in stages to come
 *     meter_add(&meter, 512);                                    often: costs a look at the clock
 *     meter_end(&meter);                                         at the end of all, or never begun
 */

/* Zero-initialised is one that has not begun. */
struct meter {
    const char *stage, *unit;
    uint64_t n, n_after, n_done; /* n 0: nobody knows */
    uint64_t begin_ns, stage_ns, shown_ns;
    bool is_silent, is_shown;
};

void meter_stage(struct meter *meter, const char *stage, const char *unit, uint64_t n, uint64_t n_after);
void meter_add(struct meter *meter, uint64_t n);
void meter_end(struct meter *meter);
/* The line at a time since the meter began; 0 = too early for one. */
size_t meter_line(const struct meter *meter, uint64_t now_ns, char *line, size_t size_bytes);
