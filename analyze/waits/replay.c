/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/replay.h"
#include "analyze/waits/call_classes.h"
#include "analyze/waits/waits.h"
#include "wrap/base/err.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls queued in all before the oldest is run with what is known: bounds memory when records are missing. Well before,
 * nobody waits any more for what a location polls for to become known: some poll as long as they live. */
enum { QUEUED_MAX = 1 << 16, QUEUED_MAX_A_LANE = 64 };

void replay_begin(struct replay *replay)
{
    const struct trace *trace = replay->trace;
    replay->thread_start_step = steps_put(replay->sites->steps, STEP_UNKNOWN, WHAT_START, 1, TRACE_NONE);
    replay->clock_step = steps_put(replay->sites->steps, STEP_UNKNOWN, WHAT_CLOCK, 0, TRACE_NONE);
    replay->off_step = steps_put(replay->sites->steps, STEP_UNKNOWN, WHAT_OFF, 0, TRACE_NONE);
    replay->lanes = memory_lines(trace->n_locations + 1, sizeof *replay->lanes);
    replay->left = memory_lines(trace->n_locations + 1, sizeof *replay->left);
    replay->ranks = memory_lines(trace->n_ranks + 1, sizeof *replay->ranks);
    replay->origin = history_origin(&replay->links->history, replay->begin_ns);
    replay->relays.floor_ns = evidence_floor_ns(trace);
    rounds_begin(&replay->rounds, replay->sites);
    for (uint32_t lane = 0; lane < trace->n_locations; lane++)
        replay->lanes[lane] = (struct queue_of_calls){.rank = trace->locations[lane].rank,
                                                      .is_main = trace->locations[lane].thread == 0,
                                                      .tip = mark_hold(replay->origin),
                                                      .loop = TRACE_NONE,
                                                      .now_ns = replay->begin_ns};
}

void replay_release(struct replay *replay)
{
    for (uint32_t lane = 0; replay->lanes && lane < replay->trace->n_locations; lane++)
        polling_release(&replay->lanes[lane].polling);
    for (uint32_t lane = 0; replay->lanes && lane < replay->trace->n_locations; lane++) {
        vec_release(&replay->lanes[lane].calls);
        vec_release(&replay->left[lane].n);
    }
    for (uint32_t rank = 0; replay->ranks && rank < replay->trace->n_ranks; rank++) {
        sparse_release(&replay->ranks[rank].atoms);
        sparse_release(&replay->ranks[rank].counts);
        sparse_release(&replay->ranks[rank].served);
    }
    while (replay->spare) {
        struct call *call = replay->spare;
        replay->spare = call->next;
        sparse_release(&call->before);
        sparse_release(&call->lent);
        sparse_release(&call->counts);
        vec_release(&call->needs);
        vec_release(&call->partners);
        free(call);
    }
    relays_release(&replay->relays);
    rounds_release(&replay->rounds);
    vec_release(&replay->found);
    vec_free(replay->lanes);
    vec_free(replay->left);
    vec_free(replay->ranks);
}

struct call *replay_call(struct replay *replay)
{
    struct call *call = replay->spare;
    if (!call)
        return memory_lines(1, sizeof *call);
    replay->spare = call->next;
    memset(call, 0, offsetof(struct call, before));
    sparse_clear(&call->before);
    sparse_clear(&call->lent);
    call->needs.n = call->partners.n = 0;
    call->n_waited = call->releases.n = 0;
    call->idle = (struct idle){0};
    if (call->counts.n)
        sparse_clear(&call->counts);
    return call;
}

static void call_spare(struct replay *replay, struct call *call)
{
    for (size_t i = 0; i < call->callbacks.n; i++) {
        sparse_release(&call->callbacks.at[i].did.atoms);
        sparse_release(&call->callbacks.at[i].did.counts);
        point_drop(replay->links, call->callbacks.at[i].back);
    }
    if (call->callbacks.n)
        vec_release(&call->callbacks);
    point_drop(replay->links, call->point);
    for (size_t i = 0; i < call->needs.n; i++) {
        const struct need *need = &call->needs.at[i];
        if (need_is_message(need))
            message_drop(replay->messages, need->message);
        else if (need->kind == NEED_GATHERING)
            gathering_drop(replay->gatherings, need->gathering);
        else if (need->kind == NEED_LOCK)
            lock_wait_drop(replay->locks, need->lock_wait);
        point_drop(replay->links, need->point);
    }
    mark_drop(&replay->links->history, call->mark);
    call->next = replay->spare;
    replay->spare = call;
}

void replay_queue(struct replay *replay, uint32_t at, struct call *call)
{
    struct queue_of_calls *lane = &replay->lanes[at];
    call->next = NULL;
    if (lane->last)
        lane->last->next = call;
    else
        lane->first = call;
    lane->last = call;
    replay->n_queued++;
    if (!lane->asleep_on)
        *vec_push(&replay->links->awake) = at;
}

static uint32_t lane_number(const struct replay *replay, const struct queue_of_calls *lane)
{
    return (uint32_t)(lane - replay->lanes);
}

/* Of what the location did. */
static void lane_add_term(struct replay *replay, struct queue_of_calls *lane, int to, uint64_t key, double ns)
{
    history_add_term(&replay->links->history, to, lane_number(replay, lane), key, ns);
    lane->has_open |= ns != 0 && (to & TO_SEGMENT);
}

