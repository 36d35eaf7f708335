/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report as one JSON object. Causes and sites, which a long run of a large program has tens of megabytes of, are
 * made and written one by one, each on a line of its own.
 */
#include "analyze/out/json.h"
#include "analyze/out/amount.h"
#include "analyze/out/ending.h"
#include "analyze/out/explain.h"
#include "analyze/out/label.h"
#include "analyze/out/space.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

struct json {
    struct arena arena;
    struct arena scratch; /* of one cause or site */
    struct label_book book;
    const char **labels; /* of steps, when they have been asked for */
    const struct analysis *analysis;
    const struct json_options *options;
    int64_t *cause_ns, *site_ns, machine_ns; /* apportioned */
};

static json_t *json_ratio(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_ns(double ns)
{
    return json_integer(llround(ns));
}

static uint64_t since_start(const struct analysis *analysis, uint64_t time_ns)
{
    return time_ns > analysis->trace->start_ns ? time_ns - analysis->trace->start_ns : 0;
}

static json_t *json_step_name(struct json *json, uint32_t step)
{
    if (!json->labels[step])
        json->labels[step] = label_step(&json->book, step);
    return json_text(json->labels[step]);
}

static json_t *json_step(struct json *json, const struct class_step *step)
{
    static const char *const states[] = {"computing", "descheduled", "blocked", "transfer", "mpi", "unknown"};
    const struct step *where = &json->analysis->steps[step->step];
    return json_pack("{s:o, s:s, s:b, s:o, s:i, s:i, s:o, s:i, s:o, s:o, s:b, s:b, s:I}", "name",
                     json_step_name(json, step->step), "state", states[where->state], "loop", where->is_loop, "file",
                     json_text(where->file), "line_first", (int)where->line_first, "line_last", (int)where->line_last,
                     "routine", json_text(where->routine), "rank", (int)step->rank, "duration_ns",
                     json_ns(step->dur_ns), "blame_ns", json_ns(step->blame_ns), "long_term", step->is_long_term,
                     "redundant", step->is_redundant, "executions", (json_int_t)step->executions);
}

static json_t *json_class(struct json *json, const struct wait_class *class, int64_t waiting_ns)
{
    const struct when *when = &class->when;
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "number", (int)class->number, "instances",
                     (json_int_t) class->n_instances, "waiting_ns", (json_int_t)waiting_ns, "first_ns",
                     (json_int_t)since_start(json->analysis, when->first_ns), "last_ns",
                     (json_int_t)since_start(json->analysis, when->last_ns), "smallest_ns", json_ns(when->smallest_ns),
                     "largest_ns", json_ns(when->largest_ns), "deviation_ns", json_ns(when->deviation_ns));
}

/* Waiting in equal parts of the run. */
static json_t *json_when(const struct cause *cause)
{
    json_t *parts = json_array();
    for (int i = 0; i < WHEN_PARTS; i++)
        json_array_append_new(parts, json_ns(cause->when_ns[i]));
    return parts;
}

/* Integer waiting times of a site's classes. */
static int64_t *class_times(struct json *json, uint32_t number)
{
    const struct wait_site *site = &json->analysis->sites[number];
    double *values = arena_array(&json->scratch, double, site->n_classes);
    int64_t *times = arena_array(&json->scratch, int64_t, site->n_classes);
    for (uint32_t i = 0; i < site->n_classes; i++)
        values[i] = site->classes[i].waiting_ns;
    amount_apportion(values, site->n_classes, json->site_ns[number], times);
    return times;
}

static json_t *json_site_head(struct json *json, uint32_t number, int64_t waiting_ns)
{
    const struct wait_site *site = &json->analysis->sites[number];
    return json_pack("{s:i, s:o, s:o, s:i, s:o, s:o, s:o, s:s, s:I, s:I}", "site", (int)number + 1, "call",
                     json_text(site->call), "file", json_text(site->file), "line", (int)site->line, "routine",
                     json_text(site->routine), "path", json_text(site->path), "through", json_text(site->through),
                     "wait", wait_kind_name(site->kind), "waiting_ns", (json_int_t)waiting_ns, "instances",
                     (json_int_t)site->n_instances);
}

