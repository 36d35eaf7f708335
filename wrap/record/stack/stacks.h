/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call stacks of one stream: known by a number, written as WW_STACK when seen for the first time.
 *
 * At an MPI call the stack is found through a cache: the entry for (return address, frame address) holds every place of
 * the stack from which a return address was read, and what stood there. When all places still hold the same, the stack
 * is the same (frames are entered and left through these very words), at about one load and one comparison a frame.
 * Otherwise the stack is walked. Programs repeat themselves: the entry that followed the last one before is tried
 * first, since a recursion has many stacks with one return address and one frame address.
 *
 * Where a thread runs Python code, the stack is that of the C code and the frames of Python together: the key of the
 * latter belongs to the entry. The frames take the place of the interpreter's own.
 *
 * Both tables live in memory of fixed size and start afresh when it is used up. Then a stack may be written again under
 * a new number, which readers must accept.
 */
#pragma once
#include "wrap/record/spool/spool.h"
#include "wrap/record/stack/python.h"
#include "wrap/record/stack/unwind.h"
#include <stdatomic.h>

enum { STACK_MAX_FRAMES = UNWIND_MAX_FRAMES };

/* A walked stack, innermost first. */
struct stack_walk {
    unsigned n;
    uint32_t flags; /* WW_STACK_CUT */
    uint64_t address[STACK_MAX_FRAMES];
    uint64_t slot[STACK_MAX_FRAMES]; /* where address[i] was read */
    uint64_t end_slot;               /* of a whole stack, where the address was read that all of it returns to */
};

struct stack_memory {
    char *at;
    size_t used, bytes;
};

struct stack_entry;
struct python_codes;
struct stack_table {
    struct stack_entry **by_place, **by_content; /* each STACK_BUCKETS chains */
    struct stack_memory memory;
    uint32_t last_id;
    struct stack_entry *_Atomic last; /* by place, of the last call; NULL = it is not known by place */
    struct python_codes *codes;       /* NULL = no frame of Python was met */
    _Atomic uint64_t python_state;    /* of the thread, at its last call or sample; 0 = it ran no Python */
    _Atomic uint64_t python_inner;    /* in another interpreter, when a sample found it there last; 0 = never */
};

/* Bounds of the walk, and the begins of programs: frames outside main and thread functions are not kept. */
struct stack_bounds {
    uint64_t low, high; /* of the thread's stack; 0, 0 = unknown */
};

/* False when there is no memory. */
bool stacks_init(struct stack_table *table, size_t memory_bytes);
void stacks_release(struct stack_table *table);
/* The thread has another stack from now on; numbers stay. */
void stacks_forget_places(struct stack_table *table);
/* The number of the stack that called an MPI function, whose wrapper has this frame; 0 = unknown. Appends to `spool`
 * when new. `python` may be NULL. */
uint32_t stacks_find_slow(struct stack_table *table, struct spool *spool, const struct stack_bounds *bounds,
                          const void *return_address, const void *frame_address, const struct python_walk *python);
/* The same, of a thread of a process that has an interpreter: with the frames of Python that it runs, if any. */
uint32_t stacks_find_python(struct stack_table *table, struct spool *spool, const struct stack_bounds *bounds,
                            const void *return_address, const void *frame_address);
/* The number of a stack that somebody else walked. */
uint32_t stacks_intern(struct stack_table *table, struct spool *spool, const struct stack_walk *walk);
/* Puts the frames of Python in the place of the interpreter's. `walk` has no slots any more. */
void stacks_merge(struct stack_table *table, struct spool *spool, struct stack_walk *walk,
                  const struct python_walk *python);
/* For the helper: where the return addresses of the thread's last MPI call stood on its stack, from the inside out. The
 * thread's doing meanwhile may make some of it wrong. */
void stacks_tell_known(struct stack_table *table, struct unwind_known *known);
/* The innermost of these places; 0 = none is known. Signal-safe. */
uint64_t stacks_last_slot(struct stack_table *table);
/* Walks on from `frame`, which is not itself kept; appends to `walk`. */
void stacks_walk(struct stack_walk *walk, struct unwind_frame *frame, const struct unwind_stack *stack);
/* Looks up what marks the outermost frames. Once, before any walk. */
void stacks_learn_process(void);

/* One walked stack as the tables keep it. */
struct stack_entry {
    struct stack_entry *next;
    uint64_t key[2]; /* caller (stacks_caller) and frame address, or hash and flags */
    uint32_t id, n;
    struct stack_entry *after; /* by place: of the call that came next when this one was last; NULL = none did */
    struct {
        uint64_t place, value;
    } word[]; /* by content: only `value` */
};
enum { STACK_BUCKETS = 512 };

/* Return address and frames of Python together. Their key is a hash: equal words of different callers are as rare as
 * equal keys. */
static inline uint64_t stacks_caller(uint64_t return_address, uint64_t python_key)
{
    return return_address ^ python_key;
}

/* Is the calling thread's stack this one? Every word is below its outermost frame, hence mapped. The frames that held
 * them are still there or were replaced by others of the same stack. */
static inline bool stacks_is_here(const struct stack_entry *entry, uint64_t caller, uint64_t frame_address)
{
    if (entry->key[0] != caller || entry->key[1] != frame_address)
        return false;
    for (uint32_t i = 0; i < entry->n; i++)
        if (*(const volatile uint64_t *)(uintptr_t)entry->word[i].place != entry->word[i].value)
            return false;
    return true;
}

/* By place, among all; the entry `before` was last, if any. NULL = not known. */
struct stack_entry *stacks_search(struct stack_table *table, struct stack_entry *before, uint64_t caller,
                                  uint64_t frame_address);

/* NULL = not known. */
static inline const struct stack_entry *stacks_find_known(struct stack_table *table, uint64_t caller,
                                                          uint64_t frame_address)
{
    struct stack_entry *before = atomic_load_explicit(&table->last, memory_order_relaxed);
    struct stack_entry *entry = before ? before->after : NULL;
    if (!entry || !stacks_is_here(entry, caller, frame_address))
        entry = stacks_search(table, before, caller, frame_address);
    if (entry)
        atomic_store_explicit(&table->last, entry, memory_order_release);
    return entry;
}

static inline uint32_t stacks_find(struct stack_table *table, struct spool *spool, const struct stack_bounds *bounds,
                                   const void *return_address, const void *frame_address)
{
    if (__builtin_expect(python_is_there(), 0))
        return stacks_find_python(table, spool, bounds, return_address, frame_address);
    uint64_t caller = stacks_caller((uint64_t)(uintptr_t)return_address, 0);
    const struct stack_entry *known = stacks_find_known(table, caller, (uint64_t)(uintptr_t)frame_address);
    return known ? known->id : stacks_find_slow(table, spool, bounds, return_address, frame_address, NULL);
}
