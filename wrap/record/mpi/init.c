/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Init to MPI_Finalize: recording begins when MPI is ready and ends just before it goes. Sessions come and go any
 * number of times; what they mean to a program without MPI_Init is in init.h.
 *
 * MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the newest first. Programs hang their last work on them
 * (HDF5 writes its files then), and may call MPI in it. So the recorder sets an attribute of its own as soon as it can:
 * when that is deleted, the work is done, MPI still works, and recording ends.
 */
#include "wrap/record/mpi/init.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/life/finish.h"
#include "wrap/record/life/life.h"
#include "wrap/record/life/windows.h"
#include "wrap/record/mpi/call.h"
#include "wrap/record/pmpi/next.h"
#include "wrap/record/pmpi/uncovered.h"
#include "wrap/record/pmpi/world.h"
#include "wrap/record/process/presence.h"
#include "wrap/record/process/say.h"
#include "wrap/record/recorder.h"
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

static struct {
    int n_open;
    int n_processes; /* in mpi://WORLD, as the first session says; 0 = not known */
    int rank;        /* of this process there */
    bool has_begun;  /* recording, by a session's communicator */
} sessions;

/* True while sessions are what keeps recording going: MPI_Finalize does not end it then. */
static bool sessions_go_on(void)
{
    return __atomic_load_n(&sessions.has_begun, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&sessions.n_open, __ATOMIC_ACQUIRE) > 0;
}

void mpi_begins(void)
{
    if (!recorder.init_ns)
        recorder.init_ns = recorder_now_ns();
    workers_pause();
}

/* The call of MPI_Finalize. */
static struct {
    uint16_t id;
    const void *return_address, *frame_address;
} finalize;
static bool ends_with_self; /* recording, with the attribute of MPI_COMM_SELF */
static bool has_ended;

static int copy_nothing(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)from, (void)to;
    *flag = 0;
    return MPI_SUCCESS;
}

/* MPI_Finalize waits for the others, but soon nothing can be recorded any more. The barrier of our own takes that wait:
 * whoever is late makes the others wait here as it would there. */
static void end_recording(uint16_t id, const void *return_address, const void *frame_address)
{
    if (__atomic_exchange_n(&has_ended, true, __ATOMIC_ACQ_REL))
        return;
    struct ww_call *call = record_enter(id, return_address, frame_address);
    if (call)
        call->comm = 1;
    if (recorder.started && recorder.pid == getpid())
        world_barrier();
    record_leave(call, MPI_SUCCESS);
    uncovered_note();
    finish_before_finalize();
}

static int self_ends(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    if (finalize.frame_address && !sessions_go_on())
        end_recording(finalize.id, finalize.return_address, finalize.frame_address);
    return MPI_SUCCESS;
}

static void end_with_self(void)
{
    int keyval = 0;
    if (mpi_handles.comm_self == mpi_handles.comm_null ||
        PMPI(Comm_create_keyval)(copy_nothing, self_ends, &keyval, NULL) != MPI_SUCCESS)
        return;
    ends_with_self = PMPI(Comm_set_attr)(mpi_handles.comm_self, keyval, NULL) == MPI_SUCCESS;
    PMPI(Comm_free_keyval)(&keyval);
}

void mpi_began(uint16_t id, const void *return_address, const void *frame_address)
{
    static int has_started;
    if (__atomic_exchange_n(&has_started, 1, __ATOMIC_ACQ_REL))
        return;
    if (next_load_handles() != 0) {
        next_unhook();
        recorder_give_up("this program does not run on %s, which this recorder is for: preload %s instead, or put "
                         "`whywait record` right before the program",
                         next_own_interface(), next_fitting_recorder());
        return;
    }
    life_start();
    if (recorder.started)
        end_with_self();
    if (!recorder_is_on())
        return;
    comms_start();
    next_note_shadowed();
    uncovered_watch();
    /* MPI_Init itself is seen as a moment. It ended when recording began. */
    struct ww_call *call = record_enter(id, return_address, frame_address);
    if (call)
        call->comm = 1;
    record_leave(call, MPI_SUCCESS);
}

void mpi_ends(uint16_t id, const void *return_address, const void *frame_address)
{
    if (id != WW_ID_Session_finalize && sessions_go_on())
        return;
    if (id == WW_ID_Session_finalize || !ends_with_self)
        end_recording(id, return_address, frame_address);
    else if (!finalize.frame_address) { /* a binding may call the other one */
        finalize.id = id;
        finalize.return_address = return_address;
        finalize.frame_address = frame_address;
    }
}

