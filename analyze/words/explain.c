/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/explain.h"
#include "analyze/code/origin.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "analyze/words/brief.h"
#include "analyze/verdict/balance.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct sides sides_named(struct arena *arena, const struct cause *cause)
{
    struct sides sides = sides_of(arena, cause);
    struct crowd *late[] = {&sides.late, &sides.longer, &sides.no_longer};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        late[i]->names = amount_ranks(arena, late[i]->ranks, late[i]->n);
    sides.others.names = amount_other_ranks(arena, sides.others.ranks, sides.others.n);
    return sides;
}

/* "rank 1 spends" but "ranks 1,2 spend". */
static const char *verb(const struct crowd *crowd, const char *one, const char *many)
{
    return crowd->n == 1 ? one : many;
}

/* Those with whom the late ones are compared: what is said of them in this holds for each, or "on average". */
static const char *compared(struct arena *arena, const struct crowd *others, const struct reason *reason)
{
    return arena_printf(arena, "%s%s%s", others->names, reason->is_average ? " on average" : "",
                        reason->is_over_run ? " over the whole run" : "");
}

static const char *digits_of(struct arena *arena, double ratio)
{
    enum { MOST_AFTER = 6 };
    int after = ratio > 0.95 && ratio < 1.095 ? 2 : ratio < 9.95 ? 1 : 0;
    for (double least = 0.095; ratio > 0 && ratio < least && after < MOST_AFTER; least /= 10)
        after++;
    return arena_printf(arena, "%.*f", after, ratio);
}

/* Next to what is too short to be sampled anything takes thousands of times as long: how many says nothing. */
static const char *factor(struct arena *arena, double ratio)
{
    if (isnan(ratio))
        return "an unknown part";
    return ratio * NEXT_TO_NOTHING < 1 ? arena_printf(arena, "%s x", digits_of(arena, ratio))
                                       : arena_printf(arena, "over %.0f x", 1 / NEXT_TO_NOTHING);
}

static bool is_one_factor(struct arena *arena, double low, double high)
{
    return high < NOTABLY_LONGER * low || !strcmp(digits_of(arena, low), digits_of(arena, high));
}

static const char *from_to(struct arena *arena, double low, double high)
{
    return arena_printf(arena, "%s to %s", digits_of(arena, low), factor(arena, high));
}

/* Of ranks that are alike one ratio, "4.0 x"; of a few that are not, that of each, "1.00 x and 4.5 x", in the order in
 * which they are named; of many "1.9 to 2.1 x". */
static const char *factors(struct arena *arena, const struct factor *of, const struct crowd *late, enum measure measure)
{
    enum { FEW = 3 };
    const char *text = "";
    if (is_one_factor(arena, of->least, of->most))
        return factor(arena, of->mean);
    if (late->n > FEW)
        return from_to(arena, of->least, of->most);
    for (uint32_t i = 0; i < late->n; i++)
        text = arena_printf(arena, "%s%s%s", text,
                            i == 0            ? ""
                            : i + 1 < late->n ? ", "
                                              : " and ",
                            factor(arena, doing_measure(&late->each[i], measure) / of->unit));
    return text;
}

/* "3.0 x (2.2 to 4.1)", where that is worth saying: between these the true one lies. Of several ratios that of their
 * mean. */
static const char *with_range(struct arena *arena, const struct factor *of, const struct crowd *late,
                              enum measure measure)
{
    const char *text = factors(arena, of, late, measure);
    if (of->doubt <= USUAL_DOUBT)
        return text;
    const char *mean = is_one_factor(arena, of->least, of->most) ? "" : "mean ";
    return arena_printf(arena, "%s (%s%s to %s)", text, mean, digits_of(arena, of->at_least),
                        digits_of(arena, of->at_most));
}

/* Where little is known but that it is more. */
static const char *with_least(struct arena *arena, const struct factor *of)
{
    return arena_printf(arena, "%s (at least %s)", factor(arena, of->mean), digits_of(arena, of->at_least));
}

const char *explain_ratio(struct arena *arena, struct ratio ratio)
{
    struct factor of = {.mean = ratio.value,
                        .least = ratio.value,
                        .most = ratio.value,
                        .at_least = ratio.low,
                        .at_most = ratio.high,
                        .doubt = ratio_doubt(ratio)};
    return isinf(ratio.high) ? with_least(arena, &of) : with_range(arena, &of, NULL, MEASURE_TIME);
}

