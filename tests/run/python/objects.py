#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Messages of objects: the receiver waits for a sender that computes before it sends.

 * ranks: 2
 * expect: loop=prepare routine=prepare rank=0 share=0.85 call=MPI_Recv|MPI_Mprobe|MPI_Mrecv|MPI_Probe site_in=take kind=more-time
"""
from mpi4py import MPI


def prepare(n):
    table = {}
    #! begin prepare
    for i in range(n):
        table[i % 100] = i * 0.5
    #! end prepare
    return table


def give(comm, n):
    comm.send(prepare(n), dest=1)


def take(comm):
    return comm.recv(source=0)


def main():
    comm = MPI.COMM_WORLD
    for _ in range(50):
        if comm.rank == 0:
            give(comm, 200000)
        else:
            take(comm)


if __name__ == "__main__":
    main()
