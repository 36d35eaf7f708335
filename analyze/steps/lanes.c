/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/lanes.h"
#include "analyze/counts/executions.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <stdlib.h>

/* One that has threads of its own: without any nobody asks for what they do. */
static struct team *lane_team(const struct lanes *lanes, const struct lane *lane)
{
    return lane->has_team ? &lanes->rank_team[lane->rank] : NULL;
}

static void lane_moves(const struct lanes *lanes, struct lane *lane, enum thread_state state, uint64_t now_ns)
{
    if (lane->has_team)
        team_move(lane_team(lanes, lane), &lane->member, state, now_ns);
}

static void stretch_begin(const struct lanes *lanes, struct lane *lane, uint64_t now_ns)
{
    struct stretch *stretch = &lane->stretch;
    struct team *team = lane_team(lanes, lane);
    if (team) {
        lane->run_sums = team_sums_at(team, now_ns);
        lane->lacked_ns = team->lacked_ns;
    }
    stretch->begin_ns = lane->mark_ns = now_ns;
    stretch->from = lane->site;
    stretch_clear(stretch);
}

static void lane_begin(struct lanes *lanes, uint32_t location)
{
    struct lane *lane = &lanes->at[location];
    struct stretch kept = lane->stretch;
    struct sparse bins = lane->bins;
    sparse_clear(&bins);
    *lane = (struct lane){.rank = lanes->trace->locations[location].rank,
                          .has_team = lane->has_team,
                          .is_worker = lane->is_worker,
                          .context = TRACE_NONE,
                          .left_context = TRACE_NONE,
                          .frame = TRACE_NONE,
                          .site = sites_put(lanes->sites, TRACE_NONE, TRACE_NONE),
                          .next_worker = TRACE_NONE,
                          .bins = bins,
                          .stretch = kept};
    stretch_begin(lanes, lane, lanes->begin_ns);
}

static void teams_begin(struct lanes *lanes)
{
    for (uint32_t rank = 0; rank < lanes->trace->n_ranks; rank++) {
        lanes->rank_team[rank] = (struct team){.now_ns = lanes->begin_ns, .quiet_ns = lanes->begin_ns};
        lanes->rank_woke[rank] = (struct ended_sleep){0};
    }
}

static void find_teams(struct lanes *lanes)
{
    const struct trace *trace = lanes->trace;
    uint32_t *n_threads = memory_lines(trace->n_ranks + 1, sizeof *n_threads);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        if (trace->locations[i].rank < trace->n_ranks)
            n_threads[trace->locations[i].rank]++;
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        uint32_t rank = trace->locations[i].rank;
        lanes->at[i].has_team = rank < trace->n_ranks && n_threads[rank] > 1;
    }
    vec_free(n_threads);
}

void lanes_begin(struct lanes *lanes, struct sites *sites)
{
    const struct trace *trace = sites->trace;
    *lanes = (struct lanes){.sites = sites, .trace = trace, .begin_ns = trace->start_ns, .is_first = true};
    lanes->at = memory_lines(trace->n_locations + 1, sizeof *lanes->at);
    lanes->rank_lane = memory_lines(trace->n_ranks + 1, sizeof *lanes->rank_lane);
    lanes->rank_workers = memory_lines(trace->n_ranks + 1, sizeof *lanes->rank_workers);
    lanes->rank_is_off = memory_lines(trace->n_ranks + 1, sizeof *lanes->rank_is_off);
    lanes->rank_team = memory_lines(trace->n_ranks + 1, sizeof *lanes->rank_team);
    lanes->rank_woke = memory_lines(trace->n_ranks + 1, sizeof *lanes->rank_woke);
    lanes->rank_left = memory_lines(trace->n_ranks + 1, sizeof *lanes->rank_left);
    lanes->rank_callers = memory_lines(trace->n_ranks + 1, sizeof *lanes->rank_callers);
    teams_begin(lanes);
    find_teams(lanes);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
        lanes->rank_lane[rank] = lanes->rank_workers[rank] = TRACE_NONE;
    for (uint32_t i = trace->n_locations; i-- > 0;) {
        const struct trace_location *location = &trace->locations[i];
        lanes->at[i].is_worker = location->thread != 0;
        lane_begin(lanes, i);
        if (location->thread == 0 && location->rank < trace->n_ranks)
            lanes->rank_lane[location->rank] = i;
    }
}

