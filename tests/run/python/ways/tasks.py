#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that rank 0 gives to the others, as the argument says: each takes longer on rank 1."""
import sys

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor, MPIPoolExecutor


def piece(n):
    total = 0.0
    if MPI.COMM_WORLD.rank == 1:
        n *= 10
    #! begin task
    for i in range(n):
        total += i * 0.5
    #! end task
    return n > 0 and total > 0


def give(executor):
    if executor is not None:
        for _ in range(20):
            done = list(executor.map(piece, [20000] * 2))
        print(done)


def main(how):
    if how == "communicator":
        with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
            give(executor)
    else:
        with MPIPoolExecutor(max_workers=2) as executor:
            give(executor)


if __name__ == "__main__":
    main(sys.argv[1])
