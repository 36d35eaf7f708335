# SPDX-License-Identifier: BSD-3-Clause
"""How the ranks of a phase communicate in each step, in Fortran: as in patterns.py, of which a pattern that is not here becomes the one in LIKE.

`copy` is a communicator, `request` and `requests` are requests, `done` is logical, `i` and `at` are integers.
"""

ONE = "1, MPI_DOUBLE_PRECISION"
TEST = "done = .false.\ndo while (.not. done)\n  call MPI_Test(request, done, MPI_STATUS_IGNORE, ierr)\n%send do"
POLL, NAP = TEST % "", TEST % "  if (.not. done) call usleep(200_c_int)\n"
WAIT = "call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)"
HALO = ("call MPI_Irecv(many(0), ONE, left, 1, comm, requests(1), ierr)\ncall MPI_Irecv(many(1), ONE, right, 2, comm, requests(2), ierr)\n"
        "call MPI_Isend(item, ONE, right, 1, comm, requests(3), ierr)\ncall MPI_Isend(item, ONE, left, 2, comm, requests(4), ierr)\n")
FORWARD = ("if (me > 0) call MPI_Recv(item, ONE, me - 1, 3, comm, MPI_STATUS_IGNORE, ierr)\n"
           "if (me + 1 < size) call MPI_Send(item, ONE, me + 1, 3, comm, ierr)\n")
BACKWARD = ("if (me + 1 < size) call MPI_Recv(item, ONE, me + 1, 4, comm, MPI_STATUS_IGNORE, ierr)\n"
            "if (me > 0) call MPI_Send(item, ONE, me - 1, 4, comm, ierr)\n")
RING_SEND = "call MPI_Isend(item, ONE, right, 5, comm, request, ierr)\n"
RING_END = "\ncall MPI_Recv(other, ONE, left, 5, comm, MPI_STATUS_IGNORE, ierr)\n" + WAIT
IPROBE = RING_SEND + "done = .false.\ndo while (.not. done)\n  call MPI_Iprobe(left, 5, comm, done, MPI_STATUS_IGNORE, ierr)\n%send do" + RING_END
LARGE = "25000, MPI_DOUBLE_PRECISION"


def both_ways(out, into, count):
    return ("call MPI_Sendrecv(%s, %s, right, 6, %s, %s, left, 6, comm, MPI_STATUS_IGNORE, ierr)\n"
            "call MPI_Sendrecv(%s, %s, left, 7, %s, %s, right, 7, comm, MPI_STATUS_IGNORE, ierr)") % (2 * (out, count, into, count))


