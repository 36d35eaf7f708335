# SPDX-License-Identifier: BSD-3-Clause
"""Builds and runs generated programs, plain or recorded, and reads what they and the reports of them say."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_osc_rdma_priority": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OPENBLAS_NUM_THREADS": "1"}


class Failure(Exception):
    """A program could not be built or did not run to its end: no wrong answer of a report, but nothing to judge either."""


def run(command, directory, more=None, timeout=120):
    try:
        done = subprocess.run(command, cwd=directory, env=dict(os.environ, **(more or {})), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure("%s: no end after %d s" % (" ".join(command), timeout))
    if done.returncode:
        raise Failure("%s: status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def idle_share(seconds=0.25):
    """Of all processors' time, during so many seconds."""
    def times():
        with open("/proc/stat") as file:
            return [int(n) for n in file.readline().split()[1:]]
    before = times()
    time.sleep(seconds)
    passed = [after - b for after, b in zip(times(), before)]
    return (passed[3] + passed[4]) / max(1, sum(passed[:8]))


def wait_for_calm(limit_s):
    """Until half of the machine is free, for no longer than that."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end and idle_share() < 0.5:
        time.sleep(1)


class Timers:
    """What the hand-placed timers say: parts[phase][rank][part] = (wall ns, CPU ns), and the time from the first barrier to the last."""

    def __init__(self, said):
        self.parts, self.run_ns = {}, int(re.search(r"^run (\d+)", said, re.M).group(1))
        for line in re.findall(r"^phase .*", said, re.M):
            numbers = [int(n) for n in re.findall(r"\d+", line)]
            parts = {name: tuple(numbers[2 + 2 * i:4 + 2 * i]) for i, name in enumerate(("common", "planted", "exchange"))}
            self.parts.setdefault(numbers[0], {})[numbers[1]] = parts
        spans = [(int(begin), int(end)) for begin, end in re.findall(r"^span rank \d+: (\d+) (\d+)", said, re.M)]
        self.span_ns = (min(begin for begin, _ in spans), max(end for _, end in spans)) if spans else None
        self.acts = {}
        for k, rank, begin, end in re.findall(r"^acts (\d+) rank (\d+): (\d+) (\d+)", said, re.M):
            self.acts.setdefault(int(k), []).append((int(rank), int(begin), int(end)))

    def phase_ns(self, phase):
        """How long a phase took, from the barrier before it to its own: the mean of what ranks say."""
        of_ranks = [sum(wall for wall, _ in parts.values()) for parts in self.parts[phase].values()]
        return sum(of_ranks) / len(of_ranks)


class Program:
    """A generated program in its directory. Executables are built when they are first asked for."""

    def __init__(self, directory, tools):
        self.directory, self.tools, self.built = os.path.abspath(directory), tools, set()
        with open(os.path.join(directory, "truth.json")) as file:
            self.truth = json.load(file)
        self.yields = tools.mpi == "openmpi" and self.truth["plan"]["ranks"] > os.cpu_count()

    def executable(self, variant="", counted=False):
        """`variant`: a macro such as GONE_2, or nothing."""
        name = self.name(variant, counted)
        if name not in self.built:
            self.build(name, variant, counted)
            self.built.add(name)
        return os.path.join(self.directory, name)

    @staticmethod
    def name(variant, counted):
        return "_".join(["program"] + [variant] * bool(variant) + ["counted"] * counted)

    def take(self, counted):
        """The executable that another one has built here."""
        name = self.name("", counted)
        if not os.path.exists(os.path.join(self.directory, name)):
            raise Failure("%s was not built" % os.path.join(self.directory, name))
        self.built.add(name)

    def build(self, name, variant, counted):
        build, tools = self.truth["build"], self.tools
        uncounted = build["flags"] + ["-g"]
        flags = uncounted + (run([tools.whywait, "cc"], self.directory).split() if counted else [])
        of_library = flags if build.get("library_is_counted", True) else uncounted
        program, fortran = build.get("program", "program.c"), []
        if os.path.exists(os.path.join(self.directory, "library.f90")):
            run([tools.mpifort, *of_library, "-fPIC", "-c", "library.f90", "-o", name + "_f90.o"], self.directory)
            fortran = [name + "_f90.o"]
        run([tools.mpicc, *of_library, "-fPIC", "-shared", "library.c", *fortran, "-Wl,-soname,lib%s.so" % name, "-o", "lib%s.so" % name], self.directory)
        compiler = {".cc": [tools.mpicxx, "-isystem", "/usr/include/eigen3"], ".c": [tools.mpicc],
                    ".F90": [tools.mpifort, "-ffree-line-length-none", "-fallow-argument-mismatch", "-w"]}[os.path.splitext(program)[1]]
        run([*compiler, *flags, *(["-D" + variant] if variant else []), program, "-o", name, "-L.", "-l" + name,
             "-Wl,-rpath,$ORIGIN", *build["libraries"], "-lm"], self.directory)

    def launch(self, command, directory):
        more = dict(ENVIRONMENT, **self.truth["build"].get("environment", {}), **({"OMPI_MCA_mpi_yield_when_idle": "1"} if self.yields else {}))
        return run([self.tools.mpirun, "-n", str(self.truth["plan"]["ranks"]), *command], directory, more)

    def time(self, variant="", counted=False):
        """Timers of a run that is not recorded."""
        return Timers(self.launch([self.executable(variant, counted)], self.directory))

    def record(self, counted=False, keep=None):
        """Timers of a recorded run, and its report. `keep`: a directory that the recording stays in."""
        self.executable("", counted)
        wait_for_calm(self.tools.calm_s)
        with tempfile.TemporaryDirectory(prefix="whywait-truth-") as scratch:
            timers = Timers(self.launch([self.tools.whywait, "record", self.executable("", counted)], scratch))
            report = json.loads(run([self.tools.whywait, "report", "--all", "--format", "json"], scratch))
            if keep:
                shutil.rmtree(keep, ignore_errors=True)
                shutil.copytree(scratch, keep, symlinks=True, dirs_exist_ok=True)
            return timers, report


class Tools:
    """The programs to build and run with, from the options of a command line."""

    def __init__(self, options):
        self.whywait = os.path.abspath(options.whywait)
        self.calm_s, self.mpi = options.calm, options.mpi
        self.mpicc, self.mpicxx, self.mpifort = [self.of_mpi(name, options.mpi) for name in ("mpicc", "mpicxx", "mpifort")]
        self.mpirun = self.of_mpi("mpirun", options.mpi)

    @staticmethod
    def of_mpi(name, mpi):
        return shutil.which("%s.%s" % (name, mpi)) or name

    @staticmethod
    def add_options(parser):
        parser.add_argument("--whywait", default="build/bin/whywait", help="the command to judge (build/bin/whywait)")
        parser.add_argument("--calm", type=float, default=0, metavar="SECONDS", help="wait so long at most for a free CPU before each recording")
        parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
