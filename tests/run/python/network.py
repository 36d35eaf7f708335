#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rank 1 asks a server before each barrier, and waits for the answer.

 * ranks: 2
 * expect: loop=ask routine=ask rank=1 share=0.8 call=MPI_Barrier site_in=main kind=blocked
 *         says="waiting for another program over the network" next="ask earlier"
"""
import os
import select
import socket
import time

from mpi4py import MPI


def serve(listener):
    connection, _ = listener.accept()
    while connection.recv(1):
        time.sleep(0.1)
        connection.send(b"a")


#! begin ask
def ask(connection):
    connection.send(b"q")
    select.select([connection], [], [])
    return connection.recv(1)
#! end ask


def main():
    comm = MPI.COMM_WORLD
    if comm.rank == 1:
        listener = socket.create_server(("127.0.0.1", 0))
        server = os.fork()
        if server == 0:
            serve(listener)
            os._exit(0)
        connection = socket.create_connection(listener.getsockname())
    for _ in range(12):
        if comm.rank == 1:
            ask(connection)
        comm.Barrier()
    if comm.rank == 1:
        connection.close()
        os.waitpid(server, 0)


if __name__ == "__main__":
    main()
