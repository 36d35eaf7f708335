/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/ending.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "wrap/base/containers.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ending {
    const struct label_book *book;
    VEC(const char *) said;
    bool *hangs;          /* by rank */
    bool has_long_chains; /* of ranks that wait for ranks that hang: more than are told one by one */
};

enum { LINKS_SAID = 12 };

/* Adds a sentence unless it has been said. */
static void ending_say(struct ending *ending, const char *sentence)
{
    for (size_t i = 0; i < ending->said.n; i++)
        if (!strcmp(ending->said.at[i], sentence))
            return;
    *vec_push(&ending->said) = sentence;
}

const char *ending_name(const struct trace *trace, const struct trace_location *location)
{
    switch (location->end_how) {
    case WW_END_FINALIZE:
        return "finalize";
    case WW_END_EXIT:
        return "exit";
    case WW_END_ABORT:
        return "abort";
    case WW_END_SIGNAL:
        return "signal";
    case WW_END_GAVE_UP:
        return "gave-up";
    case WW_END_EXEC:
        return "exec";
    case WW_END_NONE:
        break;
    }
    return trace->is_ours ? "killed" : "unknown";
}

const char *ending_verb(const struct label_book *book, const struct trace_location *location)
{
    switch (location->end_how) {
    case WW_END_EXIT:
        return arena_printf(book->arena, "ended with status %d without calling MPI_Finalize", location->end_detail);
    case WW_END_ABORT:
        return arena_printf(book->arena, "called MPI_Abort(%d)", location->end_detail);
    case WW_END_SIGNAL:
        return arena_printf(book->arena, "ended by signal %d (%s)", location->end_detail,
                            strsignal(location->end_detail));
    case WW_END_GAVE_UP:
        return "stopped being recorded";
    case WW_END_EXEC:
        return "became another program (exec) without calling MPI_Finalize";
    case WW_END_NONE:
        return "ended abruptly (killed, crashed, _exit or fatal MPI error)";
    case WW_END_FINALIZE:
        break;
    }
    return NULL;
}

bool ending_is_orderly(const struct trace *trace, const struct trace_location *location)
{
    return !location || location->end_how == WW_END_FINALIZE || (location->end_how == WW_END_NONE && !trace->is_ours);
}

static const char *after_start(const struct ending *ending, uint64_t time_ns)
{
    uint64_t start_ns = ending->book->analysis->trace->start_ns;
    struct amount when = amount_duration(time_ns > start_ns ? (double)(time_ns - start_ns) : 0);
    return arena_printf(ending->book->arena, "%s", when.text);
}

/* It left nothing: no event of it is known. */
static bool was_never_recorded(const struct trace_location *location)
{
    return location->end_how == WW_END_GAVE_UP && !location->end_ns;
}

/* Where the records of these ranks end, which ended alike. The first may have taken the others with it. */
static const char *ending_silence(const struct ending *ending, const struct trace_location *first, uint64_t last_ns)
{
    struct arena *arena = ending->book->arena;
    const char *last = after_start(ending, last_ns);
    if (last_ns <= first->end_ns + same_moment_ns(ending->book->analysis->trace, last_ns))
        return arena_printf(arena, "the last event is %s after the start", last);
    return arena_printf(arena, "the records of rank %u end first, %s after the start, the last ones at %s", first->rank,
                        after_start(ending, first->end_ns), last);
}

/* One sentence for all ranks that ended as the first of them did. */
static void ending_say_rank(struct ending *ending, uint32_t rank, bool *is_said)
{
    const struct trace *trace = ending->book->analysis->trace;
    const struct trace_location *first = trace_main_thread(trace, rank), *earliest = first;
    struct arena *arena = ending->book->arena;
    if (ending_is_orderly(trace, first) || (trace->is_going && first->end_how == WW_END_NONE))
        return;
    uint32_t *ranks = arena_array(arena, uint32_t, trace->n_ranks), n = 0;
    uint64_t last_ns = 0;
    for (uint32_t other = rank; other < trace->n_ranks; other++) {
        const struct trace_location *location = trace_main_thread(trace, other);
        if (!location || is_said[other] || location->end_how != first->end_how ||
            location->end_detail != first->end_detail || was_never_recorded(location) != was_never_recorded(first))
            continue;
        is_said[other] = true;
        ranks[n++] = other;
        last_ns = location->end_ns > last_ns ? location->end_ns : last_ns;
        earliest = location->end_ns < earliest->end_ns ? location : earliest;
    }
    if (was_never_recorded(first)) {
        ending_say(ending, arena_printf(arena, "%s could not be recorded.", amount_ranks(arena, ranks, n)));
        return;
    }
    ending_say(ending, arena_printf(arena, "%s %s; %s.", amount_ranks(arena, ranks, n),
                                    ending_verb(ending->book, first), ending_silence(ending, earliest, last_ns)));
}

