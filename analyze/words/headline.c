/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/headline.h"
#include "analyze/blame/late.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "analyze/words/ending.h"
#include "analyze/words/explain.h"
#include <ctype.h>
#include <string.h>

static const char *late_ranks(struct arena *arena, const struct cause *cause)
{
    uint32_t *ranks = arena_array(arena, uint32_t, cause->n_late + 1);
    for (uint32_t i = 0; i < cause->n_late; i++)
        ranks[i] = cause->ranks[i].rank;
    return amount_ranks(arena, ranks, cause->n_late);
}

/* "Rank 3" */
static const char *who(struct arena *arena, const struct cause *cause)
{
    char *text = arena_strdup(arena, late_ranks(arena, cause));
    *text = (char)toupper((unsigned char)*text);
    return text;
}

/* "Rank 3 makes others wait", "Ranks make each other wait" */
static const char *who_makes_wait(struct arena *arena, const struct analysis *analysis, const struct cause *cause)
{
    if (cause->n_late == analysis->trace->n_ranks)
        return "Ranks make each other wait";
    return arena_printf(arena, "%s %s others wait", who(arena, cause), cause->n_late == 1 ? "makes" : "make");
}

/* Who looks for memory to change waits as well, and is not to blame: nobody knows for whom it waits. */
static const char *who_spins(const struct label_book *book, const struct cause *cause)
{
    bool is_one = cause->n_late == 1;
    return arena_printf(book->arena, "%s %s for shared memory to change %s, and %s others wait",
                        who(book->arena, cause), is_one ? "waits" : "wait", label_answer_within(book),
                        is_one ? "makes" : "make");
}

/* "2.0 x as long in 168 places"; "1.4 x as long in 40 places, as its CPU or memory is slower" where that is known. */
static const char *partition_places(struct arena *arena, const struct partition *partition)
{
    const char *text =
        arena_printf(arena, "%s as long in %u places", explain_ratio(arena, partition->factor), partition->n_causes);
    if (partition->reason != PARTITION_SLOWER)
        return text;
    return arena_printf(arena, "%s, as %s", text,
                        explain_partition_reason(partition->reason, partition->whole.n_late == 1));
}

/* " More is gained by row 2, loop b.c:9 in g()."; "" */
static const char *gains_more(const struct label_book *book)
{
    uint32_t row = book->analysis->answer.gains_more;
    return row ? arena_printf(book->arena, " More is gained by row %u, %s.", row, label_cause_and_beside(book, row - 1))
               : "";
}

static const char *headline_cause(const struct label_book *book)
{
    struct arena *arena = book->arena;
    const struct analysis *analysis = book->analysis;
    const struct answer *answer = &analysis->answer;
    const struct cause *cause = answer_cause(analysis);
    if (!cause)
        return ""; /* an answer of another kind */
    const struct partition *partition = answer->kind == ANSWER_PARTITION ? &analysis->partitions[answer->number] : NULL;
    const char *where =
        partition ? partition_places(arena, partition) : arena_printf(arena, "most %s", label_answer_within(book));
    const char *what = cause->is_spinning
                           ? who_spins(book, cause)
                           : arena_printf(arena, "%s, %s", who_makes_wait(arena, analysis, cause), where);
    double lacking = answer->is_lacking ? answer->lacking_share : 0, code_ns = (1 - lacking) * answer->waiting_ns;
    const char *text = arena_printf(arena, "%s: %s, %s of all waiting", what, amount_duration(code_ns).text,
                                    amount_share((1 - lacking) * answer->share).text);
    if (answer->is_lacking)
        text = arena_printf(arena, "%s, for %s code, and %s, %s, since %s had no CPU there", text,
                            cause->n_late == 1 ? "its" : "their", amount_duration(answer->waiting_ns - code_ns).text,
                            amount_share(lacking * answer->share).text, cause->n_late == 1 ? "it" : "they");
    struct amount elsewhere = amount_share(answer->elsewhere_share);
    if (answer->is_minor)
        return arena_printf(arena, "%s of the waiting is for ranks that had no CPU. %s.", elsewhere.text, text);
    if (answer->elsewhere_share > 0)
        text = arena_printf(arena, "%s. Another %s is for ranks that had no CPU", text, elsewhere.text);
    return arena_printf(arena, "%s.%s", text, gains_more(book));
}