static const char *explain_time(struct arena *arena, const struct reason *reason, const struct crowd *late,
                                const struct crowd *others)
{
    const char *who = late->names, *spend = verb(late, "spends", "spend");
    const char *in = reason->is_itself ? "in it itself" : "in it";
    const char *whom = others->n ? compared(arena, others, reason) : "";
    const char *few = reason->is_few ? ", as far as few samples tell" : "";
    const char *long_ = amount_duration(late->mean.time_ns).text, *each = verb(late, "", " on average");
    switch (reason->kind) {
    case REASON_TIME_VARIES:
        return arena_printf(arena, "%s %s %s %s%s; single steps vary", who, spend, long_, in, each);
    case REASON_BY_TURNS:
        return arena_printf(arena, "%s are late by turns; each spends %s %s%s", who, long_, in, each);
    case REASON_TIME_ALONE:
        return arena_printf(arena, "%s %s %s %s%s, %s next to nothing%s", who, spend, long_, in, each, others->names,
                            few);
    case REASON_TIME_AT_MOST:
        return arena_printf(
            arena, "%s %s %s %s%s, %s %sat most %s%s", who, spend, long_, in, each, others->names,
            reason->about_ns > 0 ? arena_printf(arena, "about %s and ", amount_duration(reason->about_ns).text) : "",
            amount_duration(reason->most_ns).text, few);
    case REASON_AS_LONG:
        return arena_printf(arena, "%s %s the same total time %s as %s, but later", who, spend, in, whom);
    case REASON_NO_LONGER:
        return arena_printf(arena, "%s %s no more time %s than %s, but later", who, spend, in, whom);
    case REASON_LONGER_AT_LEAST:
        return arena_printf(arena, "%s %s %s as long %s as %s", who, spend, with_least(arena, &reason->times), in,
                            whom);
    default:
        return arena_printf(arena, "%s %s %s as long %s as %s%s", who, spend,
                            reason->is_few ? factors(arena, &reason->times, late, MEASURE_TIME)
                                           : with_range(arena, &reason->times, late, MEASURE_TIME),
                            in, whom, few);
    }
}

/* "each time at 3.5 x the cost", as far as that is known; NULL where it is the same. */
static const char *explain_cost(struct arena *arena, const struct reason *reason, const struct crowd *late)
{
    const char *each = reason->has_same_code ? "each time" : ", each";
    switch (reason->cost_told) {
    case COST_TOLD_UNKNOWN:
        return arena_printf(arena, "%s at a cost that is not known well enough to compare", each);
    case COST_TOLD_AT_LEAST:
        return arena_printf(arena, "%s at %s the cost", each, with_least(arena, &reason->cost));
    case COST_TOLD_FACTOR:
        return arena_printf(arena, "%s at %s the cost", each, with_range(arena, &reason->cost, late, MEASURE_COST));
    default:
        return NULL;
    }
}

/* What one execution takes there, compared with the others; `decision` as below. */
static const char *explain_each(struct arena *arena, const struct reason *reason, const struct crowd *late,
                                const char *decision)
{
    const char *dearer = explain_cost(arena, reason, late);
    if (!reason->has_same_code)
        return arena_printf(arena, "each time with %s the instructions%s%s",
                            factors(arena, &reason->code, late, MEASURE_INSTRUCTIONS), decision, dearer ? dearer : "");
    return dearer ? dearer : "at the same cost each time";
}

/* "once", "31,996 times" */
static const char *times_of(struct arena *arena, double executions)
{
    uint64_t n = (uint64_t)llround(executions);
    return n == 1 ? "once" : arena_printf(arena, "%s times", amount_count(n).text);
}

/* "only rank 1 runs it 31,996 times" */
static const char *explain_only(struct arena *arena, const struct crowd *late, const struct crowd *others)
{
    const char *who = late->names, *run = verb(late, "runs", "run");
    bool is_exact = crowd_most(late, MEASURE_EXECUTIONS) <= late->mean.executions;
    const char *each = verb(late, "", is_exact ? " each" : " each on average");
    const char *often = arena_printf(arena, "%s%s", times_of(arena, late->mean.executions), each);
    return others->mean.executions > 0
               ? arena_printf(arena, "%s %s it %s, %s next to never", who, run, often, others->names)
               : arena_printf(arena, "only %s %s it, %s", who, run, often);
}

