/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/when.h"
#include "analyze/words/amount.h"

/* "th" of 10th. */
static const char *ordinal(uint32_t n)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    return n % 10 < 4 && n / 10 % 10 != 1 ? endings[n % 10] : "th";
}

static const char *duration(struct arena *arena, double ns)
{
    return arena_strdup(arena, amount_duration(ns).text);
}

/* "only from 2.10 s on", "mostly from 1.00 s to 4.00 s after the start"; NULL. */
static const char *span_words(struct arena *arena, const struct acting *acts)
{
    bool is_only = acts->kind == ACTS_IN_PART_ONLY, has_both = acts->from_ns > 0 && acts->to_ns > 0;
    if (!is_only && acts->kind != ACTS_IN_PART_MOSTLY)
        return NULL;
    if (has_both)
        return arena_printf(arena, "%s from %s to %s after the start", is_only ? "only" : "mostly",
                            duration(arena, acts->from_ns), duration(arena, acts->to_ns));
    const char *how = is_only ? "only" : "mostly";
    return acts->from_ns > 0 ? arena_printf(arena, "%s from %s on", how, duration(arena, acts->from_ns))
                             : arena_printf(arena, "%s in the first %s", how, duration(arena, acts->to_ns));
}

static const char *trend_words(struct arena *arena, const struct acting *acts)
{
    if (!acts->is_trend)
        return NULL;
    return arena_printf(arena, "%s from %s to %s of waiting each time",
                        acts->last_ns > acts->first_ns ? "growing" : "shrinking", duration(arena, acts->first_ns),
                        duration(arena, acts->last_ns));
}

/* "rank 0 until 175 ms, then rank 1"; "rank 0 first, until 175 ms, rank 7 last". */
static const char *moves_words(struct arena *arena, const struct cause *cause)
{
    const struct acting *acts = &cause->acts;
    if (!acts->moves)
        return NULL;
    return arena_printf(arena,
                        cause->n_late == 2 ? "rank %u until %s, then rank %u" : "rank %u first, until %s, rank %u last",
                        acts->first_rank, duration(arena, acts->moves_ns), acts->last_rank);
}

const char *when_sentence(struct arena *arena, const struct cause *cause)
{
    const struct acting *acts = &cause->acts;
    if (acts->kind == ACTS_IN_A_STALL)
        return arena_printf(arena, "%s, for %s, %s after the start",
                            acts->is_in_one_call ? "once" : "nearly all at once", duration(arena, cause->stall_ns),
                            duration(arena, acts->from_ns));
    if (acts->kind == ACTS_AT_ONCE)
        return arena_printf(arena, "close together, about %s after the start", duration(arena, acts->from_ns));
    const char *times =
        cause->every > 1 ? arena_printf(arena, "every %u%s time", cause->every, ordinal(cause->every)) : NULL;
    const char *parts[] = {times, moves_words(arena, cause), span_words(arena, acts), trend_words(arena, acts)},
               *text = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            text = text ? arena_printf(arena, "%s, %s", text, parts[i]) : parts[i];
    return text;
}

const char *when_in_full(struct arena *arena, const struct cause *cause)
{
    const char *text = when_sentence(arena, cause);
    return text || cause->acts.kind != ACTS_THROUGHOUT ? text : "all through the run";
}
