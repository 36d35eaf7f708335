#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 lets processes of an executor compute before each barrier, and another one that it talks to by itself.

 * ranks: 2
 * expect: loop=share routine=share rank=1 share=0.8 call=MPI_Barrier site_in=main kind=blocked
 *         says="waiting for another process" next="start that process earlier" next_not=lock
"""
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

from mpi4py import MPI


def work(seconds):
    time.sleep(seconds)
    return seconds


def answer(connection):
    while connection.recv():
        time.sleep(0.05)
        connection.send(True)


#! begin share
def share(executor, connection):
    connection.send(True)
    connection.recv()
    return sum(executor.map(work, [0.1, 0.1]))
#! end share


def main():
    comm = MPI.COMM_WORLD
    if comm.rank == 1:
        fork = multiprocessing.get_context("fork")  # other ways import this file, and so begin MPI again
        here, there = fork.Pipe()
        process = fork.Process(target=answer, args=(there,))
        process.start()
        executor = ProcessPoolExecutor(2, mp_context=fork)
    for _ in range(12):
        if comm.rank == 1:
            share(executor, here)
        comm.Barrier()
    if comm.rank == 1:
        executor.shutdown()
        here.send(False)
        process.join()


if __name__ == "__main__":
    main()