static void lane_add(struct replay *replay, struct queue_of_calls *lane, int to, const struct sparse *terms,
                     double factor)
{
    history_add(&replay->links->history, to, lane_number(replay, lane), terms, factor);
    lane->has_open |= terms->n && (to & TO_SEGMENT);
}

static void lane_add_noise(struct replay *replay, const struct queue_of_calls *lane, double noise_ns2)
{
    history_add_noise(&replay->links->history, lane_number(replay, lane), noise_ns2);
}

/* Closes the open segment: its node, with a hold for the caller. */
static struct mark *lane_mark(struct replay *replay, struct queue_of_calls *lane)
{
    if (lane->has_open || lane->tip->time_ns != lane->now_ns) {
        struct mark *before = lane->tip;
        lane->tip = history_node(&replay->links->history, lane_number(replay, lane), lane->now_ns);
        lane->has_open = false;
        mark_drop(&replay->links->history, before);
    }
    return mark_hold(lane->tip);
}

/* Goes on from another node; what it did since its own is forgotten. */
static void lane_go_on_from(struct replay *replay, struct queue_of_calls *lane, struct mark *tip)
{
    struct mark *before = lane->tip;
    lane->tip = mark_hold(tip);
    lane->has_open = false;
    history_go_on_from(&replay->links->history, lane_number(replay, lane), tip);
    mark_drop(&replay->links->history, before);
}

static double spent_outside(const struct spent *spent)
{
    return spent->on_ns + spent->off_ns[OFF_PREEMPTED] + spent->off_ns[OFF_BLOCKED];
}

/* Evenly spread over that time. */
static __attribute__((noinline)) void rank_spread_lack(const struct trace *trace, struct rank_time *rank,
                                                       uint64_t from_ns, uint64_t to_ns, double ns)
{
    rank->descheduled_ns += ns;
    if (trace->end_ns <= trace->start_ns)
        return;
    double part_ns = (double)(trace->end_ns - trace->start_ns) / WHEN_PARTS;
    double from = (double)(from_ns - trace->start_ns) / part_ns, to = (double)(to_ns - trace->start_ns) / part_ns;
    uint32_t first = (uint32_t)fmin(fmax(from, 0), WHEN_PARTS - 1), last = (uint32_t)fmin(fmax(to, 0), WHEN_PARTS - 1);
    for (uint32_t part = first; part <= last; part++) {
        double share = first == last ? 1 : (fmin(to, part + 1) - fmax(from, part)) / (to - from);
        rank->lacks_ns[part] += (float)(share * ns);
    }
}

static inline void rank_add_lack(const struct replay *replay, struct rank_time *rank, uint64_t from_ns, uint64_t to_ns,
                                 double ns)
{
    if (ns != 0)
        rank_spread_lack(replay->trace, rank, from_ns, to_ns, ns);
}

static void rank_add_spent(const struct replay *replay, struct rank_time *rank, const struct spent *spent,
                           double factor, uint64_t from_ns, uint64_t to_ns)
{
    rank->compute_ns += factor * spent->on_ns;
    rank->outside_ns += factor * spent_outside(spent);
    rank->preempted_ns += factor * spent->off_ns[OFF_PREEMPTED];
    rank->blocked_ns += factor * spent->off_ns[OFF_BLOCKED];
    rank_add_lack(replay, rank, from_ns, to_ns, factor * spent->off_ns[OFF_PREEMPTED]);
}

static void lane_stop_polling(struct replay *replay, struct queue_of_calls *lane)
{
    if (lane->polling.mark || lane->polling.n_parts)
        polling_end(&lane->polling, replay->links);
}

/* The location's own doing until `to_ns`. */
static void lane_tell(const struct replay *replay, const struct queue_of_calls *lane, uint64_t from_ns, uint64_t to_ns,
                      const struct term *terms, size_t n)
{
    if (replay->times.context && to_ns > from_ns)
        replay->times.spent(replay->times.context, lane_number(replay, lane), from_ns, to_ns, terms, n);
}

/* The polls meanwhile turn out to have been waiting. */
static void lane_take_polls_back(struct replay *replay, struct queue_of_calls *lane, uint64_t from_ns, uint64_t to_ns)
{
    struct rank_time *rank = &replay->ranks[lane->rank];
    for (uint32_t i = 0; i < lane->polling.n_parts; i++) {
        const struct polling_part *part = &lane->polling.room->parts[i];
        double waited = polling_part_between(part, from_ns, to_ns);
        rank_add_spent(replay, rank, &part->spent, -waited, part->from_ns, part->to_ns);
        rank->transfer_ns -= waited * part->transfer_ns;
        rank_add_lack(replay, rank, part->from_ns, part->to_ns, -waited * part->absent_ns);
        if (waited > 0)
            lane_add(replay, lane, TO_SUMS, &part->atoms, -waited);
    }
}

/* The polls so far were one call, with what was done between them, and it did not wait for any rank. */
static void lane_join_polls(struct replay *replay, struct queue_of_calls *lane, uint32_t site, enum call_state state)
{
    double polled_ns = (double)(lane->now_ns - lane->polling.since_ns);
    uint32_t step = call_step(replay->call_steps, site, state);
    lane_take_polls_back(replay, lane, lane->polling.since_ns, lane->now_ns);
    lane_go_on_from(replay, lane, lane->polling.mark);
    const struct term polled = {atom_key(lane->rank, step), polled_ns};
    lane_add_term(replay, lane, TO_SEGMENT | TO_SUMS, polled.key, polled.ns);
    lane_tell(replay, lane, lane->polling.since_ns, lane->now_ns, &polled, 1);
    replay->ranks[lane->rank].mpi_ns += polled_ns;
    lane_stop_polling(replay, lane);
}

