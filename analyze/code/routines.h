/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines of an image: a partition of its code by entry points, from symbols and unwind tables; and their names.
 */
#pragma once
#include "analyze/code/image.h"
#include "wrap/base/containers.h"
#include <stdbool.h>

enum { ROUTINE_NONE = UINT32_MAX };

struct routine {
    uint64_t lo, hi;
    uint64_t lsda;    /* 0 = no landing pads */
    const char *name; /* as linked, mangled; NULL = none. Lives as long as the image */
    bool is_cold;     /* the out-of-line part of another routine ("f.cold"). Its owner is found when it is analysed */
};

struct routines {
    struct routine *at; /* by rising address, not overlapping */
    uint32_t n;
};

/* Allocated in `arena`. */
struct routines routines_read(const struct image *image, struct arena *arena);
/* The routine around an address, or ROUTINE_NONE. */
uint32_t routines_find(const struct routines *routines, uint64_t address);

/* Reads .eh_frame and .gcc_except_table: the bounds of every routine, also in stripped files, and its landing pads.
 */

struct eh_routine {
    uint64_t lo, hi;
    uint64_t lsda; /* 0 = none */
};

/* Calls in [lo, hi) may continue at `pad`. */
struct eh_pad {
    uint64_t lo, hi, pad;
};
typedef VEC(struct eh_pad) eh_pads;
void eh_read_pads(const struct image *image, const struct eh_routine *routine, eh_pads *pads);

/* Names of routines as a programmer writes them. */

/*
 * "_ZN3sim5relaxIdEEvPT_i" -> "sim::relax<double>", "relax.constprop.0" -> "relax", "main._omp_fn.0" -> "main",
 * "__mesh_MOD_relax" -> "mesh::relax". No return type and no parameters. In `arena`.
 */
const char *name_readable(struct arena *arena, const char *linked);

/* True for functions that do not return to their caller, by their linked name. */
bool name_is_noreturn(const char *linked);

/* True for a run-time library, for "[vdso]" and its like, and for an empty path. Programs never are. */
bool runtime_is_library(const char *path);
/* True for one that every program stands on: the C library, its loader, an allocator in its place. */
bool runtime_is_base(const char *path);
