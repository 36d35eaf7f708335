/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/json_cause.h"
#include "analyze/words/amount.h"
#include "analyze/result/whole.h"
#include "analyze/words/explain.h"
#include "analyze/words/next.h"
#include "analyze/words/shortage.h"
#include "analyze/words/headline.h"
#include "analyze/words/ending.h"
#include "analyze/words/when.h"
#include "analyze/verdict/balance.h"
#include <math.h>
#include <stdlib.h>

/* What is shown of each list unless everything is asked for. */
enum {
    LATE_SHOWN = 24,
    OTHERS_SHOWN = 8,
    MEMBERS_SHOWN = 200,
    PARTS_SHOWN = 16,
    PART_RANKS_SHOWN = 8,
    CALLS_SHOWN = 6,
    CLASSES_SHOWN = 4,
    STEPS_SHOWN = 10,
    SMALL_LIST = 8
};

static int64_t sum_of(const int64_t *values, uint32_t from, uint32_t to)
{
    int64_t sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += values[i];
    return sum;
}

/* Sites and their classes. */

static json_t *json_site_head(const struct json *json, uint32_t number, int64_t waiting_ns)
{
    const struct wait_site *site = &json->analysis->sites[number];
    return json_pack("{s:i, s:o, s:o, s:i, s:o, s:o, s:o, s:s, s:s, s:I, s:I, s:I}", "site", (int)number + 1, "call",
                     json_text(site->call), "file", json_text(site->file), "line", (int)site->line, "routine",
                     json_text(site->routine), "path", json_text(site->path), "through", json_text(site->through),
                     "wait", wait_kind_name(site->kind), "wait_text", wait_kind_meaning(site->kind), "waiting_ns",
                     (json_int_t)waiting_ns, "instances", (json_int_t)site->n_instances, "calls",
                     (json_int_t)site->n_calls);
}

static void add_steps(struct json *json, json_t *object, const struct wait_class *class)
{
    static const char *const states[] = {"computing", "descheduled", "blocked", "transfer", "mpi", "unknown"};
    const struct class_steps of_class = json->analysis->class_steps(json->analysis, class, &json->scratch);
    uint32_t n = json_n_shown(json, of_class.n, STEPS_SHOWN);
    json_t *steps = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const struct class_step *step = &of_class.at[i];
        json_t *made = json_place(json, step->step);
        json_object_update_new(made, json_pack("{s:s, s:i, s:o, s:o, s:b, s:b, s:I}", "state",
                                               states[json->analysis->steps[step->step].state], "rank", (int)step->rank,
                                               "duration_ns", json_ns(step->dur_ns), "blame_ns",
                                               json_ns(step->blame_ns), "long_term", step->is_long_term, "redundant",
                                               step->is_redundant, "executions", (json_int_t)step->executions));
        json_array_append_new(steps, made);
    }
    json_object_set_new(object, "steps", steps);
    json_leave_out(object, "steps", of_class.n - n, -1);
}

static json_t *json_class(struct json *json, const struct wait_class *class, int64_t waiting_ns)
{
    const struct when *when = &class->when;
    json_t *object =
        json_pack("{s:i, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:i}", "number", (int)class->number, "instances",
                  (json_int_t) class->n_instances, "waiting_ns", (json_int_t)waiting_ns, "first_ns",
                  json_moment(json, when->first_ns), "last_ns", json_moment(json, when->last_ns), "smallest_ns",
                  json_ns(when->smallest_ns), "largest_ns", json_ns(when->largest_ns), "deviation_ns",
                  json_ns(when->deviation_ns), "every", (int)when->every);
    if (class->nearest)
        json_object_update_new(object, json_pack("{s:i, s:f, s:f}", "nearest", (int)class->nearest, "distance",
                                                 class->distance, "distance_allowed", class->distance_allowed));
    return object;
}