/* From executions: how many more, and what each costs. The decision by which they are more is no second fact, so it
 * stands in brackets behind what it explains; "" = none is known. */
static const char *explain_work(struct arena *arena, const struct reason *reason, const struct crowd *late,
                                const struct crowd *others, const char *decision)
{
    static const char *const when[2][2] = {{"", " in all, slower when others wait"},
                                           {", but at other times: others wait meanwhile",
                                            " in all, but at other times, and slower then: others wait meanwhile"}};
    const char *who = late->names, *run = verb(late, "runs", "run");
    const char *whom = compared(arena, others, reason);
    const char *times = reason->is_as_often ? reason->is_at_other_times ? "as often in all as" : "as often as"
                                            : arena_printf(arena, "%s as often as",
                                                           factors(arena, &reason->often, late, MEASURE_EXECUTIONS));
    if (reason->kind == REASON_LESS_BUT_LATER)
        return arena_printf(arena, "%s %s it %s %s in all, but later", who, run, times, whom);
    return arena_printf(arena, "%s %s it %s %s%s, %s%s", who, run, times, whom, reason->has_same_code ? decision : "",
                        explain_each(arena, reason, late, decision),
                        when[reason->is_at_other_times][reason->is_slower_then]);
}

static const char *explain_reason(struct arena *arena, const struct reason *reason, const struct crowd *late,
                                  const struct crowd *others, const char *decision, bool is_for_outside)
{
    const char *who = late->names;
    switch (reason->kind) {
    case REASON_UNRECORDED:
        return arena_printf(arena, "others wait when recording is on again, and %s %s not there yet", who,
                            verb(late, "is", "are"));
    case REASON_UNEXPLAINED:
        return arena_printf(arena, "%s %s there as well when others wait, %s", who, verb(late, "waits", "wait"),
                            is_for_outside ? "for processes outside this run" : "and no record tells for whom");
    case REASON_NO_CPU:
        return arena_printf(arena, "%s %s ready to run there but had no CPU", who, verb(late, "was", "were"));
    case REASON_IN_TURN:
        return arena_printf(arena, "%s run it one after the other; the rest wait", who);
    case REASON_ANOTHER_EACH_TIME:
        return arena_printf(arena, "%s run it as often each, but in each step another one of them is longer in it",
                            who);
    case REASON_MOVES:
        return arena_printf(arena, "%s run it as often each, but first one of them is longer in it, then another", who);
    case REASON_ONLY:
        return explain_only(arena, late, others);
    case REASON_LESS_BUT_LATER:
    case REASON_WORK:
        return explain_work(arena, reason, late, others, decision);
    case REASON_STEPS_VARY_COUNTED:
        return arena_printf(arena, "%s %s it as often%s%s, at the same cost each time; single steps vary", who,
                            verb(late, "runs", "run"), others->n ? " as " : " each", others->n ? others->names : "");
    case REASON_STEPS_VARY:
        return arena_printf(arena, "%s %s %s in it over the run%s%s; single steps vary", who,
                            verb(late, "spends", "spend"), others->n ? "as long" : "equally long",
                            others->n ? " as " : "", others->n ? others->names : "");
    default:
        return explain_time(arena, reason, late, others);
    }
}

/* Its time is that of a wait whose reason is not recorded: of it no more is told. */
static bool is_of_wait(const struct cause *cause)
{
    return cause->is_unrecorded || cause->is_unexplained || cause->is_spinning;
}

static const char *explain_kind(struct arena *arena, const struct cause *cause, const struct crowd *late,
                                const struct crowd *others, const char *decision)
{
    const char *text = explain_reason(arena, &cause->reason, late, others, decision, cause->is_for_outside);
    bool is_transfer = cause->kind == KIND_TRANSFER && !cause->moves_nothing;
    if (cause->reason.lacks_cpu)
        return arena_printf(arena, "%s, and %s ready to run but had no CPU", text, verb(late, "was", "were"));
    return arena_printf(arena, "%s%s", text, is_transfer && !is_of_wait(cause) ? ", moving data" : "");
}

/* "1.2 GB", "1.2 GB each", "nothing" */
static const char *bytes_each(struct arena *arena, const struct crowd *crowd, double bytes)
{
    return bytes > 0 ? arena_printf(arena, "%s%s", amount_bytes(bytes).text, crowd->n > 1 ? " each" : "") : "nothing";
}

