/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions to count: patterns as a user writes them, separated by ONLY_SEPARATOR ("solver.c;relax*"). The
 * plugin, the recorder and the analysis ask the same question here.
 *
 * A pattern with * and ? chooses a function when it fits its source file (the whole path, or the end of it that begins
 * at a slash), its symbol, or its name in the source, with or without parameters, with or without the scopes around it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ONLY_SEPARATOR ';'
enum { ONLY_BYTES = 512, ONLY_MOST = 64 };

/* Every character of the text against the pattern; * is tried with nothing first. */
static inline bool only_glob(const char *pattern, size_t n_pattern, const char *text, size_t n_text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;
    while (t < n_text) {
        if (p < n_pattern && pattern[p] == '*') {
            star = p++;
            from = t;
        } else if (p < n_pattern && (pattern[p] == '?' || pattern[p] == text[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < n_pattern && pattern[p] == '*')
        p++;
    return p == n_pattern;
}

/* The text, or what follows one of the separators in it. */
static inline bool only_fits_end(const char *pattern, size_t n_pattern, const char *text, size_t n_text, char separator)
{
    for (size_t i = 0; i < n_text; i++)
        if ((i == 0 || text[i - 1] == separator) && only_glob(pattern, n_pattern, text + i, n_text - i))
            return true;
    return false;
}

static inline bool only_fits(const char *pattern, size_t n, const char *symbol, const char *name, const char *file)
{
    return only_fits_end(pattern, n, file, strlen(file), '/') || only_glob(pattern, n, symbol, strlen(symbol)) ||
           only_fits_end(pattern, n, name, strlen(name), ':') ||
           only_fits_end(pattern, n, name, strcspn(name, "("), ':');
}

/* The next pattern of the list, or NULL; *list moves behind it. */
static inline const char *only_next(const char **list, size_t *n)
{
    while (**list == ONLY_SEPARATOR)
        ++*list;
    const char *pattern = *list;
    for (*n = 0; pattern[*n] && pattern[*n] != ONLY_SEPARATOR;)
        ++*n;
    *list = pattern + *n;
    return *n ? pattern : NULL;
}

/* Bit i is set when pattern i of the list chooses the function; patterns past ONLY_MOST are left out. */
static inline uint64_t only_choose(const char *list, const char *symbol, const char *name, const char *file)
{
    uint64_t chosen = 0;
    size_t n;
    const char *pattern;
    for (unsigned i = 0; i < ONLY_MOST && (pattern = only_next(&list, &n)); i++)
        if (only_fits(pattern, n, symbol, name, file))
            chosen |= (uint64_t)1 << i;
    return chosen;
}
