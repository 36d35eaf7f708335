/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps while they are computed with: dense numbers for (state, what, id, caller). What they are called is settled at
 * the end (names.h).
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
    WHAT_GAP,   /* id: pair of MPI call sites; the code between them, of which nothing else is known */
    WHAT_START, /* before the first event of a process */
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
    /* By step: whether it is code. In blocks that never move, each twice as long as the one before, so that another
     * thread may look while steps are added. */
    bool *is_code[STEP_BLOCKS];
};

uint32_t steps_put(struct steps *steps, enum step_state state, enum step_what what, uint32_t id, uint32_t caller);
/* A code place, computing, entered by a certain call. */
uint32_t steps_put_entered(struct steps *steps, uint32_t place, uint32_t caller, uint32_t entry);
const struct step_key *steps_key(const struct steps *steps, uint32_t step);
/* The same code in another state. */
uint32_t steps_in_state(struct steps *steps, uint32_t step, enum step_state state);
/* The same code whoever calls it, computing: what a cause is named by. */
uint32_t steps_base(struct steps *steps, uint32_t step);
uint32_t steps_n(const struct steps *steps);
void steps_release(struct steps *steps);
/* True of a step of which it is true that (step_state_is_code); of steps made before, any thread may ask. */
static inline bool steps_is_code(const struct steps *steps, uint32_t step)
{
    unsigned block = 31 - (unsigned)__builtin_clz(step + 1);
    return steps->is_code[block][step + 1 - (1u << block)];
}
/* True for what the program's code does: not for waiting for the processor or the network, which differ from one
 * repetition to the next although the program did the same. */
bool step_state_is_code(enum step_state state);

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
