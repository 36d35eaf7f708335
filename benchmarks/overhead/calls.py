# SPDX-License-Identifier: BSD-3-Clause
"""The same calls as `calls deep N`, from Python through ten functions: lines "name value", ns of thread CPU time a call."""
import sys
import time

from mpi4py import MPI

BATCH, DEPTH = 100, 10
value, result = bytearray(8), bytearray(8)


def messages_to_self(n):
    send, receive, buffer = MPI.COMM_SELF.Send, MPI.COMM_SELF.Recv, [value, MPI.DOUBLE]
    for _ in range(0, n, BATCH):
        for k in range(BATCH):
            send(buffer, 0, k)
        for k in range(BATCH):
            receive(buffer, 0, k)


def barriers(n):
    barrier = MPI.COMM_WORLD.Barrier
    for _ in range(n):
        barrier()


def allreduces(n):
    allreduce, send, receive = MPI.COMM_WORLD.Allreduce, [value, MPI.DOUBLE], [result, MPI.DOUBLE]
    for _ in range(n):
        allreduce(send, receive, MPI.SUM)


def measure(name, body, n, calls):
    body(n // 10)
    begin_ns = time.thread_time_ns()
    body(n)
    print(name, (time.thread_time_ns() - begin_ns) / (n * calls))


def nest(depth, n):
    if depth:
        return nest(depth - 1, n) + 1
    measure("message", messages_to_self, n, 2)
    measure("barrier", barriers, n, 1)
    measure("allreduce", allreduces, n, 1)
    return 0


nest(DEPTH, int(sys.argv[1]))