/* "ranks 1,2 VERB 1.2 GB each OBJECT, rank 0 nothing"; or "rank 0 as much", which tells that it is no reason. */
static const char *explain_amounts(struct arena *arena, const struct crowd *late, double late_bytes,
                                   const struct crowd *others, double others_bytes, const char *verb_and_object[2])
{
    const char *compared = "";
    if (others->n) {
        bool is_alike = others_bytes > 0 && !strcmp(amount_bytes(others_bytes).text, amount_bytes(late_bytes).text);
        compared =
            arena_printf(arena, ", %s %s", others->names,
                         is_alike ? verb(others, "as much", "as much each") : bytes_each(arena, others, others_bytes));
    }
    return arena_printf(arena, "%s %s %s%s%s", late->names, verb_and_object[0], bytes_each(arena, late, late_bytes),
                        verb_and_object[1], compared);
}

/* What the two sides allocate there; NULL where they do not. */
static const char *explain_space(struct arena *arena, const struct crowd *late, const struct crowd *others)
{
    const char *words[2] = {verb(late, "allocates", "allocate"), " there"};
    if (!(late->mean.bytes > 0 || others->mean.bytes > 0))
        return NULL;
    return explain_amounts(arena, late, late->mean.bytes, others, others->mean.bytes, words);
}

/* How many threads share it at a time, where the two sides differ in that. */
static const char *explain_threads(struct arena *arena, const struct cause *cause, const struct crowd *others)
{
    if (!(cause->late_threads > 0))
        return NULL;
    return arena_printf(arena, "%.1f threads share it at a time there, %.1f on %s", cause->late_threads,
                        cause->other_threads, others->names);
}

/* Its files, and how much of them the two sides read and write there, the late one in how many calls. */
static const char *explain_files(struct arena *arena, const struct cause *cause, const struct crowd *late,
                                 const struct crowd *others)
{
    const char *files = label_base_name(cause->files[0].name);
    if (cause->n_files > 1)
        files = arena_printf(arena, "%s and %u more file%s", files, cause->n_files - 1, cause->n_files > 2 ? "s" : "");
    const char *often =
        late->mean.n_accesses >= 2
            ? arena_printf(arena, " in %s calls%s", amount_count((uint64_t)llround(late->mean.n_accesses)).text,
                           verb(late, "", " each"))
            : "";
    const char *words[2] = {verb(late, "moves", "move"), arena_printf(arena, " of %s there%s", files, often)};
    if (late->mean.file_bytes > 0 || others->mean.file_bytes > 0)
        return explain_amounts(arena, late, late->mean.file_bytes, others, others->mean.file_bytes, words);
    return arena_printf(arena, "it works on %s", files);
}

/* NULL where no line is known. */
static const char *parting_lines(struct arena *arena, const struct parting *parting)
{
    if (!parting->file || !parting->line_first)
        return NULL;
    if (parting->line_last > parting->line_first)
        return arena_printf(arena, "%s:%u-%u", label_base_name(parting->file), parting->line_first, parting->line_last);
    return arena_printf(arena, "%s:%u", label_base_name(parting->file), parting->line_first);
}

/* "loop a.c:3-9", "a loop in solve()" */
static const char *parting_loop(struct arena *arena, const struct parting *parting)
{
    const char *lines = parting_lines(arena, parting);
    return lines ? arena_printf(arena, "loop %s", lines)
                 : arena_printf(arena, "a loop in %s()", brief_text(arena, parting->routine));
}

/* "never", "every time", "89 %" */
static const char *how_often(struct arena *arena, double part)
{
    return part <= 0 ? "never" : part >= 1 ? "every time" : arena_strdup(arena, amount_share(part).text);
}

/* What holds for each late rank, divided by what the others have on average. */
static const char *factor_of_each(struct arena *arena, double least, double mean, double most, double others)
{
    return is_one_factor(arena, least / others, most / others) ? factor(arena, mean / others)
                                                               : from_to(arena, least / others, most / others);
}