static bool is_blamed(const struct cause_site *at, uint32_t number)
{
    for (uint32_t i = 0; i < at->n_classes; i++)
        if (at->classes[i] == number)
            return true;
    return false;
}

/* A site below a cause: all classes of the site, those in which the cause has a part marked. */
static json_t *json_cause_site(struct json *json, const struct cause_site *at, int64_t waiting_ns)
{
    const struct wait_site *site = &json->analysis->sites[at->site];
    json_t *object = json_site_head(json, at->site, waiting_ns), *classes = json_array();
    int64_t *times = class_times(json, at->site);
    for (uint32_t i = 0; i < site->n_classes; i++) {
        json_t *class = json_class(json, &site->classes[i], times[i]);
        json_object_set_new(class, "blamed", json_boolean(is_blamed(at, site->classes[i].number)));
        json_array_append_new(classes, class);
    }
    json_object_set_new(object, "instances_blamed", json_integer((json_int_t)at->n_instances));
    json_object_set_new(object, "classes", classes);
    return object;
}

static json_t *json_cause_sites(struct json *json, const struct cause_site *at, uint32_t n, int64_t waiting_ns)
{
    json_t *sites = json_array();
    double *values = arena_array(&json->scratch, double, n);
    int64_t *times = arena_array(&json->scratch, int64_t, n);
    for (uint32_t i = 0; i < n; i++)
        values[i] = at[i].waiting_ns;
    amount_apportion(values, n, waiting_ns, times);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(sites, json_cause_site(json, &at[i], times[i]));
    return sites;
}

static json_t *json_kinds(const struct cause *cause)
{
    json_t *kinds = json_object();
    for (int kind = 0; kind < KIND_N; kind++)
        if (cause->kind_ns[kind] >= 0.5)
            json_object_set_new(kinds, cause_kind_name((enum cause_kind)kind), json_ns(cause->kind_ns[kind]));
    return kinds;
}

static json_t *json_rank_numbers(const struct cause_rank *late, uint32_t n)
{
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(ranks, json_integer(late[i].rank));
    return ranks;
}

/* Late ranks and, for comparison, the others. */
static json_t *json_partings(const struct cause *cause)
{
    static const char *const kinds[] = {
        [PARTING_TRIPS] = "trips", [PARTING_BRANCH] = "branch", [PARTING_RECURSION] = "recursion"};
    json_t *partings = json_array();
    for (uint32_t i = 0; i < cause->n_partings; i++) {
        const struct parting *at = &cause->partings[i];
        json_array_append_new(
            partings, json_pack("{s:s, s:b, s:o, s:o, s:i, s:i, s:i, s:f, s:f, s:f}", "kind", kinds[at->kind], "itself",
                                at->is_itself, "routine", json_text(at->routine), "file", json_text(at->file),
                                "line_first", (int)at->line_first, "line_last", (int)at->line_last, "line_to",
                                (int)at->line_to, "late", at->late, "others", at->others, "share", at->share));
    }
    return partings;
}

static json_t *json_cause_by_rank(const struct cause *cause)
{
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < cause->n_ranks + cause->n_others; i++) {
        bool is_late = i < cause->n_ranks;
        const struct cause_rank *rank = is_late ? &cause->ranks[i] : &cause->others[i - cause->n_ranks];
        double cost_ns = rank->executions ? rank->computing_ns / (double)rank->executions : NAN;
        double error_ns = rank->cost_error > 0 ? rank->cost_error * cost_ns : NAN;
        json_array_append_new(ranks,
                              json_pack("{s:i, s:b, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:I}", "rank",
                                        (int)rank->rank, "late", is_late, "blame_ns", json_ns(rank->blame_ns),
                                        "time_ns", json_ns(rank->time_ns), "computing_ns", json_ns(rank->computing_ns),
                                        "threads", json_ratio(rank->threads > 0 ? rank->threads : NAN), "executions",
                                        (json_int_t)rank->executions, "instructions", (json_int_t)rank->instructions,
                                        "cost_ns", json_ratio(cost_ns), "cost_error_ns", json_ratio(error_ns), "bytes",
                                        (json_int_t)rank->bytes, "file_bytes", (json_int_t)rank->file_bytes));
    }
    return ranks;
}