/* The largest, by number. Below a cause (`at`) those in which it has a part are marked, else each has its steps. */
static void add_classes(struct json *json, json_t *object, uint32_t number, const struct cause_site *at)
{
    const struct wait_site *site = &json->analysis->sites[number];
    double *values = arena_array(&json->scratch, double, site->n_classes + 1);
    int64_t *times = arena_array(&json->scratch, int64_t, site->n_classes + 1), left_ns = json->site_ns[number];
    bool *is_shown = arena_array(&json->scratch, bool, site->n_classes + 1);
    uint32_t n = json_n_shown(json, site->n_classes, CLASSES_SHOWN);
    for (uint32_t i = 0; i < site->n_classes; i++)
        values[i] = site->classes[i].waiting_ns;
    whole_apportion(values, site->n_classes, json->site_ns[number], times);
    const uint32_t *order = order_falling(&json->scratch, values, site->n_classes);
    for (uint32_t i = 0; i < n; i++)
        is_shown[order[i]] = true;
    json_t *classes = json_array();
    for (uint32_t i = 0; i < site->n_classes; i++) {
        if (!is_shown[i])
            continue;
        json_t *class = json_class(json, &site->classes[i], times[i]);
        bool is_blamed = false;
        for (uint32_t k = 0; at && k < at->n_classes && !is_blamed; k++)
            is_blamed = at->classes[k] == site->classes[i].number;
        if (at)
            json_object_set_new(class, "blamed", json_boolean(is_blamed));
        else
            add_steps(json, class, &site->classes[i]);
        json_array_append_new(classes, class);
        left_ns -= times[i];
    }
    json_object_set_new(object, "classes", classes);
    json_leave_out(object, "classes", site->n_classes - n, left_ns);
}

static json_t *json_moved(const struct moved *moved)
{
    return moved->n ? json_pack("{s:I, s:I, s:I, s:I}", "n", (json_int_t)moved->n, "bytes", (json_int_t)moved->bytes,
                                "least", (json_int_t)moved->least, "most", (json_int_t)moved->most)
                    : json_null();
}

/* A site with everything known of it, down to the steps of its classes. */
json_t *json_site(struct json *json, uint32_t number)
{
    const struct wait_site *site = &json->analysis->sites[number];
    json_t *object = json_site_head(json, number, json->site_ns[number]);
    json_t *by_rank = json_array(), *partners = json_array();
    for (uint32_t rank = 0; site->rank_waiting_ns && rank < json->analysis->trace->n_ranks; rank++)
        json_array_append_new(by_rank, json_ns(site->rank_waiting_ns[rank]));
    json_object_set_new(object, "rank_waiting_ns", by_rank);
    const struct site_exchange *exchange = &site->exchange;
    for (uint32_t i = 0; i < exchange->n_partners; i++)
        json_array_append_new(partners, json_pack("{s:I, s:I}", "distance", (json_int_t)exchange->partners[i].distance,
                                                  "n", (json_int_t)exchange->partners[i].n));
    json_object_set_new(object, "exchange",
                        json_pack("{s:o, s:o, s:o, s:I, s:i}", "messages", json_moved(&exchange->messages),
                                  "collectives", json_moved(&exchange->collectives), "partners", partners, "others",
                                  (json_int_t)exchange->n_others, "members", (int)exchange->n_members));
    add_classes(json, object, number, NULL);
    return object;
}

/* Sites below a cause or the machine: the classes in which it has a part are marked. */
static void add_cause_sites(struct json *json, json_t *object, const struct cause_site *at, uint32_t n,
                            int64_t waiting_ns)
{
    json_t *sites = json_array();
    double *values = arena_array(&json->scratch, double, n + 1);
    int64_t *times = arena_array(&json->scratch, int64_t, n + 1);
    uint32_t n_shown = json_n_shown(json, n, CALLS_SHOWN);
    for (uint32_t i = 0; i < n; i++)
        values[i] = at[i].waiting_ns;
    whole_apportion(values, n, waiting_ns, times);
    for (uint32_t i = 0; i < n_shown; i++) {
        json_t *site = json_site_head(json, at[i].site, times[i]);
        json_object_set_new(site, "instances_blamed", json_integer((json_int_t)at[i].n_calls));
        json_object_set_new(site, "late_ranks", json_numbers(at[i].late, at[i].n_late));
        json_object_set_new(site, "waiting_ranks", json_numbers(at[i].waiting, at[i].n_waiting));
        add_classes(json, site, at[i].site, &at[i]);
        json_array_append_new(sites, site);
    }
    json_object_set_new(object, "sites", sites);
    json_leave_out(object, "sites", n - n_shown, sum_of(times, n_shown, n));
}

