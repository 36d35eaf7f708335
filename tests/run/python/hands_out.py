#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 0 hands out words of unlike length to the others, one at a time. They compute, and it waits for what they send.

 * ranks: 3
 * expect: loop=score routine=score rank=any share=0.6 call=MPI_Mprobe site_in=hand_out next="rank 0 waits meanwhile"
 *         next_not="at the same time"
"""
import random

from mpi4py import MPI

WORK, END = 1, 2
WORD = "how razorback jumping frogs can level"


#! begin score
def score(word, other):
    if not word or not other:
        return 0
    if word[0] == other[0]:
        return 1 + score(word[1:], other[1:])
    return max(score(word[1:], other), score(word, other[1:]))
#! end score


def hand_out(comm, words):
    status, best = MPI.Status(), 0
    n_sent = 0
    for rank in range(1, comm.size):
        comm.send(words[n_sent], dest=rank, tag=WORK)
        n_sent += 1
    for _ in words:
        best = max(best, comm.recv(source=MPI.ANY_SOURCE, status=status))
        if n_sent < len(words):
            comm.send(words[n_sent], dest=status.Get_source(), tag=WORK)
            n_sent += 1
    for rank in range(1, comm.size):
        comm.send(None, dest=rank, tag=END)
    return best


def work(comm):
    status = MPI.Status()
    while True:
        word = comm.recv(source=0, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == END:
            return
        comm.send(score(word, WORD), dest=0)


def main():
    comm = MPI.COMM_WORLD
    random.seed(1000)
    words = ["".join(random.choice("aeioursn") for _ in range(random.choice([3, 4, 4, 5]))) for _ in range(40)]
    if comm.rank == 0:
        hand_out(comm, words)
    else:
        work(comm)


if __name__ == "__main__":
    main()
