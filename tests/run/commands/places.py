#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where runs are made and found, and what is said of them.

    places.py BUILD_DIR
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
BUILD = pathlib.Path(sys.argv[1]).resolve()
TOOL = BUILD / "bin" / "whywait"
PROGRAM = BUILD / "bin" / "commands_rename"
THREAD_LOCAL_MOST = 128  # bytes: they come out of every thread's stack


def run(*command, cwd):
    return subprocess.run([str(word) for word in command], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)


def record(cwd, *options, program=(PROGRAM,)):
    return run(shutil.which("mpirun.openmpi") or "mpirun", "-n", "1", TOOL, "record", *options, *program, cwd=cwd)


def check(good, what, done):
    if not good:
        sys.exit(f"{what}: {done}")


def missing_folders(cwd):
    """All levels of -o are made; the folder, and the folder from inside, lead to the one run in it."""
    done = record(cwd, "-o", "a/b/c")
    check(done.returncode == 0 and "nothing lost" in done.stderr and len(list((cwd / "a/b/c").glob("*.whywait"))) == 1, "missing folders", done)
    for here, name in ((cwd, "a/b/c"), (cwd / "a/b/c", ".")):
        done = run(TOOL, "report", name, cwd=here)
        check(done.returncode == 0 and "commands_rename" in done.stdout, f"report {name}", done)
    record(cwd, "-o", "a/b/c")
    done = run(TOOL, "report", "a/b/c", cwd=cwd)
    check(done.returncode == 1 and "holds 2 runs" in done.stderr, "two runs", done)


def changed_directory(cwd):
    """-o is from where the launcher was started, wherever the program goes before MPI starts; the folder is not there yet."""
    (cwd / "case").mkdir()
    done = record(cwd, "-o", "runs", program=("sh", "-c", f"cd case && exec {PROGRAM}"))
    check(done.returncode == 0 and len(list((cwd / "runs").glob("*.whywait"))) == 1, "a script that changes directory", done)


def without_proc(cwd):
    """The tool finds the recorders beside it where nothing is mounted at /proc, as in a bare container."""
    hidden = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" version')
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        print("skipped: a tool without /proc, since nothing may be mounted here")
        return
    done, usual = run(*hidden, TOOL, cwd=cwd), run(TOOL, "version", cwd=cwd)
    check(done.returncode == 0 and done.stdout == usual.stdout and "libwhywait" in done.stdout, "without /proc", done)


def renamed(cwd):
    """All is there under another name: not "nothing is left"."""
    done = record(cwd, "-o", "before", program=(PROGRAM, "before", "after"))
    check(done.returncode == 0 and "nothing is left" not in done.stderr and "another name" in done.stderr, "renamed", done)
    done = run(TOOL, "report", "after", cwd=cwd)
    check(done.returncode == 0 and "commands_rename" in done.stdout, "report of a run that was renamed", done)


def overwritten(cwd):
    """cp writes the next build into the file of the one that ran: that is kept all the same."""
    shutil.copy(PROGRAM, cwd / "app")
    record(cwd, program=(cwd / "app",))
    with open(cwd / "app", "r+b") as program:
        program.write(b"the next build")
    done = run(TOOL, "report", cwd=cwd)
    check(done.returncode == 0 and "has changed" not in done.stderr, "a program that was overwritten", done)


def no_mpi(cwd):
    """A line says that a program uses no MPI, or that nothing which it runs does."""
    done = run(TOOL, "record", shutil.which("true"), cwd=cwd)
    check(done.returncode == 0 and done.stderr.count("nothing was recorded: true has not called MPI_Init") == 1, "no MPI", done)
    done = run(TOOL, "record", shutil.which("sh"), "-c", "/bin/true; /bin/true; exit 3", cwd=cwd)
    check(done.returncode == 3 and done.stderr.count("no process that sh started has called MPI_Init") == 1, "a script", done)
    library = next(line.split()[2] for line in run("ldd", PROGRAM, cwd=cwd).stdout.splitlines() if "libmpi.so" in line)
    code = "import ctypes, sys; mpi = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); mpi.MPI_Init(None, None); mpi.MPI_Finalize()"
    done = record(cwd, program=(sys.executable, "-c", code, library))
    check(done.returncode == 0 and done.stderr.count("called MPI past the recorder") == 1, "MPI by dlopen", done)


