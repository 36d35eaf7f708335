/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/terminal.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 110;
}

/* Levenshtein's distance, of words up to a length beyond which nobody mistypes a name. */
static size_t distance(const char *a, const char *b)
{
    enum { WORD_MOST = 32 };
    size_t n_a = strlen(a), n_b = strlen(b), row[WORD_MOST + 1];
    if (n_a > WORD_MOST || n_b > WORD_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]), inserted = row[j - 1] + 1, removed = row[j] + 1;
            diagonal = row[j];
            row[j] = replaced < inserted ? replaced : inserted;
            row[j] = row[j] < removed ? row[j] : removed;
        }
    }
    return row[n_b];
}

bool word_is_nearer(const char *typed, const char *known, size_t *least)
{
    size_t n = distance(typed, known);
    if (n >= *least || n > (strlen(typed) + 2) / 3)
        return false;
    *least = n;
    return true;
}

/* ends the tool: the nearest option is named where one is near. */
_Noreturn static void die_of_option(char **argv, const struct option *options)
{
    const char *typed = argv[optind - 1], *nearest = NULL, *end = strchr(typed, '=');
    char name[64];
    size_t least = SIZE_MAX;
    snprintf(name, sizeof name, "%.*s", end ? (int)(end - typed) : (int)strlen(typed), typed);
    for (const struct option *at = options; !strncmp(name, "--", 2) && at->name; at++)
        if (word_is_nearer(name + 2, at->name, &least))
            nearest = at->name;
    if (nearest && !strcmp(name + 2, nearest))
        die("%s takes no value; `whywait help %s` lists the options", name, argv[0]);
    if (nearest)
        die("%s: unknown option; did you mean --%s? `whywait help %s` lists them all", typed, nearest, argv[0]);
    die("%s: unknown option; `whywait help %s` lists the options", typed, argv[0]);
}

int option_next(int argc, char **argv, const struct option *options, const char *usage)
{
    opterr = 0;
    bool ends_at_program = !strcmp(argv[0], "record"); /* what follows is the program's */
    bool has_output = false;
    for (const struct option *at = options; at->name; at++)
        has_output |= at->val == 'o';
    int option = getopt_long(argc, argv, ends_at_program ? "+:ho:q" : has_output ? ":ho:" : ":h", options, NULL);
    if (option == ':')
        die("%s needs a value; `whywait help %s` says which", argv[optind - 1], argv[0]);
    if (option == '?')
        die_of_option(argv, options);
    if (option == 'h') {
        fputs(usage, stdout);
        exit(0);
    }
    return option;
}

const char *option_run(int argc, char **argv)
{
    if (argc - optind > 1)
        die("%s takes one run, not %d (`whywait diff` compares several)", argv[0], argc - optind);
    return argv[optind];
}

uint32_t option_number(const char *option, const char *text, uint32_t least)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || number < least || number > UINT32_MAX)
        die("--%s: \"%s\" is not a number from %u upwards", option, text, least);
    return (uint32_t)number;
}

uint64_t option_seconds(const char *option, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0 && seconds < 1e9))
        die("--%s: \"%s\" is not a time in seconds", option, text);
    return (uint64_t)(1e9 * seconds);
}

bool option_is_json(const char *text)
{
    if (strcmp(text, "json") && strcmp(text, "text"))
        die("--format: \"%s\" is neither text nor json", text);
    return !strcmp(text, "json");
}
