/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report as one JSON object. Its long lists are made and written item by item, each item on a line of its own.
 * Unless everything is asked for a list ends when its part of 1 MB is full, and `left_out` counts what is missing.
 */
#include "analyze/out/json_report.h"
#include "analyze/words/ending.h"
#include "analyze/out/json_cause.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *json_efficiency(const struct efficiency *efficiency)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "all_ns",
                     json_ns(efficiency->all_ns), "compute_ns", json_ns(efficiency->compute_ns), "waiting_ns",
                     json_ns(efficiency->waiting_ns), "transfer_ns", json_ns(efficiency->transfer_ns), "mpi_ns",
                     json_ns(efficiency->mpi_ns), "never_back_ns", json_ns(efficiency->never_back_ns), "descheduled_ns",
                     json_ns(efficiency->descheduled_ns), "blocked_ns", json_ns(efficiency->blocked_ns),
                     "unrecorded_ns", json_ns(efficiency->unrecorded_ns), "ended_ns", json_ns(efficiency->ended_ns),
                     "parallel", json_ratio(efficiency->parallel), "load_balance", json_ratio(efficiency->load_balance),
                     "serialisation", json_ratio(efficiency->serialisation), "transfer",
                     json_ratio(efficiency->transfer), "processor", json_ratio(efficiency->processor));
}

/* How a rank waited and ended. */
static json_t *json_summary(struct json *json, uint32_t rank)
{
    const struct analysis *analysis = json->analysis;
    const struct trace_location *location = trace_main_thread(analysis->trace, rank);
    json_t *object = json_pack("{s:i, s:o}", "rank", (int)rank, "waiting_ns",
                               json_ns(analysis->rank_waiting_ns ? analysis->rank_waiting_ns[rank] : 0));
    if (analysis->ranks) {
        const struct rank_summary *summary = &analysis->ranks[rank];
        json_object_update_new(
            object, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "caused_ns", json_ns(summary->caused_ns), "compute_ns",
                              json_ns(summary->compute_ns), "transfer_ns", json_ns(summary->transfer_ns), "mpi_ns",
                              json_ns(summary->mpi_ns), "descheduled_ns", json_ns(summary->descheduled_ns),
                              "blocked_ns", json_ns(summary->blocked_ns)));
    }
    if (location) {
        json_object_set_new(object, "host", json_text(location->host));
        json_object_set_new(object, "end", json_string(ending_name(analysis->trace, location)));
        json_object_set_new(object, "end_detail", json_integer(location->end_detail));
        json_object_set_new(object, "end_ns", json_moment(json, location->end_ns));
        json_object_set_new(object, "lost", json_integer((json_int_t)location->n_dropped));
    }
    return object;
}

static json_t *json_open_wait(struct json *json, uint32_t number)
{
    const struct open_wait *wait = &json->analysis->open_waits[number];
    json_t *meanwhile = json_null();
    if (wait->meanwhile_share > 0) {
        meanwhile = json_place(json, wait->meanwhile_step);
        json_object_set_new(meanwhile, "share", json_ratio(wait->meanwhile_share));
    }
    json_t *other_tag = wait->is_other_sent ? json_integer(wait->other_tag) : json_null();
    return json_pack("{s:i, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:i, s:o, s:o, s:I, s:b, s:o}", "rank", (int)wait->rank,
                     "for_rank", json_rank(wait->for_rank), "unlike_rank", json_rank(wait->unlike_rank), "other_tag",
                     other_tag, "for_finalizing", wait->is_for_finalizing, "for_other_communicator",
                     wait->is_for_other_comm, "call", json_text(wait->call), "file", json_text(wait->file), "line",
                     (int)wait->line, "path", json_text(wait->path), "since_ns", json_moment(json, wait->since_ns),
                     "dur_ns", (json_int_t)wait->dur_ns, "unusual", wait->dur_ns > wait->longest_ns, "meanwhile",
                     meanwhile);
}