/* Causes. */

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

static void add_partings(const struct json *json, json_t *object, const struct cause *cause)
{
    static const char *const kinds[] = {
        [PARTING_TRIPS] = "trips", [PARTING_BRANCH] = "branch", [PARTING_RECURSION] = "recursion"};
    json_t *partings = json_array();
    uint32_t n = json_n_shown(json, cause->n_partings, SMALL_LIST);
    for (uint32_t i = 0; i < n; i++) {
        const struct parting *at = &cause->partings[i];
        json_array_append_new(
            partings,
            json_pack("{s:s, s:b, s:b, s:o, s:o, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                      "kind", kinds[at->kind], "itself", at->is_itself, "around", at->is_around, "routine",
                      json_text(at->routine), "file", json_text(at->file), "line_first", (int)at->line_first,
                      "line_last", (int)at->line_last, "line_to", (int)at->line_to, "late", at->late, "late_least",
                      at->late_least, "late_most", at->late_most, "others", at->others, "others_least",
                      at->others_least, "others_most", at->others_most, "entered", at->entered, "entered_least",
                      at->entered_least, "entered_most", at->entered_most, "share", at->share));
    }
    json_object_set_new(object, "partings", partings);
    json_leave_out(object, "partings", cause->n_partings - n, -1);
}

static json_t *json_cause_rank(const struct cause_rank *rank, bool is_late)
{
    struct measured worked = cause_rank_worked(rank);
    double cost_ns = rank->executions ? worked.value / (double)rank->executions : NAN;
    double error_ns = worked.error > 0 ? worked.error / worked.value * cost_ns : NAN;
    return json_pack("{s:i, s:b, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:I, s:I}", "rank",
                     (int)rank->rank, "late", is_late, "blame_ns", json_ns(rank->blame_ns), "time_ns",
                     json_ns(rank->time_ns), "computing_ns", json_ns(rank->computing_ns), "threads",
                     json_ratio(rank->threads > 0 ? rank->threads : NAN), "threads_at_work", (int)rank->n_threads,
                     "most_of_one_thread", json_ratio(rank->n_threads ? rank->most_share : NAN),
                     "most_of_one_thread_error", json_ratio(rank->n_threads ? rank->most_error : NAN), "executions",
                     (json_int_t)rank->executions, "instructions", (json_int_t)rank->instructions, "cost_ns",
                     json_ratio(cost_ns), "cost_error_ns", json_ratio(error_ns), "bytes", (json_int_t)rank->bytes,
                     "file_bytes", (json_int_t)rank->file_bytes, "file_accesses", (json_int_t)rank->n_accesses);
}

/* Late ranks and, for comparison, others. */
static void add_cause_ranks(const struct json *json, json_t *object, const struct cause *cause)
{
    json_t *ranks = json_array();
    uint32_t n_late = json_n_shown(json, cause->n_ranks, LATE_SHOWN),
             n_others = json_n_shown(json, cause->n_others, OTHERS_SHOWN);
    double left_ns = 0;
    for (uint32_t i = 0; i < n_late; i++)
        json_array_append_new(ranks, json_cause_rank(&cause->ranks[i], true));
    for (uint32_t i = 0; i < n_others; i++)
        json_array_append_new(ranks, json_cause_rank(&cause->others[i], false));
    for (uint32_t i = n_late; i < cause->n_ranks; i++)
        left_ns += cause->ranks[i].blame_ns;
    json_object_set_new(object, "by_rank", ranks);
    json_leave_out(object, "by_rank", cause->n_ranks + cause->n_others - n_late - n_others, llround(left_ns));
}

