#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Others on the network may call where the first process of a report listens, and never say who they are: nobody waits for
them. One that says a letter a second would take half a minute; the report is the same, and ends before that.

    strangers.py BUILD_DIR
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
ARCHIVE = pathlib.Path(__file__).parents[2] / "unit/trace/data/tau-phases/traces.otf2"
LISTENS, N_STRANGERS, LIMIT_S = "0A", 60, 25


def ports_of(tool):
    """Where processes of the tool listen."""
    inodes = {}
    for line in [line for name in ("tcp", "tcp6") for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]]:
        words = line.split()
        if words[3] == LISTENS:
            inodes[f"socket:[{words[9]}]"] = int(words[1].split(":")[1], 16)
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == tool:
                yield from (inodes[name] for name in map(os.readlink, (process / "fd").iterdir()) if name in inodes)
        except OSError:
            continue


def report(tool, calls):
    """The report of two processes, as on two nodes; `calls` is done with the port where the first listens."""
    launched = subprocess.Popen([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", "env", "OMPI_COMM_WORLD_LOCAL_SIZE=1", tool, "report",
                                 str(ARCHIVE)], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept = []
    while calls and launched.poll() is None and not kept:
        kept = [calls(port) for port in ports_of(tool)]
        time.sleep(0.005)
    for _ in range(LIMIT_S):
        try:
            launched.wait(1)
        except subprocess.TimeoutExpired:
            drip(kept)
    if launched.poll() is None:
        launched.kill()
        sys.exit(f"not done after {LIMIT_S} s")
    output, errors = launched.communicate()
    return output, errors, launched.returncode, len(kept)


def call(port):
    """Some say nothing, some begin to speak, some say too much."""
    sockets = []
    for number in range(N_STRANGERS):
        try:
            sockets.append(socket.create_connection(("127.0.0.1", port), 5))
            sockets[-1].send(b"junk" * 100) if number % 3 == 0 else None
        except OSError:
            break  # it has ended
    return sockets


def drip(kept):
    for stranger in [socket for sockets in kept for socket in sockets[1::3]]:
        try:
            stranger.send(b"a")
        except OSError:
            continue


def main():
    tool = str(pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait")
    alone, called = report(tool, None), report(tool, call)
    if called[:3] != alone[:3] or alone[2] or not called[3]:
        sys.exit(f"called by strangers: {called}\nalone: {alone}")


main()
