/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/mpi/sessions.h"
#include "wrap/record/mpi/life.h"
#include "wrap/record/pmpi/world.h"
#include "wrap/record/process/say.h"
#include "wrap/record/recorder.h"
#include <errno.h>

static struct {
    int n_open;
    int n_processes; /* in mpi://WORLD, as the first session says; 0 = not known */
    int rank;        /* of this process there */
    bool has_begun;  /* recording, by a session's communicator */
} sessions;

bool sessions_go_on(void)
{
    return __atomic_load_n(&sessions.has_begun, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&sessions.n_open, __ATOMIC_ACQUIRE) > 0;
}

#if MPI_VERSION >= 4
static void ask_processes(MPI_Session session)
{
    MPI_Group group;
    if (PMPI(Group_from_session_pset)(session, "mpi://WORLD", &group) != MPI_SUCCESS)
        return;
    if (PMPI(Group_size)(group, &sessions.n_processes) != MPI_SUCCESS ||
        PMPI(Group_rank)(group, &sessions.rank) != MPI_SUCCESS)
        sessions.n_processes = 0;
    PMPI(Group_free)(&group);
}

void session_began(MPI_Session session)
{
    int saved = errno;
    if (__atomic_fetch_add(&sessions.n_open, 1, __ATOMIC_ACQ_REL) == 0 && !recorder.started)
        ask_processes(session);
    errno = saved;
}

void session_made(MPI_Comm made, const void *return_address, const void *frame_address)
{
    int saved = errno, size = 0, is_inter = 1;
    if (recorder.started || world_is_up() || sessions.n_processes == 0 || made == MPI_COMM_NULL)
        return;
    if (PMPI(Comm_test_inter)(made, &is_inter) == MPI_SUCCESS && !is_inter &&
        PMPI(Comm_size)(made, &size) == MPI_SUCCESS && size == sessions.n_processes && world_use(&made)) {
        life_started(WW_ID_Session_init, return_address, frame_address);
        __atomic_store_n(&sessions.has_begun, recorder.started, __ATOMIC_RELEASE);
    }
    errno = saved;
}

void session_ends(const void *return_address, const void *frame_address)
{
    if (sessions_go_on() && __atomic_load_n(&sessions.n_open, __ATOMIC_ACQUIRE) == 1)
        life_ends(WW_ID_Session_finalize, return_address, frame_address);
}

/* MPI_Init was called, before or beside the sessions. */
static bool has_world(void)
{
    int is_initialized = 0;
    return PMPI(Initialized)(&is_initialized) == MPI_SUCCESS && is_initialized;
}

void session_ended(void)
{
    if (__atomic_sub_fetch(&sessions.n_open, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (sessions.has_begun)
        life_ended();
    else if (!recorder.started && sessions.rank == 0 && !has_world())
        say("nothing was recorded: the program has sessions, but no communicator over all processes of mpi://WORLD");
}
#endif