def becomes_another(cwd):
    """exec ends a recording, and is told as that; programs that are run beside it end nothing."""
    program, true = BUILD / "bin" / "commands_becomes", shutil.which("true")
    done = record(cwd, program=(program, "others", true))
    check(done.returncode == 0 and "102 MPI calls, nothing lost" in done.stderr, "others", done)
    done = record(cwd, program=(program, "exec", true))
    check(done.stderr.count("has become true (exec) without calling MPI_Finalize") == 1 and
          "nothing was recorded" not in done.stderr, "exec", done)
    done = run(TOOL, "report", cwd=cwd)
    check("rank 0 became another program (exec) without calling MPI_Finalize" in done.stdout, "report of exec", done)


def started_by_it(cwd):
    """What a recorded program starts finds nothing of the recorder in its environment; other preloaded libraries stay."""
    other = next(line.split()[2] for line in run("ldd", PROGRAM, cwd=cwd).stdout.splitlines() if "libm.so" in line or "libc.so" in line)
    program = cwd / "starts.c"
    program.write_text("""#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    system("env > by-shell");
    if (!fork())
        execlp("sh", "sh", "-c", "env > by-exec", (char *)0);
    wait(0);
    return MPI_Finalize();
}
""")
    run(shutil.which("mpicc.openmpi") or "mpicc", program, "-o", cwd / "starts", cwd=cwd)
    done = run(shutil.which("mpirun.openmpi") or "mpirun", "-n", "1", "-x", f"LD_PRELOAD={other}", TOOL, "record", "-o", "runs", cwd / "starts", cwd=cwd)
    check(done.returncode == 0 and "nothing lost" in done.stderr, "a program that starts others", done)
    for name in ("by-shell", "by-exec"):
        lines = (cwd / name).read_text().splitlines(keepends=True)
        found = "".join(line for line in lines if not line.startswith("OMPI_"))  # mpirun says there what it has started
        check("WHYWAIT_" not in found and "whywait" not in found.replace(str(cwd), "").replace(str(BUILD), "") and f"LD_PRELOAD={other}" in found, name, found)


def control_characters(cwd):
    done = record(cwd, "-o", "red\033[31m")
    check(done.returncode == 0 and "nothing lost" in done.stderr and "\033" not in done.stderr, "closing line", done)
    shutil.copy(PROGRAM, cwd / "red\033[31m-program")
    done = run(TOOL, "check", cwd / "red\033[31m-program", cwd=cwd)
    check("program" in done.stdout and "\033" not in done.stdout + done.stderr, "check", done)


def large_anchor(cwd):
    """An anchor of a gigabyte of zeros is refused without being read."""
    with open(cwd / "zeros.otf2", "wb") as anchor:
        anchor.truncate(1 << 30)
    done = run(TOOL, "report", "zeros.otf2", cwd=cwd)
    check(done.returncode == 1 and "no OTF2 archive" in done.stderr, "large anchor", done)
    largest_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(largest_kb < 500000, "memory of the largest process, in KB", largest_kb)


def thread_local(_):
    for library in (BUILD / "lib").glob("libwhywait*.so"):
        if library.name not in ("libwhywait.so", "libwhywait-mpich.so", "libwhywait-abi.so"):
            continue
        header = run("readelf", "-lW", library, cwd=BUILD).stdout
        bytes_used = [int(line.split()[5], 16) for line in header.splitlines() if line.split()[:1] == ["TLS"]]
        check(sum(bytes_used) <= THREAD_LOCAL_MOST, f"{library}: thread-local bytes", bytes_used)


def main():
    for test in (large_anchor, missing_folders, changed_directory, without_proc, renamed, overwritten, no_mpi, becomes_another, started_by_it,
                 control_characters, thread_local):
        with tempfile.TemporaryDirectory() as cwd:
            test(pathlib.Path(cwd))


main()