/* More iterations in all are more entries, more iterations each time, or both. */
static const char *explain_trips(struct arena *arena, const struct parting *parting, const char *times)
{
    const char *entered = factor_of_each(arena, parting->entered_least, parting->entered, parting->entered_most, 1);
    if (parting->is_itself && parting->is_as_often)
        return arena_printf(arena, "%s as many iterations each time it is entered", times);
    if (parting->is_itself)
        return arena_printf(arena, "it is entered %s as often, for %s as many iterations each time", entered, times);
    if (parting->is_around)
        return arena_printf(arena, "%s as many iterations of %s around it", times,
                            parting->file ? parting_loop(arena, parting) : "the loop");
    return arena_printf(arena, "%s as many iterations of %s each time", times, parting_loop(arena, parting));
}

/* "never", "10 %", "0 % to 100 %" */
static const char *how_often_others(struct arena *arena, const struct parting *parting)
{
    if (!(parting->others_most > parting->others_least) ||
        is_one_factor(arena, parting->others_least, parting->others_most))
        return how_often(arena, parting->others);
    return arena_printf(arena, "%s to %s", arena_strdup(arena, amount_share(parting->others_least).text),
                        amount_share(parting->others_most).text);
}

/* "always", "90 % of the time", "60 % to 90 % of the time" */
static const char *how_often_each(struct arena *arena, const struct parting *parting)
{
    if (!is_one_factor(arena, parting->late_least, parting->late_most))
        return arena_printf(arena, "%s to %s of the time", arena_strdup(arena, amount_share(parting->late_least).text),
                            amount_share(parting->late_most).text);
    return arena_printf(arena, "%s%s", how_often(arena, parting->late), parting->late < 1 ? " of the time" : "");
}

const char *explain_parting(struct arena *arena, const struct parting *parting, const char *others)
{
    const char *where = parting_lines(arena, parting);
    const char *routine = parting->routine ? brief_text(arena, parting->routine) : NULL;
    const char *times = factor_of_each(arena, parting->late_least, parting->late, parting->late_most, parting->others);
    switch (parting->kind) {
    case PARTING_TRIPS:
        return explain_trips(arena, parting, times);
    case PARTING_BRANCH:
        return arena_printf(arena, "%s leads %s %s, but on %s %s",
                            where ? arena_printf(arena, "the condition at %s", where)
                                  : arena_printf(arena, "a condition in %s()", routine),
                            parting->line_to && parting->line_to != parting->line_first
                                ? arena_printf(arena, "to line %u", parting->line_to)
                                : "to this code",
                            how_often_each(arena, parting), others, how_often_others(arena, parting));
    default:
        return arena_printf(arena, "%s() calls itself %s as often for each call from outside", routine, times);
    }
}

/* NULL where threads share it well. */
static const char *explain_sharing(struct arena *arena, const struct cause *cause)
{
    const struct cause_rank *rank = &cause->ranks[0];
    switch (cause->sharing) {
    case SHARED_BY_TURNS:
    case SHARED_BY_TURNS_OR_CPUS:
        return arena_printf(arena, "%u threads of rank %u take turns in it, one at a time%s", rank->n_threads,
                            rank->rank, cause->sharing == SHARED_BY_TURNS ? "" : ", because of a lock or too few CPUs");
    case SHARED_BY_INTERPRETER:
        if (cause->errand == ERRAND_INTERPRETER_LOCK) /* which says it */
            return NULL;
        return arena_printf(arena, "%u threads of rank %u take turns in it, as each needs Python's lock (GIL)",
                            rank->n_threads, rank->rank);
    case SHARED_UNEVENLY:
        return arena_printf(arena, "one of %u threads of rank %u has %s of that rank's time in it", rank->n_threads,
                            rank->rank, amount_share(rank->most_share).text);
    default:
        return NULL;
    }
}

/* Counts do not tell by whom a routine was called: of one that is uneven in some of its calls, they are those of all.
 */
static const char *explain_first_parting(struct arena *arena, const struct cause *cause, const char *others)
{
    return arena_printf(arena, "%s%s", explain_parting(arena, &cause->partings[0], others),
                        cause->is_elsewhere ? ", its other calls included" : "");
}

/* The reason says that there is more of it, and the decision how that comes. */
static bool is_of_reason(const struct reason *reason)
{
    return reason->kind == REASON_WORK && (!reason->is_as_often || !reason->has_same_code);
}