void lanes_rewind(struct lanes *lanes, uint64_t begin_ns)
{
    lanes->begin_ns = begin_ns;
    lanes->is_first = false;
    teams_begin(lanes);
    for (uint32_t i = 0; i < lanes->trace->n_locations; i++)
        lane_begin(lanes, i);
    for (uint32_t rank = 0; rank < lanes->trace->n_ranks; rank++) {
        lanes->rank_workers[rank] = TRACE_NONE;
        lanes->rank_is_off[rank] = false;
    }
}

void lanes_release(struct lanes *lanes)
{
    for (uint32_t i = 0; lanes->at && i < lanes->trace->n_locations; i++) {
        stretch_release(&lanes->at[i].stretch);
        sparse_release(&lanes->at[i].bins);
    }
    vec_free(lanes->at);
    vec_free(lanes->rank_lane);
    vec_free(lanes->rank_workers);
    vec_free(lanes->rank_is_off);
    vec_free(lanes->rank_team);
    vec_free(lanes->rank_woke);
    sparse_release(&lanes->awaited);
    vec_free(lanes->rank_callers);
    vec_free(lanes->rank_left);
    path_steps_release(&lanes->paths);
}

void lanes_pack(struct lanes *lanes, struct packing *packing)
{
    pack_value(packing, lanes->has_young);
    for (uint32_t i = 0; i < lanes->trace->n_locations; i++)
        pack_value(packing, lanes->at[i].is_worker);
    path_steps_pack(&lanes->paths, packing);
    pack_sparse(packing, &lanes->awaited);
}

void lanes_unpack(struct lanes *lanes, struct unpacking *unpacking, const struct numbers *numbers)
{
    struct lanes later = {0};
    unpack_value(unpacking, &later.has_young);
    lanes->has_young |= later.has_young;
    for (uint32_t i = 0; i < lanes->trace->n_locations; i++) {
        struct lane *lane = &lanes->at[i];
        bool is_worker;
        unpack_value(unpacking, &is_worker);
        lanes->rank_callers[lane->rank] += lane->is_worker && !is_worker && lane->has_team;
        lane->is_worker &= is_worker;
    }
    path_steps_unpack(&lanes->paths, unpacking, numbers);
    unpack_sparse(unpacking, &later.awaited);
    for (size_t i = 0; i < later.awaited.n; i++) {
        struct term *at = &later.awaited.at[i];
        at->key = key_pair(numbers_step(numbers, key_high(at->key)), numbers_step(numbers, key_low(at->key)));
    }
    sparse_absorb(&lanes->awaited, &later.awaited);
    sparse_release(&later.awaited);
}

/* Of regions left one after the other the outermost is enough. */
static void lane_goes_on(struct lanes *lanes, struct lane *lane)
{
    path_steps_context_is_part(&lanes->paths, lane->left_context);
    lane->left_context = TRACE_NONE;
}

void lanes_forget_steps(struct lanes *lanes, uint32_t from)
{
    path_steps_forget(&lanes->paths, from);
}

/* Charges the time since the last mark to the user region the location is in. Otherwise nothing is known. */
static void lane_mark_path(struct lanes *lanes, struct lane *lane, uint64_t now_ns)
{
    bool is_inside = now_ns > lane->mark_ns && lane->context != TRACE_NONE;
    uint32_t step = is_inside ? path_step(&lanes->paths, lanes->sites, lane->context) : TRACE_NONE;
    if (step != TRACE_NONE)
        sparse_add(&lane->stretch.paths, step, (double)(now_ns - lane->mark_ns));
    lane->mark_ns = now_ns;
}