/* In order of rank, or where that is too many the most blamed. */
static void add_part_ranks(struct json *json, json_t *object, const struct cause_part *part)
{
    json_t *ranks = json_array();
    uint32_t n = json_n_shown(json, part->n_ranks, PART_RANKS_SHOWN);
    double *blame_ns = arena_array(&json->scratch, double, part->n_ranks + 1);
    for (uint32_t i = 0; i < part->n_ranks; i++)
        blame_ns[i] = part->ranks[i].blame_ns;
    const uint32_t *order = order_falling(&json->scratch, blame_ns, part->n_ranks);
    for (uint32_t i = 0; i < n; i++) {
        const struct cause_rank *rank = &part->ranks[n < part->n_ranks ? order[i] : i];
        json_array_append_new(ranks, json_pack("{s:i, s:o, s:o}", "rank", (int)rank->rank, "blame_ns",
                                               json_ns(rank->blame_ns), "time_ns", json_ns(rank->time_ns)));
    }
    json_object_set_new(object, "by_rank", ranks);
    json_leave_out(object, "by_rank", part->n_ranks - n, -1);
}

/* Own parts are apportioned, and each part's waiting is the sum of what is inside it. */
static void add_parts(struct json *json, json_t *object, const struct cause *cause, int64_t waiting_ns)
{
    json_t *parts = json_array();
    double *values = arena_array(&json->scratch, double, cause->n_parts + 1);
    int64_t *own_ns = arena_array(&json->scratch, int64_t, cause->n_parts + 1), left_ns = 0;
    uint32_t n_most = json_n_shown(json, cause->n_parts, PARTS_SHOWN), n = 0;
    /* The waiting of the n-th largest part: what is around a part is never smaller. */
    double *sizes = arena_array(&json->scratch, double, cause->n_parts + 1);
    for (uint32_t i = 0; i < cause->n_parts; i++)
        sizes[i] = cause->parts[i].waiting_ns;
    const uint32_t *order = order_falling(&json->scratch, sizes, cause->n_parts);
    double least_ns = n_most ? sizes[order[n_most - 1]] : 0;
    for (uint32_t i = 0; i < cause->n_parts; i++)
        values[i] = cause->parts[i].own_ns;
    whole_apportion(values, cause->n_parts, waiting_ns, own_ns);
    for (uint32_t i = 0; i < cause->n_parts; i++) {
        const struct cause_part *part = &cause->parts[i];
        uint32_t end = i + 1;
        while (end < cause->n_parts && cause->parts[end].depth > part->depth)
            end++;
        if (n == n_most || part->waiting_ns < least_ns) {
            left_ns += own_ns[i];
            continue;
        }
        json_t *shown = json_place(json, part->step);
        json_object_set_new(shown, "depth", json_integer(part->depth));
        json_object_set_new(shown, "call_line", json_integer(part->call_line));
        json_object_set_new(shown, "waiting_ns", json_integer(sum_of(own_ns, i, end)));
        json_object_set_new(shown, "own_ns", json_integer(own_ns[i]));
        add_part_ranks(json, shown, part);
        json_array_append_new(parts, shown);
        n++;
    }
    json_object_set_new(object, "parts", parts);
    json_leave_out(object, "parts", cause->n_parts - n, left_ns);
}

static json_t *json_instead(struct json *json, const struct cause *cause)
{
    const char *text = explain_instead(&json->book, cause);
    if (!text)
        return json_null();
    json_t *instead = json_place(json, cause->instead);
    json_object_set_new(instead, "share", json_ratio(cause->instead_share));
    json_object_set_new(instead, "text", json_text(text));
    return instead;
}

/* Where the reason speaks of it. */
static void add_factor(json_t *factors, const char *of, const struct factor *factor)
{
    if (factor->is_known)
        json_array_append_new(factors, json_pack("{s:s, s:o, s:o, s:o, s:o}", "of", of, "least",
                                                 json_ratio(factor->least), "mean", json_ratio(factor->mean), "most",
                                                 json_ratio(factor->most), "doubt", json_ratio(factor->doubt)));
}

static json_t *json_reason(const struct reason *reason)
{
    json_t *factors = json_array();
    add_factor(factors, "time", &reason->times);
    add_factor(factors, "executions", &reason->often);
    add_factor(factors, "instructions", &reason->code);
    if (reason->cost_told == COST_TOLD_FACTOR || reason->cost_told == COST_TOLD_AT_LEAST)
        add_factor(factors, "cost", &reason->cost);
    return json_pack("{s:s, s:o}", "kind", reason_name(reason->kind), "factors", factors);
}

