/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four tiers of what can go wrong in the tool (never used inside a recorded program):
 *   bug    our fault: says where, aborts
 *   die    the user's error, only in commands and in main: one line, exit status 1
 *   error  one line, returns -1 for the caller to pass on
 *   warn   one line, goes on
 * Every line names what failed, where, and what to do. All go to stderr as "whywait: ...".
 */
#pragma once
#include <stddef.h>

#define bug(...) err_bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void err_bug(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
int error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void err_out_of_memory(size_t size_bytes);
