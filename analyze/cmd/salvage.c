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
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct manual manual_convert = {
    .synopsis = "RUN RANK",
    .about = "Makes the part of one rank from its spool; `whywait join` makes the archive from the parts.",
};
const struct manual manual_join = {
    .synopsis = "RUN",
    .about = "Makes the archive of a run from the parts that `whywait convert` made.",
};
const struct manual manual_salvage = {
    .synopsis = "RUN...",
    .about = "Makes the archive of a run whose processes were killed or could not finish it, from all that they had "
             "recorded. `whywait report` does this by itself. WHYWAIT_KEEP_SPOOL=1 keeps the spool.",
};

/* The words behind the options, of which there are `least` to `most`. */
static char **arguments(int argc, char **argv, const struct manual *manual, int least, int most)
{
    while (option_next(argc, argv, manual) != -1)
        continue;
    if (argc - optind < least || argc - optind > most)
        die("usage: whywait %s %s", argv[0], manual->synopsis);
    return argv + optind;
}

int cmd_convert(int argc, char **argv)
{
    char **words = arguments(argc, argv, &manual_convert, 2, 2), *end;
    unsigned long rank = strtoul(words[1], &end, 10);
    if (words[1][0] < '0' || words[1][0] > '9' || *end || rank >= SPOOL_MAX_RANKS)
        die("\"%s\" is no rank: usage: whywait convert RUN RANK", words[1]);
    return convert_rank(words[0], (uint32_t)rank) ? 1 : 0;
}

int cmd_join(int argc, char **argv)
{
    return run_join(*arguments(argc, argv, &manual_join, 1, 1)) ? 1 : 0;
}

int cmd_salvage(int argc, char **argv)
{
    int failed = 0;
    for (char **run = arguments(argc, argv, &manual_salvage, 1, INT_MAX); *run; run++) {
        struct stat status;
        if (stat(*run, &status))
            failed |= error("%s: %s", *run, strerror(errno)) != 0;
        else if (!S_ISDIR(status.st_mode))
            failed |= error("%s is no run directory (*.whywait)", *run) != 0;
        else
            failed |= run_salvage(*run) != 0;
    }
    return failed;
}
