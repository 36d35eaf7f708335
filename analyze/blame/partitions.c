/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/partitions.h"
#include "analyze/blame/late.h"
#include "analyze/constants/constants.h"
#include <math.h>
#include <stdlib.h>

/* Times of some ranks together. */
struct total {
    double time_ns, variance_ns2;
    uint32_t n;
};

/* Of one or several causes: of each the mean over the late ranks and over the others, summed. */
struct sides {
    double late_ns, late_ns2, others_ns, others_ns2; /* ns2: variances */
};

struct search {
    struct analysis *analysis;
    struct arena scratch;
    bool *is_late;                                  /* by rank */
    bool *is_taken;                                 /* by cause: no part of a search any more */
    enum part { NO_PART, MAYBE_PART, PART } * part; /* by cause, of the partition at hand */
};

static bool is_computing(const struct cause *cause)
{
    bool computes = cause->kind == KIND_MORE_WORK || cause->kind == KIND_SLOWER || cause->kind == KIND_MORE_TIME;
    return computes && !cause->is_unexplained && !cause->is_spinning;
}

static void total_add(struct total *total, const struct cause_rank *rank)
{
    total->time_ns += rank->time_ns;
    total->variance_ns2 += rank->error_ns * rank->error_ns;
    total->n++;
}

static void sides_add(struct sides *sides, const struct search *search, const struct cause *cause)
{
    struct total late = {0}, others = {0};
    for (uint32_t i = 0; i < cause->n_ranks; i++)
        total_add(search->is_late[cause->ranks[i].rank] ? &late : &others, &cause->ranks[i]);
    for (uint32_t i = 0; i < cause->n_others; i++)
        total_add(search->is_late[cause->others[i].rank] ? &late : &others, &cause->others[i]);
    double n_late = fmax(late.n, 1), n_others = fmax(others.n, 1);
    sides->late_ns += late.time_ns / n_late;
    sides->others_ns += others.time_ns / n_others;
    sides->late_ns2 += late.variance_ns2 / n_late / n_late;
    sides->others_ns2 += others.variance_ns2 / n_others / n_others;
}

static struct ratio times_of(const struct sides *sides)
{
    return ratio_of((struct measured){sides->late_ns, sqrt(sides->late_ns2), true},
                    (struct measured){sides->others_ns, sqrt(sides->others_ns2), true});
}

static double factor_of(const struct sides *sides)
{
    return sides->others_ns > 0 ? sides->late_ns / sides->others_ns : INFINITY;
}

static bool is_known_late(const struct sides *sides)
{
    return ratio_exceeds(times_of(sides), NOTABLY_LONGER);
}

/* By which they are late. None where nobody else comes to it. */
static bool has_factor(const struct sides *sides)
{
    return is_known_late(sides) && isfinite(factor_of(sides));
}

static bool fits(const struct sides *sides, double factor)
{
    struct ratio times = times_of(sides);
    return times.low <= factor * exp(SAME_FACTOR) && times.high >= factor / exp(SAME_FACTOR);
}

static double blame_of_late(const struct search *search, const struct cause *cause)
{
    double blame_ns = 0;
    for (uint32_t i = 0; i < cause->n_ranks; i++)
        blame_ns += search->is_late[cause->ranks[i].rank] ? cause->ranks[i].blame_ns : 0;
    return blame_ns;
}

static void set_late(struct search *search, const struct cause *cause)
{
    for (uint32_t rank = 0; rank < search->analysis->trace->n_ranks; rank++)
        search->is_late[rank] = false;
    for (uint32_t i = 0; i < cause->n_late; i++)
        search->is_late[cause->ranks[i].rank] = true;
}

static struct sides sides_of_part(const struct search *search, enum part part)
{
    struct sides sides = {0};
    for (uint32_t i = 0; i < search->analysis->n_causes; i++)
        if (search->part[i] == part)
            sides_add(&sides, search, &search->analysis->causes[i]);
    return sides;
}

