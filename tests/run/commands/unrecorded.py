#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job of two programs is recorded when both are; when only one is, a line says why nothing happens. A line also says when a
script takes the recorder out of the program.

    unrecorded.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = "many_threads"
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
LIMIT_S = 100
CLOSING = """#include <fcntl.h>
#include <unistd.h>
int main(void) { close(2); return open("results", O_CREAT | O_WRONLY, 0600) != 2 || write(2, "mine", 4) != 4; }
"""
SESSION = """#include <mpi.h>
int main(void) { MPI_Session session; return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) || MPI_Session_finalize(&session); }
"""
WANTED = "seem not to be recorded"


def has_jobs_of_two(cwd):
    """mpirun of Open MPI 5.0.7 ends by a signal when it is asked for two programs, whatever they are."""
    mpirun = shutil.which("mpirun.openmpi") or "mpirun"
    return subprocess.run([mpirun, "-n", "1", "true", ":", "-n", "1", "true"], cwd=cwd, env=ENV, capture_output=True, timeout=LIMIT_S).returncode == 0


def start(build, cwd, first, second):
    """The job; what it says goes to the file `said`."""
    program = [str(build / "bin" / PROGRAM), "1"]
    with open(cwd / "said", "w") as said:
        return subprocess.Popen([shutil.which("mpirun.openmpi") or "mpirun", "-n", "1", *first, *program, ":", "-n", "2", *second, *program],
                                cwd=cwd, env=ENV, stdin=subprocess.DEVNULL, stderr=said)


def end(job):
    """Open MPI's mpirun sometimes hangs after SIGTERM, when its processes have gone."""
    job.terminate()
    try:
        job.wait(timeout=10)
    except subprocess.TimeoutExpired:
        job.kill()
        job.wait()


def all_recorded(build, cwd):
    """What is wrong, or None."""
    record = [str(build / "bin" / "whywait"), "record"]
    status = start(build, cwd, record, record).wait(timeout=LIMIT_S)
    said = (cwd / "said").read_text()
    return None if status == 0 and "whywait: 3 ranks," in said else f"status {status}: {said}"


def some_recorded(build, cwd):
    """The second program's two ranks are: one line of the two, after which the job is ended."""
    job, latest = start(build, cwd, [], [str(build / "bin" / "whywait"), "record"]), time.monotonic() + LIMIT_S
    while WANTED not in (cwd / "said").read_text() and job.poll() is None and time.monotonic() < latest:
        time.sleep(0.2)
    time.sleep(2)
    end(job)
    said = (cwd / "said").read_text()
    return None if said.count(WANTED) == 1 else f"wanted one line with \"{WANTED}\":\n{said}"


# Scripts that take the recorder out of what they start, by a child and by exec, and what is then said; and some that do not.
DROPPED = [
    ("LD_PRELOAD={other} {program} 1", "no process that"),
    ("exec env -u LD_PRELOAD {program} 1", "is not recorded"),
    ("LD_PRELOAD= exec {program} 1", "is not recorded"),
    ("env LD_PRELOAD={other} {program} 1; exit 0", "no process that"),
    ("true", "has not called MPI_Init"),
    ("{program} 1", None),
    ("LD_PRELOAD= true; {program} 1", None),
    ("exec {program} 1", None),
]


def dropped(build, cwd):
    """Lines of what is wrong."""
    subprocess.run(["gcc", "-x", "c", "/dev/null", "-shared", "-o", "other.so"], cwd=cwd, check=True)
    for shell in ("/bin/sh", "/bin/bash"):
        for text, wanted in DROPPED:
            script = cwd / "script"
            script.write_text(f"#!{shell}\n" + text.format(program=build / "bin" / PROGRAM, other=cwd / "other.so") + "\n")
            script.chmod(0o755)
            done = subprocess.run([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", build / "bin" / "whywait", "record", script], cwd=cwd,
                                  env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
            lines = [line for line in done.stderr.splitlines() if line.startswith("whywait:")]
            right = len(lines) == 1 and (wanted or "whywait: 2 ranks,") in lines[0]
            if done.returncode or not right:
                yield f"{shell}: {text}: status {done.returncode}, wanted one line with \"{wanted}\":\n{done.stderr}"


def no_mpi(build, cwd):
    """Lines of what is wrong with programs that are no MPI programs and have no children. The last two close standard error before
    they end, and one then opens its results under that number."""
    (cwd / "closing.c").write_text(CLOSING)
    subprocess.run(["gcc", "closing.c", "-o", "closing"], cwd=cwd, check=True)
    for program in ("/bin/true", "/bin/ls", cwd / "closing"):
        done = subprocess.run([build / "bin" / "whywait", "record", program], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=LIMIT_S)
        wanted = f"nothing was recorded: {pathlib.Path(program).name} has not called MPI_Init (put `whywait record` right before"
        if done.returncode or done.stderr.count("whywait:") != 1 or wanted not in done.stderr:
            yield f"{program}: {done}"
    if (cwd / "results").read_text() != "mine":
        yield f"closing: its results are {(cwd / 'results').read_text()}"


def ended_in_init(build, cwd):
    """What is wrong, or None, where MPI ends the program before it is ready."""
    done = subprocess.run([shutil.which("mpirun.openmpi") or "mpirun", "-n", "1", build / "bin" / "whywait", "record", build / "bin" / PROGRAM, "1"],
                          cwd=cwd, env=dict(ENV, OMPI_MCA_pml="nosuch"), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    wanted = f"whywait: nothing was recorded: {PROGRAM} ended inside MPI_Init"
    return None if done.stderr.count("whywait:") == 1 and wanted in done.stderr else f"wanted \"{wanted}\": {done}"


def session_alone(build, cwd):
    """What is wrong, or None, with a program that has a session and no communicator: one line says so. MPICH 4 has sessions."""
    compiler, launcher = shutil.which("mpicc.mpich"), shutil.which("mpirun.mpich")
    if not compiler or not launcher:
        return None
    (cwd / "session.c").write_text(SESSION)
    subprocess.run([compiler, "session.c", "-o", "session"], cwd=cwd, check=True)
    done = subprocess.run([launcher, "-n", "2", build / "bin" / "whywait", "record", "./session"], cwd=cwd, env=ENV, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT_S)
    right = done.returncode == 0 and done.stderr.count("whywait:") == 1 and "has sessions, but no communicator" in done.stderr
    return None if right else f"a session alone: {done}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as cwd:
        together = (all_recorded, some_recorded) if has_jobs_of_two(cwd) else ()
        bad = [text for text in (case(build, pathlib.Path(cwd)) for case in (*together, ended_in_init, session_alone)) if text]
        bad += no_mpi(build, pathlib.Path(cwd))
        bad += dropped(build, pathlib.Path(cwd))
    sys.exit("\n".join(bad) or 0)


main()