/* Events since the last poll. */
static void lane_check_polling(struct replay *replay, struct queue_of_calls *lane, const struct call *call)
{
    if (!lane->polling.mark)
        return;
    if (call->ends_polls) {
        lane_join_polls(replay, lane, call->site, CALL_OPEN); /* the awaited thing never came */
        return;
    }
    /* A poll goes on as long as little happens between its calls. Without a CPU neither goes on. */
    double lost_ns = call->spent.off_ns[OFF_PREEMPTED];
    double polled_ns = (double)(lane->polling.until_ns - lane->polling.since_ns) - lane->polling.lost_ns;
    double happened_ns = (double)(call->enter_ns - lane->polling.until_ns) - lost_ns;
    if (!class_may_follow_polls(call->class) || (!call->is_after_nap && happened_ns > polled_ns)) {
        lane_stop_polling(replay, lane);
        return;
    }
    lane->polling.lost_ns += lost_ns;
    struct polling_part *part = polling_add(&lane->polling, call->enter_ns);
    sparse_add_all(&part->atoms, &call->before, 1);
    sparse_add_all(&part->counts, &call->counts, 1);
    part->spent = call->spent;
    part->is_stretch = true;
}

static void vector_scale(struct sparse *vector, double factor)
{
    for (size_t i = 0; i < vector->n; i++)
        vector->at[i].ns *= factor;
}

/* A thread that calls MPI goes on from its process's main thread, as far as that is known by then. Its earlier doing is
 * in its sums alone; of the time before it began nothing is known. */
static void lane_fork(struct replay *replay, struct queue_of_calls *lane, struct call *call)
{
    const struct queue_of_calls *parent = NULL;
    for (uint32_t at = 0; at < replay->trace->n_locations; at++)
        if (replay->lanes[at].is_main && replay->lanes[at].rank == lane->rank) {
            parent = &replay->lanes[at];
            break;
        }
    if (!parent || parent->tip->time_ns > call->enter_ns)
        return;
    lane_go_on_from(replay, lane, parent->tip);
    sparse_clear(&call->lent);
    double own_ns = sparse_sum(&call->before), since_ns = (double)(call->enter_ns - lane->tip->time_ns);
    if (own_ns > since_ns) {
        double before = 1 - since_ns / own_ns;
        lane_add(replay, lane, TO_SUMS, &call->before, before);
        lane_add(replay, lane, TO_SUMS | TO_COUNTS, &call->counts, before);
        vector_scale(&call->before, 1 - before);
        vector_scale(&call->counts, 1 - before);
    } else {
        sparse_add(&call->before, atom_key(lane->rank, replay->thread_start_step), since_ns - own_ns);
    }
}

/* A thread that slept until another one of its process had come back from MPI goes on from there. What it did before is
 * in its sums alone. Where that call is not explained yet, or that thread is beyond this one, its sleep says it all. */
static void lane_follow(struct replay *replay, struct queue_of_calls *lane, struct call *call)
{
    struct queue_of_calls *other = &replay->lanes[call->spent.led_by - 1];
    double own_ns = sparse_sum(&call->before);
    if (other->now_ns < call->spent.led_until_ns || other->now_ns > call->enter_ns || own_ns <= 0)
        return;
    struct mark *back = lane_mark(replay, other);
    double after = fmin(1, (double)(call->enter_ns - back->time_ns) / own_ns);
    lane_go_on_from(replay, lane, back);
    mark_drop(&replay->links->history, back);
    lane_add(replay, lane, TO_SUMS, &call->before, 1 - after);
    lane_add(replay, lane, TO_SUMS | TO_COUNTS, &call->counts, 1 - after);
    vector_scale(&call->before, after);
    vector_scale(&call->counts, after);
    sparse_clear(&call->lent);
}

/* Those are left that are around the call before, and not around this one. */
static void lane_leave_loops(struct replay *replay, struct queue_of_calls *lane, uint32_t site)
{
    uint32_t innermost = replay->rounds.innermost.at[site];
    for (uint32_t left = lane->loop; !rounds_is_around(&replay->rounds, left, innermost);
         left = replay->rounds.outer.at[left]) {
        struct loops_left *loops = &replay->left[lane_number(replay, lane)];
        if (left >= loops->n.n)
            vec_resize(&loops->n, (size_t)left + 1);
        loops->n.at[left]++;
    }
    lane->loop = innermost;
}

static uint32_t lane_round(const struct replay *replay, const struct queue_of_calls *lane, uint32_t site)
{
    uint32_t innermost = replay->rounds.innermost.at[site];
    if (innermost == TRACE_NONE)
        return 0;
    const struct loops_left *loops = &replay->left[lane_number(replay, lane)];
    return innermost < loops->n.n ? loops->n.at[innermost] : 0;
}