static json_t *json_cause_files(const struct cause *cause)
{
    json_t *files = json_array();
    for (uint32_t i = 0; i < cause->n_files; i++)
        json_array_append_new(files, json_pack("{s:o, s:I}", "name", json_text(cause->files[i].name), "bytes",
                                               (json_int_t)cause->files[i].bytes));
    return files;
}

/* The fields that tell a place in the code. */
static json_t *json_place(struct json *json, uint32_t step)
{
    const struct step *where = &json->analysis->steps[step];
    return json_pack("{s:o, s:b, s:o, s:i, s:i, s:o}", "name", json_step_name(json, step), "loop", where->is_loop,
                     "file", json_text(where->file), "line_first", (int)where->line_first, "line_last",
                     (int)where->line_last, "routine", json_text(where->routine));
}

static json_t *json_part_by_rank(const struct cause_part *part)
{
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < part->n_ranks; i++)
        json_array_append_new(ranks,
                              json_pack("{s:i, s:o, s:o}", "rank", (int)part->ranks[i].rank, "blame_ns",
                                        json_ns(part->ranks[i].blame_ns), "time_ns", json_ns(part->ranks[i].time_ns)));
    return ranks;
}

/* Own parts are apportioned, and each part's waiting is the sum of what is inside it. */
static json_t *json_parts(struct json *json, const struct cause *cause, int64_t waiting_ns)
{
    json_t *parts = json_array();
    double *values = arena_array(&json->scratch, double, cause->n_parts);
    int64_t *own_ns = arena_array(&json->scratch, int64_t, cause->n_parts);
    for (uint32_t i = 0; i < cause->n_parts; i++)
        values[i] = cause->parts[i].own_ns;
    amount_apportion(values, cause->n_parts, waiting_ns, own_ns);
    for (uint32_t i = 0; i < cause->n_parts; i++) {
        const struct cause_part *part = &cause->parts[i];
        int64_t below_ns = own_ns[i];
        for (uint32_t k = i + 1; k < cause->n_parts && cause->parts[k].depth > part->depth; k++)
            below_ns += own_ns[k];
        json_t *object = json_place(json, part->step);
        json_object_set_new(object, "depth", json_integer(part->depth));
        json_object_set_new(object, "call_line", json_integer(part->call_line));
        json_object_set_new(object, "waiting_ns", json_integer(below_ns));
        json_object_set_new(object, "own_ns", json_integer(own_ns[i]));
        json_object_set_new(object, "by_rank", json_part_by_rank(part));
        json_array_append_new(parts, object);
    }
    return parts;
}

static json_t *json_rank(uint32_t rank)
{
    return rank == TRACE_NONE ? json_null() : json_integer(rank);
}