static const char *const errand_clauses[ERRAND_N] = {
    [ERRAND_IMPORT] = "most of it imports modules",
    [ERRAND_OBJECTS] = "most of it turns objects into messages or back (pickle)",
    [ERRAND_COLLECTOR] = "most of it is Python's garbage collector",
    [ERRAND_INTERPRETER_LOCK] = "its thread has Python's lock (GIL), and the MPI thread waits for that",
};

static const char *explain_errand(struct arena *arena, const struct cause *cause)
{
    uint32_t n_threads = cause->n_ranks ? cause->ranks[0].n_threads : 0;
    if (cause->errand != ERRAND_INTERPRETER_LOCK || n_threads < 2)
        return errand_clauses[cause->errand];
    return arena_printf(arena, "its %u threads have Python's lock (GIL) in turn, and the MPI thread waits for that",
                        n_threads);
}

/* "inside numpy.core._multiarray_umath, in np.sqrt()", "in sorted()", "inside libgfortran.so.5"; NULL */
static const char *explain_native(struct arena *arena, const struct cause *cause)
{
    const char *expression = cause->expression ? arena_printf(arena, "in %s", cause->expression) : NULL;
    if (!cause->library)
        return expression;
    return arena_printf(arena, "inside %s%s%s%s", library_name(arena, cause->library), expression ? ", " : "",
                        expression ? expression : "",
                        cause->is_in_library || cause->kind_ns[KIND_SLOWER] ? ", which is not counted" : "");
}

/* "in loop mesh.py:10-20 in mesh.refine.smooth()", "in numpy.fft._pocketfft.fft()" */
static const char *explain_place(struct arena *arena, const struct code_place *place, const char *routine)
{
    if (!place->is_loop)
        return arena_printf(arena, "in %s", routine);
    const char *until = place->line_last > place->line_first ? arena_printf(arena, "-%u", place->line_last) : "";
    return arena_printf(arena, "in loop %s:%u%s in %s", label_base_name(place->file), place->line_first, until,
                        routine);
}

/* Its place in a script, or what else is known; NULL */
static const char *explain_inside(struct arena *arena, const struct cause *cause)
{
    const struct code_place *inside = cause->inside;
    if (!inside)
        return explain_native(arena, cause);
    return explain_place(arena, inside,
                         arena_printf(arena, "%s.%s()", source_module_name(arena, inside->file), inside->routine));
}

const char *explain_awaited_in(struct arena *arena, const struct cause *cause)
{
    const struct code_place *place = cause->awaited_in;
    const char *routine = place && place->routine ? brief_text(arena, place->routine) : NULL;
    if (!routine || (place->is_loop && !place->file))
        return NULL;
    return explain_place(arena, place, brief_has_parentheses(routine) ? routine : arena_printf(arena, "%s()", routine));
}

static const char *explain_awaited(struct arena *arena, const struct cause *cause)
{
    const char *where = explain_awaited_in(arena, cause);
    return where ? arena_printf(arena, "another thread waits for it %s", where) : NULL;
}

/* "most of it at line 12, and inside numpy.core"; NULL where nothing is known, or all of it is there. */
static const char *explain_most(struct arena *arena, const struct cause *cause)
{
    const char *inside = explain_inside(arena, cause);
    if (!cause->main_line)
        return inside ? arena_printf(arena, "most of it %s", inside) : NULL;
    return arena_printf(arena, "most of it at line %u%s%s", cause->main_line, inside ? ", and " : "",
                        inside ? inside : "");
}

/* "what it calls back, compare(), runs 2.2 x as often"; NULL where that is not known, or as often. */
static const char *explain_called_back(struct arena *arena, const struct cause *cause, const struct crowd *late)
{
    const struct factor *back = &cause->reason.back;
    if (!cause->called_back || !back->is_known || back->least < NOTABLY_LONGER)
        return NULL;
    return arena_printf(arena, "what it calls back, %s(), runs %s as often", brief_text(arena, cause->called_back),
                        factors(arena, back, late, MEASURE_CALLED_BACK));
}