static void lane_count_call(const struct replay *replay, struct queue_of_calls *lane, const struct call *call)
{
    const struct rank_time *rank = &replay->ranks[lane->rank];
    double did_ns = rank->outside_ns - rank->preempted_ns;
    if (call->site >= lane->calls.n)
        vec_resize(&lane->calls, (size_t)call->site + 1);
    struct calls_at_site *calls = &lane->calls.at[call->site];
    calls->since_ns = calls->n++ ? call->enter_ns - calls->enter_ns : 0;
    calls->enter_ns = call->enter_ns;
    calls->did_since_ns = (float)(did_ns - calls->did_ns);
    calls->did_ns = did_ns;
}

static void lane_enter(struct replay *replay, struct queue_of_calls *lane, struct call *call)
{
    lane_check_polling(replay, lane, call);
    if (!lane->has_begun && !lane->is_main)
        lane_fork(replay, lane, call);
    else if (call->spent.led_by)
        lane_follow(replay, lane, call);
    lane->has_begun = true;
    lane_tell(replay, lane, lane->now_ns, call->enter_ns, call->before.at, call->before.n);
    struct rank_time *rank = &replay->ranks[lane->rank];
    double in_call_ns = (double)(call->leave_ns - call->enter_ns);
    rank_add_spent(replay, rank, &call->spent, 1, lane->now_ns, call->enter_ns);
    if (!lane->is_main)
        rank->beside_ns += spent_outside(&call->spent) + call->spent.unrecorded_ns + in_call_ns;
    if (call->spent.asleep_ns > 0)
        rank->asleep_ns += call->spent.asleep_ns;
    if (call->spent.unrecorded_ns > 0)
        rank->unrecorded_ns += call->spent.unrecorded_ns;
    lane_add(replay, lane, TO_SEGMENT | TO_SUMS, &call->before, 1);
    lane_add(replay, lane, TO_SEGMENT, &call->lent, 1);
    lane_add(replay, lane, TO_SEGMENT | TO_SUMS | TO_COUNTS, &call->counts, 1);
    for (size_t i = 0; i < call->callbacks.n; i++) /* also of what is waiting, or was done meanwhile */
        lane_add(replay, lane, TO_SUMS | TO_COUNTS, &call->callbacks.at[i].did.counts, 1);
    lane_add_noise(replay, lane, call->spent.noise_ns2);
    lane->now_ns = call->enter_ns;
    lane->lack_ns += call->spent.off_ns[OFF_PREEMPTED];
    if (call->point)
        call->point->lack_ns = (float)lane->lack_ns;
    bool begins_polling = call->is_polling && call->class != WW_WAIT && !lane->polling.mark;
    if (call->point || call->needs.n || begins_polling)
        call->mark = lane_mark(replay, lane);
    if (call->point && lane->polling.mark)
        polling_add_point(&lane->polling, replay->links, call->point, call->mark);
    else if (call->point)
        point_set(replay->links, call->point, call->mark);
    if (!lane->polling.mark) {
        lane_leave_loops(replay, lane, call->site);
        lane_count_call(replay, lane, call);
    }
    if (begins_polling)
        polling_begin(&lane->polling, mark_hold(call->mark), call->site);
    call->is_entered = true;
}

static void lane_spend(struct replay *replay, struct queue_of_calls *lane, uint32_t step, double ns)
{
    lane_add_term(replay, lane, TO_SEGMENT | TO_SUMS, atom_key(lane->rank, step), ns);
}

/*
 * Communication goes on while all who take part are on a CPU, and at it. While this location is and another one that
 * the call needs is not, the time is that one's: without a CPU, or in a function of the program that MPI has called
 * there. This one was busy all the same: its own sums stay as they are. `share`: how much of the time it was inside
 * MPI.
 */
static void lane_hand_to_absent(struct replay *replay, struct queue_of_calls *lane, const struct call *call,
                                uint32_t step, double share, uint64_t from_ns, uint64_t to_ns)
{
    replay->found.n = 0;
    if (!call->is_open && call->needs.n + call->partners.n)
        absences_find(replay->absences, from_ns, to_ns, &replay->found);
    for (size_t i = 0; i < replay->found.n; i++) {
        const struct absence *absence = &replay->found.at[i];
        uint64_t begin_ns = absence->from_ns > from_ns ? absence->from_ns : from_ns; /* accounted for up to from_ns */
        if (absence->to_ns <= begin_ns || !waits_takes_part(replay->gatherings, call, absence))
            continue;
        uint32_t absent = absence->atom ? absence->atom - 1 : call_step(replay->call_steps, absence->site, CALL_ABSENT);
        double ns = share * (double)(absence->to_ns - begin_ns - idle_between(&call->idle, begin_ns, absence->to_ns));
        lane_add_term(replay, lane, TO_SEGMENT, atom_key(lane->rank, step), -ns);
        lane_add_term(replay, lane, TO_SEGMENT, atom_key(absence->rank, absent), ns);
        from_ns = absence->to_ns;
    }
}

/* Time of the program inside a call: a function that MPI called back. */
static void lane_spend_called_back(struct replay *replay, struct queue_of_calls *lane, const struct call *call,
                                   const struct polling_part *callback, uint64_t from_ns, uint64_t to_ns)
{
    struct rank_time *rank = &replay->ranks[lane->rank];
    double kept = polling_part_between(callback, from_ns, to_ns);
    struct sparse atoms = {0};
    sparse_add_all(&atoms, &callback->atoms, kept);
    lane_add(replay, lane, TO_SEGMENT | TO_SUMS, &atoms, 1);
    lane_add(replay, lane, TO_SEGMENT | TO_COUNTS, &callback->counts, kept);
    lane_add_noise(replay, lane, kept * callback->spent.noise_ns2);
    rank_add_spent(replay, rank, &callback->spent, kept, from_ns, to_ns);
    lane_tell(replay, lane, from_ns, to_ns, atoms.at, atoms.n);
    if (call->is_polling) {
        struct polling_part *part = polling_add(&lane->polling, to_ns);
        sparse_add_all(&part->atoms, &atoms, 1);
        sparse_add_all(&part->counts, &callback->counts, kept);
        part->spent = callback->spent;
        part->is_stretch = true;
        lane->polling.until_ns = to_ns;
    }
    sparse_release(&atoms);
    lane->now_ns = to_ns;
}