static json_t *json_allocation(struct json *json, uint32_t number)
{
    const struct allocation *allocation = &json->analysis->allocations[number];
    json_t *by_rank = json_array();
    for (uint32_t rank = 0; rank < json->analysis->trace->n_ranks; rank++)
        json_array_append_new(by_rank, json_integer((json_int_t)allocation->rank_bytes[rank]));
    return json_pack("{s:o, s:i, s:o, s:o, s:I, s:o}", "file", json_text(allocation->file), "line",
                     (int)allocation->line, "routine", json_text(allocation->routine), "through",
                     json_text(allocation->through), "bytes", (json_int_t)allocation->bytes, "rank_bytes", by_rank);
}

static json_t *json_critical_step(struct json *json, uint32_t number)
{
    const struct critical_step *step = &json->analysis->critical[number];
    return json_pack("{s:o, s:o, s:o, s:i, s:o}", "name", json_step_name(json, step->step), "on_path_ns",
                     json_ns(step->on_path_ns), "mean_ns", json_ns(step->mean_ns), "rank", (int)step->rank, "rank_ns",
                     json_ns(step->rank_ns));
}

/* Who made whom wait, pairs with a share of it, the largest first. */
static json_t *json_matrix(struct json *json)
{
    enum { PAIRS_SHOWN = 1500 };
    const struct wait_matrix *matrix = &json->analysis->matrix;
    uint32_t n_cells = matrix->n_groups * matrix->n_groups;
    const uint32_t *order = order_falling(&json->scratch, matrix->ns, n_cells);
    double left_ns = 0;
    uint32_t n = 0;
    while (n < n_cells && matrix->ns[order[n]] >= 0.5)
        n++;
    uint32_t n_shown = json_n_shown(json, n, PAIRS_SHOWN);
    json_t *pairs = json_array();
    for (uint32_t i = 0; i < n_shown; i++)
        json_array_append_new(pairs, json_pack("[i, i, o]", (int)(order[i] / matrix->n_groups),
                                               (int)(order[i] % matrix->n_groups), json_ns(matrix->ns[order[i]])));
    for (uint32_t i = n_shown; i < n; i++)
        left_ns += matrix->ns[order[i]];
    json_t *object = json_pack("{s:i, s:o}", "group_size", (int)matrix->group_size, "pairs", pairs);
    json_leave_out(object, "pairs", n - n_shown, llround(left_ns));
    return object;
}

static json_t *json_notes(struct json *json)
{
    enum { NOTES_SHOWN = 60 };
    json_t *notes = json_array();
    const struct sentences parts[] = {ending_hang(&json->book), ending_rest(&json->book)};
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        for (uint32_t i = 0; i < json_n_shown(json, parts[part].n, NOTES_SHOWN); i++)
            json_array_append_new(notes, json_text(parts[part].at[i]));
    return notes;
}

static json_t *json_clocks(const struct trace_clocks *clocks)
{
    return json_pack("{s:b, s:b, s:I, s:I, s:I, s:I}", "measured", clocks->measured, "aligned", clocks->aligned,
                     "violations", (json_int_t)clocks->n_violations, "largest_violation_ns",
                     (json_int_t)clocks->largest_violation_ns, "repaired", (json_int_t)clocks->n_repaired, "error_ns",
                     (json_int_t)clocks->error_ns);
}

/* Whole already (result/whole.h), so that they add up. */
static void json_take_waiting(struct json *json)
{
    const struct analysis *analysis = json->analysis;
    json->cause_ns = arena_array(&json->arena, int64_t, analysis->n_causes);
    json->site_ns = arena_array(&json->arena, int64_t, analysis->n_sites);
    json->machine_ns = llround(analysis->machine.waiting_ns);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        json->cause_ns[i] = llround(analysis->causes[i].waiting_ns);
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        json->site_ns[i] = llround(analysis->sites[i].waiting_ns);
}

