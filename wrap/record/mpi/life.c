/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init to MPI_Finalize: recording begins when MPI is ready and ends just before it goes. Sessions come and go any
 * number of times; what they mean to a program without MPI_Init is in sessions.h.
 */
#include "wrap/record/mpi/life.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/life/finish.h"
#include "wrap/record/life/life.h"
#include "wrap/record/mpi/ahead.h"
#include "wrap/record/mpi/coll.h"
#include "wrap/record/mpi/sessions.h"
#include "wrap/record/pmpi/unhook.h"
#include "wrap/record/pmpi/world.h"
#include "wrap/record/recorder.h"
#include <stdarg.h>
#include <unistd.h>

#ifdef OPEN_MPI
#define OUR_MPI "Open MPI"
#define OTHER "libwhywait-mpich.so"
#else
#define OUR_MPI "MPICH"
#define OTHER "libwhywait.so"
#endif

/* MPI_Init itself is seen as a moment: it ended when recording began. */
static void mark(uint16_t id, const void *return_address, const void *frame_address)
{
    struct ww_call *call = record_enter(id, return_address, frame_address);
    if (call)
        call->comm = 1;
    record_leave(call, MPI_SUCCESS);
}

static int has_started;

bool life_has_started(void)
{
    return __atomic_load_n(&has_started, __ATOMIC_ACQUIRE);
}

void life_started(uint16_t id, const void *return_address, const void *frame_address)
{
    if (__atomic_exchange_n(&has_started, 1, __ATOMIC_ACQ_REL))
        return;
    if (next_load_handles() != 0) {
        unhook();
        record_give_up("this program does not run on " OUR_MPI ", which this recorder was built for: preload " OTHER
                       " instead, or use `whywait record`");
        return;
    }
    record_start();
    if (!record_is_on())
        return;
    comms_start();
    ahead_note();
    mark(id, return_address, frame_address);
}

/* MPI_Finalize waits for the others, but inside it nothing can be recorded any more. The barrier of our own takes that
 * wait: whoever is late makes the others wait here as it would there. */
void life_ends(uint16_t id, const void *return_address, const void *frame_address)
{
    static int ending;
    if (id != WW_ID_Session_finalize && sessions_go_on())
        return;
    if (__atomic_exchange_n(&ending, 1, __ATOMIC_ACQ_REL))
        return;
    struct ww_call *call = record_enter(id, return_address, frame_address);
    if (call)
        call->comm = 1;
    if (recorder.started && recorder.pid == getpid())
        world_barrier();
    record_leave(call, MPI_SUCCESS);
    record_before_finalize();
}

void life_ended(void)
{
    static int ended;
    if (!sessions_go_on() && !__atomic_exchange_n(&ended, 1, __ATOMIC_ACQ_REL))
        record_after_finalize();
}

MPI_ENTRY(Init, (int *argc, char ***argv))
{
    workers_pause();
    int err = NEXT(Init)(argc, argv);
    workers_resume();
    if (err == MPI_SUCCESS)
        life_started(WW_ID_Init, RECORD_HERE);
    return err;
}

MPI_ENTRY(Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    workers_pause();
    int err = NEXT(Init_thread)(argc, argv, required, provided);
    workers_resume();
    if (err == MPI_SUCCESS)
        life_started(WW_ID_Init_thread, RECORD_HERE);
    return err;
}

MPI_ENTRY(Finalize, (void))
{
    life_ends(WW_ID_Finalize, RECORD_HERE);
    int err = NEXT(Finalize)();
    life_ended();
    return err;
}

MPI_ENTRY(Abort, (MPI_Comm comm, int code))
{
    struct ww_call *call = record_enter(WW_ID_Abort, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    record_abort(code);
    int err = NEXT(Abort)(comm, code);
    record_leave(call, err);
    return err;
}

/* What follows the level is defined by each tool; MPI's own function ignores it. */
MPI_ENTRY(Pcontrol, (const int level, ...))
{
    struct ww_call *call = record_enter(WW_ID_Pcontrol, RECORD_HERE);
    int err = NEXT(Pcontrol)(level);
    record_leave(call, err);
    if (!fortran_depth)
        record_pcontrol(level);
    return err;
}

#if MPI_HAS_4
MPI_ENTRY(Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session *session))
{
    struct ww_call *call = record_enter(WW_ID_Session_init, RECORD_HERE);
    workers_pause();
    int err = NEXT(Session_init)(info, handler, session);
    workers_resume();
    if (err == MPI_SUCCESS && !fortran_depth)
        session_began(*session);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Session_finalize, (MPI_Session * session))
{
    if (!fortran_depth)
        session_ends(RECORD_HERE);
    struct ww_call *call = record_enter(WW_ID_Session_finalize, RECORD_HERE);
    int err = NEXT(Session_finalize)(session);
    record_leave(call, err);
    if (err == MPI_SUCCESS && !fortran_depth)
        session_ended();
    return err;
}
#endif
