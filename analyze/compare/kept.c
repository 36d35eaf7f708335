/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/kept.h"
#include "analyze/files/output.h"
#include "wrap/base/err.h"
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* Raised when a field changes its meaning: an older file is then refused, not misread. */
enum { KEPT_VERSION = 2 };

enum { RANKS_MOST = 1 << 24 }; /* as many as are recorded; room is made for each */
/* Of times, which are sums over ranks: several still add up in 64 bits. */
static const double TIME_MOST = 1ll << 60;

/* Names that are no UTF-8 cannot be kept as they are; the comparison then knows them by what is left. */
static json_t *text(const char *value)
{
    if (!value)
        return json_null();
    json_t *made = json_string(value);
    if (made)
        return made;
    char ascii[256];
    size_t n = 0;
    for (; value[n] && n + 1 < sizeof ascii; n++)
        ascii[n] = (unsigned char)value[n] < 0x80 ? value[n] : '?';
    ascii[n] = 0;
    return json_string(ascii);
}

static json_t *whole(double ns)
{
    return json_integer(llround(ns));
}

static json_t *json_places(const struct run *run)
{
    json_t *places = json_array();
    for (uint32_t i = 0; i < run->n_places; i++) {
        const struct run_place *at = &run->places[i];
        json_array_append_new(places,
                              json_pack("[o, o, o, i, b, I, I, I, o]", text(at->name), text(at->file),
                                        text(at->routine), (int)at->state, (int)at->is_loop, (json_int_t)at->build,
                                        (json_int_t)at->line_first, (json_int_t)at->line_last, text(at->key)));
    }
    return places;
}

static json_t *json_nodes(const struct run *run)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct run_node *at = &run->nodes[i];
        json_t *row =
            json_pack("[I, I, I, o, o, o]", at->parent == TRACE_NONE ? (json_int_t)-1 : (json_int_t)at->parent,
                      (json_int_t)at->place, (json_int_t)at->cause, whole(at->time_ns), whole(at->longest_ns),
                      whole(at->on_path_ns));
        for (int kind = 0; kind < KIND_N; kind++)
            json_array_append_new(row, whole(at->kind_ns[kind]));
        json_array_append_new(nodes, row);
    }
    return nodes;
}

static json_t *json_facts(const struct run *run)
{
    json_t *facts = json_array();
    for (uint32_t i = 0; i < run->n_facts; i++) {
        const struct fact *at = &run->facts[i];
        json_t *counts = json_array();
        for (uint32_t k = 0; k < at->n_counts; k++)
            json_array_append_new(counts, json_pack("[I, I, I]", (json_int_t)at->counts[k].rank,
                                                    (json_int_t)at->counts[k].n, (json_int_t)at->counts[k].of));
        json_array_append_new(facts, json_pack("[i, o, o, I, I, I, I, I, I, I, o]", (int)at->kind, text(at->file),
                                               text(at->routine), (json_int_t)at->line_first, (json_int_t)at->line_last,
                                               (json_int_t)at->line_to, (json_int_t)at->number, (json_int_t)at->depth,
                                               (json_int_t)at->sum, (json_int_t)at->sum_of, counts));
    }
    return facts;
}

static json_t *json_run(const struct run *run)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, "
                     "s:o, s:o, s:o}",
                     "path", text(run->path), "program", text(run->program), "command", text(run->command), "mpi",
                     text(run->mpi), "compiler", text(run->compiler), "hosts", text(run->hosts), "n_ranks",
                     (json_int_t)run->n_ranks, "n_hosts", (json_int_t)run->n_hosts, "build", (json_int_t)run->build,
                     "realtime_ns", (json_int_t)run->realtime_ns, "is_counted", (int)run->is_counted, "is_whole",
                     (int)run->is_whole, "wall_ns", whole(run->wall_ns), "waiting_ns", whole(run->waiting_ns),
                     "machine_ns", whole(run->machine_ns), "path_off_cpu_ns", whole(run->path_off_cpu_ns), "all_ns",
                     whole(run->all_ns), "compute_ns", whole(run->compute_ns), "transfer_ns", whole(run->transfer_ns),
                     "mpi_ns", whole(run->mpi_ns), "descheduled_ns", whole(run->descheduled_ns), "blocked_ns",
                     whole(run->blocked_ns), "places", json_places(run), "nodes", json_nodes(run), "facts",
                     json_facts(run));
}

bool kept_is(const char *path)
{
    struct stat is;
    FILE *file = path && !stat(path, &is) && S_ISREG(is.st_mode) ? fopen(path, "r") : NULL;
    int first = ' ';
    while (file && isspace(first))
        first = fgetc(file);
    if (file)
        fclose(file);
    return first == '{';
}