static json_t *json_routines(const struct analysis *analysis, const struct profile *profile);
static json_t *json_uncalled(const struct profile *profile);

static json_t *json_analysis(struct json *json, const struct json_options *options)
{
    const struct analysis *analysis = json->analysis;
    const struct trace *trace = analysis->trace;
    uint64_t n_lost = 0;
    for (uint32_t i = 0; i < trace->n_locations; i++)
        n_lost += trace->locations[i].n_dropped;
    const char *run = trace->run_dir ? trace->run_dir : trace->path;
    json_t *object =
        json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "version",
                  JSON_VERSION, "tool", "whywait " WHYWAIT_VERSION, "program", json_text(trace->program), "command",
                  json_text(trace->command), "run", json_text(run ? label_base_name(run) : NULL), "recorded_ns",
                  trace->realtime_ns ? json_integer((json_int_t)trace->realtime_ns) : json_null(), "recorder",
                  json_text(trace->recorder), "ranks", (int)trace->n_ranks, "duration_ns",
                  json_ns(analysis->efficiency.wall_ns), "waiting_ns", json_ns(analysis->waiting_ns), "unexplained_ns",
                  json_ns(analysis->unexplained_ns), "mpi_calls", (json_int_t)analysis->n_mpi_calls, "polls",
                  (json_int_t)analysis->n_polls, "events", (json_int_t)analysis->n_events, "lost", (json_int_t)n_lost);
    json_object_set_new(object, "sections", json_integer(analysis->n_sections));
    json_object_set_new(object, "title", json_text(trace_title(trace)));
    json_object_set_new(object, "contradictions", json_integer(analysis->n_contradictions));
    json_object_set_new(object, "efficiency", json_efficiency(&analysis->efficiency));
    json_object_set_new(object, "answer", json_answer(json));
    json_object_set_new(object, "partitions", json_null());
    json_object_set_new(object, "causes", json_null()); /* lists: their place, as json_print writes them */
    json_object_set_new(object, "machine", json_machine(json));
    json_object_set_new(object, "transfers", json_transfers(json));
    json_object_set_new(object, "outside", json_outside(json));
    json_object_set_new(object, "spinning", json_spinning(json));
    json_object_set_new(object, "sites", json_null());
    json_object_set_new(object, "allocated_bytes", json_integer((json_int_t)analysis->allocated_bytes));
    json_object_set_new(object, "allocations", json_null());
    if (options->routines) {
        json_object_set_new(object, "routines", json_routines(analysis, options->routines));
        json_object_set_new(object, "uncalled_routines", json_uncalled(&analysis->profile));
    }
    json_object_set_new(object, "by_rank", json_null());
    json_object_set_new(object, "who_waits_for_whom", json_matrix(json));
    json_object_set_new(object, "critical_path", json_null());
    json_object_set_new(object, "open_waits", json_null());
    json_object_set_new(object, "deadlock", json_numbers(analysis->deadlock, analysis->n_deadlock));
    json_object_set_new(object, "clocks", json_clocks(&trace->clocks));
    json_object_set_new(object, "notes", json_notes(json));
    return object;
}

/* A list of the report, as it is written: item by item. */
struct json_list {
    const char *key;
    json_t *(*item)(struct json *json, uint32_t number);
    uint32_t n, n_most, only;  /* from 1; 0 = all */
    size_t bytes_most;         /* one item is always shown; unless everything is asked for */
    const int64_t *waiting_ns; /* of the items; NULL = they have none that adds up */
};