/* Those that share the reason, of what is not taken yet; `is_rough`: each by itself. */
static void choose_parts(struct search *search, double factor, bool is_rough)
{
    struct analysis *analysis = search->analysis;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        struct sides sides = {0};
        sides_add(&sides, search, cause);
        bool is_asked = !search->is_taken[i] && 2 * blame_of_late(search, cause) > cause->waiting_ns;
        search->part[i] = !is_asked || !fits(&sides, factor) ? NO_PART : is_known_late(&sides) ? PART : MAYBE_PART;
    }
    struct sides unknown = sides_of_part(search, MAYBE_PART);
    bool do_share = is_rough || (is_known_late(&unknown) && fits(&unknown, factor));
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (search->part[i] == MAYBE_PART)
            search->part[i] = do_share ? PART : NO_PART;
}

/* Of all its causes, what each rank did. */
static void add_ranks(const struct cause *cause, struct cause_rank *by_rank)
{
    for (uint32_t i = 0; i < cause->n_ranks + cause->n_others; i++) {
        const struct cause_rank *from = cause_rank_at(cause, i);
        struct cause_rank *to = &by_rank[from->rank];
        to->blame_ns += from->blame_ns;
        to->time_ns += from->time_ns;
        to->computing_ns += from->computing_ns;
        to->error_ns = hypot(to->error_ns, from->error_ns);
    }
}

/* Its causes taken as one. */
static void write_whole(const struct search *search, struct cause *whole)
{
    struct analysis *analysis = search->analysis;
    uint32_t n_ranks = analysis->trace->n_ranks;
    struct cause_rank *by_rank = arena_array(&analysis->arena, struct cause_rank, n_ranks + 1);
    *whole = (struct cause){.kind = KIND_MORE_TIME, .step = TRACE_NONE, .node = TRACE_NONE, .last_rank = TRACE_NONE};
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        by_rank[rank].rank = rank;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        if (search->part[i] != PART)
            continue;
        whole->step = whole->waiting_ns > 0 ? whole->step : cause->step;
        whole->waiting_ns += cause->waiting_ns;
        whole->share += cause->share;
        for (int kind = 0; kind < KIND_N; kind++)
            whole->kind_ns[kind] += cause->kind_ns[kind];
        add_ranks(cause, by_rank);
    }
    for (int kind = 0; kind < KIND_N; kind++)
        whole->kind = whole->kind_ns[kind] > whole->kind_ns[whole->kind] ? (enum cause_kind)kind : whole->kind;
    late_sort(by_rank, n_ranks);
    while (whole->n_ranks < n_ranks && by_rank[whole->n_ranks].blame_ns > 0)
        whole->n_ranks++;
    whole->ranks = by_rank;
    whole->others = by_rank + whole->n_ranks;
    whole->n_others = n_ranks - whole->n_ranks;
    whole->n_late = late_count(whole->ranks, whole->n_ranks, whole->waiting_ns, INFINITY);
    late_add_as_long(whole, &analysis->arena);
}

/* Beyond what core and cache make of the same work it is more work. */
static enum partition_reason reason_of(const struct partition *partition)
{
    if (partition->whole.kind != KIND_MORE_TIME)
        return partition->whole.kind == KIND_MORE_WORK ? PARTITION_DATA : PARTITION_SLOWER;
    return partition->factor.value > exp(SAME_FACTOR) ? PARTITION_DATA : PARTITION_EITHER;
}

/* An earlier partition that the causes at hand are late for the same reason as. Then chance kept them apart. NULL. */
static struct partition *find_same(struct search *search, const struct cause *whole)
{
    struct analysis *analysis = search->analysis;
    for (uint32_t i = 0; i < analysis->n_partitions; i++) {
        struct sides sides = {0};
        set_late(search, &analysis->partitions[i].whole);
        sides_add(&sides, search, whole);
        if (2 * blame_of_late(search, whole) > whole->waiting_ns && fits(&sides, analysis->partitions[i].factor.value))
            return &analysis->partitions[i];
    }
    return NULL;
}

static bool share_a_rank(const struct cause *one, const struct cause *other)
{
    for (uint32_t i = 0; i < one->n_late; i++)
        for (uint32_t k = 0; k < other->n_late; k++)
            if (one->ranks[i].rank == other->ranks[k].rank)
                return true;
    return false;
}

static void drop_partition(struct analysis *analysis, struct partition *partition)
{
    for (uint32_t i = 0; i < partition->n_causes; i++)
        analysis->causes[partition->causes[i]].partition = 0;
}

/* Where the causes at hand are written. Ranks have more of the data by one factor: by which they are late in most, and
 * what they are late for by another one has reasons of its own. NULL: it is these causes that have. */
