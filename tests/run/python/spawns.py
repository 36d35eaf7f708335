#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A rank alone waits for processes that it has spawned: it looks for messages with naps between and then receives, it
receives at once, it waits for requests, and it looks at requests with naps between.

 * ranks: 1
 * expect: answer=waits-elsewhere first="Rank 0 waits for spawned processes" outside=gather outside_share=0.5
"""
import sys
import time

from mpi4py import MPI

TURNS = 3


#! begin gather
def probe(inter, n):
    status = MPI.Status()
    while n:
        if inter.Iprobe(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status):
            inter.Recv([bytearray(1), MPI.BYTE], source=status.Get_source())
            n -= 1
        else:
            time.sleep(0.01)


def receive(inter, n):
    for _ in range(n):
        inter.Recv([bytearray(1), MPI.BYTE], source=MPI.ANY_SOURCE)


def post(inter, n):
    return [inter.Irecv([bytearray(1), MPI.BYTE], source=rank) for rank in range(n)]


def wait(inter, n):
    MPI.Request.Waitall(post(inter, n))


def test(inter, n):
    requests = post(inter, n)
    while not MPI.Request.Testall(requests):
        time.sleep(0.01)
#! end gather


WAYS = (probe, receive, wait, test)


def main():
    inter = MPI.COMM_SELF.Spawn(sys.executable, args=[__file__, "child"], maxprocs=2)
    for way in WAYS:
        for _ in range(TURNS):
            way(inter, 2)
    inter.Disconnect()


def child():
    parent = MPI.Comm.Get_parent()
    for _ in range(TURNS * len(WAYS)):
        time.sleep(0.2)
        parent.Send([b"x", MPI.BYTE], dest=0)
    parent.Disconnect()


if __name__ == "__main__":
    child() if "child" in sys.argv else main()