/* Of what it received there is no record: it came from a process that is not recorded with this run; or from nobody
 * (MPI_PROC_NULL), which takes next to no time. */
static bool waits_for_unknown(const struct call *call)
{
    return (call->class == WW_RECV || call->is_outside) && !call->needs.n && !call->is_open;
}

/* Time inside MPI that nobody else is to blame for: not on a CPU, or communication. */
static void lane_spend_in_mpi(struct replay *replay, struct queue_of_calls *lane, const struct call *call,
                              uint64_t from_ns, uint64_t to_ns)
{
    struct rank_time *rank = &replay->ranks[lane->rank];
    /* A call that never ended, or waited for others, would not have gone on with a CPU either. */
    bool is_unknown = waits_for_unknown(call);
    double idle_ns = call->is_open || is_unknown ? 0 : (double)idle_between(&call->idle, from_ns, to_ns);
    double busy_ns = (double)(to_ns - from_ns) - idle_ns;
    /* Transfers in a call that never ended are not known. */
    enum step_state state = call->is_open || is_unknown ? STEP_MPI : class_state(call->class);
    enum call_state what = call->is_open ? CALL_OPEN : is_unknown ? CALL_WAITING : CALL_ITSELF;
    uint32_t step = call_step(replay->call_steps, call->site, what);
    uint32_t absent = idle_ns > 0 ? call_step(replay->call_steps, call->site, CALL_ABSENT) : step;
    lane_spend(replay, lane, step, busy_ns);
    lane_spend(replay, lane, absent, idle_ns);
    lane_hand_to_absent(replay, lane, call, step, 1, from_ns, to_ns);
    const struct term terms[] = {{atom_key(lane->rank, step), busy_ns}, {atom_key(lane->rank, absent), idle_ns}};
    lane_tell(replay, lane, from_ns, to_ns, terms, 2);
    if (call->is_polling && lane->polling.mark) {
        struct polling_part *part = polling_add(&lane->polling, to_ns);
        part->step = step;
        sparse_add(&part->atoms, terms[0].key, part->transfer_ns = busy_ns);
        sparse_add(&part->atoms, terms[1].key, part->absent_ns = idle_ns);
        lane->polling.lost_ns += idle_ns;
        lane->polling.until_ns = to_ns;
    }
    rank_add_lack(replay, rank, from_ns, to_ns, idle_ns);
    lane->lack_ns += idle_ns;
    *(state == STEP_TRANSFER  ? &rank->transfer_ns
      : state == STEP_BLOCKED ? &rank->blocked_ns
                              : &rank->mpi_ns) += busy_ns;
    lane->now_ns = to_ns;
}

/* From here on the lane is where others may have waited for it to come. */
static void lane_is_back(struct replay *replay, struct queue_of_calls *lane, const struct call *call,
                         struct point *back)
{
    if (!back || back->is_set || back->mark)
        return;
    struct mark *mark = lane_mark(replay, lane);
    if (call->is_polling)
        polling_add_point(&lane->polling, replay->links, back, mark);
    else
        point_set(replay->links, back, mark);
    mark_drop(&replay->links->history, mark);
}

static void lane_spend_in_call(struct replay *replay, struct queue_of_calls *lane, const struct call *call,
                               uint64_t from_ns, uint64_t to_ns)
{
    for (size_t i = 0; i < call->callbacks.n; i++) {
        const struct callback *callback = &call->callbacks.at[i];
        uint64_t begin_ns = callback->did.from_ns > from_ns ? callback->did.from_ns : from_ns;
        uint64_t end_ns = callback->did.to_ns < to_ns ? callback->did.to_ns : to_ns;
        if (end_ns <= begin_ns)
            continue;
        if (from_ns < begin_ns)
            lane_spend_in_mpi(replay, lane, call, from_ns, begin_ns);
        lane_spend_called_back(replay, lane, call, &callback->did, begin_ns, end_ns);
        if (end_ns == callback->did.to_ns)
            lane_is_back(replay, lane, call, callback->back);
        from_ns = end_ns;
    }
    lane_spend_in_mpi(replay, lane, call, from_ns, to_ns);
}

/* Goes on with what the lane did itself, in its polls and then in the call. Whom it polled for is known by now, so they
 * are one call in what others are responsible for. */
