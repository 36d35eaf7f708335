/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the archive of a run that never took place, of any number of processes, with a cause that is known, and prints
 * what an analysis must find, as JSON.
 *
 *   generate PATTERN DIR [RANKS [EVENTS [ours|foreign [HOPS]]]]
 *
 * HOPS is the length of a pipeline, or the number of steps of a solver between two collectives of all.
 */
#include "benchmarks/generate/patterns.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const struct pattern *find_pattern(const char *name)
{
    const struct pattern *pattern = patterns;
    while (pattern->name && strcmp(pattern->name, name))
        pattern++;
    return pattern->name ? pattern : NULL;
}

static int usage(void)
{
    fprintf(stderr, "usage: generate PATTERN DIR [RANKS [EVENTS [ours|foreign [HOPS]]]]\npatterns:");
    for (const struct pattern *pattern = patterns; pattern->name; pattern++)
        fprintf(stderr, " %s", pattern->name);
    fprintf(stderr, "\n");
    return 2;
}

static void print_truth(const struct run *run)
{
    const char *separator = "";
    printf("{\"pattern\": \"%s\", \"ranks\": %u, \"events\": %llu, \"steps\": %llu, \"waiting_ns\": %llu, "
           "\"cause\": \"%s\", \"late_ranks\": [",
           run->pattern->name, run->n, (unsigned long long)run->writer.n_events, (unsigned long long)run->n_steps,
           (unsigned long long)run->waiting_ns, run->pattern->cause);
    for (uint32_t rank = 0; rank < run->n; rank++)
        if (run->is_late[rank]) {
            printf("%s%u", separator, rank);
            separator = ", ";
        }
    printf("]}\n");
}

/* Each of some thousand processes has a file. */
static void allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    struct run run = {.n = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 64,
                      .hops = argc > 6 ? (uint32_t)strtoul(argv[6], NULL, 10) : 100};
    uint64_t n_events = argc > 4 ? strtoull(argv[4], NULL, 10) : 1000000;
    enum style style = argc > 5 && !strcmp(argv[5], "ours") ? STYLE_OURS : STYLE_FOREIGN;
    if (argc < 3 || run.n < 2 || !run.hops || !(run.pattern = find_pattern(argv[1])))
        return usage();
    if (run.pattern->styles != STYLES_ALL &&
        run.pattern->styles != (style == STYLE_OURS ? STYLES_OURS : STYLES_FOREIGN)) {
        error("%s can only be written as %s", run.pattern->name, style == STYLE_OURS ? "foreign" : "ours");
        return 2;
    }
    allow_files();
    if (writer_begin(&run.writer, argv[2], style, run.n))
        return 1;
    run_pattern(&run, n_events);
    int result = writer_end(&run.writer);
    print_truth(&run);
    run_release(&run);
    return result ? 1 : 0;
}