static json_t *json_cause(struct json *json, uint32_t number)
{
    const struct cause *cause = &json->analysis->causes[number];
    json_t *object = json_place(json, cause->step);
    json_object_set_new(object, "name", json_text(label_cause(&json->book, number)));
    json_object_set_new(object, "cause", json_integer(number + 1));
    json_object_set_new(object, "ranks", json_rank_numbers(cause->ranks, cause->n_late));
    json_object_set_new(object, "waiting_ns", json_integer(json->cause_ns[number]));
    json_object_set_new(object, "share", json_real(cause->share));
    json_object_set_new(object, "kind", json_string(cause_kind_name(cause->kind)));
    json_object_set_new(object, "kinds", json_kinds(cause));
    json_object_set_new(object, "direct_ns", json_ns(fmin(cause->direct_ns, (double)json->cause_ns[number])));
    json_object_set_new(object, "inferred_ns", json_ns(cause->inferred_ns));
    json_object_set_new(object, "if_balanced_ns", json_ns(cause->if_balanced_ns));
    json_object_set_new(object, "if_gone_ns", json_ns(cause->if_gone_ns));
    json_object_set_new(object, "last_rank", json_rank(cause->last_rank));
    json_object_set_new(object, "explanation", json_text(explain_cause(&json->arena, cause)));
    json_object_set_new(object, "partings", json_partings(cause));
    json_object_set_new(object, "parts", json_parts(json, cause, json->cause_ns[number]));
    json_object_set_new(object, "next", json_text(explain_next(&json->arena, json->analysis, cause)));
    json_object_set_new(object, "when_ns", json_when(cause));
    json_object_set_new(object, "files", json_cause_files(cause));
    json_object_set_new(object, "by_rank", json_cause_by_rank(cause));
    json_object_set_new(object, "sites", json_cause_sites(json, cause->sites, cause->n_sites, json->cause_ns[number]));
    return object;
}

/* Ranks that were ready to run but had no CPU. */
static json_t *json_machine(struct json *json)
{
    const struct machine *machine = &json->analysis->machine;
    json_t *by_rank = json_array(), *places = json_array();
    double *values = arena_array(&json->scratch, double, machine->n_places);
    int64_t *place_ns = arena_array(&json->scratch, int64_t, machine->n_places);
    for (uint32_t i = 0; i < machine->n_places; i++)
        values[i] = machine->places[i].waiting_ns;
    amount_apportion(values, machine->n_places, json->machine_ns, place_ns);
    for (uint32_t i = 0; i < machine->n_ranks; i++)
        json_array_append_new(by_rank, json_pack("{s:i, s:o, s:o}", "rank", (int)machine->ranks[i].rank, "blame_ns",
                                                 json_ns(machine->ranks[i].blame_ns), "descheduled_ns",
                                                 json_ns(machine->ranks[i].time_ns)));
    for (uint32_t i = 0; i < machine->n_places; i++) {
        json_t *place = json_place(json, machine->places[i].step);
        json_object_set_new(place, "waiting_ns", json_integer(place_ns[i]));
        json_array_append_new(places, place);
    }
    return json_pack("{s:I, s:f, s:o, s:o, s:o, s:o}", "waiting_ns", (json_int_t)json->machine_ns, "share",
                     machine->share, "ranks", json_rank_numbers(machine->ranks, machine->n_late), "by_rank", by_rank,
                     "places", places, "sites",
                     json_cause_sites(json, machine->sites, machine->n_sites, json->machine_ns));
}

/* A site with everything known of it, down to the steps of its classes. */
static json_t *json_site(struct json *json, uint32_t number)
{
    const struct wait_site *site = &json->analysis->sites[number];
    json_t *object = json_site_head(json, number, json->site_ns[number]);
    json_t *by_rank = json_array(), *classes = json_array();
    for (uint32_t rank = 0; site->rank_waiting_ns && rank < json->analysis->trace->n_ranks; rank++)
        json_array_append_new(by_rank, json_ns(site->rank_waiting_ns[rank]));
    int64_t *times = class_times(json, number);
    for (uint32_t i = 0; i < site->n_classes; i++) {
        json_t *class = json_class(json, &site->classes[i], times[i]), *steps = json_array();
        for (uint32_t k = 0; k < site->classes[i].n_steps; k++)
            json_array_append_new(steps, json_step(json, &site->classes[i].steps[k]));
        json_object_set_new(class, "steps", steps);
        json_array_append_new(classes, class);
    }
    json_object_set_new(object, "rank_waiting_ns", by_rank);
    json_object_set_new(object, "classes", classes);
    return object;
}