static json_t *json_when_by_rank(const struct cause *cause)
{
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < cause->n_when_ranks; i++) {
        json_t *when = json_array();
        for (int part = 0; part < WHEN_PARTS; part++)
            json_array_append_new(when, json_ns((double)cause->when_ranks[i].ns[part]));
        json_array_append_new(ranks, json_pack("{s:i, s:o}", "rank", (int)cause->when_ranks[i].rank, "when_ns", when));
    }
    return ranks;
}

/* Of wall time, without the cause or with less of it. */
static void add_gains(struct json *json, json_t *object, const struct cause *cause)
{
    json_object_set_new(object, "if_balanced_ns", json_ns(cause->if_balanced_ns));
    json_object_set_new(object, "if_balanced_least_ns", json_ns(cause->if_balanced_least_ns));
    json_object_set_new(object, "remedy", json_string(remedy_name(cause->remedy)));
    json_object_set_new(object, "gain_ns", json_ns(cause->gain_ns));
    json_object_set_new(object, "gain_least_ns", json_ns(cause->gain_least_ns));
    json_object_set_new(object, "gain_text", json_text(explain_gain(&json->scratch, cause)));
    json_object_set_new(object, "gain_excess",
                        cause->gain_excess ? json_text(explain_excess(cause->gain_excess)) : json_null());
    json_object_set_new(object, "gain_share_text",
                        json_text(explain_gain_share(&json->scratch, cause, json->analysis->efficiency.wall_ns)));
    json_object_set_new(object, "serial_share", json_ratio(cause->serial_share));
    json_object_set_new(object, "served_share", json_ratio(cause->served_share));
    json_object_set_new(object, "if_gone_ns", json_ns(cause->if_gone_ns));
    json_object_set_new(object, "if_gone_descheduled_ns", json_ns(cause->if_gone_off_ns));
    json_object_set_new(object, "last_rank", json_rank(cause->last_rank));
}

json_t *json_cause(struct json *json, uint32_t number)
{
    const struct cause *cause = &json->analysis->causes[number];
    int64_t waiting_ns = json->cause_ns[number];
    json_t *object = json_place(json, cause->step), *when = json_array();
    for (int i = 0; i < WHEN_PARTS; i++)
        json_array_append_new(when, json_ns(cause->when_ns[i]));
    json_object_set_new(object, "name", json_text(label_cause(&json->book, number)));
    json_object_set_new(object, "cause", json_integer(number + 1));
    json_object_set_new(object, "ranks", json_rank_numbers(cause->ranks, cause->n_late));
    json_object_set_new(object, "waiting_ns", json_integer(waiting_ns));
    json_object_set_new(object, "share", json_real(cause->share));
    json_object_set_new(object, "kind", json_string(cause_kind_name(cause->kind)));
    json_object_set_new(object, "kinds", json_kinds(cause));
    json_object_set_new(object, "balance", json_text(balance_name(cause->balance)));
    json_object_set_new(object, "kind_text", json_text(explain_kind_words(&json->scratch, cause)));
    json_object_set_new(object, "direct_ns", json_ns(fmin(cause->direct_ns, (double)waiting_ns)));
    json_object_set_new(object, "inferred_ns", json_ns(cause->inferred_ns));
    add_gains(json, object, cause);
    json_object_set_new(object, "explanation", json_text(explain_cause(&json->scratch, cause)));
    json_object_set_new(object, "awaited", json_text(explain_awaited_in(&json->scratch, cause)));
    json_object_set_new(object, "reason", json_reason(&cause->reason));
    json_object_set_new(object, "instead", json_instead(json, cause));
    add_partings(json, object, cause);
    add_parts(json, object, cause, waiting_ns);
    json_object_set_new(object, "beside", json_integer(cause->n_beside));
    json_object_set_new(object, "partition", json_integer(cause->partition));
    json_object_set_new(object, "without_cpu_ns", json_ns(cause->lacking_ns));
    json_object_set_new(object, "like", json_integer(cause->like));
    json_object_set_new(object, "errand", json_string(errand_name(cause->errand)));
    json_object_set_new(object, "advice", json_string(advice_name(cause->advice)));
    json_object_set_new(object, "next", json_text(next_for_cause(&json->scratch, json->analysis, cause)));
    json_object_set_new(object, "when", json_text(when_sentence(&json->scratch, cause)));
    json_object_set_new(object, "throughout", json_boolean(cause->acts.kind == ACTS_THROUGHOUT));
    json_object_set_new(object, "when_ns", when);
    json_object_set_new(object, "every", json_integer(cause->every));
    json_object_set_new(object, "when_by_rank", json_when_by_rank(cause));
    json_t *files = json_array();
    uint32_t n = json_n_shown(json, cause->n_files, SMALL_LIST);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(files, json_pack("{s:o, s:I}", "name", json_text(cause->files[i].name), "bytes",
                                               (json_int_t)cause->files[i].bytes));
    json_object_set_new(object, "files", files);
    json_leave_out(object, "files", cause->n_files - n, -1);
    add_cause_ranks(json, object, cause);
    add_cause_sites(json, object, cause->sites, cause->n_sites, waiting_ns);
    return object;
}

