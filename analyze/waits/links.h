/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The points by which processes depend on each other: a moment of one process (it posted a send or a receive, it
 * entered a collective) that others may have waited for, with the chain that led there.
 *
 * A process whose next call depends on a point that has not been replayed yet sleeps in that point's list, and is woken
 * when it is (replay.h).
 */
#pragma once
#include "analyze/steps/spread.h"
#include "analyze/waits/history.h"

/* Lanes asleep: the first one plus 1, the others linked by links.next; 0 = none. */
struct sleepers {
    uint32_t first;
};

struct links {
    struct history history;
    struct slab points;
    uint32_t *next; /* by lane, for struct sleepers */
    VEC(uint32_t) awake;
};

struct point {
    _Alignas(CACHE_LINE) uint64_t time_ns;
    uint32_t lane, rank;
    uint32_t holds;
    float lack_ns;     /* of the time since this process last waited: without a CPU */
    bool is_set;       /* replayed: the mark is final */
    struct mark *mark; /* held; before it is set: NULL, or what it is as long as a wait around it goes on */
    struct sleepers sleepers;
};

/* Replayed, as far as the time until then is concerned: the way there may still turn out to have waited. */
static inline bool point_is_entered(const struct point *point)
{
    return point->is_set || point->mark;
}

/* A process enters MPI after it has been outside for a while. */
struct comeback {
    struct point *point; /* held; NULL = none yet */
    uint64_t left_ns;    /* when it had left MPI before that */
};

void links_begin(struct links *links, uint32_t n_lanes);
void links_release(struct links *links);
void links_sleep(struct links *links, struct sleepers *sleepers, uint32_t lane);
void links_wake(struct links *links, struct sleepers *sleepers);
void links_unsleep(struct links *links, struct sleepers *sleepers, uint32_t lane);

/* With one hold. */
struct point *point_make(struct links *links, uint32_t lane, uint32_t rank, uint64_t time_ns);
struct point *point_hold(struct point *point);
void point_drop(struct links *links, struct point *point);
/* Holds the mark. A value that was set for now is settled by it. */
void point_set(struct links *links, struct point *point, struct mark *mark);
/* Keeps the comeback, with a hold, instead of the one before. */
void comeback_set(struct links *links, struct comeback *at, struct comeback comeback);

/*
 * A location that polls. Whether its time is waiting is not known before a poll, or the receive after it, has found
 * something: until then the time counts as the location's own, and what it was made of is kept in parts, in the order
 * of time. Then what lies before the release becomes waiting, and the rest stays what it was: a nap that the message
 * had not been worth, or work between finding a message and receiving it, is nobody else's doing.
 *
 * Memory: a few parts; of a longer wait the oldest are joined, as if evenly mixed. Of the points, those that somebody
 * may still ask for.
 */

struct polling_part {
    uint64_t from_ns, to_ns;
    struct sparse atoms, counts;
    bool is_stretch;               /* one, between two calls, and nothing else */
    struct spent spent;            /* of a stretch between two calls */
    uint32_t step;                 /* of time inside a call, where there is any: */
    double transfer_ns, absent_ns; /* on a CPU, and off it */
};

enum { POLLING_PARTS = 8 };

struct polling {
    struct mark *mark; /* held: at the first poll; NULL = it does not poll */
    uint64_t since_ns, until_ns;
    double lost_ns; /* since then, without a CPU */
    uint32_t site;
    uint32_t n_parts, n_points;
    uint32_t n_wanted;         /* of the points, when those that nobody wants were last forgotten */
    struct polling_room *room; /* NULL = it has never been needed */
};
/* Apart, since most locations never poll. */
struct polling_room {
    struct polling_part parts[POLLING_PARTS];
    /* Held: moments since the first poll that others may have waited for, in the order of time. The way there is not
     * known before it is known what this location waited for. */
    struct point **points; /* room for so many: */
    size_t points_cap;
};

/* Takes over the mark. */
void polling_begin(struct polling *polling, struct mark *mark, uint32_t site);
/* Points that are still open are settled as they stood. */
void polling_end(struct polling *polling, struct links *links);
void polling_release(struct polling *polling);
/* A new part, empty, that follows the last one. Valid until the next. */
struct polling_part *polling_add(struct polling *polling, uint64_t to_ns);
/* A point of this location, which leads on from `mark` unless it turns out to have waited. */
void polling_add_point(struct polling *polling, struct links *links, struct point *point, struct mark *mark);
/* The share of a part that lies between two times, in [0,1]. */
double polling_part_between(const struct polling_part *part, uint64_t from_ns, uint64_t to_ns);
/* The stretch between two calls that ends at this time; NULL: none is kept apart. */
const struct polling_part *polling_stretch_before(const struct polling *polling, uint64_t at_ns);
