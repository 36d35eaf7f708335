/* SPDX-License-Identifier: BSD-3-Clause */
/* Who of the processes that a launcher (mpirun, srun) started together is this one, as its environment tells: known
 * before MPI is initialised, and to processes that are no MPI programs. */
#pragma once
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* True when the first variable that is there says 0, and when none is. */
static inline bool launcher_says_first(const char *const *names)
{
    for (; *names; names++) {
        const char *number = getenv(*names);
        if (number)
            return strcmp(number, "0") == 0;
    }
    return true;
}

static inline bool launcher_is_first_rank(void)
{
    return launcher_says_first(
        (const char *const[]){"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL});
}

/* How many it started; 0 = there is none. */
static inline unsigned launcher_n_processes(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *number = getenv(names[i]);
        long n = number ? strtol(number, NULL, 10) : 0;
        if (n > 0)
            return n < 1 << 30 ? (unsigned)n : 1 << 30;
    }
    return 0;
}

static inline bool launcher_is_first_on_node(void)
{
    return launcher_says_first(
        (const char *const[]){"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", NULL});
}

/* mpirun gives each process a terminal of its own, at which nobody sits. (srun does so when it is asked for one.) */
static inline bool launcher_gives_terminals(void)
{
    return getenv("OMPI_COMM_WORLD_RANK") || getenv("PMIX_RANK");
}

/* A launcher binds each process to a core of its own. Where those that it started beside this one have ended, this
 * thread may use their cores. What the job as a whole may use stays as it is. */
static inline void launcher_leave_core(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    if (launcher_n_processes())
        sched_setaffinity(0, sizeof all, &all);
}
