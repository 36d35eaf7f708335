/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that a launcher has started meet through its MPI: what the first one has to say reaches the others.
 * Each of them starts this program beside itself, so that nothing of MPI is in the tool, or goes on while that works.
 *
 *     meet N      ends with 1 when MPI knows other than N processes
 *
 * The first one's message comes in by stdin and goes out by the others' stdout. These say by a byte that they have
 * acted on it; when all have, the program ends everywhere.
 */
#include "analyze/meet/message.h"
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct meet_message message = {.text = ""};
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    bool is_met = argc == 2 && n == atoi(argv[1]);
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
