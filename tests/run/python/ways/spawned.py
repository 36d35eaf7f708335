#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Starts the command that its arguments are, two processes of it; without arguments it is these: rank 1 has a longer
loop."""
import sys

from mpi4py import MPI


def relax(n):
    total = 0.0
    #! begin spawned
    for i in range(n):
        total += i * 0.5
    #! end spawned
    return total


def child(parent):
    comm = MPI.COMM_WORLD
    for _ in range(40):
        total = relax(100000 if comm.rank == 1 else 10000)
        comm.Barrier()
    total = comm.reduce(total, root=0)
    if comm.rank == 0:
        parent.send(total, dest=0)
    parent.Disconnect()


def main(command):
    children = MPI.COMM_WORLD.Spawn(command[0], command[1:], maxprocs=2)
    print("the children have", children.recv(source=0))
    children.Disconnect()


if __name__ == "__main__":
    parent = MPI.Comm.Get_parent()
    child(parent) if parent != MPI.COMM_NULL else main(sys.argv[1:])