static const char *partition_reason_name(enum partition_reason reason)
{
    static const char *const names[] = {
        [PARTITION_DATA] = "data", [PARTITION_SLOWER] = "slower", [PARTITION_EITHER] = "either"};
    return names[reason];
}

json_t *json_partition(struct json *json, uint32_t number)
{
    const struct partition *partition = &json->analysis->partitions[number];
    const struct cause *whole = &partition->whole;
    json_t *causes = json_array(), *object;
    uint32_t n = json_n_shown(json, partition->n_causes, MEMBERS_SHOWN);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(causes, json_integer(partition->causes[i] + 1));
    object = json_pack("{s:i, s:o, s:o, s:f, s:f, s:i, s:o, s:o, s:o, s:s}", "partition", (int)number + 1, "ranks",
                       json_rank_numbers(whole->ranks, whole->n_late), "waiting_ns", json_ns(whole->waiting_ns),
                       "share", whole->share, "factor", partition->factor.value, "places", (int)partition->n_causes,
                       "causes", causes, "if_balanced_ns", json_ns(whole->if_balanced_ns), "if_balanced_least_ns",
                       json_ns(whole->if_balanced_least_ns), "reason", partition_reason_name(partition->reason));
    json_object_set_new(object, "doubt", json_ratio(ratio_doubt(partition->factor)));
    json_object_set_new(object, "remedy", json_string(remedy_name(whole->remedy)));
    json_object_set_new(object, "gain_ns", json_ns(whole->gain_ns));
    json_object_set_new(object, "gain_least_ns", json_ns(whole->gain_least_ns));
    json_object_set_new(object, "name", json_text(headline_partition(&json->scratch, partition)));
    json_object_set_new(object, "times", json_text(headline_times(&json->scratch, partition)));
    json_object_set_new(object, "next", json_text(headline_next(partition)));
    json_leave_out(object, "causes", partition->n_causes - n, -1);
    return object;
}

json_t *json_answer(struct json *json)
{
    static const char *const kinds[] = {
        [ANSWER_ALONE] = "one-rank",           [ANSWER_NO_WAIT] = "no-waiting", [ANSWER_TRANSFERS] = "transfers",
        [ANSWER_FINE] = "nothing-to-mend",     [ANSWER_VARYING] = "steps-vary", [ANSWER_CAUSE] = "cause",
        [ANSWER_PARTITION] = "partition",      [ANSWER_HANG] = "hang",          [ANSWER_BROKE_OFF] = "broke-off",
        [ANSWER_ELSEWHERE] = "waits-elsewhere"};
    const struct answer *answer = &json->analysis->answer;
    const struct cause *cause = answer_cause(json->analysis);
    json_t *object =
        json_pack("{s:s, s:o, s:f, s:f}", "kind", kinds[answer->kind], "text", json_text(headline(&json->book)),
                  "program_share", answer->program_share, "machine_share", answer->machine_share);
    json_object_set_new(object, "has_causes", json_boolean(answer->has_causes));
    json_object_set_new(object, "busiest", answer->busiest ? json_integer(answer->busiest - 1) : json_null());
    json_object_set_new(object, "first_end", answer->first_end ? json_integer(answer->first_end - 1) : json_null());
    if (!cause)
        return object;
    json_object_set_new(object, kinds[answer->kind], json_integer(answer->number + 1));
    json_object_set_new(object, "ranks", json_rank_numbers(cause->ranks, cause->n_late));
    json_object_set_new(object, "waiting_ns", json_ns(answer->waiting_ns));
    json_object_set_new(object, "share", json_real(answer->share));
    json_object_set_new(object, "gains_more", answer->gains_more ? json_integer(answer->gains_more) : json_null());
    json_object_set_new(object, "without_cpu_share", json_real(answer->lacking_share));
    return object;
}