static void lane_go_on(struct replay *replay, struct queue_of_calls *lane, const struct call *call, uint64_t to_ns)
{
    for (uint32_t i = 0; i < lane->polling.n_parts; i++) {
        const struct polling_part *part = &lane->polling.room->parts[i];
        double kept = polling_part_between(part, lane->now_ns, to_ns);
        if (kept == 0)
            continue;
        lane_add(replay, lane, TO_SEGMENT, &part->atoms, kept);
        lane_add(replay, lane, TO_SEGMENT | TO_COUNTS, &part->counts, kept);
        lane_add_noise(replay, lane, kept * part->spent.noise_ns2);
        double inside = (part->transfer_ns + part->absent_ns) / (double)(part->to_ns - part->from_ns);
        if (part->transfer_ns > 0)
            lane_hand_to_absent(replay, lane, call, part->step, inside,
                                lane->now_ns > part->from_ns ? lane->now_ns : part->from_ns,
                                to_ns < part->to_ns ? to_ns : part->to_ns);
    }
    if (to_ns >= call->enter_ns)
        lane_spend_in_call(replay, lane, call, lane->now_ns > call->enter_ns ? lane->now_ns : call->enter_ns, to_ns);
    lane->now_ns = to_ns;
}

/* Likewise, through the moments that others want to know the chain of. */
static void lane_go_on_to(struct replay *replay, struct queue_of_calls *lane, const struct call *call, uint64_t to_ns)
{
    for (uint32_t i = 0; i < lane->polling.n_points; i++) {
        struct point *point = lane->polling.room->points[i];
        if (point->is_set || point->time_ns > to_ns)
            continue;
        lane_go_on(replay, lane, call, point->time_ns);
        struct mark *mark = lane_mark(replay, lane);
        point_set(replay->links, point, mark);
        mark_drop(&replay->links->history, mark);
    }
    lane_go_on(replay, lane, call, to_ns);
}

/* Inside a wait a process does nothing that others could wait for, but for what it was outside MPI for last. If the
 * point is behind `came_by` (NULL = there is none), it is known what the process waited for until then. */
static void lane_set_waiting_point(struct replay *replay, const struct queue_of_calls *lane, struct mark *begin,
                                   const struct point *came_by, uint32_t site, struct point *point)
{
    if (came_by && came_by->is_set && came_by->mark && came_by->time_ns <= point->time_ns)
        begin = came_by->mark;
    struct history *history = &replay->links->history;
    uint32_t aside = history_aside(history);
    const struct polling_part *stretch = polling_stretch_before(&lane->polling, point->time_ns);
    uint64_t from_ns = stretch && stretch->from_ns > begin->time_ns ? stretch->from_ns : begin->time_ns;
    double outside = stretch ? polling_part_between(stretch, from_ns, point->time_ns) : 0;
    uint64_t until_ns = stretch ? from_ns : point->time_ns;
    uint32_t step = call_step(replay->call_steps, site, CALL_WAITING);
    history_go_on_from(history, aside, begin);
    history_add_term(history, TO_SEGMENT, aside, atom_key(lane->rank, step), (double)(until_ns - begin->time_ns));
    if (stretch) {
        history_add(history, TO_SEGMENT, aside, &stretch->atoms, outside);
        history_add_noise(history, aside, outside * stretch->spent.noise_ns2);
    }
    struct mark *mark = history_node(history, aside, point->time_ns);
    point_set(replay->links, point, mark);
    mark_drop(history, mark);
}

/* Back to where the lane began to wait, or to poll: what it was released by is known now. */
static void lane_rewind(struct replay *replay, struct queue_of_calls *lane, const struct call *call)
{
    lane_go_on_from(replay, lane, lane->polling.mark ? lane->polling.mark : call->mark);
    lane->now_ns = lane->tip->time_ns;
    lane->lack_ns = 0;
}

/* Where it waited. Of polls by turns for several things, the place of the one for what came in the end. A call that
 * only fetches what polls have found says less than they do. */
static uint32_t lane_wait_site(const struct queue_of_calls *lane, const struct call *call)
{
    return lane->polling.mark && call->class != WW_TEST ? lane->polling.site : call->site;
}

static void lane_wait(struct replay *replay, struct queue_of_calls *lane, const struct call *call,
                      const struct release *release, struct mark *begin)
{
    const struct point *point = release->point;
    uint64_t end_ns = point->time_ns < call->leave_ns ? point->time_ns : call->leave_ns;
    uint32_t site = lane_wait_site(lane, call);
    struct wait wait = {.rank = lane->rank,
                        .site = site,
                        .number = lane->calls.at[site].n,
                        .round = lane_round(replay, lane, site),
                        .since_ns = lane->calls.at[site].since_ns,
                        .did_ns = lane->calls.at[site].did_ns,
                        .did_since_ns = lane->calls.at[site].did_since_ns,
                        .kind = release->kind,
                        .is_inferred = release->is_inferred,
                        .is_rest = release->is_rest,
                        .begin_ns = begin->time_ns,
                        .dur_ns = end_ns - begin->time_ns,
                        .late_rank = point->rank,
                        .late_lane = point->lane};
    if (replay->serves[lane_number(replay, lane)]) {
        replay->ranks[lane->rank].beside_ns -= (double)wait.dur_ns;
    } else {
        history_wait(&replay->links->history, release->occurrence, &wait, begin, point->mark);
        replay->ranks[lane->rank].waiting_ns += (double)wait.dur_ns;
    }
    if (replay->times.context)
        replay->times.waited(replay->times.context, lane_number(replay, lane), &wait);
    if (wait.dur_ns > replay->longest_wait_ns)
        replay->longest_wait_ns = wait.dur_ns;
    lane_take_polls_back(replay, lane, wait.begin_ns, end_ns);
    /* The waiting process goes on from where it was released: the chain of the one it waited for. */
    lane_go_on_from(replay, lane, point->mark);
    lane->now_ns = point->time_ns;
    lane->lack_ns = 0;
    if (lane->now_ns > call->leave_ns) {
        /* The release was seen after the call had ended: the clocks disagree by so much. */
        double late_ns = (double)(lane->now_ns - call->leave_ns);
        lane_add_term(replay, lane, TO_SEGMENT, atom_key(lane->rank, replay->clock_step), -late_ns);
        replay->unexplained_ns += late_ns;
        lane->now_ns = call->leave_ns;
    }
}

