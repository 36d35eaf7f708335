/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that a launcher (mpirun, srun) has started on several nodes, as an engine. Beside each of them runs a
 * small program that knows its MPI (mpi.c). The tool itself is linked with none.
 */
#pragma once
#include "analyze/engine/engine.h"
#include <stdbool.h>

enum launched_role {
    LAUNCHED_FIRST, /* number 0, with others, or alone where they cannot meet: it has told why */
    LAUNCHED_OTHER, /* another number, in a process of its own: it may end in any way */
    LAUNCHED_IDLE   /* there is nothing to do for this process any more */
};

/* True where a launcher has started this very command on other nodes, too. Of the commands of a script it is not known
 * whether each process comes to them. */
bool launched_are_several(void);
/* Called at the beginning by each of these processes; `program` knows the launcher's MPI. Before it ends, number 0 lets
 * the others end by engine_give_up. */
enum launched_role launched_meet(const char *program);
/* Theirs; otherwise this process is alone in it. */
struct engine *launched_engine(void);