static json_t *json_efficiency(const struct efficiency *efficiency)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "all_ns",
                     json_ns(efficiency->all_ns), "compute_ns", json_ns(efficiency->compute_ns), "waiting_ns",
                     json_ns(efficiency->waiting_ns), "transfer_ns", json_ns(efficiency->transfer_ns), "mpi_ns",
                     json_ns(efficiency->mpi_ns), "descheduled_ns", json_ns(efficiency->descheduled_ns), "blocked_ns",
                     json_ns(efficiency->blocked_ns), "unrecorded_ns", json_ns(efficiency->unrecorded_ns), "ended_ns",
                     json_ns(efficiency->ended_ns), "parallel", json_ratio(efficiency->parallel), "load_balance",
                     json_ratio(efficiency->load_balance), "serialisation", json_ratio(efficiency->serialisation),
                     "transfer", json_ratio(efficiency->transfer), "processor", json_ratio(efficiency->processor));
}

/* How each rank waited and ended. */
static json_t *json_by_rank(struct json *json)
{
    const struct analysis *analysis = json->analysis;
    json_t *ranks = json_array();
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
        const struct trace_location *location = ending_main_thread(analysis->trace, rank);
        json_t *object = json_pack("{s:i, s:o}", "rank", (int)rank, "waiting_ns",
                                   json_ns(analysis->rank_waiting_ns ? analysis->rank_waiting_ns[rank] : 0));
        if (analysis->ranks) {
            const struct rank_summary *summary = &analysis->ranks[rank];
            json_object_update_new(
                object, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "caused_ns", json_ns(summary->caused_ns),
                                  "compute_ns", json_ns(summary->compute_ns), "transfer_ns",
                                  json_ns(summary->transfer_ns), "mpi_ns", json_ns(summary->mpi_ns), "descheduled_ns",
                                  json_ns(summary->descheduled_ns), "blocked_ns", json_ns(summary->blocked_ns)));
        }
        if (location) {
            json_object_set_new(object, "host", json_text(location->host));
            json_object_set_new(object, "end", json_string(ending_name(analysis->trace, location)));
            json_object_set_new(object, "end_detail", json_integer(location->end_detail));
            json_object_set_new(object, "end_ns", json_integer((json_int_t)since_start(analysis, location->end_ns)));
            json_object_set_new(object, "lost", json_integer((json_int_t)location->n_dropped));
        }
        json_array_append_new(ranks, object);
    }
    return ranks;
}

static json_t *json_open_waits(struct json *json)
{
    json_t *waits = json_array();
    for (uint32_t i = 0; i < json->analysis->n_open_waits; i++) {
        const struct open_wait *wait = &json->analysis->open_waits[i];
        json_t *whom = json_rank(wait->for_rank);
        json_array_append_new(waits, json_pack("{s:i, s:o, s:o, s:o, s:i, s:I}", "rank", (int)wait->rank, "for_rank",
                                               whom, "call", json_text(wait->call), "file", json_text(wait->file),
                                               "line", (int)wait->line, "since_ns",
                                               (json_int_t)since_start(json->analysis, wait->since_ns)));
    }
    return waits;
}

/* Who made whom wait, pairs with a share of it. */
static json_t *json_matrix(const struct wait_matrix *matrix)
{
    json_t *pairs = json_array();
    for (uint32_t waiting = 0; waiting < matrix->n_groups; waiting++)
        for (uint32_t late = 0; late < matrix->n_groups; late++) {
            double ns = matrix->ns[(size_t)waiting * matrix->n_groups + late];
            if (ns >= 0.5)
                json_array_append_new(pairs, json_pack("[i, i, o]", (int)waiting, (int)late, json_ns(ns)));
        }
    return json_pack("{s:i, s:o}", "group_size", (int)matrix->group_size, "pairs", pairs);
}

static json_t *json_critical(struct json *json)
{
    json_t *steps = json_array();
    for (uint32_t i = 0; i < json->analysis->n_critical; i++) {
        const struct critical_step *step = &json->analysis->critical[i];
        json_array_append_new(steps,
                              json_pack("{s:o, s:o, s:o, s:i, s:o}", "name", json_step_name(json, step->step),
                                        "on_path_ns", json_ns(step->on_path_ns), "mean_ns", json_ns(step->mean_ns),
                                        "rank", (int)step->rank, "rank_ns", json_ns(step->rank_ns)));
    }
    return steps;
}

