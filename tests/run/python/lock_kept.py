#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
On one rank another thread sleeps in C code that keeps the interpreter's lock. The thread that calls MPI waits for the lock
wherever it gave it away.

 * ranks: 2
 * threads: 2
 * expect: loop=steps routine=main rank=1 share=0.6 call=MPI_Barrier kind=blocked says="waiting for Python's lock (GIL)"
 *         next="one thread of a process at a time"
"""
import ctypes
import time

from mpi4py import MPI

from parts.beside import beside


def keep(stop):
    library = ctypes.PyDLL(None)  # calls with the lock
    while not stop.is_set():
        library.usleep(20000)
        time.sleep(0.001)


def relax(n):
    total = 0.0
    for i in range(n):
        total = (total + i) * 0.5
    return total


def main():
    comm = MPI.COMM_WORLD
    with beside(keep, comm.rank == 1):
        #! begin steps
        for _ in range(200):
            relax(20000)
            comm.Barrier()
        #! end steps


if __name__ == "__main__":
    main()