static bool is_usual(const struct open_wait *wait)
{
    return wait->dur_ns <= wait->longest_ns;
}

/* It hangs, and so does the rank that it waits for. */
static bool is_link(const struct ending *ending, const struct open_wait *wait)
{
    return !is_usual(wait) && wait->for_rank < ending->book->analysis->trace->n_ranks && ending->hangs[wait->for_rank];
}

static bool is_told_as_chain(const struct ending *ending, const struct open_wait *wait)
{
    return ending->has_long_chains && is_link(ending, wait);
}

static void ending_find_links(struct ending *ending)
{
    const struct analysis *analysis = ending->book->analysis;
    uint32_t n_links = 0, n_ranks = analysis->trace->n_ranks;
    ending->hangs = arena_array(ending->book->arena, bool, n_ranks);
    for (uint32_t i = 0; i < analysis->n_open_waits; i++)
        if (analysis->open_waits[i].rank < n_ranks && !is_usual(&analysis->open_waits[i]))
            ending->hangs[analysis->open_waits[i].rank] = true;
    for (uint32_t i = 0; i < analysis->n_open_waits; i++)
        n_links += is_link(ending, &analysis->open_waits[i]);
    ending->has_long_chains = n_links > LINKS_SAID;
}

/* For whom matters where somebody hangs. */
static bool waits_alike(const struct ending *ending, const struct open_wait *a, const struct open_wait *b)
{
    bool same_file = a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file));
    bool same_path = !strcmp(a->path ? a->path : "", b->path ? b->path : "");
    bool same_rank = a->for_rank == b->for_rank || (is_told_as_chain(ending, a) && is_told_as_chain(ending, b));
    bool same_end = is_usual(a) ? is_usual(b) : !is_usual(b) && same_rank;
    return same_file && same_path && same_end && a->line == b->line && !strcmp(a->call, b->call);
}

/* The awaited rank ended long before who waits for it: how and when. "" where it did not, or hung itself until then. */
static const char *ending_gone(const struct ending *ending, const struct open_wait *wait)
{
    const struct trace *trace = ending->book->analysis->trace;
    const struct trace_location *location = trace_main_thread(trace, wait->for_rank);
    uint64_t until_ns = wait->since_ns + wait->dur_ns;
    if (!location || location->end_ns + same_moment_ns(trace, until_ns) >= until_ns)
        return "";
    for (uint32_t i = 0; i < ending->book->analysis->n_open_waits; i++) {
        const struct open_wait *other = &ending->book->analysis->open_waits[i];
        if (other->rank == wait->for_rank && !is_usual(other))
            return "";
    }
    const char *how = location->end_how == WW_END_NONE       ? "ended abruptly"
                      : location->end_how == WW_END_FINALIZE ? "ended in order"
                                                             : ending_verb(ending->book, location);
    return arena_printf(ending->book->arena, "; rank %u %s %s after the start", wait->for_rank, how,
                        after_start(ending, location->end_ns));
}

/* What the awaited rank did instead, as far as that is known: it sent another message, went on to MPI_Finalize, is in
 * another collective operation of that name, ended, or was outside MPI. */
