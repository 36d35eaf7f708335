/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/links.h"

void links_begin(struct links *links, uint32_t n_lanes)
{
    size_t cap = 0;
    *links = (struct links){0};
    vec_grow((void **)&links->next, &cap, n_lanes + 1, sizeof *links->next);
    history_begin(&links->history, n_lanes);
}

void links_release(struct links *links)
{
    history_release(&links->history);
    slab_release(&links->points);
    vec_free(links->next);
    vec_release(&links->awake);
}

void links_sleep(struct links *links, struct sleepers *sleepers, uint32_t lane)
{
    links->next[lane] = sleepers->first;
    sleepers->first = lane + 1;
}

void links_wake(struct links *links, struct sleepers *sleepers)
{
    for (uint32_t at = sleepers->first; at; at = links->next[at - 1])
        *vec_push(&links->awake) = at - 1;
    sleepers->first = 0;
}

struct point *point_make(struct links *links, uint32_t lane, uint32_t rank, uint64_t time_ns)
{
    struct point *point = slab_new(&links->points, struct point);
    *point = (struct point){.lane = lane, .rank = rank, .time_ns = time_ns, .holds = 1};
    return point;
}

struct point *point_hold(struct point *point)
{
    point->holds++;
    return point;
}

void point_drop(struct links *links, struct point *point)
{
    if (!point || --point->holds)
        return;
    mark_drop(&links->history, point->mark);
    slab_give(&links->points, point);
}

void point_set(struct links *links, struct point *point, struct mark *mark)
{
    struct mark *before = point->mark;
    point->mark = mark_hold(mark);
    point->is_set = true;
    mark_drop(&links->history, before);
    links_wake(links, &point->sleepers);
}

static void point_set_for_now(struct point *point, struct mark *mark)
{
    point->mark = mark_hold(mark);
}

void links_unsleep(struct links *links, struct sleepers *sleepers, uint32_t lane)
{
    uint32_t *at = &sleepers->first;
    while (*at && *at != lane + 1)
        at = &links->next[*at - 1];
    if (*at)
        *at = links->next[lane];
}

void comeback_set(struct links *links, struct comeback *at, struct comeback comeback)
{
    struct point *before = at->point;
    *at = (struct comeback){comeback.point ? point_hold(comeback.point) : NULL, comeback.left_ns};
    point_drop(links, before);
}

void polling_begin(struct polling *polling, struct mark *mark, uint32_t site)
{
    polling->mark = mark;
    polling->site = site;
    polling->since_ns = polling->until_ns = mark->time_ns;
    polling->lost_ns = 0;
    polling->n_parts = 0;
}

void polling_end(struct polling *polling, struct links *links)
{
    for (uint32_t i = 0; i < polling->n_points; i++) {
        struct point *point = polling->room->points[i];
        if (!point->is_set)
            point_set(links, point, point->mark);
        point_drop(links, point);
    }
    polling->n_points = polling->n_wanted = 0;
    mark_drop(&links->history, polling->mark);
    polling->mark = NULL;
    polling->n_parts = 0;
}

void polling_release(struct polling *polling)
{
    struct polling_room *room = polling->room;
    for (uint32_t i = 0; room && i < POLLING_PARTS; i++) {
        sparse_release(&room->parts[i].atoms);
        sparse_release(&room->parts[i].counts);
    }
    if (room)
        vec_free(room->points);
    vec_free(room);
}

static struct polling_room *polling_room(struct polling *polling)
{
    if (!polling->room)
        polling->room = memory_lines(1, sizeof *polling->room);
    return polling->room;
}

/* The older half becomes one part. */
static void parts_join(struct polling *polling)
{
    enum { HALF = POLLING_PARTS / 2 };
    struct polling_part *parts = polling->room->parts;
    for (uint32_t i = 1; i < HALF; i++) {
        parts[0].to_ns = parts[i].to_ns;
        parts[0].is_stretch = false;
        sparse_absorb(&parts[0].atoms, &parts[i].atoms);
        sparse_absorb(&parts[0].counts, &parts[i].counts);
        parts[0].spent.on_ns += parts[i].spent.on_ns;
        for (int kind = 0; kind < OFF_N; kind++)
            parts[0].spent.off_ns[kind] += parts[i].spent.off_ns[kind];
        parts[0].spent.noise_ns2 += parts[i].spent.noise_ns2;
        parts[0].step = parts[i].transfer_ns > 0 ? parts[i].step : parts[0].step;
        parts[0].transfer_ns += parts[i].transfer_ns;
        parts[0].absent_ns += parts[i].absent_ns;
    }
    for (uint32_t i = HALF; i < POLLING_PARTS; i++) {
        struct polling_part empty = parts[i - HALF + 1];
        parts[i - HALF + 1] = parts[i];
        parts[i] = empty;
    }
    polling->n_parts -= HALF - 1;
}

struct polling_part *polling_add(struct polling *polling, uint64_t to_ns)
{
    if (polling->n_parts == POLLING_PARTS)
        parts_join(polling);
    struct polling_part *part = &polling_room(polling)->parts[polling->n_parts];
    sparse_clear(&part->atoms);
    sparse_clear(&part->counts);
    *part = (struct polling_part){.from_ns = polling->n_parts ? part[-1].to_ns : polling->since_ns,
                                  .to_ns = to_ns,
                                  .atoms = part->atoms,
                                  .counts = part->counts};
    polling->n_parts++;
    return part;
}

/* Nobody else holds them. */
static void forget_unwanted(struct polling *polling, struct links *links)
{
    struct point **points = polling->room->points;
    uint32_t n = 0;
    for (uint32_t i = 0; i < polling->n_points; i++) {
        struct point *point = points[i];
        if (point->holds > 1)
            points[n++] = point;
        else
            point_drop(links, point);
    }
    polling->n_points = polling->n_wanted = n;
}

void polling_add_point(struct polling *polling, struct links *links, struct point *point, struct mark *mark)
{
    enum { FEW = 16 };
    struct polling_room *room = polling_room(polling);
    if (polling->n_points > FEW + 2 * polling->n_wanted)
        forget_unwanted(polling, links);
    point_set_for_now(point, mark);
    vec_grow((void **)&room->points, &room->points_cap, polling->n_points + 1, sizeof *room->points);
    room->points[polling->n_points++] = point_hold(point);
}

double polling_part_between(const struct polling_part *part, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t begin_ns = from_ns > part->from_ns ? from_ns : part->from_ns;
    uint64_t end_ns = to_ns < part->to_ns ? to_ns : part->to_ns;
    return end_ns > begin_ns ? (double)(end_ns - begin_ns) / (double)(part->to_ns - part->from_ns) : 0;
}

const struct polling_part *polling_stretch_before(const struct polling *polling, uint64_t at_ns)
{
    for (uint32_t i = 0; i < polling->n_parts; i++)
        if (polling->room->parts[i].to_ns == at_ns && polling->room->parts[i].is_stretch)
            return &polling->room->parts[i];
    return NULL;
}
