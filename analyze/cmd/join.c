/* SPDX-License-Identifier: BSD-3-Clause */
/* `whywait join RUN`: started by rank 0 when all ranks have converted. WHYWAIT_KEEP_SPOOL=1 keeps the spool. */
#include "analyze/cmd/cmd.h"
#include "analyze/archive/resolve.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <string.h>

int cmd_join(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        puts("Usage: whywait join RUN\nMakes the archive of a run from the parts that `whywait convert` made.");
        return 0;
    }
    if (argc != 2)
        die("usage: whywait join RUN");
    struct resolver *resolver = resolver_new();
    struct convert_options options = resolver_options(resolver);
    int result = convert_join(argv[1], &options);
    resolver_free(resolver);
    return result ? 1 : 0;
}
