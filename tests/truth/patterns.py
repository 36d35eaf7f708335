# SPDX-License-Identifier: BSD-3-Clause
"""How the ranks of a phase communicate in each step, in C: one text for each pattern.

In the text `comm` is the phase's communicator, `me` and `size` are rank and size in it, `left` and `right` the neighbours in the ring, ROOT is a rank that
is late and TARGET one that is not (as far as possible), `item` and `other` are doubles, `many` and `more` arrays of doubles with one element a rank,
`step` counts. A pattern with a "make" has something made before the phase's first step and freed after its last.
"""

POLL = "for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;)\n    ;"
NAP = "for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;)\n    usleep(200);"
HALO = """MPI_Request requests[4];
MPI_Irecv(&many[0], 1, MPI_DOUBLE, left, 1, comm, &requests[0]);
MPI_Irecv(&many[1], 1, MPI_DOUBLE, right, 2, comm, &requests[1]);
MPI_Isend(&item, 1, MPI_DOUBLE, right, 1, comm, &requests[2]);
MPI_Isend(&item, 1, MPI_DOUBLE, left, 2, comm, &requests[3]);
"""
FORWARD = """if (me > 0)
    MPI_Recv(&item, 1, MPI_DOUBLE, me - 1, 3, comm, MPI_STATUS_IGNORE);
if (me + 1 < size)
    MPI_Send(&item, 1, MPI_DOUBLE, me + 1, 3, comm);
"""
BACKWARD = """if (me + 1 < size)
    MPI_Recv(&item, 1, MPI_DOUBLE, me + 1, 4, comm, MPI_STATUS_IGNORE);
if (me > 0)
    MPI_Send(&item, 1, MPI_DOUBLE, me - 1, 4, comm);
"""
RING_SEND = "MPI_Isend(&item, 1, MPI_DOUBLE, right, 5, comm, &request);\n"
RING = ("int is_periodic = 1;\nMPI_Cart_create(comm, 1, &size, &is_periodic, 0, &ring);", "MPI_Comm_free(&ring);")
OPERATION = ("MPI_Op_create(PHASE_reduce, 1, &PHASE_op);", "MPI_Op_free(&PHASE_op);")
WINDOW = ("MPI_Win_allocate(8 * sizeof(double), sizeof(double), MPI_INFO_NULL, comm, &memory, &window);", "MPI_Win_free(&window);")

