/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debug information by address: for each compilation unit, when an address in it is first asked for, one sorted table
 * of line rows and one of scopes (routines and inlined copies). A look-up is then two binary searches; through libdw it
 * would cost 15 and 740 us.
 */
#pragma once
#include "analyze/code/image.h"

enum { SCOPE_NONE = UINT32_MAX };

/* A row holds from its address up to that of the next row; of several at one address the last does. */
struct line_row {
    uint64_t address;
    uint32_t file;     /* number in debug.files */
    uint32_t line;     /* 0 = made by the compiler, or behind the end of a sequence */
    bool is_statement; /* recommended for a breakpoint: a statement begins here */
};

/* A routine, or a copy of one that was inlined. A scope comes after the scopes around it. */
struct scope {
    uint32_t parent;  /* SCOPE_NONE for a routine */
    uint32_t part_of; /* the routine whose parallel region it is; SCOPE_NONE = it is one of the source */
    uint64_t origin;  /* the same for all copies of one routine */
    Dwarf_Die die;
    uint64_t lo, hi;               /* lowest and highest address; there may be gaps */
    uint64_t entry;                /* where a copy is entered; 0 = not said */
    uint32_t call_file, call_line; /* where it was inlined; INTERN_NONE, 0 = not said */
    uint32_t file, line;           /* of the declaration */
    const char *name;              /* NULL until asked for */
};

/* [lo, next one's lo) belongs to this scope, innermost. */
struct scope_piece {
    uint64_t lo;
    uint32_t scope;
};

struct unit {
    Dwarf_Die die;
    bool is_read;
    bool is_split;         /* the rest of it lies in another file, which may be opened */
    bool marks_statements; /* some rows begin a statement, and some do not. Else the mark says nothing */
    struct line_row *rows;
    VEC(struct scope) scopes;
    struct scope_piece *pieces;
    size_t n_rows, n_pieces;
    struct intern noreturn; /* linked names of functions that do not return */
};

/* Addresses, and the number of the unit or scope that they belong to; inner scopes have higher numbers. */
struct code_range {
    uint64_t lo, hi;
    uint32_t of;
};

struct debug {
    struct arena arena;
    struct intern files; /* paths */
    uint64_t bias;
    VEC(struct unit) units;
    VEC(struct code_range) ranges; /* by rising address */
    int fault;                     /* errno where the system failed to open a file with the rest of a unit; 0 = none */
    const char *unread;            /* that file */
};

/* Lists the units; false when there are none that have code. */
bool debug_open(struct debug *debug, const struct image *image);
void debug_close(struct debug *debug);

/* The compiler and its flags by the first unit that is no assembler's; NULL = none. */
const char *debug_producer(const struct debug *debug);
/* The language of a unit, by its DWARF number; -1 = not said. */
int debug_language(const struct unit *unit);
/* The unit of an address, read; NULL = none. */
struct unit *debug_unit_at(struct debug *debug, uint64_t address);
/* The row that holds for an address; NULL = none. */
const struct line_row *debug_row_at(const struct unit *unit, uint64_t address);
/* The row of the statement there: like the row that holds, but within a routine its line is not the one on which the
 * routine is declared. A call without a line of its own is given that (gfortran: where the interface is explicit and an
 * argument is intent(out), as `use mpi` has it), and then the statement before it, by address, is the nearest known. */
const struct line_row *debug_statement_at(const struct unit *unit, uint64_t address);
/* The first row at or behind an address, by number in unit->rows. */
size_t debug_row_from(const struct unit *unit, uint64_t address);
/* The innermost scope; SCOPE_NONE. */
uint32_t debug_scope_at(const struct unit *unit, uint64_t address);
/* Readable name of a scope's routine; NULL when it has none. */
const char *debug_scope_name(struct debug *debug, struct unit *unit, uint32_t scope);
/* Of an instance of a template, also of one over lambdas, the name that tells it from the others: the same in all units
 * and copies. NULL for any other routine. */
const char *debug_scope_instance(struct debug *debug, struct unit *unit, uint32_t scope);