static uint32_t lane_main(const struct lanes *lanes, const struct lane *lane)
{
    return lane->rank < lanes->trace->n_ranks ? lanes->rank_lane[lane->rank] : TRACE_NONE;
}

/* A worker's counts are its process's. */
static void lane_bins(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    uint32_t main_lane = lane_main(lanes, lane);
    struct lane *to = lane->is_worker && main_lane != TRACE_NONE ? &lanes->at[main_lane] : lane;
    bool is_of_young = event->n_bins > 0; /* and of nothing else */
    for (uint32_t i = 0; i < event->n_bins; i++) {
        uint32_t point = event->bins[i].point;
        const struct trace_point *at = point < lanes->trace->n_points ? &lanes->trace->points[point] : NULL;
        bool is_young = at && (at->is_young_time || at->is_young_ready);
        is_of_young &= is_young;
        lanes->has_young |= is_young;
        if (at && at->is_young_time)
            to->young_ns += event->bins[i].value;
        else if (at && at->is_young_ready)
            to->young_ready_ns += event->bins[i].value;
        else
            sparse_add(&to->bins, point, (double)event->bins[i].value);
    }
    to->has_bins |= to == lane && !is_of_young;
}

/* The call at which bins were taken: they are the stretch's, and so are the frames in which it began and ends. Before
 * polls that come soon none are taken: what they did is told with the next. Counters run from the start of a program,
 * recording from MPI_Init or later, so what is counted by the first call of a process is of more than this stretch: it
 * is left out, like what is counted while recording is off. */
static void lane_count(const struct lanes *lanes, struct lane *lane)
{
    struct stretch *stretch = &lane->stretch;
    double amounts[N_AMOUNTS];
    if (!lane->has_bins && !lanes->trace->n_points) /* nothing is counted in the run */
        return;
    if (!lane->has_bins) {
        stretch_split(stretch, amounts);
        lane->uncounted_ns += amounts[ON_CPU];
        return;
    }
    bool is_main = lane_main(lanes, lane) == (uint32_t)(lane - lanes->at);
    stretch->is_counted = !stretch->is_off && !(is_main && sites_is_start(lanes->sites, stretch->from));
    stretch->is_count_whole = stretch->is_counted && lane->was_counted;
    stretch->count_more_ns = lane->uncounted_ns;
    lane->was_counted = true;
    lane->uncounted_ns = 0;
    if (lane->counted_frame)
        sparse_add(&lane->bins, COUNT_FRAME | (lane->counted_frame - 1), -1);
    if (lane->frame < COUNT_FRAME)
        sparse_add(&lane->bins, COUNT_FRAME | lane->frame, 1);
    lane->counted_frame = lane->frame < COUNT_FRAME ? lane->frame + 1 : 0;
    lane->has_bins = false;
    if (stretch->is_counted)
        sparse_absorb(&stretch->counts, &lane->bins);
    else
        sparse_clear(&lane->bins);
}

/* The main thread's stretch takes what its workers were sampled in meanwhile. */
static void stretch_take_workers(struct lanes *lanes, struct lane *lane)
{
    if (lane_main(lanes, lane) != (uint32_t)(lane - lanes->at))
        return;
    uint32_t *first = &lanes->rank_workers[lane->rank];
    while (*first != TRACE_NONE) {
        struct lane *worker = &lanes->at[*first];
        *first = worker->next_worker;
        worker->is_listed = false;
        if (!worker->is_worker)
            continue;
        sparse_absorb(&lane->stretch.worker, &worker->stretch.worker);
        lane->stretch.team_idle_ns += sparse_sum(&worker->stretch.idle);
        sparse_absorb(&lane->stretch.idle, &worker->stretch.idle);
        lane->stretch.n_worker += worker->stretch.n_worker;
        lane->stretch.n_idle += worker->stretch.n_idle;
        worker->stretch.n_worker = worker->stretch.n_idle = 0;
    }
}

