/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/links.h"

void links_begin(struct links *links, uint32_t n_lanes)
{
    size_t cap = 0;
    *links = (struct links){0};
    vec_grow((void **)&links->next, &cap, n_lanes + 1, sizeof *links->next);
}

void links_release(struct links *links)
{
    chain_release(&links->chain);
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
    chain_drop(&links->chain, point->node);
    slab_give(&links->points, point);
}

void point_set(struct links *links, struct point *point, struct chain_node *node)
{
    struct chain_node *before = point->node;
    point->node = chain_hold(node);
    point->is_set = true;
    chain_drop(&links->chain, before);
    links_wake(links, &point->sleepers);
}

void point_set_for_now(struct point *point, struct chain_node *node)
{
    point->node = chain_hold(node);
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
