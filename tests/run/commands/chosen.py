#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which recorder goes into a program: chosen by the symbols of its MPI, whatever that is called and however it is reached.

    chosen.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
WHYWAIT = str(BUILD / "bin" / "whywait")
MPIRUN = shutil.which("mpirun.openmpi") or "mpirun"
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")

# Names as vendors choose them, symbols as these libraries have them, and what `check` must say of a program linked with them.
STUBS = [
    ("libmpi_gnu_112.so.12", ["MPI_Init", "PMPI_Init", "MPIR_Err_return_comm"], "yes  MPICH (libmpi_gnu_112.so.12)", "libwhywait-mpich.so"),
    ("libmpi_cray.so.12", ["MPI_Init", "PMPI_Init"], "yes  MPICH (libmpi_cray.so.12)", "libwhywait-mpich.so"),
    ("libvendormpi.so.3", ["MPI_Init", "PMPI_Init", "ompi_mpi_comm_world"], "yes  Open MPI (libvendormpi.so.3)", "libwhywait.so"),
    ("libmpi_abi.so.1", ["MPI_Init", "PMPI_Init", "MPI_Abi_get_version"], "yes  the standard ABI of MPI (libmpi_abi.so.1)", "libwhywait-abi.so"),
    ("libmpi_odd.so.1", ["MPI_Init", "PMPI_Init"], "neither Open MPI nor of the MPICH family", "there is no recorder for it"),
]


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
                          env={**ENV, **more.pop("env", {})}, **more)


def compile_c(text, to, *flags):
    subprocess.run(["gcc", "-x", "c", "-", "-x", "none", "-o", str(to), *map(str, flags)], input=text, text=True, check=True)


def build_program(compiler, to):
    text = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n"
    subprocess.run([compiler, "-x", "c", "-", "-o", str(to)], input=text, text=True, check=True)


def stubs_are_known(cwd):
    """What is wrong, a line each."""
    for name, symbols, mpi, recorder in STUBS:
        folder = cwd / name.split(".")[0]
        folder.mkdir()
        compile_c("".join(f"int {symbol}(void) {{ return 0; }}\n" for symbol in symbols), folder / name, "-shared", "-fPIC",
                  f"-Wl,-soname,{name}")
        # Only a library of the program needs MPI, not the program itself.
        compile_c("int MPI_Init(void); int step(void) { return MPI_Init(); }", folder / "libstep.so", "-shared", "-fPIC",
                  folder / name, f"-Wl,-rpath,{folder}")
        compile_c("int step(void); int main(void) { return step(); }", folder / "program", folder / "libstep.so", f"-Wl,-rpath,{folder}")
        said = run(WHYWAIT, "check", folder / "program").stdout
        if mpi not in said or recorder not in said:
            yield f"{name}: wanted \"{mpi}\" and \"{recorder}\":\n{said}"


def other_c_library(cwd):
    """A recorder in a program of another C library would end it."""
    compile_c("int main(void) { return 0; }", cwd / "foreign", "-Wl,--dynamic-linker=/lib/ld-musl-none.so.1")
    alone, recorded = run("sh", "-c", "exec ./foreign", cwd=cwd), run(WHYWAIT, "record", "./foreign", cwd=cwd)
    if "its C library is not the recorder's (it is loaded by ld-musl-none.so.1)" not in recorded.stderr:
        yield f"another C library: {recorded.stderr}"
    if alone.returncode not in (126, 127) or recorded.returncode not in (126, 127):
        yield f"another C library: status {alone.returncode} alone, {recorded.returncode} recorded"


def odd_prefix(cwd):
    """The dynamic linker splits LD_PRELOAD at blanks and colons."""
    prefix = cwd / "my tools: whywait"
    for folder in ("bin", "lib"):
        (prefix / folder).mkdir(parents=True)
    shutil.copy(WHYWAIT, prefix / "bin")
    for library in (BUILD / "lib").glob("libwhywait*.so"):
        shutil.copy(library, prefix / "lib")
    build_program(shutil.which("mpicc.openmpi") or "mpicc", cwd / "program")
    temporary = cwd / "tmp"
    temporary.mkdir()
    done = run(MPIRUN, "-n", "2", prefix / "bin" / "whywait", "record", "./program", cwd=cwd,
               env={"TMPDIR": str(temporary), "XDG_RUNTIME_DIR": ""})
    if done.returncode or "whywait: 2 ranks," not in done.stderr or "ERROR: ld.so" in done.stderr:
        yield f"a prefix with a blank: status {done.returncode}: {done.stderr}"
    runs = list(cwd.glob("*.whywait"))
    if len(runs) != 1 or not (runs[0] / "traces.otf2").exists():
        yield f"a prefix with a blank: the run was not converted: {runs}"


def silent_launcher(cwd):
    """Neither a script nor what started it tells of an MPI: the one that the dynamic linker finds. A file that is no library
    hides Debian's own."""
    script = cwd / "start"
    script.write_text('#!/bin/sh\necho "$LD_PRELOAD"\n')
    script.chmod(0o755)
    (cwd / "libmpi.so.40").write_text("none")
    compile_c("int MPI_Init(void) { return 0; }", cwd / "libmpi.so.12", "-shared", "-fPIC")
    for path, recorder in (("", "libwhywait.so"), (str(cwd), "libwhywait-mpich.so")):
        said = run(WHYWAIT, "record", script, cwd=cwd, env={"LD_LIBRARY_PATH": path}).stdout
        if not said.startswith(f"{BUILD}/lib/{recorder}\n"):
            yield f"where the linker finds libraries in \"{path}\": wanted {recorder}: {said}"


def script_under_either(cwd):
    """A script has no MPI, and its launcher tells: MPICH's mpiexec."""
    mpiexec, compiler = shutil.which("mpiexec.mpich"), shutil.which("mpicc.mpich")
    if not mpiexec or not compiler:
        return
    script, program = cwd / "start", cwd / "program"
    build_program(compiler, program)
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    for command in ([mpiexec, "-n", "2", WHYWAIT, "record", script], [WHYWAIT, "record", mpiexec, "-n", "2", program]):
        done = run(*command, cwd=cwd)
        if done.returncode or "whywait: 2 ranks," not in done.stderr:
            yield f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr}"


def main():
    bad = []
    for case in (stubs_are_known, other_c_library, odd_prefix, silent_launcher, script_under_either):
        with tempfile.TemporaryDirectory() as cwd:
            bad += case(pathlib.Path(cwd))
    sys.exit("\n".join(bad) or 0)


main()