int kept_write(const char *path, struct run *const *runs, size_t n_runs)
{
    struct stat is;
    if (!stat(path, &is) && is.st_size && !kept_is(path))
        return error("%s is there already and was not made by --keep: it is left alone", path);
    struct output output;
    if (output_begin(&output, path, 0))
        return -1;
    FILE *out = output.file;
    fprintf(out, "{\"whywait-runs\":%d,\"runs\":[", KEPT_VERSION);
    for (size_t i = 0; i < n_runs; i++) {
        json_t *run = json_run(runs[i]);
        fputs(i ? ",\n" : "\n", out);
        json_dumpf(run, out, JSON_COMPACT);
        json_decref(run);
    }
    fputs("\n]}\n", out);
    return output_end(&output, true);
}

/* What is read of a row: jansson's accessors give 0 and NULL for whatever is not there or of another type. */
static json_int_t number_at(const json_t *row, size_t at)
{
    return json_integer_value(json_array_get(row, at));
}

static const char *copy(struct arena *arena, const json_t *value)
{
    return json_is_string(value) ? arena_strdup(arena, json_string_value(value)) : NULL;
}

static double ns_of(const json_t *object, const char *name)
{
    return (double)json_integer_value(json_object_get(object, name));
}

static bool is_sound_time(double ns)
{
    return ns >= 0 && ns <= TIME_MOST;
}

static bool is_sound_count(uint64_t n)
{
    return n <= INT64_MAX; /* what is more was below zero in the file */
}

static bool has_sound_times(const struct run *run)
{
    const double times[] = {run->wall_ns,    run->waiting_ns,  run->machine_ns, run->path_off_cpu_ns, run->all_ns,
                            run->compute_ns, run->transfer_ns, run->mpi_ns,     run->descheduled_ns,  run->blocked_ns};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!is_sound_time(times[i]))
            return false;
    return true;
}

static void read_places(struct arena *arena, struct run *run, const json_t *places)
{
    run->n_places = (uint32_t)json_array_size(places);
    run->places = arena_array(arena, struct run_place, run->n_places + 1);
    for (uint32_t i = 0; i < run->n_places; i++) {
        const json_t *row = json_array_get(places, i);
        const char *name = copy(arena, json_array_get(row, 0));
        run->places[i] = (struct run_place){.name = name ? name : "unknown code",
                                            .key = copy(arena, json_array_get(row, 8)),
                                            .file = copy(arena, json_array_get(row, 1)),
                                            .routine = copy(arena, json_array_get(row, 2)),
                                            .state = (enum step_state)number_at(row, 3),
                                            .is_loop = json_is_true(json_array_get(row, 4)),
                                            .build = (uint64_t)number_at(row, 5),
                                            .line_first = (uint32_t)number_at(row, 6),
                                            .line_last = (uint32_t)number_at(row, 7)};
    }
}

/* False when a node stands before what is around it, or has no place. */
static bool read_nodes(struct arena *arena, struct run *run, const json_t *nodes)
{
    run->n_nodes = (uint32_t)json_array_size(nodes);
    run->nodes = arena_array(arena, struct run_node, run->n_nodes + 1);
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const json_t *row = json_array_get(nodes, i);
        json_int_t parent = number_at(row, 0), place = number_at(row, 1);
        if (parent < -1 || parent >= (json_int_t)i || place < 0 || place >= (json_int_t)run->n_places)
            return false;
        run->nodes[i] = (struct run_node){.parent = parent < 0 ? (uint32_t)TRACE_NONE : (uint32_t)parent,
                                          .place = (uint32_t)place,
                                          .cause = (uint32_t)number_at(row, 2),
                                          .time_ns = (double)number_at(row, 3),
                                          .longest_ns = (double)number_at(row, 4),
                                          .on_path_ns = (double)number_at(row, 5)};
        const struct run_node *node = &run->nodes[i];
        bool is_sound =
            is_sound_time(node->time_ns) && is_sound_time(node->longest_ns) && is_sound_time(node->on_path_ns);
        for (int kind = 0; kind < KIND_N; kind++) {
            run->nodes[i].kind_ns[kind] = (double)number_at(row, 6 + (size_t)kind);
            is_sound &= fabs(run->nodes[i].kind_ns[kind]) <= TIME_MOST;
        }
        if (!is_sound)
            return false;
    }
    return true;
}

/* False when ranks do not rise, or are none of the run's. */
static bool read_counts(struct fact *fact, const struct run *run, const json_t *counts)
{
    json_int_t before = -1;
    for (uint32_t k = 0; k < fact->n_counts; k++) {
        const json_t *count = json_array_get(counts, k);
        json_int_t rank = number_at(count, 0);
        if (rank <= before || rank >= (json_int_t)run->n_ranks)
            return false;
        fact->counts[k] = (struct fact_count){
            .rank = (uint32_t)rank, .n = (uint64_t)number_at(count, 1), .of = (uint64_t)number_at(count, 2)};
        before = rank;
        if (!is_sound_count(fact->counts[k].n) || !is_sound_count(fact->counts[k].of))
            return false;
    }
    return is_sound_count(fact->sum) && is_sound_count(fact->sum_of);
}

