#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes of two nodes find each other where there is only IPv6, and where there is only IPv4. A network of its own has no other
address; both processes are here, and what they start to meet is this file, which needs no launcher.

    addresses.py BUILD_DIR
    addresses.py within BUILD_DIR FOLDER     (in such a network)
    whywait-meet N SECONDS                   (a copy of it, beside the tool)
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

NETWORKS = {"IPv6": "ip link set lo up && ip addr del 127.0.0.1/8 dev lo",
            "IPv4": "ip link set lo up && ip addr del ::1/128 dev lo"}
ESTABLISHED = "01"


def wait_for(path):
    end = time.monotonic() + 60
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return path.exists()


def meet(folder, is_first):
    """The first process's message goes over a file; all stay until the test has looked at them."""
    if is_first:
        (folder / "told").write_bytes(os.read(0, 4096))
        (folder / "told").rename(folder / "message")
    elif wait_for(folder / "message"):
        os.write(1, (folder / "message").read_bytes())
        os.read(0, 1)
        (folder / "followed").touch()
    wait_for(folder / "seen")


def start(tool, folder, rank):
    """A process of two, each on a node of its own: what began them is not the same one."""
    told = dict(OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE=2, OMPI_COMM_WORLD_LOCAL_RANK=0, OMPI_COMM_WORLD_LOCAL_SIZE=1, MEETING=folder)
    words = ["sh", "-c", 'env "$@"; exit $?', "sh", *(f"{name}={value}" for name, value in told.items()), tool, "report", folder / "run/traces.otf2"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def connections():
    lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]]
    return sum(line[3] == ESTABLISHED for line in lines)


def within(tool, folder):
    alone = subprocess.run([tool, "report", folder / "run/traces.otf2"], capture_output=True).stdout
    both = [start(tool, folder, rank) for rank in range(2)]
    followed = wait_for(folder / "followed")
    n = connections()
    (folder / "seen").touch()
    printed = [process.communicate(timeout=60) for process in both]
    is_right = followed and n == 2 and printed == [(alone, b""), (b"", b"")] and alone  # both ends are here
    print("" if is_right else f"{n} ends of connections; printed: {printed}", end="")


def main():
    build, bad = pathlib.Path(sys.argv[1]).resolve(), []
    for name, network in NETWORKS.items():
        with tempfile.TemporaryDirectory() as folder:
            installed = pathlib.Path(folder)
            for sub, file, copy in (("bin", build / "bin/whywait", "whywait"), ("lib", __file__, "whywait-meet")):
                (installed / sub).mkdir()
                shutil.copy(file, installed / sub / copy)
            subprocess.run([build / "bin/generate", "stencil", installed / "run", "4", "60000", "ours"], check=True, stdout=subprocess.DEVNULL)
            if subprocess.run(["unshare", "--net", "sh", "-c", network], capture_output=True).returncode:
                print("no network can be made here")
                return 77
            words = [sys.executable, os.path.abspath(__file__), "within", str(installed / "bin/whywait"), str(installed)]
            done = subprocess.run(["unshare", "--net", "sh", "-c", network + ' && exec "$0" "$@"', *words], capture_output=True, text=True)
            if done.returncode or done.stdout:
                bad.append(f"FAILED: {name}: {done.stdout}{done.stderr}")
    print("\n".join(bad) or "they meet by either")
    return len(bad) > 0


if "MEETING" in os.environ:
    meet(pathlib.Path(os.environ["MEETING"]), os.environ["OMPI_COMM_WORLD_RANK"] == "0")
elif sys.argv[1] == "within":
    within(sys.argv[2], pathlib.Path(sys.argv[3]))
else:
    sys.exit(main())
