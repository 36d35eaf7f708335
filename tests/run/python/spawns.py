#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A rank alone looks for what processes send that it has spawned, with naps between, and then waits for it.

 * ranks: 1
 * expect: answer=waits-elsewhere first="Rank 0 waits for spawned processes" outside=gather outside_share=0.5
"""
import sys
import time

from mpi4py import MPI


#! begin gather
def gather(inter, n, has_polls):
    status = MPI.Status()
    results = []
    while len(results) < n:
        if not has_polls or inter.Iprobe(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status):
            results.append(inter.recv(source=status.Get_source() if has_polls else MPI.ANY_SOURCE))
        else:
            time.sleep(0.01)
    return results
#! end gather


def main():
    inter = MPI.COMM_SELF.Spawn(sys.executable, args=[__file__, "child"], maxprocs=2)
    for turn in range(10):
        gather(inter, 2, turn < 5)
    inter.Disconnect()


def child():
    parent = MPI.Comm.Get_parent()
    for _ in range(10):
        time.sleep(0.2)
        parent.send(parent.rank, dest=0)
    parent.Disconnect()


if __name__ == "__main__":
    child() if "child" in sys.argv else main()