static json_t *json_deadlock(struct json *json)
{
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < json->analysis->n_deadlock; i++)
        json_array_append_new(ranks, json_integer(json->analysis->deadlock[i]));
    return ranks;
}

static json_t *json_notes(struct json *json)
{
    json_t *notes = json_array();
    const struct sentences parts[] = {ending_hang(&json->book), ending_rest(&json->book)};
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        for (uint32_t i = 0; i < parts[part].n; i++)
            json_array_append_new(notes, json_text(parts[part].at[i]));
    return notes;
}

static json_t *json_clocks(const struct trace_clocks *clocks)
{
    return json_pack("{s:b, s:b, s:I, s:I, s:I}", "measured", clocks->measured, "aligned", clocks->aligned,
                     "violations", (json_int_t)clocks->n_violations, "largest_violation_ns",
                     (json_int_t)clocks->largest_violation_ns, "repaired", (json_int_t)clocks->n_repaired);
}

static void json_apportion(struct json *json)
{
    const struct analysis *analysis = json->analysis;
    uint32_t n_most = analysis->n_causes > analysis->n_sites ? analysis->n_causes : analysis->n_sites;
    double *values = arena_array(&json->arena, double, n_most + 1);
    json->cause_ns = arena_array(&json->arena, int64_t, analysis->n_causes + 1);
    json->site_ns = arena_array(&json->arena, int64_t, analysis->n_sites);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        values[i] = analysis->causes[i].waiting_ns;
    values[analysis->n_causes] = analysis->machine.waiting_ns;
    amount_apportion(values, analysis->n_causes + 1, llround(analysis->waiting_ns), json->cause_ns);
    json->machine_ns = json->cause_ns[analysis->n_causes];
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        values[i] = analysis->sites[i].waiting_ns;
    amount_apportion(values, analysis->n_sites, llround(analysis->waiting_ns), json->site_ns);
}

static json_t *json_analysis(struct json *json)
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
    json_object_set_new(object, "contradictions", json_integer(analysis->n_contradictions));
    json_object_set_new(object, "efficiency", json_efficiency(&analysis->efficiency));
    json_object_set_new(object, "causes", json_null()); /* their place, as json_print writes them */
    json_object_set_new(object, "machine", json_machine(json));
    json_object_set_new(object, "sites", json_null());
    json_object_set_new(object, "allocated_bytes", json_integer((json_int_t)analysis->allocated_bytes));
    json_object_set_new(object, "allocations", json_space(analysis));
    if (json->options->routines)
        json_object_set_new(object, "routines", json_routines(analysis, json->options->routines));
    json_object_set_new(object, "by_rank", json_by_rank(json));
    json_object_set_new(object, "who_waits_for_whom", json_matrix(&json->analysis->matrix));
    json_object_set_new(object, "critical_path", json_critical(json));
    json_object_set_new(object, "open_waits", json_open_waits(json));
    json_object_set_new(object, "deadlock", json_deadlock(json));
    json_object_set_new(object, "clocks", json_clocks(&trace->clocks));
    json_object_set_new(object, "notes", json_notes(json));
    return object;
}

struct json_list {
    const char *key;
    json_t *(*item)(struct json *json, uint32_t number);
    uint32_t n, only; /* 0 = all */
};

static bool list_shows(const struct json *json, const struct json_list *list, uint32_t i)
{
    return list->only ? i + 1 == list->only : !json->options->n_top || i < json->options->n_top;
}