static bool read_facts(struct arena *arena, struct run *run, const json_t *facts)
{
    run->n_facts = (uint32_t)json_array_size(facts);
    run->facts = arena_array(arena, struct fact, run->n_facts + 1);
    for (uint32_t i = 0; i < run->n_facts; i++) {
        const json_t *row = json_array_get(facts, i), *counts = json_array_get(row, 10);
        struct fact *fact = &run->facts[i];
        if (number_at(row, 0) < 0 || number_at(row, 0) >= FACT_N)
            return false;
        *fact = (struct fact){.kind = (enum fact_kind)number_at(row, 0),
                              .file = copy(arena, json_array_get(row, 1)),
                              .routine = copy(arena, json_array_get(row, 2)),
                              .line_first = (uint32_t)number_at(row, 3),
                              .line_last = (uint32_t)number_at(row, 4),
                              .line_to = (uint32_t)number_at(row, 5),
                              .number = (uint32_t)number_at(row, 6),
                              .depth = (uint32_t)number_at(row, 7),
                              .sum = (uint64_t)number_at(row, 8),
                              .sum_of = (uint64_t)number_at(row, 9),
                              .n_counts = (uint32_t)json_array_size(counts)};
        fact->counts = arena_array(arena, struct fact_count, fact->n_counts + 1);
        if (!read_counts(fact, run, counts))
            return false;
    }
    return true;
}

/* NULL when it makes no sense. */
static struct run *read_run(struct arena *arena, const json_t *object)
{
    struct run *run = arena_new(arena, struct run);
    const char *path = copy(arena, json_object_get(object, "path")),
               *program = copy(arena, json_object_get(object, "program")),
               *command = copy(arena, json_object_get(object, "command")),
               *mpi = copy(arena, json_object_get(object, "mpi")),
               *compiler = copy(arena, json_object_get(object, "compiler")),
               *hosts = copy(arena, json_object_get(object, "hosts"));
    *run = (struct run){.path = path ? path : "a kept run",
                        .program = program ? program : "",
                        .command = command ? command : "",
                        .mpi = mpi ? mpi : "",
                        .compiler = compiler ? compiler : "",
                        .hosts = hosts ? hosts : "",
                        .n_ranks = (uint32_t)json_integer_value(json_object_get(object, "n_ranks")),
                        .n_hosts = (uint32_t)json_integer_value(json_object_get(object, "n_hosts")),
                        .build = (uint64_t)json_integer_value(json_object_get(object, "build")),
                        .realtime_ns = (uint64_t)json_integer_value(json_object_get(object, "realtime_ns")),
                        .is_counted = json_is_true(json_object_get(object, "is_counted")),
                        .is_whole = json_is_true(json_object_get(object, "is_whole")),
                        .wall_ns = ns_of(object, "wall_ns"),
                        .waiting_ns = ns_of(object, "waiting_ns"),
                        .machine_ns = ns_of(object, "machine_ns"),
                        .path_off_cpu_ns = ns_of(object, "path_off_cpu_ns"),
                        .all_ns = ns_of(object, "all_ns"),
                        .compute_ns = ns_of(object, "compute_ns"),
                        .transfer_ns = ns_of(object, "transfer_ns"),
                        .mpi_ns = ns_of(object, "mpi_ns"),
                        .descheduled_ns = ns_of(object, "descheduled_ns"),
                        .blocked_ns = ns_of(object, "blocked_ns")};
    read_places(arena, run, json_object_get(object, "places"));
    return run->n_ranks && run->n_ranks <= RANKS_MOST && has_sound_times(run) &&
                   read_nodes(arena, run, json_object_get(object, "nodes")) &&
                   read_facts(arena, run, json_object_get(object, "facts"))
               ? run
               : NULL;
}

int kept_read(struct arena *arena, const char *path, run_list *runs)
{
    json_error_t why;
    json_t *file = json_load_file(path, 0, &why);
    int status = 0;
    if (!file)
        return error("%s: %s (line %d)", path, why.text, why.line);
    const json_t *array = json_object_get(file, "runs");
    json_int_t version = json_integer_value(json_object_get(file, "whywait-runs"));
    if (version != KEPT_VERSION)
        status = error("%s was kept by another version of whywait (%lld, not %d): make it again from runs", path,
                       (long long)version, KEPT_VERSION);
    else if (!json_array_size(array))
        status = error("%s has no runs", path);
    for (size_t i = 0; !status && i < json_array_size(array); i++) {
        struct run *run = read_run(arena, json_array_get(array, i));
        if (run)
            *vec_push(runs) = run;
        else
            status = error("%s: run %zu makes no sense", path, i + 1);
    }
    json_decref(file);
    return status;
}