/* The call's next wait, after what the lane did itself before. Returns what to sleep on before that can be
 * explained. */
static struct sleepers *lane_wait_next(struct replay *replay, struct queue_of_calls *lane, struct call *call)
{
    const struct release *release = &call->releases.at[call->n_waited];
    if (release->from_ns > lane->now_ns)
        lane_go_on_to(replay, lane, call, release->from_ns);
    struct mark *begin = lane_mark(replay, lane);
    for (uint32_t i = 0; i < lane->polling.n_points; i++) {
        struct point *point = lane->polling.room->points[i];
        if (!point->is_set && point->time_ns >= begin->time_ns && point->time_ns <= release->point->time_ns)
            lane_set_waiting_point(replay, lane, begin, release->came_by, lane_wait_site(lane, call), point);
    }
    for (size_t i = 0; i < call->callbacks.n; i++) {
        struct point *back = call->callbacks.at[i].back;
        if (back && !back->is_set && !back->mark && back->time_ns >= begin->time_ns &&
            back->time_ns <= release->point->time_ns)
            lane_set_waiting_point(replay, lane, begin, release->came_by, call->site, back);
    }
    struct sleepers *unknown = release->point->is_set || call->is_forced ? NULL : &release->point->sleepers;
    if (!unknown)
        call->n_waited++;
    if (!unknown && release->point->mark)
        lane_wait(replay, lane, call, release, begin);
    mark_drop(&replay->links->history, begin);
    return unknown;
}

/* Nobody shall sleep for what was passed over. */
static void lane_is_back_from_all(struct replay *replay, struct queue_of_calls *lane, const struct call *call)
{
    for (size_t i = 0; i < call->callbacks.n; i++)
        lane_is_back(replay, lane, call, call->callbacks.at[i].back);
}

/* Returns what to sleep on before it can go on. */
static struct sleepers *lane_leave(struct replay *replay, struct queue_of_calls *lane, struct call *call)
{
    if (call->is_off) {
        /* Nobody wants its waiting explained. It goes on as time of its own. */
        double ns = (double)(call->leave_ns - call->enter_ns);
        const struct term off = {atom_key(lane->rank, replay->off_step), ns};
        lane_spend(replay, lane, replay->off_step, ns);
        lane_tell(replay, lane, call->enter_ns, call->leave_ns, &off, 1);
        replay->ranks[lane->rank].unrecorded_ns += ns;
        lane->now_ns = call->leave_ns;
        lane_stop_polling(replay, lane);
        lane_is_back_from_all(replay, lane, call);
        return NULL;
    }
    while (call->n_waited < call->releases.n) {
        struct sleepers *unknown = lane_wait_next(replay, lane, call);
        if (unknown)
            return unknown;
    }
    if (call->releases.n || lane->now_ns < call->enter_ns) /* it has been rewound */
        lane_go_on_to(replay, lane, call, call->leave_ns);
    else
        lane_go_on(replay, lane, call, call->leave_ns);
    if (!call->is_polling)
        lane_stop_polling(replay, lane);
    lane_is_back_from_all(replay, lane, call);
    return NULL;
}

/* True when somebody whom the call needs had no CPU while it was polled for. */
static bool lane_polled_for_absent(struct replay *replay, const struct queue_of_calls *lane, const struct call *call)
{
    bool has_any = false;
    replay->found.n = 0;
    if (lane->polling.mark && call->needs.n)
        absences_find(replay->absences, lane->polling.since_ns, call->enter_ns, &replay->found);
    for (size_t i = 0; i < replay->found.n && !has_any; i++)
        has_any = waits_takes_part(replay->gatherings, call, &replay->found.at[i]);
    return has_any;
}

/* The call's waits, in order. Returns what to sleep on before that is known. */
static struct sleepers *lane_judge(struct replay *replay, uint32_t at, struct call *call)
{
    struct queue_of_calls *lane = &replay->lanes[at];
    uint64_t from_ns = lane->polling.mark ? lane->polling.since_ns : call->enter_ns;
    struct sleepers *unknown = waits_find_releases(&replay->relays, call, at, from_ns, &call->releases);
    if (unknown)
        return unknown;
    call->is_judged = true;
    if (lane->polling.mark && waits_for_unknown(call) && !call->is_off)
        lane_join_polls(replay, lane, lane->polling.site, CALL_WAITING);
    else if (!call->is_off && (call->releases.n || lane_polled_for_absent(replay, lane, call)))
        lane_rewind(replay, lane, call);
    return NULL;
}

/* The point inside another location's polling that this call waits to be explained; NULL: it waits for something else.
 */
static struct point *point_in_polling(const struct call *call)
{
    struct point *point = call->is_judged ? call->releases.at[call->n_waited].point : NULL;
    return point && point->mark && !point->is_set ? point : NULL;
}