/* At the call of lane->site, or at the end. The call that switches recording on or off belongs to what was before. */
static void stretch_end(struct lanes *lanes, struct lane *lane, uint64_t now_ns)
{
    lane->stretch.end_ns = now_ns;
    sleeps_close(&lane->stretch.sleeps);
    lane->stretch.to = lane->site;
    lane->stretch.is_off = lane->is_off = lanes_rank_is_off(lanes, lane->rank);
    if (lanes->has_young) {
        lane->stretch.young_ns = lane->young_ns;
        lane->stretch.young_ready_ns = lane->young_ready_ns;
        lane->young_ns = lane->young_ready_ns = 0;
        stretch_take_back(&lane->stretch);
    }
    stretch_take_workers(lanes, lane);
    struct team *team = lane_team(lanes, lane);
    if (!team)
        return;
    uint64_t run_ns = team_sums_at(team, now_ns).run_ns - lane->run_sums.run_ns;
    lane->stretch.lacked = run_ns ? fmin(1, (team->lacked_ns - lane->lacked_ns) / (double)run_ns) : 0;
    lane->stretch.is_alone = lane_main(lanes, lane) == (uint32_t)(lane - lanes->at) && !lanes->rank_callers[lane->rank];
}

static enum lane_news lane_enter_mpi(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    uint32_t context = sites_context(lanes->sites, event->frame);
    if (lanes->trace->regions[event->region].class != WW_FINALIZE)
        lane_goes_on(lanes, lane);
    lane_mark_path(lanes, lane, event->time_ns);
    lane_moves(lanes, lane, THREAD_IN_MPI, event->time_ns);
    lane->site = sites_put(lanes->sites, context == TRACE_NONE ? lane->context : context, event->region);
    /* The first call of a thread: it was no worker before either. */
    struct stretch *stretch = &lane->stretch;
    if (lane->is_worker) {
        lane->is_worker = false;
        if (lane->has_team)
            lanes->rank_callers[lane->rank]++;
        sparse_absorb(&stretch->on, &stretch->worker);
        stretch->n_on += stretch->n_worker;
        stretch->n_worker = 0;
    }
    stretch_end(lanes, lane, event->time_ns);
    lane->region = event->region;
    lane->frame = event->frame;
    lane->enter_ns = event->time_ns;
    lane->callback_ns = 0;
    lane->depth = 1;
    lane_count(lanes, lane);
    return LANE_ENTERED;
}

/* From a site of its own: what the program does between two such calls is something else. */
static enum lane_news lane_call_back(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    uint32_t context = sites_context(lanes->sites, event->frame);
    lane_moves(lanes, lane, THREAD_RUNS, event->time_ns);
    stretch_begin(lanes, lane, event->time_ns);
    lane->stretch.from = sites_put(lanes->sites, context == TRACE_NONE ? lane->context : context, event->region);
    lane->callback_ns = event->time_ns;
    lane->depth = 0;
    return LANE_CALLED;
}

static enum lane_news lane_return(struct lanes *lanes, struct lane *lane, uint64_t now_ns)
{
    lane_moves(lanes, lane, THREAD_IN_MPI, now_ns);
    stretch_end(lanes, lane, now_ns);
    lane->enter_ns += now_ns - lane->callback_ns;
    lane->callback_ns = 0;
    lane->depth = 1;
    lane_count(lanes, lane);
    return LANE_RETURNED;
}

static bool is_callback(const struct lanes *lanes, uint32_t region)
{
    return region < lanes->trace->n_regions && lanes->trace->regions[region].is_callback;
}