static const char *ending_instead(const struct ending *ending, const struct open_wait *wait)
{
    const struct label_book *book = ending->book;
    uint32_t rank = wait->for_rank;
    if (rank == TRACE_NONE)
        return "";
    if (wait->is_other_sent && wait->other_tag != wait->tag)
        return arena_printf(book->arena,
                            "; rank %u has sent it a message with tag %d, which nobody received: this call waits for "
                            "tag %d",
                            rank, wait->other_tag, wait->tag);
    if (wait->is_other_sent)
        return arena_printf(book->arena,
                            "; rank %u has sent it a message with the same tag %d on another communicator, which "
                            "nobody received",
                            rank, wait->tag);
    if (wait->is_for_finalizing)
        return arena_printf(book->arena, "; rank %u has come to MPI_Finalize", rank);
    if (wait->is_for_other_comm)
        return arena_printf(book->arena, "; rank %u is in %s of another communicator", rank, wait->call);
    if (wait->meanwhile_share > 0)
        return arena_printf(book->arena, "; meanwhile rank %u was outside MPI, %s (%s of that time)", rank,
                            label_within(book, wait->meanwhile_step), amount_share(wait->meanwhile_share).text);
    return ending_gone(ending, wait);
}

/* " for rank 2", " for itself": whom `n` ranks wait for, the first of them `rank`. */
static const char *ending_whom(struct arena *arena, uint32_t rank, uint32_t for_rank, uint32_t n)
{
    if (for_rank == TRACE_NONE)
        return "";
    return n == 1 && for_rank == rank ? " for itself" : arena_printf(arena, " for rank %u", for_rank);
}

/* " for ranks 1-1023, which hang themselves,": whom those wait for that are told together with this one. */
static const char *ending_whom_in_chain(const struct ending *ending, const struct open_wait *wait)
{
    const struct analysis *analysis = ending->book->analysis;
    struct arena *arena = ending->book->arena;
    uint32_t n_ranks = analysis->trace->n_ranks, n = 0;
    uint32_t *ranks = arena_array(arena, uint32_t, n_ranks);
    bool *is_awaited = arena_array(arena, bool, n_ranks);
    for (uint32_t i = 0; i < analysis->n_open_waits; i++)
        if (waits_alike(ending, wait, &analysis->open_waits[i]))
            is_awaited[analysis->open_waits[i].for_rank] = true;
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        if (is_awaited[rank])
            ranks[n++] = rank;
    return arena_printf(arena, " for %s, which hang themselves,", amount_ranks(arena, ranks, n));
}

/* "MPI_Barrier at a.c:7 in solve() <- main():85": the call of a rank that never came back from it. */
static const char *ending_place(const struct ending *ending, const struct open_wait *wait)
{
    return label_call(ending->book, wait->call, wait->file, wait->line, wait->path);
}

/* One sentence for all ranks that hang in one call for one reason. */
static void ending_say_open_wait(struct ending *ending, uint32_t number, bool *is_said)
{
    const struct analysis *analysis = ending->book->analysis;
    const struct open_wait *wait = &analysis->open_waits[number];
    struct arena *arena = ending->book->arena;
    VEC(uint32_t) ranks = {0};
    uint64_t since_ns = wait->since_ns, start_ns = analysis->trace->start_ns;
    uint32_t for_rank = wait->for_rank;
    for (uint32_t i = number; i < analysis->n_open_waits; i++) {
        const struct open_wait *other = &analysis->open_waits[i];
        if (is_said[i] || !waits_alike(ending, wait, other))
            continue;
        is_said[i] = true;
        *vec_push(&ranks) = other->rank;
        since_ns = other->since_ns < since_ns ? other->since_ns : since_ns;
        for_rank = other->for_rank == for_rank ? for_rank : TRACE_NONE;
    }
    uint32_t n = (uint32_t)ranks.n;
    const char *who = amount_ranks(arena, ranks.at, n), *whom = ending_whom(arena, wait->rank, for_rank, n);
    if (is_told_as_chain(ending, wait) && for_rank == TRACE_NONE)
        whom = ending_whom_in_chain(ending, wait);
    if (wait->is_outside && for_rank == TRACE_NONE)
        whom = " for processes outside this run";
    vec_release(&ranks);
    const char *call = ending_place(ending, wait);
    struct amount when = amount_duration(since_ns > start_ns ? (double)(since_ns - start_ns) : 0);
    const char *instead = for_rank == TRACE_NONE || is_usual(wait) ? "" : ending_instead(ending, wait);
    if (analysis->trace->is_going) {
        ending_say(ending, arena_printf(arena, "%s %s in %s, waiting%s since %s after the start%s.", who,
                                        n == 1 ? "is" : "are", call, whom, when.text, instead));
        return;
    }
    const char *was = wait->for_rank != TRACE_NONE ? "waited" : n == 1 ? "was" : "were";
    if (is_usual(wait))
        ending_say(ending, arena_printf(arena, "%s %s in %s%s when the run ended, no longer than in other waits.", who,
                                        was, call, whom));
    else if (wait->probes && for_rank == TRACE_NONE)
        ending_say(ending, arena_printf(arena,
                                        "%s polled with %s for %s, to the end: no rank sent a message that %s "
                                        "would find.",
                                        who, call, amount_duration((double)wait->dur_ns).text, n == 1 ? "it" : "they"));
    else if (wait->polls)
        ending_say(ending, arena_printf(arena, "%s polled with %s to the end: waiting%s from %s after the start%s.",
                                        who, call, whom, when.text, instead));
    else
        ending_say(ending, arena_printf(arena, "%s never came back from %s: %s waited%s from %s after the start%s.",
                                        who, call, n == 1 ? "it" : "they", whom, when.text, instead));
}

