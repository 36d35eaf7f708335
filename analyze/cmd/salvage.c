/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands that make an archive. The recorder starts two of them: `whywait convert RUN RANK`, by every rank at
 * MPI_Finalize, and `whywait join RUN`, by rank 0 when all have converted. `whywait salvage RUN` is for runs that did
 * not end in order.
 */
#include "analyze/archive/convert.h"
#include "analyze/archive/run.h"
#include "analyze/archive/spool.h"
#include "analyze/cmd/cmd.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int cmd_convert(int argc, char **argv)
{
    if (argc == 2 && is_help(argv[1])) {
        puts("Usage: whywait convert RUN RANK\nMakes the part of one rank from its spool; `whywait join` makes the "
             "archive from the parts.");
        return 0;
    }
    if (argc != 3)
        die("usage: whywait convert RUN RANK");
    char *end;
    unsigned long rank = strtoul(argv[2], &end, 10);
    if (argv[2][0] < '0' || argv[2][0] > '9' || *end || rank >= SPOOL_MAX_RANKS)
        die("\"%s\" is no rank: usage: whywait convert RUN RANK", argv[2]);
    return convert_rank(argv[1], (uint32_t)rank) ? 1 : 0;
}

int cmd_join(int argc, char **argv)
{
    if (argc == 2 && is_help(argv[1])) {
        puts("Usage: whywait join RUN\nMakes the archive of a run from the parts that `whywait convert` made.");
        return 0;
    }
    if (argc != 2)
        die("usage: whywait join RUN");
    return run_join(argv[1]) ? 1 : 0;
}

static const char help[] = "Usage: whywait salvage RUN...\n"
                           "Makes the archive of a run whose processes were killed or could not finish it,\n"
                           "from all that they had recorded. `whywait report` does this by itself.\n"
                           "WHYWAIT_KEEP_SPOOL=1 keeps the spool.";

int cmd_salvage(int argc, char **argv)
{
    if (argc == 2 && is_help(argv[1])) {
        puts(help);
        return 0;
    }
    if (argc < 2)
        die("usage: whywait salvage RUN...");
    if (argv[1][0] == '-')
        die("%s: unknown option; `whywait help salvage` lists the options", argv[1]);
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        if (stat(argv[i], &status))
            failed |= error("%s: %s", argv[i], strerror(errno)) != 0;
        else if (!S_ISDIR(status.st_mode))
            failed |= error("%s is no run directory (*.whywait)", argv[i]) != 0;
        else
            failed |= run_salvage(argv[i]) != 0;
    }
    return failed;
}