static enum lane_news lane_enter(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    if (lane->depth == 1 && is_callback(lanes, event->region))
        return lane_call_back(lanes, lane, event);
    if (lane->depth) {
        lane->depth++;
        return LANE_NOTHING;
    }
    if (event->region < lanes->trace->n_regions && lanes->trace->regions[event->region].is_mpi)
        return lane_enter_mpi(lanes, lane, event);
    lane_goes_on(lanes, lane);
    lane_mark_path(lanes, lane, event->time_ns);
    lane->context = sites_enter(lanes->sites, lane->context, event->region);
    if (!sites_is_start(lanes->sites, lane->stretch.from))
        path_steps_context_is_part(&lanes->paths, lane->context);
    return LANE_NOTHING;
}

static enum lane_news lane_leave(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    if (lane->callback_ns && is_callback(lanes, event->region))
        return lane_return(lanes, lane, event->time_ns);
    if (lane->depth) {
        if (--lane->depth)
            return LANE_NOTHING;
        lane_moves(lanes, lane, THREAD_RUNS, event->time_ns);
        if (lane->has_team)
            lanes->rank_left[lane->rank] = event->loc;
        stretch_begin(lanes, lane, event->time_ns);
        return LANE_LEFT;
    }
    lane_mark_path(lanes, lane, event->time_ns);
    lane->left_context = lane->context;
    if (lane->context != TRACE_NONE)
        lane->context = sites_context_at(lanes->sites, lane->context)->parent;
    return LANE_NOTHING;
}

/* True when a sample tells of a stretch: the main thread's, of a worker. */
static bool lane_is_sampled(struct lanes *lanes, struct lane *lane)
{
    uint32_t main_lane = lane->is_worker ? lane_main(lanes, lane) : TRACE_NONE;
    if (!lane->is_worker)
        return !lane->depth;
    if (main_lane == TRACE_NONE || lanes->at[main_lane].depth)
        return false;
    if (!lane->is_listed) {
        lane->next_worker = lanes->rank_workers[lane->rank];
        lanes->rank_workers[lane->rank] = (uint32_t)(lane - lanes->at);
        lane->is_listed = true;
    }
    return true;
}

/* Others that call MPI as well, and sleep, may wait for what it does. Where none of them computes, or would, a worker
 * works for the one that fell asleep last. */
static void others_see(struct lanes *lanes, const struct lane *lane, const struct event *event)
{
    uint32_t step = sites_sample_step(lanes->sites, event->frame);
    bool others_compute = false;
    struct lane *last = NULL;
    for (uint32_t i = 0; i < lanes->trace->n_locations && step != TRACE_NONE; i++) {
        struct lane *other = &lanes->at[i];
        bool is_asleep = other->is_off_cpu && other->off_kind == OFF_BLOCKED && !other->depth;
        if (other->rank != lane->rank || other == lane || other->is_worker || !other->is_begun || other->is_ended)
            continue;
        others_compute |= !is_asleep && !other->depth;
        if (!is_asleep)
            continue;
        sparse_add(&other->stretch.beside, step, (double)event->weight_ns);
        other->stretch.n_beside++;
        last = last && last->off_since_ns > other->off_since_ns ? last : other;
    }
    if (last && lane->is_worker && !others_compute)
        last->stretch.by_workers_ns += (double)event->weight_ns;
}

static void lane_is_seen(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    bool is_asleep = event->flags & WW_S_BLOCKED;
    uint64_t used_ns = event->weight_ns ? event->weight_ns : UINT64_MAX;
    if (!lane->has_team || lane->depth)
        return;
    if (is_asleep && !lane->has_switches)
        lane_moves(lanes, lane, THREAD_AWAY, event->time_ns);
    else if (!is_asleep && lane->member.state == THREAD_AWAY)
        team_found_running(lane_team(lanes, lane), &lane->member, used_ns, event->time_ns);
    else if (!is_asleep && lane->member.state == THREAD_READY)
        lane_moves(lanes, lane, THREAD_RUNS, event->time_ns);
    if (!is_asleep && lanes->rank_callers[lane->rank] && event->weight_ns &&
        !sites_sample_is_idle(lanes->sites, event->frame))
        others_see(lanes, lane, event);
}

