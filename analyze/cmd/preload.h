/* SPDX-License-Identifier: BSD-3-Clause */
/* Which recorder goes into a program, and under which name the dynamic linker takes it. */
#pragma once
#include "analyze/cmd/program.h"
#include <limits.h>

struct preload {
    char library[PATH_MAX]; /* for LD_PRELOAD; "" = none */
    char
        unrecorded[PATH_MAX + 200]; /* why the program is not recorded, or its MPI calls are not: the rest of a sentence
                                       that begins with the program's name; "" = nothing is known against it */
};

/* Of a program that was glanced at. Nothing is printed. */
void preload_choose(struct preload *preload, const struct program *program);
/* The MPI that the program uses or, where it is a script or finds MPI later, the one that started it; failing that, the
 * one that this machine has. */
enum program_mpi preload_mpi(const struct program *program);
