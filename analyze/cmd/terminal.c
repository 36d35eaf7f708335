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

int option_next(int argc, char **argv, const struct option *options, const char *usage)
{
    opterr = 0;
    int option = getopt_long(argc, argv, "", options, NULL);
    if (option == '?')
        die("%s: unknown option or no value; `whywait help %s` lists the options", argv[optind - 1], argv[0]);
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

bool option_is_json(const char *text)
{
    if (strcmp(text, "json") && strcmp(text, "text"))
        die("--format: \"%s\" is neither text nor json", text);
    return !strcmp(text, "json");
}