/* It spins for a fellow: a worker, whoever runs, and any thread while another one of its process runs, or would. */
static bool spins_for_team(const struct lanes *lanes, const struct lane *lane, uint32_t step)
{
    if (!lane->has_team || !sites_step_is_spinning(lanes->sites, step))
        return false;
    const struct team *team = lane_team(lanes, lane);
    return lane->is_worker || team->n[THREAD_RUNS] + team->n[THREAD_READY] > 1;
}

static void lane_is_seen_asleep(struct lane *lane, uint32_t step, const struct event *event)
{
    bool is_sync = event->flags & WW_S_SYNC;
    if (lane->has_switches && !lane->is_worker)
        sleeps_look(&lane->stretch.sleeps, step, is_sync);
    if (lane->is_off_cpu)
        sleeper_is_seen(&lane->sleeper, step, is_sync, (double)event->weight_ns);
}

static void lane_sample(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    lane_is_seen(lanes, lane, event);
    uint32_t step = lane_is_sampled(lanes, lane) ? sites_sample_step(lanes->sites, event->frame) : TRACE_NONE;
    if (step == TRACE_NONE || !event->weight_ns)
        return;
    struct stretch *stretch = &lane->stretch;
    double weight = (double)event->weight_ns;
    /* Looks at who sleeps are all that is known of the time off the CPU where no switches are recorded. */
    if ((event->flags & WW_S_BLOCKED) && !lane->is_worker && !lane->has_switches) {
        bool others_run = lane->has_team && lane_team(lanes, lane)->n[THREAD_RUNS];
        stretch->off_ns[OFF_BLOCKED] += event->weight_ns;
        stretch->run_ns[OFF_BLOCKED] += others_run ? event->weight_ns : 0;
    }
    bool is_asleep = event->flags & WW_S_BLOCKED;
    bool is_idle = sites_sample_is_idle(lanes->sites, event->frame) || spins_for_team(lanes, lane, step);
    if (is_asleep)
        lane_is_seen_asleep(lane, steps_in_state(lanes->sites->steps, step, STEP_BLOCKED), event);
    if (is_asleep && lane->is_worker)
        return;
    if (event->flags & WW_S_SYNC) {
        sparse_add(&stretch->sync, steps_in_state(lanes->sites->steps, step, STEP_BLOCKED), weight);
        stretch->n_sync++;
    } else if (is_idle) {
        sparse_add(&stretch->idle, step, weight);
        stretch->n_idle++;
    } else if (lane->is_worker) {
        bool is_in_kernel = event->flags & WW_S_KERNEL;
        step = is_in_kernel ? steps_in_state(lanes->sites->steps, step, STEP_BLOCKED) : step;
        sparse_add(&stretch->worker, step, weight);
        stretch->n_worker++;
    } else if (is_asleep) {
        sparse_add(&stretch->blocked, steps_in_state(lanes->sites->steps, step, STEP_BLOCKED), weight);
        stretch->n_blocked++;
    } else {
        if (event->flags & WW_S_KERNEL) {
            step = steps_in_state(lanes->sites->steps, step, STEP_BLOCKED);
            /* System calls are made in a library. In code of the user's own it is a page fault. */
            if (sites_frame_place(lanes->sites, event->frame) == CODE_NONE)
                sparse_add(&stretch->calling, step, weight);
        }
        sparse_add(&stretch->on, step, weight);
        *vec_push(&stretch->sightings) =
            (struct sighting){stretch_on_until(stretch, event->time_ns), step, (float)weight};
        stretch->n_on++;
    }
}