/* False when `key` is no list that is made item by item. */
static bool list_find(const struct json *json, const char *key, struct json_list *list)
{
    const struct json_list lists[] = {{"causes", json_cause, json->analysis->n_causes, json->options->cause},
                                      {"sites", json_site, json->analysis->n_sites, json->options->site}};
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
    bool ok = true;
    for (uint32_t i = 0; i < list->n && ok; i++) {
        if (!list_shows(json, list, i))
            continue;
        json_t *item = list->item(json, i);
        ok = fputs(before, out) != EOF && !json_dumpf(item, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
        json_decref(item);
        arena_release(&json->scratch);
        before = ",\n  ";
    }
    return fputs(*before == '[' ? "[]" : "\n ]", out) != EOF && ok;
}

static struct json json_begin(const struct analysis *analysis, const struct json_options *options)
{
    struct json json = {.analysis = analysis, .options = options};
    json.labels = arena_array(&json.arena, const char *, analysis->n_steps + 1);
    json_apportion(&json);
    return json;
}

static void json_end(struct json *json)
{
    arena_release(&json->scratch);
    arena_release(&json->arena);
}

int json_print(FILE *out, const struct analysis *analysis, const struct json_options *options)
{
    struct json json = json_begin(analysis, options);
    struct json_list list;
    json.book = (struct label_book){&json.arena, analysis, false, false};
    json_t *object = json_analysis(&json), *value;
    const char *key, *before = "{";
    bool ok = true;
    json_object_foreach(object, key, value)
    {
        ok = ok && fprintf(out, "%s\n \"%s\": ", before, key) > 0 &&
             (list_find(&json, key, &list)
                  ? write_list(&json, out, &list)
                  : !json_dumpf(value, out, JSON_ENCODE_ANY | JSON_INDENT(1) | JSON_REAL_PRECISION(12)));
        before = ",";
    }
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
    json.book = (struct label_book){&json.arena, analysis, false, false};
    json_t *object = json_analysis(&json), *value = json_object_get(object, field);
    if (list_find(&json, field, &list))
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

static json_t *json_routine(const struct routine_profile *routine, uint32_t number, uint32_t n_ranks)
{
    return json_pack("{s:i, s:o, s:o, s:i, s:b, s:I, s:I, s:I, s:I, s:I, s:i, s:o, s:o, s:[], s:[]}", "number",
                     (int)number, "routine", json_text(routine->name), "file", json_text(routine->file), "line",
                     (int)routine->line, "mpi", routine->is_mpi, "total_ns", (json_int_t)llround(routine->total_ns),
                     "self_ns", (json_int_t)llround(routine->self_ns), "calls", (json_int_t)routine->calls,
                     "calls_from_unknown", (json_int_t)routine->calls_from_unknown, "calls_to_unknown",
                     (json_int_t)routine->calls_to_unknown, "cycle", (int)routine->cycle, "rank_total_ns",
                     ranks_ns(routine->rank_total_ns, n_ranks), "rank_self_ns",
                     ranks_ns(routine->rank_self_ns, n_ranks), "called_by", "calls_to");
}

static void add_arc(json_t *routines, uint32_t of, const char *list, uint32_t partner, const struct routine_arc *arc)
{
    json_t *object =
        json_pack("{s:i, s:I, s:I, s:I}", "number", (int)partner, "calls", (json_int_t)arc->calls, "self_ns",
                  (json_int_t)llround(arc->self_ns), "below_ns", (json_int_t)llround(arc->below_ns));
    json_array_append_new(json_object_get(json_array_get(routines, of), list), object);
}

json_t *json_routines(const struct analysis *analysis, const struct profile *profile)
{
    json_t *routines = json_array();
    for (uint32_t i = 0; i < profile->n_routines; i++)
        json_array_append_new(routines, json_routine(&profile->routines[i], i, analysis->trace->n_ranks));
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        add_arc(routines, arc->to, "called_by", arc->from, arc);
        add_arc(routines, arc->from, "calls_to", arc->to, arc);
    }
    return routines;
}

json_t *json_text(const char *text)
{
    json_t *string = text ? json_string(text) : json_null();
    if (string)
        return string;
    struct arena scratch = {0};
    string = json_string(text_escape(&scratch, text));
    arena_release(&scratch);
    return string;
}