/* Runs calls of one location until it must sleep. */
static void lane_run(struct replay *replay, uint32_t at)
{
    struct queue_of_calls *lane = &replay->lanes[at];
    replay->n_wait_for_polling -= lane->waits_for_polling;
    lane->waits_for_polling = false;
    while (lane->first) {
        struct call *call = lane->first;
        if (!call->is_entered)
            lane_enter(replay, lane, call);
        lane->asleep_on = call->is_judged ? NULL : lane_judge(replay, at, call);
        if (!lane->asleep_on)
            lane->asleep_on = lane_leave(replay, lane, call);
        if (lane->asleep_on) {
            links_sleep(replay->links, lane->asleep_on, at);
            lane->waits_for_polling = point_in_polling(lane->first);
            replay->n_wait_for_polling += lane->waits_for_polling;
            return;
        }
        lane->first = call->next;
        if (!lane->first)
            lane->last = NULL;
        replay->n_queued--;
        call_spare(replay, call);
    }
}

/* Nobody is left who could add a wait to these occurrences. */
static void replay_close_finished(struct replay *replay)
{
    struct gatherings *gatherings = replay->gatherings;
    while (gatherings->finished.n) {
        struct gathering *gathering = gatherings->finished.at[--gatherings->finished.n];
        history_close(&replay->links->history, &gathering->occurrence);
        history_close(&replay->links->history, &gathering->rest_occurrence);
        gathering_free(gatherings, gathering);
    }
}

static void replay_run_awake(struct replay *replay)
{
    struct links *links = replay->links;
    while (links->awake.n) {
        lane_run(replay, links->awake.at[--links->awake.n]);
        replay_close_finished(replay);
    }
}

/* Of the sleeping locations the one whose call ended first; TRACE_NONE. */
static uint32_t oldest_asleep(const struct replay *replay, bool for_polling)
{
    uint32_t oldest = TRACE_NONE;
    for (uint32_t at = 0; at < replay->trace->n_locations; at++) {
        const struct queue_of_calls *lane = &replay->lanes[at];
        if (lane->first && (lane->waits_for_polling || !for_polling) &&
            (oldest == TRACE_NONE || lane->first->leave_ns < replay->lanes[oldest].first->leave_ns))
            oldest = at;
    }
    if (oldest == TRACE_NONE)
        bug("calls are queued but no location has one");
    return oldest;
}

/* The awaited event is missing from the trace. */
static void replay_force(struct replay *replay)
{
    uint32_t oldest = oldest_asleep(replay, false);
    struct queue_of_calls *lane = &replay->lanes[oldest];
    links_unsleep(replay->links, lane->asleep_on, oldest);
    lane->first->is_forced = true;
    replay->n_forced++;
    *vec_push(&replay->links->awake) = oldest;
}

static size_t many_queued(const struct replay *replay)
{
    return (size_t)replay->trace->n_locations * QUEUED_MAX_A_LANE;
}

bool replay_is_full(const struct replay *replay)
{
    return replay->n_queued > QUEUED_MAX && replay->n_queued > many_queued(replay);
}

void replay_run(struct replay *replay)
{
    replay_run_awake(replay);
    size_t n_max = many_queued(replay);
    while (replay->n_queued > n_max && replay->n_wait_for_polling) {
        /* The location that was waited for still polls: so far that is a wait of which nothing is known. */
        struct point *point = point_in_polling(replay->lanes[oldest_asleep(replay, true)].first);
        struct queue_of_calls *polls = &replay->lanes[point->lane];
        lane_set_waiting_point(replay, polls, polls->polling.mark, NULL, polls->polling.site, point);
        replay_run_awake(replay);
    }
    while (replay_is_full(replay)) {
        replay_force(replay);
        replay_run_awake(replay);
    }
}

/* Of a rank's main thread, and of those that call MPI beside it. */
static void replay_take_sums(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->trace->n_locations; i++) {
        struct past *past = &replay->links->history.pasts[i];
        struct rank_time *rank = &replay->ranks[replay->lanes[i].rank];
        struct sparse atoms = {0}, counts = {0};
        sums_take(&past->atoms, &atoms);
        sums_take(&past->counts, &counts);
        if (replay->serves[i])
            sparse_add_all(&rank->served, &atoms, 1);
        sparse_absorb(&rank->atoms, &atoms);
        sparse_absorb(&rank->counts, &counts);
        sparse_release(&atoms);
        sparse_release(&counts);
    }
    for (uint32_t rank = 0; rank < replay->trace->n_ranks; rank++) {
        sparse_pack(&replay->ranks[rank].atoms);
        sparse_pack(&replay->ranks[rank].counts);
        sparse_pack(&replay->ranks[rank].served);
    }
}

void replay_finish(struct replay *replay)
{
    gatherings_end_all(replay->gatherings);
    replay_run_awake(replay);
    while (replay->n_queued) {
        replay_force(replay);
        replay_run_awake(replay);
    }
    replay_close_finished(replay);
    history_finish(&replay->links->history);
    replay_take_sums(replay);
    /* Ranks that were killed, or never came to MPI_Finalize, end before the run. */
    for (uint32_t i = 0; i < replay->trace->n_locations; i++) {
        const struct queue_of_calls *lane = &replay->lanes[i];
        if (lane->is_main && lane->now_ns < replay->end_ns)
            replay->ranks[lane->rank].ended_ns = (double)(replay->end_ns - lane->now_ns);
    }
}
