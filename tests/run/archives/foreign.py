#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives as another tool writes them, of known cause.

files: I/O records of all kinds, and no communicator. Rank 1 writes a file through MPI-IO, which writes it through POSIX
below, while rank 0 waits. The report names the file, and counts its bytes once.

locks: locks on a window that were requested only. Rank 0 computes with the lock on rank 2's window, rank 1 wants it, and
comes back from MPI_Win_lock without it (rank 0 has not given it back), so that its MPI_Win_unlock waits. The report
names what rank 0 computed.

workers: the first thread of each process has no regions, its workers have them all; one process has half as long as
the other. A process has ended when all its threads have.

clocks: rank 1's clock is ahead, and each message comes before it was sent by clocks that cannot be set right. They are
moved behind their sends.

In all of them the parts of the time add up to the whole, and no rank has more than the run is long.

    foreign.py --whywait W files|locks|workers|clocks
"""
import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile

import otf2
from otf2.enums import (GroupType, IoAccessMode, IoCreationFlag, IoOperationFlag, IoOperationMode, IoParadigmClass, IoParadigmFlag,
                        IoStatusFlag, LockType, Paradigm)

BYTES = 5_000_000


@contextlib.contextmanager
def within(writer, region, begin, end):
    writer.enter(begin, region)
    yield
    writer.leave(end, region)


def call(writer, region, begin, end):
    with within(writer, region, begin, end):
        pass


def define_ranks(defs, n):
    """A node, and a location on it for each rank."""
    node = defs.system_tree_node("node", parent=defs.system_tree_node("machine"))
    return node, [defs.location("Master thread", group=defs.location_group(f"MPI Rank {rank}", system_tree_parent=node)) for rank in range(n)]


def define_calls(defs, *names):
    return {name: defs.region(f"MPI_{name}", paradigm=Paradigm.MPI) for name in ("Init", *names, "Finalize")}


def define_handles(defs, node):
    mpi_io = defs.io_paradigm(identification="MPI-IO", name="MPI I/O", io_paradigm_class=IoParadigmClass.PARALLEL, io_paradigm_flags=IoParadigmFlag.NONE)
    posix = defs.io_paradigm(identification="POSIX", name="POSIX I/O", io_paradigm_class=IoParadigmClass.SERIAL, io_paradigm_flags=IoParadigmFlag.OS)
    shared, log = defs.io_regular_file("/scratch/out.h5", scope=node), defs.io_regular_file("/scratch/log", scope=node)
    above = defs.io_handle(name="above", file=shared, io_paradigm=mpi_io)
    below = defs.io_handle(name="below", file=shared, io_paradigm=posix, parent=above)
    return above, below, defs.io_handle(name="log", file=log, io_paradigm=posix)


def moves(writer, at, handles, until):
    for step, handle in enumerate(handles):
        writer.io_operation_begin(at + step, handle, IoOperationMode.WRITE, IoOperationFlag.NONE, BYTES, step)
    for step, handle in reversed(list(enumerate(handles))):
        writer.io_operation_complete(until - step, handle, BYTES, step)


def write_files(trace):
    node, ranks = define_ranks(trace.definitions, 2)
    above, below, alone = define_handles(trace.definitions, node)
    mpi = define_calls(trace.definitions, "File_write", "Barrier")
    for rank, location in enumerate(ranks):
        writer = trace.event_writer_from_location(location)
        call(writer, mpi["Init"], 0, 10)
        writer.io_create_handle(11, alone, IoAccessMode.WRITE_ONLY, IoCreationFlag.NONE, IoStatusFlag.NONE)
        moves(writer, 12, [alone], 20)
        if rank == 1:
            with within(writer, mpi["File_write"], 100, 900_000):
                moves(writer, 200, [above, below], 800_000)
        call(writer, mpi["Barrier"], 900_100 if rank else 100, 900_200)
        call(writer, mpi["Finalize"], 900_300, 900_400)


def write_locks(trace):
    defs = trace.definitions
    _, ranks = define_ranks(defs, 3)
    defs.group("MPI_COMM_WORLD", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=ranks)
    everybody = defs.group("everybody", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=ranks)
    window = defs.rma_win("window", comm=defs.comm("MPI_COMM_WORLD", group=everybody))
    mpi = define_calls(defs, "Win_lock", "Win_unlock")
    holds = defs.region("holds", paradigm=Paradigm.USER, source_file="app.c", begin_line_number=3, end_line_number=9)
    for rank, location in enumerate(ranks):
        writer = trace.event_writer_from_location(location)
        call(writer, mpi["Init"], 0, 10)
        if rank < 2:
            begin, end = ((20, 800_000), (100_000, 100_200))[rank]
            with within(writer, mpi["Win_lock"], begin, begin + 10):
                writer.rma_request_lock(begin + 5, window, 2, 0, LockType.EXCLUSIVE)
            if rank == 0:
                call(writer, holds, begin + 11, end)
            with within(writer, mpi["Win_unlock"], end, 800_100 + rank):
                writer.rma_release_lock(end + 1, window, 2, 0)
        call(writer, mpi["Finalize"], 800_200, 800_300)


def write_workers(trace):
    defs = trace.definitions
    node = defs.system_tree_node("node", parent=defs.system_tree_node("machine"))
    task = defs.region("task", paradigm=Paradigm.USER, source_file="app.cc", begin_line_number=3, end_line_number=9)
    for process, tasks in enumerate((10, 5)):
        group = defs.location_group(f"process {process}", system_tree_parent=node)
        threads = [defs.location(f"thread {thread}", group=group) for thread in range(3)]
        for thread, location in enumerate(threads):
            writer = trace.event_writer_from_location(location)
            for number in range(tasks if thread else 0):
                call(writer, task, 100_000 * number, 100_000 * number + 90_000)


def write_clocks(trace):
    """The clocks of ranks 1 and 2 are 100 ms ahead, and each notes what the other one sends 20 ms before that."""
    defs = trace.definitions
    _, ranks = define_ranks(defs, 3)
    defs.group("MPI_COMM_WORLD", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=ranks)
    everybody = defs.group("everybody", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=ranks)
    comm, mpi = defs.comm("MPI_COMM_WORLD", group=everybody), define_calls(defs, "Send", "Recv")
    writers = [trace.event_writer_from_location(location) for location in ranks]

    def send(rank, to, at):
        with within(writers[rank], mpi["Send"], at - 1, at + 1):
            writers[rank].mpi_send(at, to, comm, 0, 8)

    def receive(rank, sender, at):
        with within(writers[rank], mpi["Recv"], at - 1, at + 1):
            writers[rank].mpi_recv(at, sender, comm, 0, 8)

    for rank, writer in enumerate(writers):
        call(writer, mpi["Init"], 110_000 if rank else 0, 110_010 if rank else 10)
    send(0, 1, 20_000)
    receive(1, 0, 120_010)
    send(1, 0, 130_000)
    receive(0, 1, 30_010)
    for at in range(200_000, 1_200_000, 50_000):
        send(1, 2, at)
        receive(2, 1, at - 20_000)
        send(2, 1, at + 25_000)
        receive(1, 2, at + 5_000)
    for rank, writer in enumerate(writers):
        call(writer, mpi["Finalize"], 1_175_010 if rank else 1_075_010, 1_175_020 if rank else 1_075_020)


def found_files(report):
    cause = report["causes"][0]
    return cause["name"], cause["ranks"], cause["files"]


def found_locks(report):
    cause = report["causes"][0]
    sites = [site for site in report["sites"] if site["wait"] == "lock contention"]
    return cause["name"], cause["ranks"], [(site["call"], site["instances"], site["rank_waiting_ns"]) for site in sites]


def found_workers(report):
    return report["efficiency"]["compute_ns"], report["efficiency"]["ended_ns"], report["waiting_ns"]


def found_clocks(report):
    """The run is as long as from the first send to the last answer, and the begin and end around them."""
    return round(report["duration_ns"] / 1e6), len(report["notes"])


CASES = {
    "files": (write_files, found_files, ("inside MPI_File_write", [1], [{"name": "/scratch/out.h5", "bytes": BYTES}])),
    "locks": (write_locks, found_locks, ("holds() app.c:3-9", [0], [("MPI_Win_unlock", 1, [0, 699_800_000, 0])])),
    "workers": (write_workers, found_workers, (1_480_000_000, 500_000_000, 0)),
    "clocks": (write_clocks, found_clocks, (1075, 1)),
}


PARTS = ("compute", "waiting", "transfer", "mpi", "descheduled", "blocked", "unrecorded", "ended")


def check_parts(report):
    """Of all ranks; and none has more than the run is long."""
    efficiency = report["efficiency"]
    shared = sum(efficiency[part + "_ns"] for part in PARTS)
    if abs(shared - efficiency["all_ns"]) > 1000:
        sys.exit(f"the parts add up to {shared / efficiency['all_ns']} of the whole: {efficiency}")
    for rank in report["by_rank"]:
        if sum(rank.get(part + "_ns", 0) for part in PARTS) > report["duration_ns"] + 1000:
            sys.exit(f"more than {report['duration_ns']}: {rank}")


def report_on(whywait, write):
    with tempfile.TemporaryDirectory(prefix="whywait-foreign-") as directory:
        archive = os.path.join(directory, "archive")
        with otf2.writer.open(archive, timer_resolution=1_000_000) as trace:
            write(trace)
        done = subprocess.run([whywait, "report", "--all", "--format", "json", os.path.join(archive, "traces.otf2")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whywait", required=True)
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    write, find, stated = CASES[options.case]
    report = report_on(options.whywait, write)
    check_parts(report)
    found = find(report)
    if stated != found:
        sys.exit(f"found {found}, stated {stated}; {report['notes']}")
    print([cause["explanation"] for cause in report["causes"]])


main()
