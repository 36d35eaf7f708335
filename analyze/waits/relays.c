/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/relays.h"

enum {
    LOOK = 4, /* members on either side of a call's end */
    PAIRS_MAX = 1 << 20,
    MEMBER_BITS = 20,
};

void relays_release(struct relays *relays)
{
    intern_release(&relays->operations);
    map_release(&relays->numbers);
    vec_release(&relays->pairs);
}

bool relays_concern(const struct gathering *gathering, uint64_t enter_ns, uint64_t leave_ns)
{
    return gathering->class != WW_ICOLLECTIVE && gathering->n < 1u << MEMBER_BITS &&
           leave_ns > enter_ns + EVIDENCE_MIN_NS;
}

static uint64_t operation_key(struct relays *relays, const struct gathering *gathering, uint32_t member)
{
    uint32_t operation[3] = {gathering->comm, gathering->coll, gathering->root};
    uint64_t number = intern_put(&relays->operations, operation, sizeof operation);
    return (number << MEMBER_BITS | member) << MEMBER_BITS;
}

static struct evidence *pair_of(struct relays *relays, uint64_t key, bool add)
{
    uint64_t *number = map_get(&relays->numbers, key);
    if (!number && (!add || relays->pairs.n >= PAIRS_MAX))
        return NULL;
    if (!number) {
        *vec_push(&relays->pairs) = (struct evidence){0};
        *map_put(&relays->numbers, key, NULL) = relays->pairs.n;
        return &relays->pairs.at[relays->pairs.n - 1];
    }
    return &relays->pairs.at[*number - 1];
}

/* Members in the order of their entries, those that entered by at_ns. */
static uint32_t n_entered(const struct gathering *gathering, const uint32_t *order, uint32_t n, uint64_t at_ns)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gathering->points[order[middle]]->time_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those who entered when the call had ended were not needed. */
static void note_later_entries(struct relays *relays, const struct gathering *gathering, uint64_t key,
                               uint32_t n_before, uint64_t leave_ns)
{
    for (uint32_t i = n_before; i < gathering->n_joined && i < n_before + LOOK; i++) {
        uint32_t other = gathering->order[i];
        struct evidence *pair = pair_of(relays, key | other, false);
        if (pair && gathering->points[other]->time_ns > leave_ns + EVIDENCE_MIN_NS)
            pair->n_alone++;
    }
}

struct point *relays_find(struct relays *relays, struct gathering *gathering, uint32_t member,
                          const struct evidence_call *call)
{
    const uint32_t *order = gathering_order(gathering);
    uint32_t n_before = n_entered(gathering, order, gathering->n_joined, call->leave_ns);
    uint64_t key = operation_key(relays, gathering, member);
    note_later_entries(relays, gathering, key, n_before, call->leave_ns);
    for (uint32_t i = 0; i < LOOK && i < n_before; i++) {
        uint32_t other = order[n_before - 1 - i];
        struct point *point = gathering->points[other];
        if (other == member)
            continue;
        if (point->time_ns <= call->from_ns + EVIDENCE_MIN_NS)
            return NULL;
        struct evidence *pair = pair_of(relays, key | other, true);
        if (!pair || !evidence_speaks_for(pair))
            continue;
        evidence_came(pair, call, point->time_ns);
        return pair->n_soon > 1 && evidence_speaks_for(pair) ? point : NULL;
    }
    return NULL;
}
