/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of Python code that a thread runs, read from CPython's own structures without its lock and without a call
 * of its interface that could allocate, run code or wait.
 *
 * A thread reads its own frames, in an MPI call or in its own signal handler: nobody else changes them. The helper
 * reads those of a thread that sleeps. Where fields lie differs by version: known layouts up to 3.12, from 3.13 on the
 * interpreter's own table of offsets. A version that is not known is noted once, and its frames are not read.
 *
 * A thread may run code in a second interpreter of the process, called from code in the first. It has a state in each.
 * Up to 3.11 its own state is that in the first, and the second is read while it has the interpreters' lock: it is the
 * current one then. From 3.12 on its own state is that in the second, and the list of the first has the other.
 *
 * In a signal handler a code object may just be freed, so all is read through the kernel there, and a walk that meets
 * something odd ends. In an MPI call the frames are whole and memory is read as it is, once a first walk through the
 * kernel has found every object to be what it should be.
 */
#pragma once
#include "wrap/record/stack/pages.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PYTHON_MOST = 96 };

/* A frame, innermost first. */
struct python_frame {
    uint64_t code; /* address of the code object */
    uint64_t mark; /* its fields, mixed: tells whether another object has come to the same address */
    uint32_t at;   /* bytes of byte code before the present instruction; PYTHON_BEGIN = none has run */
    bool is_entry; /* C code called it: the frames further out stand behind that C code */
    uint64_t base; /* of an entry: where the C function that runs it has the interpreter's own frame; 0 = not known */
};
#define PYTHON_BEGIN UINT32_MAX

struct python_walk {
    unsigned n;
    bool is_cut;    /* there are more */
    bool collects;  /* the interpreter looks for garbage (python_walk_safely) */
    bool is_sample; /* not of an MPI call: which expression of a line is under way matters */
    uint64_t key;   /* of all frames; 0 = there are none */
    uint64_t state; /* of the calling thread, in the first interpreter where that is known; ... */
    uint64_t inner; /* ... and in another, inside that; 0 = in none. Neither is set by python_walk_safely */
    struct python_frame frame[PYTHON_MOST];
};

/* Memory for one walk through the kernel at a time. */
enum { PYTHON_CODE_BYTES = 256 };
struct python_scratch {
    struct stack_pages pages;
    unsigned char code[PYTHON_MOST][PYTHON_CODE_BYTES];
};

/* Where fields lie, in bytes. */
enum python_lines { PYTHON_LNOTAB, PYTHON_LINE_DELTAS, PYTHON_LOCATIONS };
enum python_entry { PYTHON_EVERY_FRAME, PYTHON_BY_FLAG, PYTHON_BY_OWNER };
struct python_layout {
    unsigned minor;
    uint16_t state_interpreter;    /* of the thread's state, behind its list's next: its interpreter, of which ... */
    uint16_t interpreter_collects; /* ... an int is 1 while it looks for garbage */
    uint16_t state_frame;          /* of the thread's state: the innermost frame, ... */
    int16_t holder_frame;          /* ... or what holds it there; -1 = the frame itself */
    uint16_t frame_code, frame_back, frame_at; /* of a frame */
    uint16_t at_unit;                          /* frame_at counts in these bytes; 0 = it points into the code */
    uint16_t frame_entry;                      /* a byte that tells by which frame C code entered */
    uint16_t code_first_line, code_file, code_name, code_lines, code_begin; /* of a code object */
    uint16_t ascii_bytes, compact_bytes;                                    /* of a string: before its text */
    uint8_t entry, lines;                                                   /* enum python_entry, python_lines */
};
/* NULL = not known. `runtime` points to the interpreter's table of offsets, which 3.13 and later have; `runtime_bytes`
 * of it may be read. */
const struct python_layout *python_layout_of(unsigned minor, const void *runtime, uint64_t runtime_bytes);

extern struct python_process {
    _Atomic(const struct python_layout *) layout; /* NULL = there is no Python that can be read */
    void *(*thread_state)(void);
    void *(*current_state)(void);     /* of whoever runs, or of the calling thread, as the version is; may be NULL */
    void *(*first_interpreter)(void); /* may be NULL, as the next */
    void *(*list_of_states)(void *interpreter); /* the head */
    uint64_t low, high;                         /* the interpreter's module */
    uint64_t eval;                              /* the function that runs frames */
    uint64_t code_type;                         /* that of every code object */
    _Atomic bool proved;                        /* frames were walked through the kernel, and nothing was odd */
} python_process;

/* Looks for an interpreter in the process; a cheap question when nothing was loaded since. */
void python_look(void);
static inline bool python_is_there(void)
{
    return atomic_load_explicit(&python_process.layout, memory_order_acquire) != NULL;
}
/* The calling thread's state; 0 = it runs no Python. Signal-safe. */
uint64_t python_thread_state(void);
/* The frames of the calling thread, which is in an MPI call. */
void python_walk_here(struct python_walk *walk);
/* The frames of a thread, through the kernel, by its states as they were found; `inner` may be 0, or have no frames any
 * more. Signal-safe. */
void python_walk_safely(struct python_walk *walk, struct python_scratch *scratch, uint64_t state, uint64_t inner);
/* The same of the calling thread, whose state that is, with those of another interpreter that it runs or came from. */
void python_walk_running(struct python_walk *walk, struct python_scratch *scratch, uint64_t state);
/* All or nothing, from any address. Signal-safe. */
bool python_read(uint64_t from, void *to, uint64_t n);
/* The bytes at the begin of a code object that have the fields which are read. */
static inline uint64_t python_code_bytes(const struct python_layout *layout)
{
    return layout->code_lines + sizeof(uint64_t);
}
/* The same mark as that of a frame, of these bytes. */
uint64_t python_mark(const struct python_layout *layout, const unsigned char *code);