const char *explain_cause(struct arena *arena, const struct cause *cause)
{
    const struct sides sides = sides_named(arena, cause);
    const struct crowd *late = &sides.late, *others = &sides.others;
    const char *parting =
        cause->n_partings ? explain_first_parting(arena, cause, others->n ? others->names : "those who wait") : NULL;
    bool is_decision = parting && is_of_reason(&cause->reason);
    const char *clauses[] = {
        explain_kind(arena, cause, &sides.longer, others, is_decision ? arena_printf(arena, " (%s)", parting) : ""),
        is_decision ? NULL : parting,
        cause->is_as_much_otherwise ? "ranks that go the other way execute as many instructions" : NULL,
        sides.no_longer.n ? explain_time(arena, &cause->no_longer, &sides.no_longer, others) : NULL,
        cause->is_spinning ? "it waits for shared memory to change: who changes it is not recorded" : NULL,
        explain_space(arena, late, others),
        explain_threads(arena, cause, others),
        explain_sharing(arena, cause),
        explain_errand(arena, cause),
        explain_awaited(arena, cause),
        explain_most(arena, cause),
        explain_called_back(arena, cause, &sides.longer),
        cause->is_generated ? "most of it in code made at run time, of which no lines and counts are known" : NULL,
        cause->n_files ? explain_files(arena, cause, late, others) : NULL,
    };
    const char *text = clauses[0];
    for (size_t i = 1; i < sizeof clauses / sizeof *clauses; i++)
        if (clauses[i])
            text = arena_printf(arena, "%s; %s", text, clauses[i]);
    return text;
}

const char *explain_gain(struct arena *arena, const struct cause *cause)
{
    if (cause->gain_ns < 1)
        return "nothing";
    if (cause->is_gain_minor)
        return "next to nothing";
    if (cause->is_gain_least_minor)
        return arena_printf(arena, "up to %s", amount_gain(cause->gain_ns).text);
    return amount_gains(arena, fmin(cause->gain_least_ns, cause->gain_ns), cause->gain_ns);
}

const char *explain_excess(enum gain_excess excess)
{
    static const char *const beside[] = {[EXCESS_LACKING] = "time without a CPU",
                                         [EXCESS_SHARED] = "waiting for other rows",
                                         [EXCESS_UNSEEN] = "time in which other ranks have ended or are inside MPI"};
    return beside[excess];
}

const char *explain_gain_share(struct arena *arena, const struct cause *cause, double wall_ns)
{
    if (cause->gain_ns < 1 || cause->is_gain_minor || wall_ns <= 0)
        return "";
    struct amount most = amount_share(cause->gain_ns / wall_ns);
    struct amount least = amount_share(fmin(cause->gain_least_ns, cause->gain_ns) / wall_ns);
    if (cause->is_gain_least_minor)
        return arena_printf(arena, "up to %s", most.text);
    return strcmp(least.text, most.text) ? arena_printf(arena, "%s to %s", least.text, most.text)
                                         : arena_strdup(arena, most.text);
}

static const char *const pauses[PAUSE_N] = {
    [PAUSE_UNKNOWN] = "asleep or in the kernel",
    [PAUSE_CHILD] = "waiting for another process",
    [PAUSE_SLEEP] = "asleep",
    [PAUSE_FILE] = "reading or writing files",
    [PAUSE_MEMORY] = "getting memory from the kernel or giving it back",
    [PAUSE_DATA] = "asleep, or waiting for data",
    [PAUSE_NETWORK] = "waiting for another program over the network",
    [PAUSE_LOCK] = "waiting for a lock or another thread",
    [PAUSE_INTERPRETER] = "waiting for Python's lock (GIL), which another thread has",
};

/* If it is blocked, also for what. */
static const char *kind_words(struct arena *arena, const struct cause *cause, enum cause_kind kind)
{
    bool says_more = kind == KIND_MORE_WORK || kind == KIND_MORE_TIME;
    enum balance balance = cause->balance;
    if (kind == KIND_TRANSFER && cause->moves_nothing)
        return "inside MPI";
    if (says_more && cause->is_spinning)
        return "waiting itself";
    if (kind == KIND_BLOCKED && !is_of_wait(cause))
        return arena_printf(arena, "%s: %s", label_kind_words(kind), pauses[cause->pause]);
    return says_more && balance == BALANCE_SERIAL    ? "serialisation"
           : says_more && balance == BALANCE_VARYING ? "steps vary"
                                                     : label_kind_words(kind);
}

/* Of all that is called so. */
static double called_so_ns(struct arena *arena, const struct cause *cause, const char *words)
{
    double ns = 0;
    for (int kind = 0; kind < KIND_N; kind++)
        ns += strcmp(kind_words(arena, cause, (enum cause_kind)kind), words) ? 0 : cause->kind_ns[kind];
    return ns;
}

