/* SPDX-License-Identifier: BSD-3-Clause */
/* `whywait convert RUN RANK`: started by every rank at MPI_Finalize. */
#include "analyze/cmd/cmd.h"
#include "analyze/archive/convert.h"
#include "analyze/archive/spool.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cmd_convert(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--help")) {
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
