#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program of MPI's standard binary interface, recorded on two ranks.

    abi.py BUILD_DIR SOURCE_DIR MPICH_LIBRARY MPIRUN MPICC
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
MPICH_LIBRARY, MPIRUN, MPICC = sys.argv[3:6]
HERE = pathlib.Path(__file__).parent
WHYWAIT = BUILD / "bin" / "whywait"
FLAGS = ["-std=gnu11", "-DABI_STANDARD", f"-I{SOURCE}", "-O2", "-g", "-w"]
# Each rank: MPI_Init, MPI_Comm_rank, 40 rounds of 5 calls, the receive from nobody, MPI_Finalize. Rank 0 asks for 80 counts.
N_CALLS = 2 * (4 + 40 * 5) + 80


def run(*command, cwd, **more):
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, **more))


def library(cwd, name, *prefixes, needs=()):
    """NAME.so.1 with the functions of these prefixes."""
    objects = []
    for prefix in prefixes:
        objects.append(cwd / f"{prefix}.o")
        subprocess.run(["gcc", *FLAGS, "-fPIC", "-c", f"-DPREFIX={prefix}", f'-DMPICH_LIBRARY="{MPICH_LIBRARY}"', HERE / "library.c",
                        "-o", objects[-1]], check=True)
    subprocess.run(["gcc", "-shared", *objects, "-o", cwd / f"{name}.so.1", f"-Wl,-soname,{name}.so.1", "-Wl,--no-as-needed", *needs,
                    f"-Wl,-rpath,{cwd}"], check=True)
    return cwd / f"{name}.so.1"


def program(cwd, *libraries, source="program.c"):
    subprocess.run(["gcc", *FLAGS, HERE / source, "-o", cwd / "program", "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{cwd}"], check=True)


def judge(report):
    """Each wait of rank 0 is for the loop of rank 1, in all three calls."""
    first = report["causes"][0]
    calls = {site["call"]: site["waiting_ns"] for site in first["sites"]}
    if first["routine"] != "work" or first["ranks"][:1] != [1]:
        return f"the first cause is {first['name']} of ranks {first['ranks']}"
    missing = [call for call in ("MPI_Allreduce", "MPI_Recv", "MPI_Waitall") if calls.get(call, 0) < 0.1 * first["waiting_ns"]]
    return f"it is not felt at {missing}, but {calls}, of {first['waiting_ns']} ns" if missing else None


def recorded(cwd):
    check = run(WHYWAIT, "check", "./program", cwd=cwd).stdout
    if "the standard ABI of MPI (libmpi_abi.so.1)" not in check or "libwhywait-abi.so" not in check:
        return f"check says:\n{check}"
    done = run(MPIRUN, "-n", "2", WHYWAIT, "record", "./program", cwd=cwd)
    if done.returncode or done.stdout != "0 wrong\n" * 2 or f", {N_CALLS} MPI calls, nothing lost" not in done.stderr:
        return f"status {done.returncode}, wanted {N_CALLS} calls: {done.stdout}{done.stderr}"
    report = run(WHYWAIT, "report", "--format", "json", cwd=cwd)
    return report.stderr or judge(json.loads(report.stdout))


def together(cwd):
    program(cwd, library(cwd, "libmpi_abi", "MPI_", "PMPI_"))
    return recorded(cwd)


def apart(cwd):
    """MPICH has the PMPI functions in a library of their own."""
    program(cwd, library(cwd, "libmpi_abi", "MPI_", needs=[library(cwd, "libpmpi_abi", "PMPI_")]))
    return recorded(cwd)


def fortran(cwd):
    """A binding of Fortran stands on C's functions: those are recorded, whatever it calls MPI_STATUS_IGNORE."""
    if not shutil.which("gfortran"):
        return None
    standard, binding = library(cwd, "libmpi_abi", "MPI_", "PMPI_"), cwd / "libmpifort_abi.so.1"
    subprocess.run(["gcc", *FLAGS, "-fPIC", "-shared", HERE / "binding.c", "-o", binding, "-Wl,-soname,libmpifort_abi.so.1"], check=True)
    subprocess.run(["gfortran", "-O2", "-g", HERE / "program.f90", "-o", cwd / "program", binding, standard, "-Wl,--no-as-needed",
                    f"-Wl,-rpath,{cwd}"], check=True)
    check = run(WHYWAIT, "check", "./program", cwd=cwd).stdout
    if "recorded if Fortran's binding calls MPI_ functions of C" not in check:
        return f"check says:\n{check}"
    done = run(MPIRUN, "-n", "2", WHYWAIT, "record", "./program", cwd=cwd)
    if done.returncode or ", 86 MPI calls, nothing lost" not in done.stderr:
        return f"status {done.returncode}: {done.stdout}{done.stderr}"
    report = json.loads(run(WHYWAIT, "report", "--format", "json", cwd=cwd).stdout)
    first = report["causes"][0]
    return None if first["ranks"] == [1] and "work" in first["routine"] else f"the first cause is {first['name']} of ranks {first['ranks']}"


def misplaced(cwd):
    """Another recorder stands aside and names the right one, also where Open MPI lies behind the standard's functions."""
    standard = library(cwd, "libmpi_abi", "MPI_", "PMPI_")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", cwd / "libopen_mpi.so"], input="int ompi_mpi_comm_world;", text=True, check=True)
    program(cwd, standard, cwd / "libopen_mpi.so")
    for recorder in ("libwhywait.so", "libwhywait-mpich.so"):
        done = run(MPIRUN, "-n", "2", "env", f"LD_PRELOAD={BUILD}/lib/{recorder}", "./program", cwd=cwd)
        if done.returncode or done.stdout != "0 wrong\n" * 2 or "preload libwhywait-abi.so instead" not in done.stderr:
            return f"{recorder}: status {done.returncode}: {done.stdout}{done.stderr}"
    text = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n"
    subprocess.run([MPICC, "-x", "c", "-", "-o", cwd / "native"], input=text, text=True, check=True)
    done = run(MPIRUN, "-n", "2", "env", f"LD_PRELOAD={BUILD}/lib/libwhywait-abi.so", "./native", cwd=cwd)
    if done.returncode or "preload libwhywait-mpich.so instead" not in done.stderr:
        return f"in a program of MPICH: status {done.returncode}: {done.stdout}{done.stderr}"
    return None


def lives(cwd):
    """Sessions that begin after the last one has ended: the program runs on, and one line says what is not recorded."""
    program(cwd, library(cwd, "libmpi_abi", "MPI_", "PMPI_"), source="sessions.c")
    done = run(MPIRUN, "-n", "2", WHYWAIT, "record", "./program", cwd=cwd)
    right = done.stderr.count("nothing lost") == 1 and done.stderr.count("MPI began once more") == 1
    return None if not done.returncode and done.stdout.count("3 lives") == 2 and right else f"status {done.returncode}: {done.stdout}{done.stderr}"


def main():
    faults = []
    for case in (together, apart, fortran, misplaced, lives):
        with tempfile.TemporaryDirectory() as cwd:
            fault = case(pathlib.Path(cwd))
            faults += [f"{case.__name__}: {fault}"] if fault else []
    sys.exit("\n".join(faults) or 0)


main()