static void add_hosts(const struct json *json, json_t *object, const struct machine *machine)
{
    json_t *hosts = json_array();
    uint32_t n = json_n_shown(json, machine->n_hosts, LATE_SHOWN);
    for (uint32_t i = 0; i < n; i++) {
        const struct machine_host *host = &machine->hosts[i];
        json_t *crowds = json_array();
        for (uint32_t k = 0; k < json_n_shown(json, host->n_crowds, SMALL_LIST); k++)
            json_array_append_new(
                crowds, json_pack("{s:o, s:o}", "cpus", json_numbers(host->crowds[k].cpus.at, host->crowds[k].cpus.n),
                                  "ranks", json_numbers(host->crowds[k].ranks, host->crowds[k].n_ranks)));
        json_array_append_new(
            hosts,
            json_pack("{s:o, s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:f, s:o, s:f, s:o, s:o}", "host",
                      json_text(host->name), "ranks", (int)host->n_ranks, "cpus", (int)host->n_cpus, "busy_threads",
                      (int)host->n_busy_threads, "cpu_limit", json_ratio(host->cpu_limit > 0 ? host->cpu_limit : NAN),
                      "throttled_ns", json_ns(host->throttled_ns), "cpus_of_others", host->cpus_of_others,
                      "cpus_of_ranks", host->cpus_of_ranks, "cpus_beside", host->cpus_beside, "beside_rank",
                      host->beside_rank == TRACE_NONE ? json_null() : json_integer(host->beside_rank), "cpus_stolen",
                      host->cpus_stolen, "crowds", crowds, "large_teams",
                      json_numbers(host->large_teams, host->n_large_teams)));
    }
    json_object_set_new(object, "hosts", hosts);
}

static void add_stops(const struct json *json, json_t *object, const struct machine *machine)
{
    json_t *stops = json_array();
    uint32_t n = json_n_shown(json, machine->n_stops, LATE_SHOWN);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(stops, json_pack("{s:i, s:o}", "rank", (int)machine->stops[i].rank, "stopped_ns",
                                               json_ns(machine->stops[i].stopped_ns)));
    json_object_set_new(object, "stops", stops);
    json_leave_out(object, "stops", machine->n_stops - n, -1);
}

/* Ranks that were ready to run but had no CPU. */
json_t *json_machine(struct json *json)
{
    const struct machine *machine = &json->analysis->machine;
    json_t *by_rank = json_array(), *places = json_array();
    double *values = arena_array(&json->scratch, double, machine->n_places + 1), left_ns = 0;
    int64_t *place_ns = arena_array(&json->scratch, int64_t, machine->n_places + 1);
    uint32_t n_ranks = json_n_shown(json, machine->n_ranks, LATE_SHOWN + OTHERS_SHOWN),
             n_places = json_n_shown(json, machine->n_places, PARTS_SHOWN);
    for (uint32_t i = 0; i < machine->n_places; i++)
        values[i] = machine->places[i].waiting_ns;
    whole_apportion(values, machine->n_places, json->machine_ns, place_ns);
    for (uint32_t i = 0; i < n_ranks; i++)
        json_array_append_new(by_rank, json_pack("{s:i, s:o, s:o}", "rank", (int)machine->ranks[i].rank, "blame_ns",
                                                 json_ns(machine->ranks[i].blame_ns), "descheduled_ns",
                                                 json_ns(machine->ranks[i].time_ns)));
    for (uint32_t i = n_ranks; i < machine->n_ranks; i++)
        left_ns += machine->ranks[i].blame_ns;
    for (uint32_t i = 0; i < n_places; i++) {
        json_t *place = json_place(json, machine->places[i].step);
        json_object_set_new(place, "waiting_ns", json_integer(place_ns[i]));
        json_array_append_new(places, place);
    }
    json_t *object =
        json_pack("{s:I, s:f, s:o, s:o, s:o}", "waiting_ns", (json_int_t)json->machine_ns, "share", machine->share,
                  "ranks", json_rank_numbers(machine->ranks, machine->n_late), "by_rank", by_rank, "places", places);
    json_leave_out(object, "by_rank", machine->n_ranks - n_ranks, llround(left_ns));
    json_leave_out(object, "places", machine->n_places - n_places, sum_of(place_ns, n_places, machine->n_places));
    add_hosts(json, object, machine);
    add_stops(json, object, machine);
    struct sentences reasons = shortage_reasons(&json->book);
    uint32_t n_reasons = json_n_shown(json, reasons.n, SMALL_LIST);
    json_t *texts = json_array();
    for (uint32_t i = 0; i < n_reasons; i++)
        json_array_append_new(texts, json_text(reasons.at[i]));
    json_object_set_new(object, "reasons", texts);
    json_leave_out(object, "reasons", reasons.n - n_reasons, -1);
    json_object_set_new(object, "advice", json_string(advice_name(machine->advice)));
    json_object_set_new(object, "next", json_text(next_for_advice(machine->advice)));
    add_cause_sites(json, object, machine->sites, machine->n_sites, json->machine_ns);
    return object;
}

