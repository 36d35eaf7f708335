/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that a launcher has started meet through its MPI: what the first one has to say reaches the others.
 * Each of them starts this program beside itself, so that nothing of MPI is in the tool, or goes on while that works.
 *
 *     meet N SECONDS      ends with 1 when MPI knows other than N processes, with MEET_LATE where they have not met by
 * then
 *
 * The first one's message comes in by stdin and goes out by the others' stdout. These say by a byte that they have
 * acted on it. When all have, the program ends everywhere.
 *
 * MPI_Init returns when all processes have come to it, or never. A process that goes before that without a word is a
 * failure to mpirun, which then ends the others. MPI has no such word, but the library below it has, by which MPI talks
 * to the launcher.
 */
#include "analyze/meet/message.h"
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEAVE_S = 3 };

/* Open MPI's library for that, wherever it is loaded: PMIx of the system, or a copy of its own in which names differ.
 */
static void take_leave_of_pmix(void)
{
    static const char *const names[] = {"PMIx_Finalize", "OPAL_MCA_PMIX3X_PMIx_Finalize"};
    int (*finalize)(const void *, size_t) = NULL;
    struct link_map *at = NULL;
    void *self = dlopen(NULL, RTLD_LAZY);
    if (!self || dlinfo(self, RTLD_DI_LINKMAP, &at))
        return;
    for (; at && !finalize; at = at->l_next) {
        void *library = dlopen(at->l_name, RTLD_LAZY | RTLD_NOLOAD);
        for (size_t i = 0; library && !finalize && i < sizeof names / sizeof *names; i++)
            *(void **)&finalize = dlsym(library, names[i]);
    }
    if (finalize)
        finalize(NULL, 0);
}

/* MPICH's is a part of it; to Hydra it writes lines. (srun has no objection to who goes.) */
static void take_leave_of_hydra(void)
{
    static const char word[] = "cmd=finalize\n";
    const char *socket = getenv("PMI_FD");
    if (socket && getenv("MPI_LOCALNRANKS") && write(atoi(socket), word, sizeof word - 1) < 0)
        return;
}

/* A thread: the other one is inside MPI. No leave takes long, or it is not taken. */
_Noreturn static void *wait_no_longer(void *seconds)
{
    for (unsigned left = (unsigned)atoi(seconds); left; left = sleep(left))
        continue;
    alarm(LEAVE_S);
    take_leave_of_pmix();
    take_leave_of_hydra();
    _exit(MEET_LATE);
}

int main(int argc, char **argv)
{
    struct meet_message message = {.text = ""};
    int rank, n;
    pthread_t waiting;
    if (argc != 3 || pthread_create(&waiting, NULL, wait_no_longer, argv[2]))
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    bool is_met = n == atoi(argv[1]);
    if (is_met) {
        is_met = rank || read(STDIN_FILENO, &message, sizeof message) == sizeof message;
        MPI_Bcast(&message, sizeof message, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (rank && write(STDOUT_FILENO, &message, sizeof message) == sizeof message)
            is_met = read(STDIN_FILENO, &message, sizeof message) == 1;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return !is_met;
}
