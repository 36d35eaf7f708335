#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
One rank keeps many objects, so that collecting garbage takes long there each time; the loop is the same on both.

 * ranks: 2
 * expect: loop=builds routine=build rank=1 share=0.6 call=MPI_Barrier site_in=main kind=more-time
 *         says="garbage collector" next="gc.freeze()"
"""
import gc

from mpi4py import MPI


class Node:
    def __init__(self, inner):
        self.inner = inner
        self.itself = self


def build(n):
    node = None
    #! begin builds
    for _ in range(n):
        node = Node(node)
        if _ % 100 == 0:
            gc.collect()
    #! end builds
    return node


def main():
    comm = MPI.COMM_WORLD
    gc.disable()
    kept = [Node(None) for _ in range(100000 if comm.rank == 1 else 1000)]
    comm.Barrier()
    for _ in range(30):
        build(300)
        comm.Barrier()
    return kept


if __name__ == "__main__":
    main()
