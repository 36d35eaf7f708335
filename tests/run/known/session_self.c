/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI 4 without MPI_Init, and alone: all that the process has is a session of itself.
 *
 * ranks: 1
 * expect: waiting<=0.01 ends=finalize
 */
#include "known.h"

int main(void)
{
    MPI_Session session;
    MPI_Group self;
    MPI_Comm comm;
    int one = 1, sum = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &self);
    MPI_Comm_create_from_group(self, "known", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&self);
    common_work(40000000);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return sum != one;
}
