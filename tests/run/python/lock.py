#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
On one rank another thread runs Python code all the time: the thread that calls MPI waits for the interpreter's lock
after each nap, in which it gives the lock away for certain.

 * ranks: 2
 * threads: 2
 * expect: loop=looks routine=watch rank=1 share=0.6 call=MPI_Barrier site_in=main kind=more-time
 *         says="has Python's lock (GIL)" next="one thread of a process at a time"
"""
import time

from mpi4py import MPI

from parts.beside import beside


def watch(stop):
    total = 0
    while not stop.is_set():
        #! begin looks
        for i in range(20000):
            total += i * i
        #! end looks
    return total


def main():
    comm = MPI.COMM_WORLD
    with beside(watch, comm.rank == 1):
        for _ in range(100):
            time.sleep(0.001)
            comm.Barrier()


if __name__ == "__main__":
    main()
