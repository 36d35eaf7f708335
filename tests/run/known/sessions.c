/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI 4 without MPI_Init: a session, a communicator from its processes, and a second session that comes and goes
 * meanwhile.
 *
 * ranks: 2
 * expect: loop=late rank=1 share=0.9 call=MPI_Allreduce wait="wait at N x N" waiters=0 ends=finalize,finalize
 */
#include "known.h"

static MPI_Comm communicator_of_all(MPI_Session session)
{
    MPI_Group all;
    MPI_Comm made;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "known", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Group_free(&all);
    return made;
}

static void work_in_turn(MPI_Comm comm)
{
    int rank, one = 1, sum;
    MPI_Comm_rank(comm, &rank);
    for (int round = 0; round < 60; round++) {
        common_work(400000);
        if (rank == 1) {
            double x = known_sink;
            /* begin late */
            for (long i = 0; i < 4000000; i++)
                x = LINK(x);
            /* end late */
            known_sink = x;
        }
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
}

int main(void)
{
    MPI_Session session, second;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Comm comm = communicator_of_all(session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Session_finalize(&second);
    work_in_turn(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
