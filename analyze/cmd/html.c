/* SPDX-License-Identifier: BSD-3-Clause */
/* whywait html: a page for a browser, in one file. */
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/html/html.h"
#include "analyze/pipeline.h"
#include "analyze/out/amount.h"
#include "analyze/out/label.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *path;
    const char *sources; /* a directory; NULL = none */
    const char *out;     /* NULL = named after the run; "-" = stdout */
};

static const char usage[] = "Usage: whywait html [OPTIONS] [RUN]\n"
                            "Writes one page for a browser that shows the run: what makes ranks wait, the\n"
                            "timeline of all ranks, and who waits for whom. The page needs no network and no\n"
                            "other file.\n"
                            "\n"
                            "  -o, --output FILE   where to (default: the run's name with .html, here; - is the\n"
                            "                      standard output)\n"
                            "  --source DIR        look in DIR for sources that are not where they were\n"
                            "                      compiled\n"
                            "  --help              this text\n";

static struct options parse(int argc, char **argv)
{
    static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                                 {"source", required_argument, NULL, 's'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    struct options options = {0};
    int option;
    while ((option = option_next(argc, argv, long_options, usage)) != -1)
        *(option == 'o' ? &options.out : &options.sources) = optarg;
    options.path = option_run(argc, argv);
    return options;
}

/* "jacobi-4-20261120-2154.html" */
static const char *default_name(struct arena *arena, const struct trace *trace)
{
    char *name = arena_strdup(arena, label_base_name(trace->run_dir ? trace->run_dir : trace->path));
    char *end = strrchr(name, '.');
    if (end && end > name)
        *end = '\0';
    return arena_printf(arena, "%s.html", name);
}

static int write_page(FILE *out, const struct loaded *loaded, const char *sources)
{
    const struct trace *trace = loaded->trace;
    struct html html;
    html_begin(&html, out, trace->program ? trace->program : "unknown program");
    html_run(&html, loaded->analysis, &loaded->timeline, sources);
    return html_end(&html);
}

static int print(const struct options *options, const struct loaded *loaded)
{
    struct arena scratch = {0};
    const char *name = options->out ? options->out : default_name(&scratch, loaded->trace);
    FILE *out = strcmp(name, "-") ? fopen(name, "wb") : stdout;
    int status = out ? write_page(out, loaded, options->sources) : error("cannot write %s: %s", name, strerror(errno));
    if (out && out != stdout) {
        long n_bytes = ftell(out);
        if (fclose(out) && !status)
            status = error("cannot write %s: %s", name, strerror(errno));
        if (!status)
            printf("%s (%s): open it in a browser\n", name, amount_bytes((double)n_bytes).text);
    }
    arena_release(&scratch);
    return status;
}

int cmd_html(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct loaded loaded;
    int status = load_analysis(&loaded, options.path, true);
    if (status == 0)
        status = print(&options, &loaded);
    if (status == 0 && load_is_degraded(&loaded))
        status = 2;
    load_release(&loaded);
    return status < 0 ? 1 : status;
}
