#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An archive as another tool writes it, with I/O records of all kinds, and no communicator: rank 1 writes a file through
MPI-IO, which writes it through POSIX below, while rank 0 waits. The report names the file, and counts its bytes once.

    foreign.py --whywait W
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import otf2
from otf2.enums import IoAccessMode, IoCreationFlag, IoOperationFlag, IoOperationMode, IoParadigmClass, IoParadigmFlag, IoStatusFlag, Paradigm

BYTES = 5_000_000


def define(trace):
    defs = trace.definitions
    machine = defs.system_tree_node("machine")
    node = defs.system_tree_node("node", parent=machine)
    mpi_io = defs.io_paradigm(identification="MPI-IO", name="MPI I/O", io_paradigm_class=IoParadigmClass.PARALLEL, io_paradigm_flags=IoParadigmFlag.NONE)
    posix = defs.io_paradigm(identification="POSIX", name="POSIX I/O", io_paradigm_class=IoParadigmClass.SERIAL, io_paradigm_flags=IoParadigmFlag.OS)
    shared, log = defs.io_regular_file("/scratch/out.h5", scope=node), defs.io_regular_file("/scratch/log", scope=node)
    above = defs.io_handle(name="above", file=shared, io_paradigm=mpi_io)
    below = defs.io_handle(name="below", file=shared, io_paradigm=posix, parent=above)
    alone = defs.io_handle(name="log", file=log, io_paradigm=posix)
    ranks = [defs.location("Master thread", group=defs.location_group(f"MPI Rank {rank}", system_tree_parent=node)) for rank in range(2)]
    regions = {name: defs.region(name, paradigm=Paradigm.MPI) for name in ("MPI_Init", "MPI_File_write", "MPI_Barrier", "MPI_Finalize")}
    return (above, below, alone), ranks, regions


def moves(writer, at, handles, until):
    for step, handle in enumerate(handles):
        writer.io_operation_begin(at + step, handle, IoOperationMode.WRITE, IoOperationFlag.NONE, BYTES, step)
    for step, handle in reversed(list(enumerate(handles))):
        writer.io_operation_complete(until - step, handle, BYTES, step)


def write(directory):
    with otf2.writer.open(directory, timer_resolution=1_000_000) as trace:
        (above, below, alone), ranks, regions = define(trace)
        for rank, location in enumerate(ranks):
            writer = trace.event_writer_from_location(location)

            def region(name, begin, end):
                writer.enter(begin, regions[name])
                yield
                writer.leave(end, regions[name])

            for _ in region("MPI_Init", 0, 10):
                pass
            writer.io_create_handle(11, alone, IoAccessMode.WRITE_ONLY, IoCreationFlag.NONE, IoStatusFlag.NONE)
            moves(writer, 12, [alone], 20)
            for _ in region("MPI_File_write", 100, 900_000) if rank else []:
                moves(writer, 200, [above, below], 800_000)
            for _ in region("MPI_Barrier", 900_100 if rank else 100, 900_200):
                pass
            for _ in region("MPI_Finalize", 900_300, 900_400):
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
    cause = json.loads(done.stdout)["causes"][0]
    found = cause["routine"] or cause["name"], cause["ranks"], cause["files"]
    stated = "MPI_File_write", [1], [{"name": "/scratch/out.h5", "bytes": BYTES}]
    if stated[0] not in found[0] or stated[1:] != found[1:]:
        sys.exit(f"found {found}, stated {stated}\n{cause}")
    print(cause["explanation"])


main()