static const char *with_machine(const struct label_book *book, const char *text)
{
    const struct analysis *analysis = book->analysis;
    if (!analysis->answer.is_machine && analysis->answer.off_share > 0)
        return arena_printf(book->arena, "%s Ranks had no CPU for %s of the time, all alike.", text,
                            amount_share(analysis->answer.off_share).text);
    if (!analysis->answer.is_machine)
        return text;
    return arena_printf(book->arena, "%s For another %s of the time ranks waited for others %s.", text,
                        amount_share(analysis->answer.machine_share).text,
                        analysis->machine.is_stopped ? "that were stopped" : "that had no CPU");
}

static const char *headline_transfers(const struct label_book *book)
{
    const struct analysis *analysis = book->analysis;
    const struct efficiency *efficiency = &analysis->efficiency;
    bool has_causes = analysis->answer.has_causes;
    double waiting_ns = efficiency->waiting_ns - analysis->machine.waiting_ns;
    const char *what = analysis->transfers.moves_nothing ? "MPI itself" : has_causes ? "Moving data" : "moving data";
    const char *text = arena_printf(book->arena, "%s takes %s of the time, most %s.", what,
                                    amount_share(analysis->answer.transfer_share).text,
                                    label_within(book, analysis->transfers.places[0].step));
    text = has_causes ? arena_printf(book->arena, "%s Ranks wait for %s.", text,
                                     amount_share(waiting_ns / efficiency->all_ns).text)
                      : arena_printf(book->arena, "No rank is late: %s", text);
    return with_machine(book, text);
}

/* "Rank 0 waits for processes that it spawned: 4.20 s, 85 % of its time, most in MPI_Recv a.py:9 in gather()." */
static const char *headline_outside(const struct label_book *book)
{
    const struct outside *outside = &book->analysis->outside;
    return arena_printf(book->arena, "Rank %u waits for %s: %s, %s of its time, most %s.", outside->rank,
                        outside->spawn_step == TRACE_NONE ? "processes outside this run" : "spawned processes",
                        amount_duration(outside->longest_ns).text,
                        amount_share(outside->longest_ns / book->analysis->efficiency.wall_ns).text,
                        label_within(book, outside->places[0].step));
}

static const char *headline_elsewhere(const struct label_book *book)
{
    const struct analysis *analysis = book->analysis;
    struct arena *arena = book->arena;
    if (analysis->outside.is_notable)
        return headline_outside(book);
    const struct repeated_fetch *fetch = analysis->fetches;
    const char *share = arena_strdup(arena, amount_share(analysis->answer.program_share).text);
    const char *where;
    if (analysis->n_spinning)
        where = arena_printf(arena, "%s waits for memory to change, for %s on rank %u",
                             label_step(book, analysis->spinning[0].step),
                             amount_duration(analysis->spinning[0].dur_ns).text, analysis->spinning[0].rank);
    else if (analysis->n_fetches)
        where = arena_printf(arena, "%s may wait as well: it fetches the same again and again, for %s on rank %u",
                             fetch->call, amount_duration(fetch->dur_ns).text, fetch->rank);
    else
        where =
            arena_printf(arena, "they are asleep or in the kernel for %s, most %s",
                         amount_share(analysis->answer.blocked_share).text, label_step(book, analysis->most_blocked));
    return with_machine(book,
                        arena_printf(arena, "Ranks wait inside MPI for %s of the time only, but %s.", share, where));
}