const char *explain_kind_words(struct arena *arena, const struct cause *cause)
{
    double sum = 0;
    if (cause->is_unexplained)
        return "not known";
    for (int kind = 0; kind < KIND_N; kind++)
        sum += cause->kind_ns[kind];
    const char *largest = kind_words(arena, cause, cause->kind), *text = largest;
    double largest_ns = called_so_ns(arena, cause, largest);
    if (!(sum > 0) || largest_ns >= MOST_SHARE * sum)
        return text;
    text = arena_printf(arena, "%s %s", text, amount_share(largest_ns / sum).text);
    for (int kind = 0; kind < KIND_N; kind++) {
        const char *words = kind_words(arena, cause, (enum cause_kind)kind);
        if (strcmp(words, largest) != 0 && cause->kind_ns[kind] >= WORTH_NAMING * sum)
            text = arena_printf(arena, "%s, %s %s", text, words, amount_share(cause->kind_ns[kind] / sum).text);
    }
    return text;
}

const char *explain_partition_reason(enum partition_reason reason, bool is_one_rank)
{
    static const char *const texts[][2] = {
        [PARTITION_DATA] = {"it has more of the data", "they have more of the data"},
        [PARTITION_SLOWER] = {"its CPU or memory is slower", "their CPUs or memory are slower"},
        [PARTITION_EITHER] = {"it has more of the data, or a slower CPU or memory",
                              "they have more of the data, or slower CPUs or memory"}};
    return texts[reason][!is_one_rank];
}

/* "rows 2,4", "row 2 and 3 more causes (--all)", "1 more cause (--all)" */
static const char *rows_of(struct arena *arena, const uint32_t *rows, uint32_t n, uint32_t n_hidden)
{
    /* Numbers of rows are told like those of ranks, without the word. */
    const char *shown =
        !n ? "" : arena_printf(arena, "row%s %s", n == 1 ? "" : "s", strchr(amount_ranks(arena, rows, n), ' ') + 1);
    if (!n_hidden)
        return shown;
    return arena_printf(arena, "%s%s%u more %s (--all)", shown, n ? " and " : "", n_hidden,
                        n_hidden == 1 ? "cause" : "causes");
}

const char *explain_like(struct arena *arena, const struct analysis *analysis, uint32_t number, const bool *is_shown)
{
    const struct cause *cause = &analysis->causes[number];
    uint32_t *rows = arena_array(arena, uint32_t, analysis->n_causes + 1), n = 0, n_hidden = 0;
    double all_ns = cause->waiting_ns;
    bool are_alone = cause->reason.is_alone, have_factors = !are_alone;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        if (analysis->causes[i].like != number + 1)
            continue;
        all_ns += analysis->causes[i].waiting_ns;
        are_alone &= analysis->causes[i].reason.is_alone;
        have_factors &= !analysis->causes[i].reason.is_alone;
        if (!is_shown || is_shown[i])
            rows[n++] = i + 1;
        else
            n_hidden++;
    }
    if (!n && !n_hidden)
        return NULL;
    bool is_one = n + n_hidden == 1, is_one_rank = cause->n_late == 1;
    bool is_counted = cause->kind == KIND_MORE_WORK || cause->kind == KIND_SLOWER;
    const char *how = are_alone ? arena_printf(arena, "%s %s alone as well", is_one ? "is" : "are",
                                               is_one_rank ? "this rank's" : "these ranks'")
                                : arena_printf(arena, "%s the same rank%s late %s: %s%s", is_one ? "has" : "have",
                                               is_one_rank ? "" : "s", have_factors ? "by the same factor" : "as well",
                                               is_counted ? "" : "perhaps ",
                                               explain_partition_reason(cause->like_reason, is_one_rank));
    return arena_printf(arena, "%s %s; together %s, %s of all waiting", rows_of(arena, rows, n, n_hidden), how,
                        amount_duration(all_ns).text, amount_share(all_ns / analysis->waiting_ns).text);
}

const char *explain_instead(const struct label_book *book, const struct cause *cause)
{
    if (!cause->has_instead)
        return NULL;
    const char *nearly = cause->instead_share < NEARLY_ALL_SHARE ? amount_share(cause->instead_share).text : "nearly";
    return arena_printf(book->arena, "those who wait are %s as long %s meanwhile", nearly,
                        label_within(book, cause->instead));
}