/* False when `key` is no list that is made item by item. */
static bool list_find(const struct json *json, const struct json_options *options, const char *key,
                      struct json_list *list)
{
    enum { KB = 1000 };
    const struct analysis *analysis = json->analysis;
    const struct json_list lists[] = {
        {"causes", json_cause, analysis->n_causes, options->n_top, options->cause, 320 * KB, json->cause_ns},
        {"partitions", json_partition, analysis->n_partitions, 0, 0, 40 * KB, NULL},
        {"sites", json_site, analysis->n_sites, options->n_top, options->site, 200 * KB, json->site_ns},
        {"allocations", json_allocation, analysis->n_allocations, 0, 0, 40 * KB, NULL},
        {"by_rank", json_summary, analysis->trace->n_ranks, 0, 0, 250 * KB, NULL},
        {"critical_path", json_critical_step, analysis->n_critical, 0, 0, 40 * KB, NULL},
        {"open_waits", json_open_wait, analysis->n_open_waits, 0, 0, 40 * KB, NULL},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!strcmp(key, lists[i].key)) {
            *list = lists[i];
            return true;
        }
    return false;
}

static bool write_list(struct json *json, FILE *out, const struct json_list *list)
{
    const char *before = "[\n  ";
    uint32_t n_most = list->n_most && list->n_most < list->n ? list->n_most : list->n, n_left = 0;
    int64_t left_ns = list->waiting_ns ? 0 : -1;
    bool ok = true, is_full = false;
    size_t n_bytes = 0;
    for (uint32_t i = 0; i < list->n && ok; i++) {
        bool is_wanted = list->only ? i + 1 == list->only : i < n_most;
        if (is_wanted && !is_full) {
            json_t *item = list->item(json, i);
            char *text = json_dumps(item, JSON_COMPACT | JSON_REAL_PRECISION(12));
            size_t length = text ? strlen(text) : 0;
            is_full = !json->has_all && n_bytes && n_bytes + length > list->bytes_most;
            if (!is_full)
                ok = text && fputs(before, out) != EOF && fputs(text, out) != EOF;
            n_bytes += length;
            before = ",\n  ";
            json_decref(item);
            free(text);
            arena_release(&json->scratch);
        }
        if (!is_wanted || is_full) {
            n_left++;
            left_ns += list->waiting_ns ? list->waiting_ns[i] : 0;
        }
    }
    json_leave_out(json->rest, list->key, n_left, left_ns);
    return fputs(n_bytes ? "\n ]" : "[]", out) != EOF && ok;
}

static struct json json_begin(const struct analysis *analysis, const struct json_options *options)
{
    struct json json = {.analysis = analysis, .has_all = options->all, .rest = json_object()};
    json.labels = arena_array(&json.arena, const char *, analysis->n_steps + 1);
    json_take_waiting(&json);
    return json;
}

static void json_end(struct json *json)
{
    json_decref(json->rest);
    arena_release(&json->scratch);
    arena_release(&json->arena);
}

static bool write_value(struct json *json, const struct json_options *options, FILE *out, const char *key,
                        const json_t *value)
{
    struct json_list list;
    if (list_find(json, options, key, &list))
        return write_list(json, out, &list);
    return !json_dumpf(value, out, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(12));
}

int json_print(FILE *out, const struct analysis *analysis, const struct json_options *options)
{
    struct json json = json_begin(analysis, options);
    json.book = (struct label_book){&json.scratch, analysis, false, false};
    json_t *object = json_analysis(&json, options), *value;
    const char *key, *before = "{";
    bool ok = true;
    json_object_foreach(object, key, value)
    {
        ok = ok && fprintf(out, "%s\n \"%s\": ", before, key) > 0 && write_value(&json, options, out, key, value);
        before = ",";
    }
    /* What the lists left out is known when they are written. */
    if ((value = json_object_get(json.rest, "left_out")))
        ok = ok && fputs(",\n \"left_out\": ", out) != EOF && write_value(&json, options, out, "left_out", value);
    ok = ok && fputs("\n}\n", out) != EOF;
    if (!ok)
        error("cannot write the JSON report: %s", strerror(errno));
    json_decref(object);
    json_end(&json);
    return ok ? 0 : -1;
}