/* Where CPUs were short. */
static const char *headline_busiest(const struct label_book *book)
{
    const struct answer *answer = &book->analysis->answer;
    const char *share = arena_strdup(book->arena, amount_share(answer->program_share).text);
    if (!answer->busiest)
        return arena_printf(book->arena,
                            "No rank is seen to be late: ranks wait for the program for %s of the time, at random.",
                            share);
    const char *where = answer->busiest_step == TRACE_NONE
                            ? ""
                            : arena_printf(book->arena, ", most %s", label_within(book, answer->busiest_step));
    struct ratio ratio = {answer->busiest_ratio, answer->busiest_ratio, answer->busiest_ratio};
    return arena_printf(book->arena, "Rank %u computes %s as long as the others on average%s.", answer->busiest - 1,
                        explain_ratio(book->arena, ratio), where);
}

static const char *headline_fine(const struct label_book *book)
{
    const struct analysis *analysis = book->analysis;
    struct arena *arena = book->arena;
    const char *share = arena_strdup(arena, amount_share(analysis->answer.program_share).text);
    if (analysis->answer.lacks_cpus)
        return arena_printf(arena,
                            "Ranks had no CPU, or waited for others that had none, for %s of the time, so this run "
                            "tells little about the program. %s",
                            amount_share(analysis->answer.lacking_cpus_share).text, headline_busiest(book));
    return with_machine(
        book,
        arena_printf(arena, "Nothing to improve in the program: it makes ranks wait for %s of the time, at random.",
                     share));
}

static const char *headline_varying(const struct label_book *book)
{
    const struct analysis *analysis = book->analysis;
    return with_machine(book, arena_printf(book->arena,
                                           "No rank is late over the run, but single steps vary: ranks wait for %s of "
                                           "the time, most at %s. Let them wait for each other less often, so that "
                                           "steps even out.",
                                           amount_share(analysis->answer.program_share).text, label_site(book, 0)));
}

/* The first of the sentences on waits that never ended. */
static const char *headline_hang(const struct label_book *book)
{
    char *text = arena_strdup(book->arena, ending_hang(book).at[0]);
    *text = (char)toupper((unsigned char)*text);
    return text;
}

/* "MPI_Barrier at a.c:7 in solve() <- main():85" */
static const char *call_text(const struct label_book *book, const struct last_place *place)
{
    return label_call(book, place->call, place->file, place->line, place->path);
}

/* "in MPI_Barrier at a.c:7 in main()", "outside MPI, in loop a.c:5-7", "outside MPI, after MPI_Init at a.c:3 in main()"
 */
static const char *place_text(const struct label_book *book, const struct last_place *place)
{
    if (place->call)
        return arena_printf(book->arena, "in %s", call_text(book, place));
    if (place->step != TRACE_NONE)
        return arena_printf(book->arena, "outside MPI, %s", label_within(book, place->step));
    return place->after ? arena_printf(book->arena, "outside MPI, after %s", call_text(book, place->after))
                        : "outside MPI";
}

/* How a rank ended and where, without the rank: "was in MPI_Barrier at a.c:7", "called MPI_Abort(3) at a.c:9",
 * "has no record after 1.20 s: it was in MPI_Send at a.c:5" (it may have slept until all were killed). */
static const char *rank_text(const struct label_book *book, const struct last_place *place)
{
    const struct trace *trace = book->analysis->trace;
    const struct trace_location *location = trace_main_thread(trace, place->rank);
    const char *verb = ending_verb(book, location), *where = place_text(book, place);
    bool is_first = place->rank + 1 == book->analysis->answer.first_end;
    if (location->end_how == WW_END_NONE)
        return !is_first ? where
                         : arena_printf(book->arena, "has no record after %s: it was %s",
                                        amount_duration((double)(location->end_ns - trace->start_ns)).text, where);
    if (location->end_how == WW_END_ABORT && place->file)
        return arena_printf(book->arena, "%s at %s", verb,
                            label_call(book, NULL, place->file, place->line, place->path));
    bool has_place = location->end_how == WW_END_SIGNAL || (location->end_how == WW_END_EXIT && is_first);
    return has_place ? arena_printf(book->arena, "%s, %s", verb, where) : verb;
}

