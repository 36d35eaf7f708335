/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that the plugin leaves in a program: the contract between the plugin, the recorder and the count solver.
 *
 * Two arrays, walked in tandem. The counters (u64, zero at start) are thread-local and lie at constant offsets in the
 * module's thread-local block (sections .tbss.whywait.*, merged into .tbss by the linker). A read-only table, section
 * POINTS_SECTION, which is not loaded, says what they count: recorder and solver read it from the file. A counter is
 * named by its point number: its offset in the module's thread-local block in units of 8 bytes. Nothing in the program
 * refers to either, so that it runs alone, and a discarded function takes its counters and its table entry along.
 *
 * GNU ld from 2.47 on computes offsets of thread-local variables in loaded sections only. So they stand apart, in
 * section POINTS_OFFSETS, a word for each function.
 *
 * The section is a sequence of records, one a function, each aligned to 8 bytes (zero words between records are
 * padding). Integers are in the machine's byte order, addresses are link-time addresses, strings are offsets in
 * POINTS_STRINGS.
 *
 *   struct points_function
 *   struct points_edge    edges[n_edges]      flow edges: block -> block, with the counter that counts it, if any
 *   struct points_address addresses[n_addresses]  at the next multiple of 8 bytes, in no order: ends of calls (return
 *                                                 addresses) and starts of blocks
 *   struct points_line    lines[n_lines]      source lines by block, that of a condition last
 *   struct points_alloc   allocs[n_allocs]    allocation points: a counter of bytes
 *
 * and, where flags say so (POINTS_F_CALLED, POINTS_F_CALLS), at the next multiple of 8 bytes
 *   struct points_calls
 *   struct points_site    sites[n_sites]      calls of functions that do not count their own calls
 *
 * Version 4 is the same, without the latter.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define POINTS_SECTION ".whywait_points"
#define POINTS_STRINGS ".whywait_strings"
#define POINTS_OFFSETS ".whywait_offsets"
enum { POINTS_VERSION = 5, POINTS_OLDEST = 4 /* that is read */, POINTS_NONE = UINT32_MAX };
/* In bins alone: a point from here on stands for frames that a longjmp removed, and is their return address (link-time)
 * plus this. */
#define POINTS_UNWOUND_FRAME 0x80000000u
#define POINTS_MAGIC 0x57575031u /* "1PWW" */

struct points_function {
    uint32_t magic;
    uint32_t size_bytes; /* of the whole record */
    uint32_t version;
    uint32_t flags;            /* POINTS_F_ */
    uint64_t address;          /* entry */
    uint64_t tls_offset_bytes; /* of the first counter, from the start of the module's thread-local block; with
                                  POINTS_F_OFFSET_APART the address of the word that says it */
    uint32_t n_counters;
    uint32_t n_blocks; /* flow blocks, of which these two have no code: BLOCK_ROOT and BLOCK_EXIT */
    uint32_t n_edges, n_addresses, n_lines, n_allocs;
    uint32_t name; /* assembler name */
    uint32_t file, line;
    uint32_t checksum;    /* of the edges: the same code built with other counters has the same */
    uint32_t dispatcher;  /* a block without code, through which setjmp's second returns flow; POINTS_NONE */
    uint32_t source_name; /* as in the source: "ns::solve(int)" */
};
enum {
    POINTS_F_EVERY_BLOCK = 1, /* counter b - BLOCK_FIRST counts the executions of block b; edges carry none */
    POINTS_F_EXCEPTIONS = 2,  /* frames may vanish at calls, and the edges account for that */
    POINTS_F_SETJMP = 4,      /* calls setjmp */
    POINTS_F_UNIT = 8, /* no function (it has no blocks): `address` is that of a word in the unit's data, zero when
                          the module is loaded, in which the recorder marks that it knows the module */
    POINTS_F_OFFSET_APART = 16,
    POINTS_F_OFFSET_ADDED = 32, /* the word is two instructions of aarch64, whose assembler knows no other form: they
                                   add bits 12 to 23, then bits 0 to 11 */
    POINTS_F_CALLED = 64, /* its callers, all in its unit, count its calls: they are the sum over the sites that name
                             it, and no circle of such functions calls itself */
    POINTS_F_CALLS = 128, /* it has sites */
};

enum { BLOCK_ROOT = 0, BLOCK_EXIT = 1, BLOCK_FIRST = 2 };

struct points_edge {
    uint32_t from, to;
    uint32_t counter; /* index in the function's counters; POINTS_NONE */
};

struct points_address {
    uint64_t address;
    uint32_t block;
    uint32_t what; /* enum points_what */
};
enum points_what {
    POINTS_CODE = 1, /* from here on, up to the next address: code of this block */
    POINTS_RETURN,   /* return address of a call in this block */
    POINTS_LEFT,     /* the same, of a call whose block has been counted as left (tail call, noreturn) */
};

struct points_line {
    uint32_t block, file, line;
    uint32_t copy; /* 0 = the function's own; each routine inlined into it at some place has a number of its own */
};

struct points_alloc {
    uint32_t counter, block, file, line;
    /* The routine that is called there, its assembler name. If it was inlined and is not asked, as in the source.
     * Empty: malloc or the like. */
    uint32_t callee;
    uint32_t asked; /* enum points_asked */
};
enum points_asked {
    POINTS_ASKED,       /* here */
    POINTS_ASKED_OF,    /* of the callee, which is said to be given the size of what it allocates */
    POINTS_ASKED_MAYBE, /* of the callee, by its type */
};

struct points_calls {
    uint64_t unit;     /* a number of the unit: the address of the word in its data (POINTS_F_UNIT) */
    uint32_t function; /* a number of this function in its unit */
    uint32_t n_sites;
};
/* A call of such a function. Each execution of the block makes one. If the block may be left before the call is
 * reached, a counter counts the call. */
struct points_site {
    uint32_t block;
    uint32_t callee;  /* its number in the unit */
    uint32_t counter; /* POINTS_NONE: none */
};

static inline bool points_version_is_known(uint32_t version)
{
    return version >= POINTS_OLDEST && version <= POINTS_VERSION;
}

/* The section POINTS_OFFSETS: its contents, not aligned, and its link-time address. */
struct points_offsets {
    const unsigned char *at;
    uint64_t address, bytes;
};
/* The number of a function's first counter; POINTS_NONE = the table is damaged. */
static inline uint32_t points_first(const struct points_function *function, const struct points_offsets *offsets)
{
    uint64_t offset_bytes = function->tls_offset_bytes, at = offset_bytes - offsets->address;
    if (function->flags & POINTS_F_OFFSET_APART) {
        if (offset_bytes < offsets->address || offsets->bytes < sizeof offset_bytes ||
            at > offsets->bytes - sizeof offset_bytes)
            return POINTS_NONE;
        memcpy(&offset_bytes, offsets->at + at, sizeof offset_bytes);
    }
    if (function->flags & POINTS_F_OFFSET_ADDED)
        offset_bytes = (offset_bytes >> 10 & 0xfff) << 12 | (offset_bytes >> 42 & 0xfff);
    bool is_sound = offset_bytes % sizeof(uint64_t) == 0 && offset_bytes / sizeof(uint64_t) < POINTS_NONE;
    return is_sound ? (uint32_t)(offset_bytes / sizeof(uint64_t)) : POINTS_NONE;
}
