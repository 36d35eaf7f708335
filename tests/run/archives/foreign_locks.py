#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An archive as another tool writes it, with locks on a window that were requested: rank 0 computes with the lock on rank 2's
window, rank 1 wants it, and comes back from MPI_Win_lock without it (rank 0 has not given it back), so that its
MPI_Win_unlock waits. The report names what rank 0 computed.

    foreign_locks.py --whywait W
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import otf2
from otf2.enums import GroupType, LockType, Paradigm


def write(directory):
    with otf2.writer.open(directory, timer_resolution=1_000_000) as trace:
        defs = trace.definitions
        node = defs.system_tree_node("node", parent=defs.system_tree_node("machine"))
        ranks = [defs.location("Master thread", group=defs.location_group(f"MPI Rank {rank}", system_tree_parent=node)) for rank in range(3)]
        locations = defs.group("MPI_COMM_WORLD", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=ranks)
        everybody = defs.group("everybody", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=ranks)
        assert locations
        window = defs.rma_win("window", comm=defs.comm("MPI_COMM_WORLD", group=everybody))
        mpi = {name: defs.region(name, paradigm=Paradigm.MPI) for name in ("MPI_Init", "MPI_Win_lock", "MPI_Win_unlock", "MPI_Finalize")}
        holds = defs.region("holds", paradigm=Paradigm.USER, source_file="app.c", begin_line_number=3, end_line_number=9)
        for rank, location in enumerate(ranks):
            writer = trace.event_writer_from_location(location)

            def region(which, begin, end):
                writer.enter(begin, which)
                yield
                writer.leave(end, which)

            for _ in region(mpi["MPI_Init"], 0, 10):
                pass
            if rank < 2:
                begin, end = ((20, 800_000), (100_000, 100_200))[rank]
                for _ in region(mpi["MPI_Win_lock"], begin, begin + 10):
                    writer.rma_request_lock(begin + 5, window, 2, 0, LockType.EXCLUSIVE)
                for _ in region(holds, begin + 11, end) if rank == 0 else []:
                    pass
                for _ in region(mpi["MPI_Win_unlock"], end, 800_100 + rank):
                    writer.rma_release_lock(end + 1, window, 2, 0)
            for _ in region(mpi["MPI_Finalize"], 800_200, 800_300):
                pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whywait", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whywait-foreign-") as directory:
        archive = os.path.join(directory, "archive")
        write(archive)
        done = subprocess.run([options.whywait, "report", "--format", "json", os.path.join(archive, "traces.otf2")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"status {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    cause = report["causes"][0]
    sites = [site for site in report["sites"] if site["wait"] == "lock contention"]
    found = cause["routine"] or cause["name"], cause["ranks"], [(site["call"], site["instances"], site["rank_waiting_ns"]) for site in sites]
    stated = "holds", [0], [("MPI_Win_unlock", 1, [0, 699_800_000, 0])]
    if stated != found:
        sys.exit(f"found {found}, stated {stated}")


main()