/* The one that ended first, then by rank. */
static const struct last_place **places_in_order(const struct label_book *book)
{
    const struct analysis *analysis = book->analysis;
    uint32_t n = analysis->n_last_places, n_placed = 0;
    const struct last_place **places = arena_array(book->arena, const struct last_place *, n + 1);
    for (int is_first = 1; is_first >= 0; is_first--)
        for (uint32_t i = 0; i < n; i++)
            if ((analysis->last_places[i].rank + 1 == analysis->answer.first_end) == is_first)
                places[n_placed++] = &analysis->last_places[i];
    return places;
}

/* Ranks that ended alike in one place are named together. */
static const char *broke_off_places(const struct label_book *book)
{
    enum { PLACES_SAID = 4 };
    const struct analysis *analysis = book->analysis;
    struct arena *arena = book->arena;
    uint32_t n = analysis->n_last_places, n_said = 0, n_left = n, *ranks = arena_array(arena, uint32_t, n + 1);
    const char **texts = arena_array(arena, const char *, n + 1), *all = "";
    const struct last_place **places = places_in_order(book);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = rank_text(book, places[i]);
    for (uint32_t i = 0; i < n && n_said < PLACES_SAID; i++) {
        uint32_t n_alike = 0;
        const char *text = texts[i];
        for (uint32_t k = i; text && k < n; k++)
            if (texts[k] && !strcmp(texts[k], text)) {
                ranks[n_alike++] = places[k]->rank;
                texts[k] = NULL;
            }
        if (!n_alike)
            continue;
        bool is_first = ranks[0] + 1 == analysis->answer.first_end;
        bool is_place = trace_main_thread(analysis->trace, ranks[0])->end_how == WW_END_NONE && !is_first;
        const char *was = !is_place ? "" : n_alike == 1 ? "was " : "were ";
        all = arena_printf(arena, "%s%s%s %s%s", all, n_said++ ? "; " : "", amount_ranks(arena, ranks, n_alike), was,
                           text);
        n_left -= n_alike;
    }
    return n_left ? arena_printf(arena, "%s; and %u more elsewhere", all, n_left) : all;
}

/* "The run ended abruptly after 388 us: rank 0 was in MPI_Win_lock at a.c:20; rank 1 in MPI_Barrier at a.c:41." */
static const char *headline_broke_off(const struct label_book *book)
{
    const struct analysis *analysis = book->analysis;
    const struct trace *trace = analysis->trace;
    uint64_t end_ns = trace->start_ns;
    bool ends_abruptly = false;
    for (uint32_t i = 0; i < analysis->n_last_places; i++) {
        const struct trace_location *location = trace_main_thread(trace, analysis->last_places[i].rank);
        end_ns = location->end_ns > end_ns ? location->end_ns : end_ns;
        ends_abruptly |= location->end_how == WW_END_NONE || location->end_how == WW_END_SIGNAL;
    }
    return arena_printf(book->arena, "The run ended %safter %s: %s.", ends_abruptly ? "abruptly " : "",
                        amount_duration((double)(end_ns - trace->start_ns)).text, broke_off_places(book));
}

/* What a run lost before it broke off comes after whose end that was. */
static const char *after_first_end(const struct label_book *book, const char *text)
{
    const struct analysis *analysis = book->analysis;
    uint32_t rank = analysis->answer.first_end;
    if (!rank || analysis->answer.kind == ANSWER_BROKE_OFF || analysis->answer.kind == ANSWER_HANG)
        return text;
    return arena_printf(book->arena, "Rank %u %s. %s", rank - 1, rank_text(book, places_in_order(book)[0]), text);
}

static const char *headline_of_kind(const struct label_book *book)
{
    switch (book->analysis->answer.kind) {
    case ANSWER_ALONE:
        return "One rank only was recorded: nobody to wait for.";
    case ANSWER_HANG:
        return book->analysis->answer.first_end ? headline_broke_off(book) : headline_hang(book);
    case ANSWER_BROKE_OFF:
        return headline_broke_off(book);
    case ANSWER_NO_WAIT:
        return "No rank waits for another.";
    case ANSWER_TRANSFERS:
        return headline_transfers(book);
    case ANSWER_FINE:
        return headline_fine(book);
    case ANSWER_VARYING:
        return headline_varying(book);
    case ANSWER_ELSEWHERE:
        return headline_elsewhere(book);
    default:
        return headline_cause(book);
    }
}

