#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
On one rank another thread runs Python code for a few milliseconds at a time, with naps between. The thread that calls MPI
waits for the interpreter's lock in stretches too short to be looked at each, or lacks a CPU while the other is on one.

 * ranks: 2
 * threads: 2
 * expect: loop=looks routine=watch rank=1 share=0.3 call=MPI_Barrier site_in=main kind=more-time
 *         says="has Python's lock (GIL)" next="one thread of a process at a time"
"""
import time

from mpi4py import MPI

from parts.beside import beside


def watch(stop):
    total = 0
    #! begin looks
    while not stop.is_set():
        for i in range(40000):
            total += i * i
        time.sleep(0.0005)
    #! end looks
    return total


def relax(n):
    total = 0.0
    for i in range(n):
        total = (total + i) * 0.5
    return total


def main():
    comm = MPI.COMM_WORLD
    with beside(watch, comm.rank == 1):
        for _ in range(6000):
            relax(2000)
            comm.Barrier()


if __name__ == "__main__":
    main()
