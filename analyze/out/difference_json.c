/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/difference.h"
#include "analyze/out/json.h"
#include <math.h>

/* Raised when a field changes its meaning or goes. */
enum { DIFFERENCE_VERSION = 3 };

static json_t *ns_or_null(double ns)
{
    return isfinite(ns) ? json_integer(llround(ns)) : json_null();
}

static json_t *json_row(const struct comparison *comparison, const struct compare_row *row)
{
    static const char *const verdicts[] = {"noise", "less", "more", "too-few-runs"};
    struct arena scratch = {0};
    json_t *runs = json_array(), *kinds = json_object();
    for (size_t i = 0; i < comparison->n_runs; i++)
        json_array_append_new(runs, ns_or_null(row->ns[i]));
    for (int kind = 0; kind < KIND_N && row->group != GROUP_RUN_TIME; kind++)
        json_object_set_new(
            kinds, cause_kind_name((enum cause_kind)kind),
            json_pack("[o, o]", ns_or_null(row->kind_ns[kind]), ns_or_null(row->kind_ns[KIND_N + kind])));
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:s, s:I, s:o, s:o}", "name",
                  json_text(difference_row_name(&scratch, row, false)), "before_ns", ns_or_null(row->mean_ns[0]),
                  "after_ns", ns_or_null(row->mean_ns[1]), "change_ns", ns_or_null(compare_change(row)), "noise_ns",
                  row->level > 0 ? ns_or_null(row->test.least) : json_null(), "chance", row->test.chance, "level",
                  row->level, "verdict", verdicts[row->verdict], "runs_needed", (json_int_t)row->runs_needed, "runs_ns",
                  runs, "kinds", kinds);
    if (row->others_ns) {
        json_t *others = json_array();
        for (size_t i = 0; i < comparison->n_runs; i++)
            json_array_append_new(others, ns_or_null(row->others_ns[i]));
        json_object_set_new(object, "runs_others_ns", others);
        json_object_set_new(object, "is_by_others", json_boolean(row->test.is_by_others));
    }
    if (row->place) {
        json_object_set_new(object, "file", json_text(row->place->file));
        json_object_set_new(object, "routine", json_text(row->place->routine));
        json_object_set_new(object, "line_first", json_integer(row->place->line_first));
        json_object_set_new(object, "line_last", json_integer(row->place->line_last));
    }
    if (row->depth > 1)
        json_object_set_new(object, "depth", json_integer((json_int_t)row->depth - 2));
    else
        json_object_set_new(object, row->depth ? "parts" : "causes", json_array());
    arena_release(&scratch);
    return object;
}

const char *difference_group_field(enum compare_group group)
{
    static const char *const fields[GROUP_N] = {"run_time", "computing", "program", "mpi", "machine"};
    return fields[group];
}

/* Groups by name, their causes in them, and the parts of these, of all depths, in the order of the tree. */
static void json_add_rows(json_t *object, const struct comparison *comparison)
{
    json_t *group = NULL, *cause = NULL;
    for (size_t i = 0; i < comparison->rows.n; i++) {
        const struct compare_row *row = &comparison->rows.at[i];
        json_t *made = json_row(comparison, row);
        if (!row->depth) {
            json_object_set_new(object, difference_group_field(row->group), made);
            group = made;
        } else if (row->depth == 1) {
            json_array_append_new(json_object_get(group, "causes"), made);
            cause = made;
        } else {
            json_array_append_new(json_object_get(cause, "parts"), made);
        }
    }
}

static json_t *json_counts(const struct fact *fact)
{
    json_t *counts = json_array();
    for (uint32_t i = 0; fact && i < fact->n_counts; i++)
        json_array_append_new(counts, json_pack("{s:i, s:I, s:I}", "rank", (int)fact->counts[i].rank, "n",
                                                (json_int_t)fact->counts[i].n, "of", (json_int_t)fact->counts[i].of));
    return counts;
}

static json_t *json_fact(const struct compare_fact *fact)
{
    static const char *const kinds[FACT_N] = {"trips", "way", "calls", "allocated", "mpi-calls", "messages", "sent"};
    struct arena scratch = {0};
    const struct fact *some = fact->after ? fact->after : fact->before;
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:i, s:i, s:i, s:b, s:f, s:I, s:I, s:o, s:o, s:o}", "kind", kinds[some->kind], "file",
        json_text(some->file), "routine", json_text(some->routine), "line_first", (int)some->line_first, "line_last",
        (int)some->line_last, "line_to", (int)some->line_to, "is_decision", (int)fact->is_decision, "size", fact->size,
        "before", (json_int_t)(fact->before ? fact->before->sum : 0), "after",
        (json_int_t)(fact->after ? fact->after->sum : 0), "before_ranks", json_counts(fact->before), "after_ranks",
        json_counts(fact->after), "text", json_text(difference_fact(&scratch, fact)));
    arena_release(&scratch);
    return object;
}

static json_t *json_share(const struct comparison *comparison, const struct compare_share *share)
{
    static const char *const kinds[] = {"cause", "other-code", "mpi", "machine"};
    struct arena scratch = {0};
    json_t *object = json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", json_text(difference_share_name(&scratch, comparison, share)),
        "kind", kinds[share->kind], "change_ns", ns_or_null(compare_share_change(share)), "before_computing_ns",
        ns_or_null(share->computing_ns[0]), "after_computing_ns", ns_or_null(share->computing_ns[1]),
        "before_imbalance_ns", ns_or_null(share->imbalance_ns[0]), "after_imbalance_ns",
        ns_or_null(share->imbalance_ns[1]));
    arena_release(&scratch);
    return object;
}

int difference_print_json(FILE *out, const struct comparison *comparison)
{
    struct arena scratch = {0};
    json_t *is_after = json_array(), *exact = json_array(), *shares = json_array(), *notes = json_array();
    json_t *object = json_pack("{s:i, s:o}", "version", DIFFERENCE_VERSION, "is_after", is_after);
    for (size_t i = 0; i < comparison->n_runs; i++)
        json_array_append_new(is_after, json_boolean(comparison->side_of[i]));
    json_add_rows(object, comparison);
    for (size_t i = 0; i < comparison->facts.n; i++)
        json_array_append_new(exact, json_fact(&comparison->facts.at[i]));
    for (size_t i = 0; i < comparison->shares.n; i++)
        json_array_append_new(shares, json_share(comparison, &comparison->shares.at[i]));
    for (const char **note = difference_notes(&scratch, comparison); *note; note++)
        json_array_append_new(notes, json_text(*note));
    const char *news = difference_news(&scratch, comparison);
    json_object_set_new(object, "text", news ? json_text(news) : json_null());
    json_object_set_new(object, "exact", exact);
    json_object_set_new(object, "shares", shares);
    json_object_set_new(object, "notes", notes);
    arena_release(&scratch);
    return json_write(out, object);
}