static struct partition *place_of(struct search *search, const struct cause *whole)
{
    struct analysis *analysis = search->analysis;
    for (uint32_t i = 0; i < analysis->n_partitions; i++) {
        struct partition *known = &analysis->partitions[i];
        if (!share_a_rank(&known->whole, whole))
            continue;
        if (whole->waiting_ns <= known->whole.waiting_ns)
            return NULL;
        drop_partition(analysis, known);
        return known;
    }
    return &analysis->partitions[analysis->n_partitions++];
}

/* Its causes anew, in their order, those at hand among them. */
static void write_causes(struct search *search, struct partition *partition)
{
    struct analysis *analysis = search->analysis;
    uint32_t number = (uint32_t)(partition - analysis->partitions) + 1;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        search->part[i] = search->part[i] == PART || analysis->causes[i].partition == number ? PART : NO_PART;
    write_whole(search, &partition->whole);
    set_late(search, &partition->whole);
    struct sides sides = sides_of_part(search, PART);
    partition->factor = times_of(&sides);
    partition->reason = reason_of(partition);
    partition->causes = arena_array(&analysis->arena, uint32_t, analysis->n_causes + 1);
    partition->n_causes = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (search->part[i] == PART) {
            search->is_taken[i] = true;
            analysis->causes[i].partition = number;
            partition->causes[partition->n_causes++] = i;
        }
}

/* The causes at hand are one if none of them has half of it. */
static void write_partition(struct search *search)
{
    struct analysis *analysis = search->analysis;
    struct cause whole;
    double largest_ns = 0, program_ns = analysis->waiting_ns - analysis->machine.waiting_ns;
    write_whole(search, &whole);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (search->part[i] == PART)
            largest_ns = fmax(largest_ns, analysis->causes[i].waiting_ns);
    struct partition *same = find_same(search, &whole);
    bool is_spread = 2 * largest_ns < whole.waiting_ns && whole.waiting_ns >= NEGLIGIBLE_SHARE * program_ns;
    struct partition *place = same || !is_spread ? same : place_of(search, &whole);
    if (place)
        write_causes(search, place);
}

/* That begins with what is known to be late, by chance perhaps more than it is. Then with the ranks and the factor of
 * all that may share it, and once more of all that do. */
static void find_partition(struct search *search, struct sides sides)
{
    enum { TURNS = 3 };
    for (int turn = 0; turn < TURNS && has_factor(&sides); turn++) {
        struct cause whole;
        choose_parts(search, factor_of(&sides), turn == 0);
        write_whole(search, &whole);
        set_late(search, &whole);
        sides = sides_of_part(search, PART);
    }
    if (has_factor(&sides))
        write_partition(search);
}

/* The largest first. */
static void find_by_one(struct search *search)
{
    enum { MOST_SEARCHES = 100 };
    const struct analysis *analysis = search->analysis;
    for (uint32_t i = 0, n = 0; i < analysis->n_causes && n < MOST_SEARCHES; i++) {
        struct sides sides = {0};
        set_late(search, &analysis->causes[i]);
        sides_add(&sides, search, &analysis->causes[i]);
        if (search->is_taken[i] || !is_known_late(&sides))
            continue;
        find_partition(search, sides);
        search->is_taken[i] = true; /* it has a part in it, or stands for itself */
        n++;
    }
}

/* Where no cause is known by itself: by the sum of all that are left. */
static void find_by_sum(struct search *search)
{
    const struct analysis *analysis = search->analysis;
    struct cause whole;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        search->part[i] = search->is_taken[i] ? NO_PART : PART;
    write_whole(search, &whole);
    set_late(search, &whole);
    find_partition(search, sides_of_part(search, PART));
}

void partitions_find(struct analysis *analysis)
{
    struct search search = {.analysis = analysis};
    uint32_t n = analysis->n_causes;
    search.is_late = arena_array(&search.scratch, bool, analysis->trace->n_ranks + 1);
    search.is_taken = arena_array(&search.scratch, bool, n + 1);
    search.part = arena_array(&search.scratch, enum part, n + 1);
    analysis->partitions = arena_array(&analysis->arena, struct partition, n + 1);
    for (uint32_t i = 0; i < n; i++)
        search.is_taken[i] = !is_computing(&analysis->causes[i]);
    find_by_one(&search);
    find_by_sum(&search);
    arena_release(&search.scratch);
}
