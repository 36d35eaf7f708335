/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wrapper's needs: begin a record, complete it, append what belongs to it.
 *
 *     int MPI_Barrier(MPI_Comm comm)
 *     {
 *         struct ww_call *call = record_enter(WW_ID_Barrier, RECORD_HERE);
 *         if (call) call->comm = comm_id(comm);
 *         int err = real_Barrier(comm);
 *         record_leave(call, err);
 *         return err;
 *     }
 *
 * Rules inside the recorded program:
 *  1. Nothing here exits, allocates, locks, or makes a system call between record_enter and record_leave, except on the
 * first sight of a call stack or communicator, when a spool segment is full, and to read the thread's CPU time and why
 * it was off the CPU.
 *  2. errno is what the program left or MPI set.
 *  3. A call made while another is being recorded on the same thread (an MPI library that calls itself, a Fortran
 * binding that calls the C one, a user's callback) is not recorded: record_enter returns NULL and every other function
 * accepts NULL. It counts as lost where it communicates on behalf of the program.
 *  4. Any internal failure ends in recorder_give_up (life/life.h): one line on stderr, recording off, the program runs
 * on.
 */
#pragma once
#include "wrap/format.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller's return address and the wrapper's frame; wrappers are compiled with frame pointers. */
#define RECORD_HERE __builtin_return_address(0), __builtin_frame_address(0)

/* More than 0: this thread is inside a Fortran binding, whose calls of C functions are not the program's. */
extern __thread int fortran_depth;

/* Begins a call record (time stamp, stack id); NULL when this call is not to be recorded. Pair with record_leave also
 * when NULL. */
struct ww_call *record_enter(uint16_t call_id, const void *return_address, const void *frame_address);
/* Called in record_enter, before the real call, when it is set: exact counts are taken there. */
extern void (*record_at_sync)(uint16_t call_id, const void *return_address, const void *frame_address);
/* Likewise at the end of a callback that was worth it. */
extern void (*record_at_callback)(void);
/* Set where windows begin and end (life/windows.h). `agree` is asked in a collective call of all processes, as soon as
 * that has succeeded: is recording switched behind it? `turn` does that, when the call is complete. */
extern struct record_windows {
    bool (*agree)(void);
    void (*turn)(void);
} record_windows;
/* The call behind which the calling thread begins a window: recorded as a moment. */
void record_mark(uint64_t time_ns);
/* Completes it. mpi_error != 0 sets WW_F_ERROR. */
void record_leave(struct ww_call *call, int mpi_error);
/* The calling thread jumps to where its stack pointer was this: that ends a call whose wrapper lies below.
 * Signal-safe. */
void record_jumps_to(uint64_t stack_pointer);

/* A failing poll (Test*, Iprobe, ... whose flag is false): folds it into the open polling interval of this thread when
 * call id and return address are the same, or those of polls that fail by turns with it, and no other call came
 * between; otherwise begins one. One clock reading (by turns, two), no stack walk when folded. Use instead of
 * record_enter/leave: poll_begin before the real call, then poll_failed or poll_succeeded after it. If the polls of a
 * place turn out to be rare, the time between two of them that the program spends on its own work ends the interval, so
 * that only waiting is folded. */
struct record_poll {
    struct ww_call *call; /* NULL: not recorded */
};
struct record_poll record_poll_begin(uint16_t call_id, const void *return_address, const void *frame_address);
void record_poll_failed(struct record_poll *poll);
/* Closes the interval, whose record becomes that of the successful call, if it is of the same place; fill in and
 * append WW_DONEs between this and record_leave. If the program slept between polls, the interval is parted at the
 * last naps. */
struct ww_call *record_poll_succeeded(struct record_poll *poll);

/* Appends one WW_DONE or WW_STARTED after `call`. */
void record_done(struct ww_call *call, uint16_t type, struct ww_done done);
/* The units that a record of so many bytes takes. */
static inline uint16_t record_units(size_t bytes)
{
    return (uint16_t)((bytes + WW_UNIT - 1) / WW_UNIT);
}
/* Around a function of the program that MPI calls back: what it does is the program's. Both do nothing outside recorded
 * calls. Functions that call it stand in a section of their own, by which the stacks of samples are told. */
void record_callback_begin(void);
void record_callback_end(void);
#define RECORD_CALLBACK __attribute__((noinline, section("whywait_callbacks")))

/* Space for a record of any size, up to RECORD_UNITS_MOST, in the calling thread's stream, or NULL; written by
 * record_commit. */
enum { RECORD_UNITS_MOST = 2000 };
void *record_append(uint16_t units);
/* The same for what later records refer to. */
void *record_define(uint16_t units);
void record_commit(void *record, uint16_t type, uint16_t units);
