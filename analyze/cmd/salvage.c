/* SPDX-License-Identifier: BSD-3-Clause */
/* `whywait salvage RUN`: the archive of a run that did not end in order, from what its spool holds. */
#include "analyze/cmd/cmd.h"
#include "analyze/archive/resolve.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] = "Usage: whywait salvage RUN...\n"
                           "Makes the archive of a run whose processes were killed or could not finish it,\n"
                           "from all that they had recorded. `whywait report` does this by itself.\n"
                           "WHYWAIT_KEEP_SPOOL=1 keeps the spool.";

static int salvage_one(const char *path, const struct convert_options *options)
{
    struct stat status;
    if (stat(path, &status))
        return error("%s: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error("%s is no run directory (*.whywait)", path);
    return convert_salvage(path, options);
}

int cmd_salvage(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        puts(help);
        return 0;
    }
    if (argc < 2)
        die("usage: whywait salvage RUN...");
    if (argv[1][0] == '-')
        die("%s: unknown option; `whywait help salvage` says what there is", argv[1]);
    struct resolver *resolver = resolver_new();
    struct convert_options options = resolver_options(resolver);
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= salvage_one(argv[i], &options) != 0;
    resolver_free(resolver);
    return failed;
}