static void lane_off(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    lane->is_off_cpu = true;
    lane->off_since_ns = event->time_ns;
    sleeper_begins(&lane->sleeper);
    lane->off_kind = event->flags & WW_SW_PREEMPTED ? OFF_PREEMPTED : OFF_BLOCKED;
    lane->is_stopped = event->flags & WW_SW_STOPPED;
    lane->may_sleep_since = !lane->has_switches && lane->off_kind == OFF_BLOCKED;
    lane->has_switches = true;
    if (lane->off_kind == OFF_BLOCKED)
        sleeps_close(&lane->stretch.sleeps);
    if (!lane->has_team || lane->depth)
        return;
    struct team *team = lane_team(lanes, lane);
    bool was_away = lane->member.state == THREAD_AWAY;
    if (was_away && !lane->may_sleep_since)
        team_found_running(team, &lane->member, UINT64_MAX, event->time_ns);
    if (!was_away || !lane->may_sleep_since)
        team_move(team, &lane->member, lane->off_kind == OFF_PREEMPTED ? THREAD_READY : THREAD_AWAY, event->time_ns);
    lane->off_sums = team_sums_at(team, event->time_ns);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Asleep until another thread had come back from MPI, which it was inside for most of that time. */
static void stretch_is_led(const struct lanes *lanes, struct lane *lane, uint64_t mpi_ns, uint64_t off_ns)
{
    uint32_t left = lanes->rank_left[lane->rank];
    uint64_t left_ns = lanes->at[left].stretch.begin_ns;
    bool is_back = !lanes->at[left].depth && left_ns > lane->off_since_ns && &lanes->at[left] != lane;
    if (!is_back || lane->off_kind != OFF_BLOCKED || mpi_ns < off_ns / 2)
        return;
    lane->stretch.led_by = left + 1;
    lane->stretch.led_until_ns = left_ns;
}

/* The others did this while it was off the CPU. For how long in all. */
static uint64_t stretch_hand_over(struct lanes *lanes, struct lane *lane, uint64_t off_ns, uint64_t now_ns)
{
    struct stretch *stretch = &lane->stretch;
    struct team_sums sums = team_sums_at(lane_team(lanes, lane), now_ns);
    uint64_t run_ns = least(sums.run_ns - lane->off_sums.run_ns, off_ns);
    uint64_t kept_ns = least(sums.kept_ns - lane->off_sums.kept_ns, off_ns - run_ns);
    stretch->run_ns[lane->off_kind] += run_ns;
    stretch->kept_ns[lane->off_kind] += kept_ns;
    stretch_is_led(lanes, lane, sums.mpi_ns - lane->off_sums.mpi_ns, off_ns);
    return run_ns + kept_ns;
}

/* Its time is that of another thread's sleep, where it was seen to wait for that thread. */
static void lane_wakes(struct lanes *lanes, struct lane *lane, uint64_t now_ns)
{
    struct sleeper *sleeper = &lane->sleeper;
    struct team_sums sums = team_sums_at(lane_team(lanes, lane), now_ns);
    uint64_t busy_ns = sums.run_ns - lane->off_sums.run_ns + sums.kept_ns - lane->off_sums.kept_ns;
    uint32_t step = sleeper_wakes(sleeper, &lanes->rank_woke[lane->rank], lane->off_since_ns, now_ns, busy_ns);
    bool is_of_stretch = !lane->is_worker && lane->off_since_ns >= lane->stretch.begin_ns;
    if (!step || !sleeper->n_sync || !is_of_stretch)
        return;
    stretch_sleeps_in(&lane->stretch, step - 1, sleeper->awaits_in - 1, sleeper->n_sync, sleeper->sync_ns);
    if (lanes->is_first)
        sparse_add(&lanes->awaited, key_pair(step - 1, sleeper->awaits_in - 1), sleeper->sync_ns);
}

static void lane_on(struct lanes *lanes, struct lane *lane, uint64_t now_ns)
{
    if (!lane->is_off_cpu)
        return;
    if (lane->off_kind == OFF_BLOCKED && lane->has_team && !lane->depth)
        lane_wakes(lanes, lane, now_ns);
    uint64_t begin_ns = lane->stretch.begin_ns;
    uint64_t since_ns = lane->off_since_ns > begin_ns ? lane->off_since_ns : begin_ns;
    lane->is_off_cpu = false;
    if (lane->is_stopped)
        lane->stopped_ns += now_ns - lane->off_since_ns;
    if (!lane->depth && now_ns > since_ns && !lane->is_worker) {
        uint64_t others_ns = 0;
        lane->stretch.off_ns[lane->off_kind] += now_ns - since_ns;
        if (lane->has_team && lane->off_since_ns >= begin_ns)
            others_ns = stretch_hand_over(lanes, lane, now_ns - since_ns, now_ns);
        if (lane->off_kind == OFF_BLOCKED)
            sleeps_add(&lane->stretch.sleeps, now_ns - since_ns - others_ns);
    }
    if (!lane->depth)
        lane_moves(lanes, lane, THREAD_RUNS, now_ns);
}

static void lane_only_ends(struct lanes *lanes, struct lane *lane, uint64_t now_ns)
{
    struct team *team = lane_team(lanes, lane);
    uint64_t run_ns = team_sums_at(team, now_ns).run_ns;
    uint32_t main_lane = lane_main(lanes, lane);
    team_found_running(team, &lane->member, UINT64_MAX, now_ns);
    if (main_lane != TRACE_NONE)
        lanes->at[main_lane].stretch.taken_ns += team->sums.run_ns - run_ns;
}

static enum lane_news lane_end(struct lanes *lanes, struct lane *lane, const struct event *event)
{
    lane->is_ended = true;
    if (lane->is_off_cpu && lane->may_sleep_since && lane->has_team && !lane->depth)
        lane_only_ends(lanes, lane, event->time_ns);
    lane_moves(lanes, lane, THREAD_AWAY, event->time_ns);
    if (!lane->depth && !lane->callback_ns) {
        lane_mark_path(lanes, lane, event->time_ns);
        lane->site = sites_put(lanes->sites, TRACE_NONE, TRACE_NONE);
        stretch_end(lanes, lane, event->time_ns);
    }
    return LANE_ENDED;
}

/* Neither entered nor left. Out of line: each call would have to save the registers that this takes. */
static __attribute__((noinline)) enum lane_news lane_take_other(struct lanes *lanes, struct lane *lane,
                                                                const struct event *event)
{
    switch (event->kind) {
    case EV_SAMPLE:
        lane_sample(lanes, lane, event);
        break;
    case EV_OFF:
        lane_off(lanes, lane, event);
        break;
    case EV_ON:
        lane_on(lanes, lane, event->time_ns);
        break;
    case EV_BINS:
        lane_bins(lanes, lane, event);
        break;
    case EV_CONTROL:
        if (lane->rank < lanes->trace->n_ranks)
            lanes->rank_is_off[lane->rank] = !event->flags;
        break;
    case EV_END:
        return lane_end(lanes, lane, event);
    default:
        break;
    }
    return LANE_NOTHING;
}

enum lane_news lanes_take(struct lanes *lanes, const struct event *event)
{
    struct lane *lane = &lanes->at[event->loc];
    if (lane->is_ended)
        return LANE_NOTHING;
    /* A main thread has been there since the run began, other threads come later. */
    if (!lane->is_begun && lanes->trace->locations[event->loc].thread != 0)
        stretch_begin(lanes, lane, event->time_ns);
    lane->is_begun = true;
    /* Only a location on a CPU enters, leaves or is sampled: then its return to the CPU was lost, and since when is
     * unknown. */
    bool is_on_cpu = event->kind == EV_ENTER || event->kind == EV_LEAVE ||
                     (event->kind == EV_SAMPLE && !(event->flags & WW_S_BLOCKED));
    if (lane->is_off_cpu && is_on_cpu)
        lane->is_off_cpu = false;
    if (event->kind == EV_ENTER)
        return lane_enter(lanes, lane, event);
    if (event->kind == EV_LEAVE)
        return lane_leave(lanes, lane, event);
    return lane_take_other(lanes, lane, event);
}