/* The first two ranks that are in operations of one communicator which do not match. */
static void ending_say_unlike(struct ending *ending)
{
    const struct analysis *analysis = ending->book->analysis;
    struct arena *arena = ending->book->arena;
    const struct open_wait *wait = NULL, *other = NULL;
    for (uint32_t i = 0; i < analysis->n_open_waits && !wait; i++)
        if (analysis->open_waits[i].unlike_rank != TRACE_NONE && !is_usual(&analysis->open_waits[i]))
            wait = &analysis->open_waits[i];
    for (uint32_t i = 0; wait && i < analysis->n_open_waits && !other; i++)
        if (analysis->open_waits[i].rank == wait->unlike_rank && analysis->open_waits[i].unlike_rank != TRACE_NONE)
            other = &analysis->open_waits[i];
    if (!other)
        return;
    bool other_root = !strcmp(wait->call, other->call);
    ending_say(ending, arena_printf(arena,
                                    "Mismatch: rank %u is in %s, rank %u in %s, as the same operation of one "
                                    "communicator: %s has to be the same on all its ranks.",
                                    wait->rank, ending_place(ending, wait), other->rank, ending_place(ending, other),
                                    other_root ? "the root" : "the call"));
}

static void ending_say_analysis(struct ending *ending)
{
    const struct analysis *analysis = ending->book->analysis;
    struct arena *arena = ending->book->arena;
    if (analysis->n_forced)
        ending_say(ending,
                   arena_printf(arena,
                                "%llu %s for something that is not in the trace, or comes too many calls later to be "
                                "kept in mind: that time counts as communication.",
                                (unsigned long long)analysis->n_forced,
                                analysis->n_forced == 1 ? "call waits" : "calls wait"));
    for (uint32_t i = 0; i < analysis->n_fetches; i++)
        ending_say(ending,
                   arena_printf(arena,
                                "%s fetches as much from the same rank again and again, for %s in all on rank %u: if "
                                "that waits for a value to change, it is not seen as waiting.",
                                analysis->fetches[i].call, amount_duration(analysis->fetches[i].dur_ns).text,
                                analysis->fetches[i].rank));
    for (uint32_t i = 0; i < analysis->n_spinning; i++)
        ending_say(ending,
                   arena_printf(arena,
                                "%s waits for memory to change, for %s on rank %u: no record says for whom, so "
                                "it does not count as waiting.",
                                label_step(ending->book, analysis->spinning[i].step),
                                amount_duration(analysis->spinning[i].dur_ns).text, analysis->spinning[i].rank));
}

static struct sentences ending_finish(struct ending *ending)
{
    struct sentences sentences = {
        .at = arena_copy(ending->book->arena, ending->said.at, ending->said.n * sizeof *ending->said.at),
        .n = (uint32_t)ending->said.n,
    };
    vec_release(&ending->said);
    return sentences;
}

