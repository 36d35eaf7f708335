/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI that never return: an error handler throws an exception out of them, or jumps out of them. What the
 * program calls afterwards, from further inside, is recorded as ever.
 *
 * ranks: 2
 * expect: loop=working rank=1 share=0.9 call=MPI_Barrier waiting>=0.2
 */
#include "known.h"
#include <csetjmp>
#include <stdexcept>

static jmp_buf back;
static bool jumps;

static void refuse(MPI_Comm *, int *, ...)
{
    if (jumps)
        std::longjmp(back, 1);
    throw std::runtime_error("refused");
}

/* Its rank does not exist. */
__attribute__((noinline)) static void send_wrongly()
{
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
}

static void leave_by_exception()
{
    try {
        send_wrongly();
    } catch (const std::exception &) {
        known_sink = known_sink + 1;
    }
}

static void leave_by_jump()
{
    jumps = true;
    if (!setjmp(back))
        send_wrongly();
    jumps = false;
}

__attribute__((noinline)) static void work(int rank)
{
    double x = known_sink;
    /* begin working */
    for (long i = 0; i < (rank == 1 ? 8000000 : 2000000); i++)
        x = LINK(x);
    /* end working */
    known_sink = x;
}

__attribute__((noinline)) static void meet()
{
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void solve(int rank)
{
    for (int round = 0; round < 20; round++) {
        if (round % 2)
            leave_by_exception();
        else
            leave_by_jump();
        work(rank);
        meet();
    }
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), x = 0;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(refuse, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    try {
        MPI_Send(&x, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
    } catch (const std::exception &) {
        x = 1;
    }
    solve(rank);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