STEPS = {
    "barrier": "call MPI_Barrier(comm, ierr)",
    "bcast": "call MPI_Bcast(item, ONE, ROOT, comm, ierr)",
    "reduce": "call MPI_Reduce(item, other, ONE, MPI_SUM, TARGET, comm, ierr)",
    "allreduce": "call MPI_Allreduce(item, other, ONE, MPI_SUM, comm, ierr)",
    "gather": "call MPI_Gather(item, ONE, many, ONE, TARGET, comm, ierr)",
    "scatter": "call MPI_Scatter(many, ONE, other, ONE, ROOT, comm, ierr)",
    "allgather": "call MPI_Allgather(item, ONE, many, ONE, comm, ierr)",
    "alltoall": "call MPI_Alltoall(many, ONE, more, ONE, comm, ierr)",
    "scan": "call MPI_Scan(item, other, ONE, MPI_SUM, comm, ierr)",
    "exscan": "call MPI_Exscan(item, other, ONE, MPI_SUM, comm, ierr)",
    "reduce_scatter": "call MPI_Reduce_scatter_block(many, other, ONE, MPI_SUM, comm, ierr)",
    "ibarrier_wait": "call MPI_Ibarrier(comm, request, ierr)\n" + WAIT,
    "ibarrier_poll": "call MPI_Ibarrier(comm, request, ierr)\n" + POLL,
    "ibarrier_nap": "call MPI_Ibarrier(comm, request, ierr)\n" + NAP,
    "iallreduce_wait": "call MPI_Iallreduce(item, other, ONE, MPI_SUM, comm, request, ierr)\n" + WAIT,
    "iallreduce_poll": "call MPI_Iallreduce(item, other, ONE, MPI_SUM, comm, request, ierr)\n" + POLL,
    "iallreduce_nap": "call MPI_Iallreduce(item, other, ONE, MPI_SUM, comm, request, ierr)\n" + NAP,
    "ibcast_wait": "call MPI_Ibcast(item, ONE, ROOT, comm, request, ierr)\n" + WAIT,
    "comm_dup": "call MPI_Comm_dup(comm, copy, ierr)\ncall MPI_Comm_free(copy, ierr)",
    "halo": HALO + "call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)",
    "halo_testall": HALO + "done = .false.\ndo while (.not. done)\n  call MPI_Testall(4, requests, done, MPI_STATUSES_IGNORE, ierr)\nend do",
    "halo_waitany": HALO + "do i = 1, 4\n  call MPI_Waitany(4, requests, at, MPI_STATUS_IGNORE, ierr)\nend do",
    "sendrecv": both_ways("item", "other", "ONE"),
    "sendrecv_large": both_ways("large_out", "large_in", LARGE),
    "ssend": "if (modulo(me, 2) == 0 .and. me + 1 < size) then\n  call MPI_Ssend(item, ONE, me + 1, 8, comm, ierr)\n"
             "  call MPI_Recv(other, ONE, me + 1, 8, comm, MPI_STATUS_IGNORE, ierr)\nelse if (modulo(me, 2) == 1) then\n"
             "  call MPI_Recv(other, ONE, me - 1, 8, comm, MPI_STATUS_IGNORE, ierr)\n  call MPI_Ssend(item, ONE, me - 1, 8, comm, ierr)\nend if",
    "pipeline": FORWARD,
    "wavefront": FORWARD + BACKWARD,
    "token": "if (me == 0) call MPI_Send(item, ONE, right, 9, comm, ierr)\ncall MPI_Recv(item, ONE, left, 9, comm, MPI_STATUS_IGNORE, ierr)\n"
             "if (me > 0) call MPI_Send(item, ONE, right, 9, comm, ierr)",
    "master": "if (me == TARGET) then\n  do i = 1, size - 1\n    call MPI_Recv(other, ONE, MPI_ANY_SOURCE, 10, comm, MPI_STATUS_IGNORE, ierr)\n  end do\n"
              "  do i = 0, size - 1\n    if (i /= me) call MPI_Send(item, ONE, i, 11, comm, ierr)\n  end do\nelse\n"
              "  call MPI_Send(item, ONE, TARGET, 10, comm, ierr)\n  call MPI_Recv(other, ONE, TARGET, 11, comm, MPI_STATUS_IGNORE, ierr)\nend if",
    "probe": RING_SEND + "call MPI_Probe(left, 5, comm, MPI_STATUS_IGNORE, ierr)" + RING_END,
    "iprobe_poll": IPROBE % "",
    "iprobe_nap": IPROBE % "  if (.not. done) call usleep(200_c_int)\n",
}
STEPS = {name: text.replace("ONE", ONE) for name, text in STEPS.items()}
LIKE = {"halo_testany_nap": "iprobe_nap", "persistent": "halo", "neighbours": "sendrecv", "fence": "barrier", "post_start": "halo", "lock": "barrier",
        "lock_all": "barrier", "neighbour_alltoall": "sendrecv", "neighbours_wait": "halo", "graph": "sendrecv", "split": "comm_dup", "split_tree": "comm_dup",
        "allreduce_init": "iallreduce_wait", "op_allreduce": "allreduce", "op_reduce": "reduce", "op_scan": "scan", "op_iallreduce": "iallreduce_wait"}
