/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of routines as a programmer writes them. */
#pragma once
#include "wrap/base/arena.h"
#include <stdbool.h>

/*
 * "_ZN3sim5relaxIdEEvPT_i" -> "sim::relax<double>", "relax.constprop.0" -> "relax", "main._omp_fn.0" -> "main",
 * "__mesh_MOD_relax" -> "mesh::relax". No return type and no parameters. In `arena`.
 */
const char *name_readable(struct arena *arena, const char *linked);

/* True for functions that do not return to their caller, by their linked name. */
bool name_is_noreturn(const char *linked);

/* True for a run-time library, for "[vdso]" and its like, and for an empty path. Programs never are. */
bool runtime_is_library(const char *path);