STEPS = {
    "barrier": "MPI_Barrier(comm);",
    "bcast": "MPI_Bcast(&item, 1, MPI_DOUBLE, ROOT, comm);",
    "reduce": "MPI_Reduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, TARGET, comm);",
    "allreduce": "MPI_Allreduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, comm);",
    "gather": "MPI_Gather(&item, 1, MPI_DOUBLE, many, 1, MPI_DOUBLE, TARGET, comm);",
    "scatter": "MPI_Scatter(many, 1, MPI_DOUBLE, &other, 1, MPI_DOUBLE, ROOT, comm);",
    "allgather": "MPI_Allgather(&item, 1, MPI_DOUBLE, many, 1, MPI_DOUBLE, comm);",
    "alltoall": "MPI_Alltoall(many, 1, MPI_DOUBLE, more, 1, MPI_DOUBLE, comm);",
    "scan": "MPI_Scan(&item, &other, 1, MPI_DOUBLE, MPI_SUM, comm);",
    "exscan": "MPI_Exscan(&item, &other, 1, MPI_DOUBLE, MPI_SUM, comm);",
    "reduce_scatter": "MPI_Reduce_scatter_block(many, &other, 1, MPI_DOUBLE, MPI_SUM, comm);",
    "ibarrier_wait": "MPI_Request request;\nMPI_Ibarrier(comm, &request);\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
    "ibarrier_poll": "MPI_Request request;\nMPI_Ibarrier(comm, &request);\n" + POLL,
    "ibarrier_nap": "MPI_Request request;\nMPI_Ibarrier(comm, &request);\n" + NAP,
    "iallreduce_wait": "MPI_Request request;\nMPI_Iallreduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, comm, &request);\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
    "iallreduce_poll": "MPI_Request request;\nMPI_Iallreduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, comm, &request);\n" + POLL,
    "iallreduce_nap": "MPI_Request request;\nMPI_Iallreduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, comm, &request);\n" + NAP,
    "ibcast_wait": "MPI_Request request;\nMPI_Ibcast(&item, 1, MPI_DOUBLE, ROOT, comm, &request);\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
    "comm_dup": "MPI_Comm copy;\nMPI_Comm_dup(comm, &copy);\nMPI_Comm_free(&copy);",
    "halo": HALO + "MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);",
    "halo_testall": HALO + "for (int done = 0; MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE), !done;)\n    ;",
    "halo_waitany": HALO + "for (int i = 0, at; i < 4; i++)\n    MPI_Waitany(4, requests, &at, MPI_STATUS_IGNORE);",
    "halo_testany_nap": HALO + "for (int n = 0, at, done; n < 4;)\n    if (MPI_Testany(4, requests, &at, &done, MPI_STATUS_IGNORE), done)\n        n++;\n"
                               "    else\n        usleep(200);",
    "sendrecv": "MPI_Sendrecv(&item, 1, MPI_DOUBLE, right, 6, &other, 1, MPI_DOUBLE, left, 6, comm, MPI_STATUS_IGNORE);\n"
                "MPI_Sendrecv(&item, 1, MPI_DOUBLE, left, 7, &other, 1, MPI_DOUBLE, right, 7, comm, MPI_STATUS_IGNORE);",
    "sendrecv_large": "MPI_Sendrecv(large_out, 25000, MPI_DOUBLE, right, 6, large_in, 25000, MPI_DOUBLE, left, 6, comm, MPI_STATUS_IGNORE);\n"
                      "MPI_Sendrecv(large_out, 25000, MPI_DOUBLE, left, 7, large_in, 25000, MPI_DOUBLE, right, 7, comm, MPI_STATUS_IGNORE);",
    "ssend": "if (me % 2 == 0 && me + 1 < size) {\n    MPI_Ssend(&item, 1, MPI_DOUBLE, me + 1, 8, comm);\n"
             "    MPI_Recv(&other, 1, MPI_DOUBLE, me + 1, 8, comm, MPI_STATUS_IGNORE);\n} else if (me % 2) {\n"
             "    MPI_Recv(&other, 1, MPI_DOUBLE, me - 1, 8, comm, MPI_STATUS_IGNORE);\n    MPI_Ssend(&item, 1, MPI_DOUBLE, me - 1, 8, comm);\n}",
    "pipeline": FORWARD,
    "wavefront": FORWARD + BACKWARD,
    "token": "if (me == 0)\n    MPI_Send(&item, 1, MPI_DOUBLE, right, 9, comm);\nMPI_Recv(&item, 1, MPI_DOUBLE, left, 9, comm, MPI_STATUS_IGNORE);\n"
             "if (me)\n    MPI_Send(&item, 1, MPI_DOUBLE, right, 9, comm);",
    "master": "if (me == TARGET) {\n    for (int i = 1; i < size; i++)\n"
              "        MPI_Recv(&other, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 10, comm, MPI_STATUS_IGNORE);\n    for (int i = 0; i < size; i++)\n        if (i != me)\n"
              "            MPI_Send(&item, 1, MPI_DOUBLE, i, 11, comm);\n} else {\n    MPI_Send(&item, 1, MPI_DOUBLE, TARGET, 10, comm);\n"
              "    MPI_Recv(&other, 1, MPI_DOUBLE, TARGET, 11, comm, MPI_STATUS_IGNORE);\n}",
    "probe": "MPI_Request request;\n" + RING_SEND + "MPI_Probe(left, 5, comm, MPI_STATUS_IGNORE);\n"
             "MPI_Recv(&other, 1, MPI_DOUBLE, left, 5, comm, MPI_STATUS_IGNORE);\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
    "iprobe_poll": "MPI_Request request;\n" + RING_SEND + "for (int found = 0; MPI_Iprobe(left, 5, comm, &found, MPI_STATUS_IGNORE), !found;)\n    ;\n"
                   "MPI_Recv(&other, 1, MPI_DOUBLE, left, 5, comm, MPI_STATUS_IGNORE);\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
    "iprobe_nap": "MPI_Request request;\n" + RING_SEND + "for (int found = 0; MPI_Iprobe(left, 5, comm, &found, MPI_STATUS_IGNORE), !found;)\n"
                  "    usleep(200);\nMPI_Recv(&other, 1, MPI_DOUBLE, left, 5, comm, MPI_STATUS_IGNORE);\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
    "persistent": "MPI_Startall(2, kept);\nMPI_Waitall(2, kept, MPI_STATUSES_IGNORE);",
    "neighbours": "MPI_Neighbor_allgather(&item, 1, MPI_DOUBLE, many, 1, MPI_DOUBLE, ring);",
    "neighbour_alltoall": "MPI_Neighbor_alltoall(many, 1, MPI_DOUBLE, more, 1, MPI_DOUBLE, ring);",
    "neighbours_wait": "MPI_Request request;\nMPI_Ineighbor_allgather(&item, 1, MPI_DOUBLE, many, 1, MPI_DOUBLE, ring, &request);\n"
                       "MPI_Wait(&request, MPI_STATUS_IGNORE);",
    "graph": "MPI_Neighbor_allgather(&item, 1, MPI_DOUBLE, many, 1, MPI_DOUBLE, ring);",
    "split": "MPI_Comm part;\nMPI_Comm_split(comm, 0, -me, &part);\nMPI_Allreduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, part);\nMPI_Comm_free(&part);",
    "split_tree": "MPI_Comm at = comm;\nfor (int n = size, rank = me; n > 1; n = n / 2) {\n    MPI_Comm half;\n"
                  "    MPI_Allreduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, at);\n    MPI_Comm_split(at, rank >= n / 2, rank, &half);\n"
                  "    MPI_Comm_rank(half, &rank);\n    if (at != comm)\n        MPI_Comm_free(&at);\n    at = half;\n}\nif (at != comm)\n    MPI_Comm_free(&at);",
    "allreduce_init": "#if MPI_VERSION >= 4\nMPI_Start(&kept[0]);\nMPI_Wait(&kept[0], MPI_STATUS_IGNORE);\n#else\n"
                      "MPI_Allreduce(&item, &other, 1, MPI_DOUBLE, MPI_SUM, comm);\n#endif",
    "op_allreduce": "MPI_Allreduce(&item, &other, 1, MPI_DOUBLE, PHASE_op, comm);",
    "op_reduce": "MPI_Reduce(&item, &other, 1, MPI_DOUBLE, PHASE_op, ROOT, comm);",
    "op_scan": "MPI_Scan(&item, &other, 1, MPI_DOUBLE, PHASE_op, comm);",
    "op_iallreduce": "MPI_Request request;\nMPI_Iallreduce(&item, &other, 1, MPI_DOUBLE, PHASE_op, comm, &request);\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
    "fence": "MPI_Put(&item, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window);\nMPI_Win_fence(0, window);",
    "post_start": "MPI_Win_post(neighbours, 0, window);\nMPI_Win_start(neighbours, 0, window);\n"
                  "MPI_Put(&item, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window);\nMPI_Win_complete(window);\nMPI_Win_wait(window);",
    "lock": "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, window);\nMPI_Put(&item, 1, MPI_DOUBLE, TARGET, me, 1, MPI_DOUBLE, window);\n"
            "MPI_Win_unlock(TARGET, window);\nMPI_Barrier(comm);",
    "lock_all": "MPI_Win_lock_all(0, window);\nMPI_Accumulate(&item, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, window);\n"
                "MPI_Win_flush_all(window);\nMPI_Win_unlock_all(window);\nMPI_Barrier(comm);",
}