enum { TURN_USUAL = 2, TURNS };

/* Ranks that wait for others that hang are smaller news, and those smaller still that waited no longer than usual. */
static int ending_turn(const struct ending *ending, const struct open_wait *wait)
{
    return is_usual(wait) ? TURN_USUAL : is_told_as_chain(ending, wait) ? 1 : 0;
}

struct sentences ending_hang(const struct label_book *book)
{
    struct ending ending = {.book = book};
    const struct analysis *analysis = book->analysis;
    uint32_t n_links = analysis->n_deadlock, n = analysis->n_open_waits;
    const char *text = "Deadlock:";
    ending_say_unlike(&ending);
    for (uint32_t i = 0; i < n_links && i < LINKS_SAID; i++)
        text = arena_printf(book->arena, "%s%s rank %u waits%s", text, i ? "," : "", analysis->deadlock[i],
                            ending_whom(book->arena, analysis->deadlock[i], analysis->deadlock[(i + 1) % n_links], 1));
    if (n_links > LINKS_SAID)
        text = arena_printf(book->arena, "%s, and so on in a ring of %u ranks", text, n_links);
    if (n_links)
        ending_say(&ending, arena_printf(book->arena, "%s.", text));
    bool *is_said = arena_array(book->arena, bool, n);
    ending_find_links(&ending);
    /* Where ranks were when the run broke off is the answer then. */
    int turns = analysis->answer.kind == ANSWER_BROKE_OFF ? TURN_USUAL : TURNS;
    for (int turn = 0; turn < turns; turn++)
        for (uint32_t i = 0; i < n; i++)
            if (!is_said[i] && ending_turn(&ending, &analysis->open_waits[i]) == turn)
                ending_say_open_wait(&ending, i, is_said);
    return ending_finish(&ending);
}

static uint64_t no_room(const struct trace_location *location)
{
    return location->n_dropped - location->n_nested;
}

static uint64_t nested(const struct trace_location *location)
{
    return location->n_nested;
}

/* `format` takes how many, and of which ranks. */
static void say_lost(struct ending *ending, uint64_t (*lost)(const struct trace_location *), const char *format)
{
    const struct trace *trace = ending->book->analysis->trace;
    struct arena *arena = ending->book->arena;
    uint64_t n_lost = 0;
    uint32_t *ranks = arena_array(arena, uint32_t, trace->n_locations), n = 0;
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        uint64_t here = lost(&trace->locations[i]);
        n_lost += here;
        if (here && (!n || ranks[n - 1] != trace->locations[i].rank))
            ranks[n++] = trace->locations[i].rank;
    }
    if (n_lost)
        ending_say(ending, arena_printf(arena, format, amount_count(n_lost).text, amount_ranks(arena, ranks, n)));
}

struct sentences ending_rest(const struct label_book *book)
{
    struct ending ending = {.book = book};
    const struct trace *trace = ending.book->analysis->trace;
    bool *is_said = arena_array(ending.book->arena, bool, trace->n_ranks);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
        if (!is_said[rank])
            ending_say_rank(&ending, rank, is_said);
    say_lost(&ending, no_room, "Lost: %s records of %s found no room.");
    say_lost(&ending, nested,
             "Lost: %s calls of %s, made within another call of MPI (by a function that MPI calls back).");
    const struct analysis *analysis = ending.book->analysis;
    if (analysis->unexplained_ns > NEGLIGIBLE_SHARE * analysis->waiting_ns)
        ending_say(&ending,
                   arena_printf(ending.book->arena,
                                "Paths and waits differ by %s in all (clock error): read small causes with care.",
                                amount_duration(analysis->unexplained_ns).text));
    for (uint32_t i = 0; i < analysis->trace->n_notes; i++)
        ending_say(&ending, analysis->trace->notes[i]);
    size_t n_code = 0;
    const char *const *code = analysis->code ? code_notes(analysis->code, &n_code) : NULL;
    for (size_t i = 0; i < n_code; i++)
        ending_say(&ending, code[i]);
    ending_say_analysis(&ending);
    return ending_finish(&ending);
}