bool json_visit(const struct analysis *analysis, const struct json_options *options, const char *field,
                void (*visit)(void *context, json_t *item), void *context)
{
    struct json json = json_begin(analysis, options);
    struct json_list list = {0};
    json.book = (struct label_book){&json.scratch, analysis, false, false};
    json_t *object = json_analysis(&json, options), *value = json_object_get(object, field);
    if (list_find(&json, options, field, &list))
        for (uint32_t i = 0; i < list.n; i++) {
            json_t *item = list.item(&json, i);
            visit(context, item);
            json_decref(item);
            arena_release(&json.scratch);
        }
    else if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value); i++)
            visit(context, json_array_get(value, i));
    else if (value)
        visit(context, value);
    json_decref(object);
    json_end(&json);
    return value != NULL;
}

static json_t *ranks_ns(const double *ns, uint32_t n_ranks)
{
    json_t *ranks = json_array();
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        json_array_append_new(ranks, json_integer(llround(ns[rank])));
    return ranks;
}

/* Fields whose names tell the unit. */
static const struct routine_keys {
    const char *total, *self, *rank_total, *rank_self, *below;
} time_keys = {"total_ns", "self_ns", "rank_total_ns", "rank_self_ns", "below_ns"},
  byte_keys = {"total_bytes", "self_bytes", "rank_total_bytes", "rank_self_bytes", "below_bytes"};

static json_t *json_routine(const struct routine_profile *routine, uint32_t number, uint32_t n_ranks,
                            const struct routine_keys *keys)
{
    return json_pack("{s:i, s:o, s:o, s:i, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:o, s:o, s:[], s:[]}", "number",
                     (int)number, "routine", json_text(routine->name), "file", json_text(routine->file), "line",
                     (int)routine->line, "mpi", routine->is_mpi, keys->total, (json_int_t)llround(routine->total_ns),
                     keys->self, (json_int_t)llround(routine->self_ns), "calls", (json_int_t)routine->calls,
                     "calls_by_itself", (json_int_t)routine->calls_by_itself, "calls_from_unknown",
                     (json_int_t)routine->calls_from_unknown, "calls_to_unknown", (json_int_t)routine->calls_to_unknown,
                     "cycle", (int)routine->cycle, keys->rank_total, ranks_ns(routine->rank_total_ns, n_ranks),
                     keys->rank_self, ranks_ns(routine->rank_self_ns, n_ranks), "called_by", "calls_to");
}

static void add_arc(json_t *routines, uint32_t of, const char *list, uint32_t partner, const struct routine_arc *arc,
                    const struct routine_keys *keys)
{
    json_t *object =
        json_pack("{s:i, s:I, s:I, s:I}", "number", (int)partner, "calls", (json_int_t)arc->calls, keys->self,
                  (json_int_t)llround(arc->self_ns), keys->below, (json_int_t)llround(arc->below_ns));
    json_array_append_new(json_object_get(json_array_get(routines, of), list), object);
}

/* A new reference. Names that are no UTF-8 are escaped. */
static json_t *json_routines(const struct analysis *analysis, const struct profile *profile)
{
    const struct routine_keys *keys = profile->is_bytes ? &byte_keys : &time_keys;
    json_t *routines = json_array();
    for (uint32_t i = 0; i < profile->n_routines; i++)
        json_array_append_new(routines, json_routine(&profile->routines[i], i, analysis->trace->n_ranks, keys));
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        add_arc(routines, arc->to, "called_by", arc->from, arc, keys);
        add_arc(routines, arc->from, "calls_to", arc->to, arc, keys);
    }
    return routines;
}

static json_t *json_uncalled(const struct profile *profile)
{
    json_t *uncalled = json_array();
    for (uint32_t i = 0; i < profile->n_uncalled; i++)
        json_array_append_new(uncalled,
                              json_pack("{s:o, s:o, s:i}", "routine", json_text(profile->uncalled[i].name), "file",
                                        json_text(profile->uncalled[i].file), "line", (int)profile->uncalled[i].line));
    return uncalled;
}