MAKE = {
    "persistent": ("MPI_Recv_init(&kept_in, 1, MPI_DOUBLE, left, 12, comm, &kept[0]);\nMPI_Send_init(&kept_out, 1, MPI_DOUBLE, right, 12, comm, &kept[1]);",
                   "MPI_Request_free(&kept[0]);\nMPI_Request_free(&kept[1]);"),
    "neighbours": RING,
    "neighbour_alltoall": RING,
    "neighbours_wait": RING,
    "graph": ("MPI_Dist_graph_create_adjacent(comm, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);", "MPI_Comm_free(&ring);"),
    "allreduce_init": ("#if MPI_VERSION >= 4\nMPI_Allreduce_init(&kept_in, &kept_out, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &kept[0]);\n#endif",
                       "#if MPI_VERSION >= 4\nMPI_Request_free(&kept[0]);\n#endif"),
    "op_allreduce": OPERATION,
    "op_reduce": OPERATION,
    "op_scan": OPERATION,
    "op_iallreduce": OPERATION,
    "fence": (WINDOW[0] + "\nMPI_Win_fence(0, window);", WINDOW[1]),
    "post_start": (WINDOW[0] + "\nMPI_Comm_group(comm, &everyone);\nint both[2] = {left, right};\nMPI_Group_incl(everyone, left == right ? 1 : 2, both, &neighbours);",
                   "MPI_Group_free(&neighbours);\nMPI_Group_free(&everyone);\n" + WINDOW[1]),
    "lock": WINDOW,
    "lock_all": WINDOW,
}

# The phase's planted place stands in a reduction of its own, PHASE_reduce, which MPI calls.
OPERATIONS = ["op_allreduce", "op_reduce", "op_scan", "op_iallreduce"]
# Who waits is asleep between polls.
NAPS = ["ibarrier_nap", "iallreduce_nap", "halo_testany_nap", "iprobe_nap"]

# Others wait for one rank alone: for the root, or for the first that is late of those that pass something on. A second late rank is late at no cost.
FROM_ONE = ["bcast", "scatter", "ibcast_wait", "scan", "exscan", "pipeline", "op_scan"]


def names():
    return list(STEPS)
