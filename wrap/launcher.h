/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of this one among the processes that a launcher (mpirun, srun) started together, as its environment has
 * it: known before MPI is initialised, and to processes that are no MPI programs. */
#pragma once
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

/* mpirun may run in a job of Slurm, which starts its daemons as processes of a step: theirs is every variable that
 * mpirun does not set itself. So what mpirun sets stands before what only srun does (Hydra sets PMI_RANK, srun
 * PMIX_RANK). */
static inline bool launcher_is_first_rank(void)
{
    return launcher_says_first(
        (const char *const[]){"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", NULL});
}

/* The value of the first variable that has a number above zero; 0 = none does. */
static inline unsigned launcher_says_how_many(const char *const *names)
{
    for (; *names; names++) {
        const char *number = getenv(*names);
        long n = number ? strtol(number, NULL, 10) : 0;
        if (n > 0)
            return n < 1 << 30 ? (unsigned)n : 1 << 30;
    }
    return 0;
}

/* The number of processes that it started; 0 = there is none. */
static inline unsigned launcher_n_processes(void)
{
    return launcher_says_how_many(
        (const char *const[]){"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL});
}

/* Those of them on this node; 0 = it does not tell. */
static inline unsigned launcher_n_on_node(void)
{
    return launcher_says_how_many((const char *const[]){"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL});
}

/* True where it tells that some of them are on other nodes. */
static inline bool launcher_has_other_nodes(void)
{
    unsigned n_here = launcher_n_on_node();
    return n_here ? n_here < launcher_n_processes()
                  : launcher_says_how_many((const char *const[]){"SLURM_STEP_NUM_NODES", NULL}) > 1;
}

/* Whether its processes are to use Open MPI, or MPICH. */
static inline bool launcher_is_of_open_mpi(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || (getenv("PMIX_RANK") && !getenv("PMI_RANK"));
}

/* What a process is on its node: set by each launcher in its own words, and so not in the environment of its daemon. */
static inline const char *const *launcher_local_rank_names(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", NULL};
    return names;
}

static inline bool launcher_is_first_on_node(void)
{
    return launcher_says_first(launcher_local_rank_names());
}

/* mpirun gives each process a terminal of its own, at which nobody sits. (srun does so when it is asked for one.) */
static inline bool launcher_gives_terminals(void)
{
    return getenv("OMPI_COMM_WORLD_RANK") || getenv("PMIX_RANK");
}

/* A launcher binds each process to a core of its own. If those that it started beside this one have ended, this thread
 * may use their cores. The share of the job as a whole stays as it is. */
static inline void launcher_leave_core(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    if (launcher_n_processes())
        sched_setaffinity(0, sizeof all, &all);
}

/* Of a launcher's processes on a node, the first that asks for `what` gets a descriptor, to be closed when the others
 * have asked. It is a name in Linux's abstract socket space. One process at a time has it, and it goes with the
 * process. */
enum { LAUNCHER_TAKEN = -2, LAUNCHER_UNKNOWN = -3 };
static inline int launcher_claim(const char *what)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "whywait-%s-%d-%d", what, (int)geteuid(), (int)getppid());
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0)
        return fd;
    bool is_taken = fd >= 0 && errno == EADDRINUSE;
    if (fd >= 0)
        close(fd);
    return is_taken ? LAUNCHER_TAKEN : LAUNCHER_UNKNOWN;
}