const char *headline(const struct label_book *book)
{
    return after_first_end(book, headline_of_kind(book));
}

/* Times alone do not tell more of the data from data that lie worse in memory, whatever the factor. */
static bool is_counted(const struct partition *partition)
{
    return partition->whole.kind == KIND_MORE_WORK || partition->whole.kind == KIND_SLOWER;
}

static const char *partition_text(struct arena *arena, const struct partition *partition, const char *among)
{
    bool is_one = partition->whole.n_late == 1;
    return arena_printf(arena, "%s %s %s as long in %u places%s: %s%s", late_ranks(arena, &partition->whole),
                        is_one ? "takes" : "take", explain_ratio(arena, partition->factor), partition->n_causes, among,
                        is_counted(partition) ? "" : "perhaps ", explain_partition_reason(partition->reason, is_one));
}

const char *headline_partition(struct arena *arena, const struct partition *partition)
{
    return partition_text(arena, partition, "");
}

const char *headline_member(struct arena *arena, const struct partition *partition)
{
    return partition_text(arena, partition, ", this among them");
}

const char *headline_times(struct arena *arena, const struct partition *partition)
{
    enum { GROUPS = 4 };
    const struct cause *whole = &partition->whole;
    uint32_t n = whole->n_ranks + whole->n_others, *ranks = arena_array(arena, uint32_t, n + 1);
    struct cause_rank *all = arena_array(arena, struct cause_rank, n + 1);
    const char *text = "time there:";
    for (uint32_t i = 0; i < n; i++)
        all[i] = i < whole->n_ranks ? whole->ranks[i] : whole->others[i - whole->n_ranks];
    late_sort_by_time(all, n);
    for (uint32_t i = 0, group = 0; i < n && group < GROUPS; group++) {
        uint32_t n_alike = 0;
        double sum_ns = 0;
        for (double most_ns = all[i].time_ns; i < n && (group + 1 == GROUPS || all[i].time_ns * TIMES_ALIKE >= most_ns);
             i++) {
            ranks[n_alike++] = all[i].rank;
            sum_ns += all[i].time_ns;
        }
        text = arena_printf(arena, "%s%s %s %s%s", text, group ? "," : "", amount_ranks(arena, ranks, n_alike),
                            amount_duration(sum_ns / n_alike).text, n_alike > 1 ? " each" : "");
    }
    return text;
}

const char *headline_next(const struct partition *partition)
{
    static const char *const divide[][2] = {
        {"divide the data anew, so that this rank has less of it; if it has no more of it, look at how its data lie in "
         "memory",
         "divide the data anew, so that these ranks have less of it; if they have no more of it, look at how their "
         "data lie in memory"},
        {"divide the data anew, so that this rank has less of it",
         "divide the data anew, so that these ranks have less of it"}};
    static const char *const compare[][2] = {
        {"bind ranks to cores and keep other work off them; if this rank is still slower, look at how its data lie in "
         "memory",
         "bind ranks to cores and keep other work off them; if these ranks are still slower, look at how their data "
         "lie in memory"},
        {"compare the clock speed and memory of this rank's node with the others'",
         "compare the clock speed and memory of these ranks' nodes with the others'"}};
    static const char *const find_out[][2] = {
        {"see whether this rank has more of the data; if not, bind ranks to cores and keep other work off them",
         "see whether these ranks have more of the data; if not, bind ranks to cores and keep other work off them"},
        {"see whether this rank has more of the data; if not, compare its node with the others'",
         "see whether these ranks have more of the data; if not, compare their nodes"}};
    bool are_several = partition->whole.n_late > 1;
    switch (partition->reason) {
    case PARTITION_SLOWER:
        return compare[partition->has_own_node][are_several];
    case PARTITION_EITHER:
        return find_out[partition->has_own_node][are_several];
    default:
        return divide[is_counted(partition)][are_several];
    }
}
