/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait list: the run directories here, newest first, a line each; whywait rm: removes run directories. A run is what
 * record made: a directory NAME.whywait with an archive, a spool or parts in it. Nothing else is ever removed.
 */
#include "analyze/archive/live.h"
#include "analyze/archive/run.h"
#include "analyze/files/paths.h"
#include "analyze/cmd/cmd.h"
#include "analyze/cmd/terminal.h"
#include "analyze/pipeline.h"
#include "analyze/words/amount.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_QUICK = OPT_OTHER, OPT_WIDTH };
static const struct option_row list_rows[] = {
    {"quick", OPT_QUICK, NULL, "do not read the runs' events: no column for the waiting"},
    {"width", OPT_WIDTH, "N", "columns of the text (default: the terminal's, or 110)"},
    TERMINAL_ROWS,
    {0},
};

const struct manual manual_list = {
    .synopsis = "[OPTIONS] [DIRECTORY]",
    .about = "Lists the runs in DIRECTORY (here), newest first: program, ranks, when it was recorded, how long it "
             "took, how much of that was waiting, size on disk.",
    .rows = list_rows,
};
const struct manual manual_rm = {
    .synopsis = "RUN...",
    .about = "Removes run directories. What is no run, or is still being recorded, is left alone, and said.",
};

/* A line of the list; texts are in the table's arena. */
struct row {
    const char *name, *program, *state; /* state: what it lacks; NULL = nothing */
    bool is_read, is_sized, is_whole;
    uint32_t n_ranks;
    uint64_t realtime_ns, dur_ns, bytes;
    double waiting; /* share of all ranks' time; < 0 = not asked for */
};

struct list {
    struct arena arena;
    VEC(struct row) rows;
};

static int newest_first(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (left->realtime_ns != right->realtime_ns)
        return left->realtime_ns > right->realtime_ns ? -1 : 1;
    return strcmp(left->name, right->name);
}

typedef VEC(char *) path_list;

/* Adds the size on disk of all that is in a folder, and its folders to `left`. Returns 0 or an errno. */
static int add_sizes(const char *folder, path_list *left, uint64_t *bytes)
{
    struct stat status;
    DIR *entries = opendir(folder);
    int why = entries ? 0 : errno;
    for (struct dirent *entry; entries && (entry = dir_next(entries, &why));) {
        bool is_inside = strcmp(entry->d_name, "..") && strcmp(entry->d_name, ".");
        if (is_inside && fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            *bytes += (uint64_t)status.st_blocks * 512;
            if (S_ISDIR(status.st_mode))
                *vec_push(left) = path_format("%s/%s", folder, entry->d_name);
        } else if (is_inside && errno != ENOENT)
            why = errno;
    }
    if (entries)
        closedir(entries);
    return why;
}

static void read_size(struct row *row, const char *path)
{
    struct stat status;
    path_list left = {0};
    int why = lstat(path, &status) ? errno : 0;
    row->bytes = why ? 0 : (uint64_t)status.st_blocks * 512;
    *vec_push(&left) = path_format("%s", path);
    while (left.n) {
        char *folder = left.at[--left.n];
        int failed = add_sizes(folder, &left, &row->bytes);
        why = why ? why : failed;
        free(folder);
    }
    vec_release(&left);
    row->is_sized = !why;
    if (why)
        warn("cannot look at all of %s: %s; its size is not known", path, strerror(why));
}

static void read_archive(struct list *list, struct row *row, const char *path, bool is_quick)
{
    struct loaded loaded = {0};
    row->is_read = (is_quick ? load_trace(&loaded, path) : load_analysis(&loaded, path, false)) == 0;
    row->is_whole = false;
    row->state = "unreadable";
    if (row->is_read) {
        const struct trace *trace = loaded.trace;
        row->is_whole = !trace->is_damaged;
        row->state = row->is_whole ? NULL : "damaged or cut off";
        if (!row->is_whole)
            warn("%s: the archive is damaged or cut off", path);
        row->program = arena_strdup(&list->arena, trace_title(trace));
        row->n_ranks = trace->n_ranks;
        row->realtime_ns = trace->realtime_ns;
        row->dur_ns = trace->end_ns - trace->start_ns;
        if (loaded.analysis && loaded.analysis->efficiency.all_ns > 0)
            row->waiting = loaded.analysis->efficiency.waiting_ns / loaded.analysis->efficiency.all_ns;
    }
    load_release(&loaded);
}