void mpi_ended(void)
{
    static int ended;
    if (!sessions_go_on() && has_ended && !__atomic_exchange_n(&ended, 1, __ATOMIC_ACQ_REL)) {
        comms_end();
        finish_after_finalize();
    }
}

MPI_ENTRY(Init, (int *argc, char ***argv))
{
    mpi_begins();
    int err = NEXT(Init)(argc, argv);
    workers_resume();
    if (err == MPI_SUCCESS)
        mpi_began(WW_ID_Init, RECORD_HERE);
    return err;
}

MPI_ENTRY(Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    mpi_begins();
    int err = NEXT(Init_thread)(argc, argv, required, provided);
    workers_resume();
    if (err == MPI_SUCCESS)
        mpi_began(WW_ID_Init_thread, RECORD_HERE);
    return err;
}

MPI_ENTRY(Finalize, (void))
{
    mpi_ends(WW_ID_Finalize, RECORD_HERE);
    int err = NEXT(Finalize)();
    mpi_ended();
    return err;
}

MPI_ENTRY(Abort, (MPI_Comm comm, int code))
{
    struct ww_call *call = record_enter(WW_ID_Abort, RECORD_HERE);
    if (call)
        call_comm_begin(call, comm);
    life_abort(code);
    int err = NEXT(Abort)(comm, code);
    record_leave(call, err);
    return err;
}

/* Arguments behind the level are defined by each tool; MPI's own function ignores them. */
MPI_ENTRY(Pcontrol, (const int level, ...))
{
    struct ww_call *call = record_enter(WW_ID_Pcontrol, RECORD_HERE);
    int err = NEXT(Pcontrol)(level);
    record_leave(call, err);
    if (!fortran_depth)
        windows_control(level);
    return err;
}

/* A later life of MPI has other communicators, and the archive of the first is made. */
static void tell_of_later(void)
{
    static int told;
    if (__atomic_load_n(&has_ended, __ATOMIC_ACQUIRE) && recorder.rank == 0 && recorder.run_dir[0] &&
        !__atomic_exchange_n(&told, 1, __ATOMIC_ACQ_REL))
        say("MPI began once more in this program: what follows is not recorded, only what came before");
}

void session_began(MPI_Session session)
{
    int saved = errno;
    presence_tell();
    tell_of_later();
    if (__atomic_fetch_add(&sessions.n_open, 1, __ATOMIC_ACQ_REL) == 0 && !recorder.started) {
        MPI_Group group;
        if (PMPI(Group_from_session_pset)(session, "mpi://WORLD", &group) == MPI_SUCCESS) {
            if (PMPI(Group_size)(group, &sessions.n_processes) != MPI_SUCCESS ||
                PMPI(Group_rank)(group, &sessions.rank) != MPI_SUCCESS)
                sessions.n_processes = 0;
            PMPI(Group_free)(&group);
        }
    }
    errno = saved;
}

void session_made(MPI_Comm made, const void *return_address, const void *frame_address)
{
    int saved = errno, size = 0, is_inter = 1;
    tell_of_later();
    if (recorder.started || world_is_up() || sessions.n_processes == 0 || next_load_handles() != 0 ||
        made == mpi_handles.comm_null)
        return;
    if (PMPI(Comm_test_inter)(made, &is_inter) == MPI_SUCCESS && !is_inter &&
        PMPI(Comm_size)(made, &size) == MPI_SUCCESS && size == sessions.n_processes && world_use(&made)) {
        mpi_began(WW_ID_Session_init, return_address, frame_address);
        __atomic_store_n(&sessions.has_begun, recorder.started, __ATOMIC_RELEASE);
    }
    errno = saved;
}

void session_ends(const void *return_address, const void *frame_address)
{
    if (sessions_go_on() && __atomic_load_n(&sessions.n_open, __ATOMIC_ACQUIRE) == 1)
        mpi_ends(WW_ID_Session_finalize, return_address, frame_address);
}

void session_ended(void)
{
    int has_world = 0; /* MPI_Init was called, before or beside the sessions */
    if (__atomic_sub_fetch(&sessions.n_open, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (sessions.has_begun)
        mpi_ended();
    else if (!recorder.started && sessions.rank == 0 && !(PMPI(Initialized)(&has_world) == MPI_SUCCESS && has_world))
        say("nothing was recorded: the program has sessions, but no communicator over all processes of mpi://WORLD");
}

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