static void add_place(struct json *json, json_t *places, uint32_t step, const char *name, double ns)
{
    json_t *place = json_place(json, step);
    json_object_set_new(place, name, json_ns(ns));
    json_array_append_new(places, place);
}

static void add_advice(json_t *object, enum advice advice)
{
    json_object_set_new(object, "advice", json_string(advice_name(advice)));
    json_object_set_new(object, "next", json_text(next_for_advice(advice)));
}

/* Time inside MPI that is no waiting. */
json_t *json_transfers(struct json *json)
{
    const struct analysis *analysis = json->analysis;
    const struct transfers *transfers = &analysis->transfers;
    uint32_t n = json_n_shown(json, transfers->n_places, PARTS_SHOWN);
    json_t *places = json_array();
    double left_ns = 0;
    for (uint32_t i = 0; i < transfers->n_places; i++)
        if (i < n)
            add_place(json, places, transfers->places[i].step, "transfer_ns", transfers->places[i].ns);
        else
            left_ns += transfers->places[i].ns;
    json_t *object = json_pack("{s:o, s:b, s:o}", "transfer_ns", json_ns(analysis->efficiency.transfer_ns), "most",
                               transfers->have_most, "places", places);
    json_leave_out(object, "places", transfers->n_places - n, llround(left_ns));
    add_advice(object, transfers->advice);
    return object;
}

/* Waits for processes that are not recorded with this run. */
json_t *json_outside(struct json *json)
{
    const struct outside *outside = &json->analysis->outside;
    uint32_t n = json_n_shown(json, outside->n_places, PARTS_SHOWN);
    json_t *places = json_array();
    double left_ns = 0;
    for (uint32_t i = 0; i < outside->n_places; i++)
        if (i < n)
            add_place(json, places, outside->places[i].step, "waiting_ns", outside->places[i].ns);
        else
            left_ns += outside->places[i].ns;
    json_t *object = json_pack("{s:o, s:o, s:i, s:o}", "waiting_ns", json_ns(outside->ns), "longest_ns",
                               json_ns(outside->longest_ns), "rank", (int)outside->rank, "places", places);
    json_leave_out(object, "places", outside->n_places - n, llround(left_ns));
    add_advice(object, outside->advice);
    return object;
}

/* Loops that look for memory to change, in which nobody waits inside MPI. */
json_t *json_spinning(struct json *json)
{
    const struct analysis *analysis = json->analysis;
    json_t *loops = json_array();
    for (uint32_t i = 0; i < analysis->n_spinning; i++) {
        add_place(json, loops, analysis->spinning[i].step, "time_ns", analysis->spinning[i].dur_ns);
        json_object_set_new(json_array_get(loops, i), "rank", json_integer(analysis->spinning[i].rank));
    }
    return loops;
}
