/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/options.h"
#include "wrap/base/err.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MOST = 48 };

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

/* Ends the tool: the nearest option is named where one is near. */
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

/* The table as getopt takes it, with --help; `letters` has room for two characters a row and four more. */
static void table_read(const struct manual *manual, struct option *options, char *letters)
{
    const struct option_row *rows = manual->rows ? manual->rows : &(struct option_row){0};
    size_t n = 0;
    *letters++ = 'h';
    for (const struct option_row *row = rows; row->name || row->value; row++) {
        if (!row->name)
            continue;
        if (n == OPTIONS_MOST)
            die("--%s: more options than the table has room for", row->name);
        int argument = !row->value ? no_argument : *row->value == '[' ? optional_argument : required_argument;
        options[n++] = (struct option){row->name, argument, NULL, row->val};
        if (row->val < OPT_OTHER && isalpha(row->val)) {
            *letters++ = (char)row->val;
            if (row->value)
                *letters++ = ':';
        }
    }
    *letters = '\0';
    options[n++] = (struct option){"help", no_argument, NULL, 'h'};
    options[n] = (struct option){0};
}

int option_next(int argc, char **argv, const struct manual *manual)
{
    struct option options[OPTIONS_MOST + 2];
    bool ends_at_program = !strcmp(argv[0], "record"); /* what follows is the program's */
    char letters[2 * OPTIONS_MOST + 4] = "+:";
    table_read(manual, options, letters + (ends_at_program ? 2 : 1));
    if (!ends_at_program)
        letters[0] = ':';
    opterr = 0;
    int option = getopt_long(argc, argv, letters, options, NULL);
    if (option == ':')
        die("%s needs a value; `whywait help %s` says which", argv[optind - 1], argv[0]);
    if (option == '?')
        die_of_option(argv, options);
    if (option == 'h') {
        manual_print(argv[0], manual);
        if (fflush(stdout) || ferror(stdout))
            die("cannot write to standard output: %s", strerror(errno));
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
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}};
    char *end;
    double number = strtod(text, &end);
    for (unsigned i = 0; end != text && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name) && number >= 0 && number * units[i].seconds < 1e9)
            return (uint64_t)(1e9 * units[i].seconds * number);
    die("--%s: \"%s\" is no time: give seconds (1.5), or a number with ms, s, m or h (90s)", option, text);
}

bool option_is_json(const char *text)
{
    if (strcmp(text, "json") && strcmp(text, "text"))
        die("--format: \"%s\" is neither text nor json", text);
    return !strcmp(text, "json");
}
