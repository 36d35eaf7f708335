/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/steps.h"

static uint32_t steps_put_key(struct steps *steps, const struct step_key *key)
{
    size_t n_before = steps->keys.n;
    uint32_t step = intern_put(&steps->keys, key, sizeof *key);
    if (steps->keys.n == n_before)
        return step;
    unsigned block = 31 - (unsigned)__builtin_clz(step + 1);
    size_t cap = 0;
    if (!steps->is_code[block])
        vec_grow((void **)&steps->is_code[block], &cap, 1u << block, sizeof *steps->is_code[block]);
    steps->is_code[block][step + 1 - (1u << block)] = step_state_is_code((enum step_state)key->state);
    return step;
}

uint32_t steps_put(struct steps *steps, enum step_state state, enum step_what what, uint32_t id, uint32_t caller)
{
    struct step_key key = {.state = state, .what = what, .id = id, .caller = caller, .entry = TRACE_NONE};
    return steps_put_key(steps, &key);
}

uint32_t steps_put_entered(struct steps *steps, uint32_t place, uint32_t caller, uint32_t entry)
{
    struct step_key key = {.state = STEP_COMPUTING, .what = WHAT_PLACE, .id = place, .caller = caller, .entry = entry};
    return steps_put_key(steps, &key);
}

const struct step_key *steps_key(const struct steps *steps, uint32_t step)
{
    return steps->keys.items[step].bytes;
}

uint32_t steps_in_state(struct steps *steps, uint32_t step, enum step_state state)
{
    struct step_key key = *steps_key(steps, step);
    key.state = state;
    return steps_put_key(steps, &key);
}

uint32_t steps_base(struct steps *steps, uint32_t step)
{
    static const enum step_state states[] = {
        [WHAT_PLACE] = STEP_COMPUTING, [WHAT_PATH] = STEP_COMPUTING, [WHAT_SITE] = STEP_MPI,
        [WHAT_GAP] = STEP_COMPUTING,   [WHAT_START] = STEP_UNKNOWN,  [WHAT_OFF] = STEP_UNKNOWN,
        [WHAT_CLOCK] = STEP_UNKNOWN,   [WHAT_WAIT] = STEP_UNKNOWN};
    struct step_key key = *steps_key(steps, step);
    return steps_put(steps, states[key.what], key.what, key.id, TRACE_NONE);
}

uint32_t steps_n(const struct steps *steps)
{
    return (uint32_t)steps->keys.n;
}

void steps_release(struct steps *steps)
{
    for (unsigned i = 0; i < STEP_BLOCKS; i++)
        vec_free(steps->is_code[i]);
    intern_release(&steps->keys);
}

bool step_state_is_code(enum step_state state)
{
    return state == STEP_COMPUTING || state == STEP_BLOCKED;
}