/* Every run of the directory, newest first. 0, STATUS_DEGRADED, or -1 after error(). */
static int list_read(struct list *list, const char *directory, bool is_quick)
{
    char **names = NULL;
    size_t n = 0;
    int status = 0;
    if (run_names(directory, &names, &n)) {
        vec_free(names);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        char *path = path_format("%s/%s", directory, names[i]);
        struct row row = {.name = arena_strdup(&list->arena, names[i]), .program = "", .waiting = -1, .is_whole = true};
        read_size(&row, path);
        row.state = "no archive yet";
        if (run_has_archive(path))
            read_archive(list, &row, path, is_quick);
        if (!row.is_sized || !row.is_whole)
            status = STATUS_DEGRADED;
        *vec_push(&list->rows) = row;
        free(path);
        free(names[i]);
    }
    vec_free(names);
    vec_sort(&list->rows, newest_first);
    return status;
}

/* A name is there to be typed: where the longest leaves no room for the rest, lines get longer than the terminal. */
static void make_room(const struct list *list, struct page *page)
{
    enum { REST = 90 }; /* the columns beside the name, with a short name of a program */
    for (size_t i = 0; i < list->rows.n; i++)
        page->width =
            strlen(list->rows.at[i].name) + REST > page->width ? strlen(list->rows.at[i].name) + REST : page->width;
}

static void list_print(const struct list *list, struct page *page)
{
    static const struct page_column columns[] = {
        {"run", PAGE_LEFT, STYLE_CAUSE},    {"program", PAGE_LEFT, STYLE_PLAIN},
        {"ranks", PAGE_RIGHT, STYLE_PLAIN}, {"recorded", PAGE_LEFT, STYLE_QUIET},
        {"time", PAGE_RIGHT, STYLE_PLAIN},  {"waiting", PAGE_RIGHT, STYLE_NUMBER},
        {"size", PAGE_RIGHT, STYLE_QUIET},  {"", PAGE_LEFT, STYLE_WARNING},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    for (size_t i = 0; i < list->rows.n; i++) {
        const struct row *row = &list->rows.at[i];
        page_cell(&table, "%s", row->name);
        page_cell(&table, "%s", row->program);
        page_cell(&table, row->is_read ? "%u" : "", row->n_ranks);
        page_cell(&table, "%s", amount_date(row->realtime_ns).text);
        page_cell(&table, "%s", row->is_read ? amount_duration((double)row->dur_ns).text : "");
        page_cell(&table, "%s", row->waiting < 0 ? "" : amount_share(row->waiting).text);
        page_cell(&table, "%s", row->is_sized ? amount_bytes((double)row->bytes).text : "");
        page_cell(&table, "%s", row->state ? row->state : "");
    }
    make_room(list, page);
    page_table(page, &table);
}

int cmd_list(int argc, char **argv)
{
    struct terminal_options terminal = {0};
    bool is_quick = false;
    unsigned width = terminal_width();
    int option;
    while ((option = option_next(argc, argv, &manual_list)) != -1) {
        if (terminal_option(&terminal, option))
            continue;
        if (option == OPT_QUICK)
            is_quick = true;
        else if (option == OPT_WIDTH)
            width = option_number("width", optarg, 40);
    }
    if (argc - optind > 1)
        die("list takes one directory, not %d", argc - optind);
    struct list list = {0};
    int status = list_read(&list, argc > optind ? argv[optind] : ".", is_quick);
    if (status < 0)
        return 1;
    struct page page = {.out = stdout, .width = width, .look = terminal_look(&terminal)};
    int pager = pager_begin(&terminal);
    if (list.rows.n)
        list_print(&list, &page);
    else
        puts("no runs here: record one with `mpirun -n 4 whywait record ./app`");
    int failed = fflush(stdout) ? error("cannot write the list: %s", strerror(errno)) : 0;
    pager_end(pager);
    vec_release(&list.rows);
    arena_release(&list.arena);
    return failed ? 1 : status;
}

int cmd_rm(int argc, char **argv)
{
    while (option_next(argc, argv, &manual_rm) != -1)
        ;
    if (optind == argc)
        die("rm which runs? `whywait list` shows those here");
    int failed = 0;
    for (int i = optind; i < argc; i++) {
        struct stat status;
        if (lstat(argv[i], &status))
            failed |= error("%s: %s", argv[i], strerror(errno)) != 0;
        else if (!S_ISDIR(status.st_mode) || !run_is_run(argv[i]))
            failed |= error("%s is no run directory (*.whywait): it is left alone", argv[i]) != 0;
        else if (live_look(argv[i]) == LIVE_GOING)
            failed |= error("%s is still being recorded: it is left alone until the program has ended", argv[i]) != 0;
        else
            failed |= dir_remove(argv[i]) != 0;
    }
    return failed;
}
