/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps while they are computed with: dense numbers for (state, what, id, caller). Their names are settled at the end
 * (names.h).
 *
 * Durations travel as "atoms": a step, or a pool of samples whose shares say which steps it stands for (pools.h). An
 * interval between two MPI calls is then one atom, however many loops it ran through.
 */
#pragma once
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"

enum { STEP_BLOCKS = 32 };
enum step_state { STEP_COMPUTING, STEP_DESCHEDULED, STEP_BLOCKED, STEP_TRANSFER, STEP_MPI, STEP_UNKNOWN };

enum step_what {
    WHAT_PLACE, /* id: code place */
    WHAT_PATH,  /* id: call path of user regions (foreign archives) */
    WHAT_SITE,  /* id: MPI call site */
    WHAT_GAP,   /* id: pair of MPI call sites. The code between them, of which nothing else is known */
    WHAT_START, /* before the first event of a process (0), or of a thread (1) */
    WHAT_OFF,   /* while the program had switched recording off */
    WHAT_CLOCK, /* effects seen before their causes */
    WHAT_WAIT,  /* in a wait that was not over, and of which it is not known yet what ended it */
};

struct step_key {
    uint32_t state, what, id;
    uint32_t caller; /* code place of the calling loop; TRACE_NONE when there is none between two waits */
    uint32_t entry;  /* call from code that waits below which it runs: number of its line (sites.h); TRACE_NONE */
};

struct steps {
    struct intern keys;
    /* By step. In blocks that never move, each twice as long as the one before, so that another thread may look while
     * steps are added. */
    struct step_traits {
        bool is_code;
        bool is_timed; /* of the path that the program took as well, and its time is clocked rather than sampled */
    } *traits[STEP_BLOCKS];
};

/* True for what the program's code does: not for waiting for the processor or the network, which differ from one
 * repetition to the next although the program did the same. */
static inline bool step_state_is_code(enum step_state state)
{
    return state == STEP_COMPUTING || state == STEP_BLOCKED;
}

static inline struct step_traits steps_traits_of(const struct step_key *key)
{
    bool is_call = key->what == WHAT_SITE && (key->state == STEP_MPI || key->state == STEP_BLOCKED);
    return (struct step_traits){.is_code = step_state_is_code((enum step_state)key->state),
                                .is_timed = is_call || key->what == WHAT_START || key->what == WHAT_OFF};
}

static inline uint32_t steps_put_key(struct steps *steps, const struct step_key *key)
{
    size_t n_before = steps->keys.n;
    uint32_t step = intern_put(&steps->keys, key, sizeof *key);
    if (steps->keys.n == n_before)
        return step;
    unsigned block = 31 - (unsigned)__builtin_clz(step + 1);
    size_t cap = 0;
    if (!steps->traits[block])
        vec_grow((void **)&steps->traits[block], &cap, 1u << block, sizeof *steps->traits[block]);
    steps->traits[block][step + 1 - (1u << block)] = steps_traits_of(key);
    return step;
}

static inline uint32_t steps_put(struct steps *steps, enum step_state state, enum step_what what, uint32_t id,
                                 uint32_t caller)
{
    struct step_key key = {.state = state, .what = what, .id = id, .caller = caller, .entry = TRACE_NONE};
    return steps_put_key(steps, &key);
}

/* A code place, computing, entered by a certain call. */
static inline uint32_t steps_put_entered(struct steps *steps, uint32_t place, uint32_t caller, uint32_t entry)
{
    struct step_key key = {.state = STEP_COMPUTING, .what = WHAT_PLACE, .id = place, .caller = caller, .entry = entry};
    return steps_put_key(steps, &key);
}

static inline const struct step_key *steps_key(const struct steps *steps, uint32_t step)
{
    return steps->keys.items[step].bytes;
}

/* The same code in another state. */
static inline uint32_t steps_in_state(struct steps *steps, uint32_t step, enum step_state state)
{
    struct step_key key = *steps_key(steps, step);
    key.state = state;
    return steps_put_key(steps, &key);
}

/* The same code whoever calls it, computing: what a cause is named by. */
static inline uint32_t steps_base(struct steps *steps, uint32_t step)
{
    static const enum step_state states[] = {
        [WHAT_PLACE] = STEP_COMPUTING, [WHAT_PATH] = STEP_COMPUTING, [WHAT_SITE] = STEP_MPI,
        [WHAT_GAP] = STEP_COMPUTING,   [WHAT_START] = STEP_UNKNOWN,  [WHAT_OFF] = STEP_UNKNOWN,
        [WHAT_CLOCK] = STEP_UNKNOWN,   [WHAT_WAIT] = STEP_UNKNOWN};
    struct step_key key = *steps_key(steps, step);
    return steps_put(steps, states[key.what], key.what, key.id, TRACE_NONE);
}

static inline uint32_t steps_n(const struct steps *steps)
{
    return (uint32_t)steps->keys.n;
}

static inline void steps_release(struct steps *steps)
{
    for (unsigned i = 0; i < STEP_BLOCKS; i++)
        vec_free(steps->traits[i]);
    intern_release(&steps->keys);
}

/* Of steps made before, any thread may ask. */
static inline struct step_traits steps_traits(const struct steps *steps, uint32_t step)
{
    unsigned block = 31 - (unsigned)__builtin_clz(step + 1);
    return steps->traits[block][step + 1 - (1u << block)];
}

/* True of a step whose state is such (step_state_is_code). */
static inline bool steps_is_code(const struct steps *steps, uint32_t step)
{
    return steps_traits(steps, step).is_code;
}

/*
 * Keys of durations, and of all that travels with them: whose, and which atom or step. In a characterisation the key
 * says as well on which side the time stands, and whether the process itself spent it.
 */
#define KEY_WAITING (1ull << 62)   /* the waiting side; else the late one */
#define KEY_LONG_TERM (1ull << 61) /* not executed by the process that was waited for */
static inline uint64_t atom_key(uint32_t rank, uint32_t atom)
{
    return key_pair(rank, atom);
}
static inline uint32_t key_atom(uint64_t key)
{
    return (uint32_t)key;
}
static inline uint32_t key_rank(uint64_t key)
{
    return key_high(key) & 0x0fffffff;
}
