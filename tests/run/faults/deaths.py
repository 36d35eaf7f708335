#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that meet bad luck (deaths.c) end as without the recorder. What they had called by then is in the report, or its end says
that it is not.

    deaths.py BUILD_DIR [--every N] [--first N] [--seed S] [--keep DIR] [NAME ...]     N: every so many of the attempts

Each attempt is told by its name, such as "mode forks 100". --keep leaves those with findings in DIR.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENV = dict({name: value for name, value in os.environ.items() if not name.startswith("WHYWAIT")}, OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_mpi_yield_when_idle="1", DEBUGINFOD_URLS="", NO_COLOR="1")
LAUNCHER = shutil.which("mpirun.openmpi") or "mpirun"
LIMIT_S, DEGRADED, N_RANKS = 60, 2, 2
# After these the run directory is elsewhere, or has not all of the run: its name has gone, which is said.
MOVED = {"rename-run", "file-for-run", "link-for-run", "change-root"}
NEED_RUN = MOVED - {"change-root"} | {"own-link", "forbid-run", "no-spool-names", "plant-archive"}
SYSTEM_CALLS = """perf_event_open:298 memfd_create:319 timer_create:222 clone3:435 fallocate:285 statx:332 renameat2:316 mkdirat:258 mkdir:83
getrandom:318 process_vm_readv:310 sched_getaffinity:204 membarrier:324 madvise:28 ftruncate:77 fsync:74 flock:73 readlink:89 readlinkat:267
getdents64:217 close_range:436 pidfd_open:434 faccessat2:439 statfs:137 sysinfo:99 msync:26 tgkill:234 waitid:247 vfork:58 uname:63
clock_getres:229 clock_nanosleep:230 prlimit64:302 sched_yield:24 getrusage:98 copy_file_range:326 unlink:87 unlinkat:263 rename:82 renameat:264
rmdir:84 link:86 fchmod:91 getpriority:140 sigaltstack:131 timer_settime:223 fstatfs:138 access:21 sched_setaffinity:203 getcpu:309 dup:32
dup3:292 pipe2:293 lseek:8 pread64:17 pwrite64:18 getcwd:79 chdir:80 sync_file_range:277 syncfs:306 gettid:186 rseq:334 set_robust_list:273""".split()
ERRORS = (1, 38, 12, 24)  # EPERM ENOSYS ENOMEM EMFILE
NAMES = ["a\nb", "a\"b'c", "\u202egpj.exe", "n" * 255, "-n", "vs", "%s%n%99999d", " ", "\udcff\udc80", "a;touch owned", "$(touch owned)", "x.whywait",
         "..a", "\033[2Jx", "a\tb", "#x", "~root", "*", "\u0065\u0301", "\U0001f600"]

OPTIONS = ("--no-convert", "--spool SPOOL", "--rate 0", "--rate 250", "--window 20ms --every 40ms", "--limit 16k", "--last 512k", "--quiet")
OPTION_MODES = ("forks", "divide", "quick-exit", "close-three", "leave-folder", "limit-files", "limit-descriptors", "outlive-main", "abort-in-thread")


def attempts():
    """(name, kind, its words)"""
    modes = """nothing forks orphans on-own-stack reap-all ignore-children ignore-all block-all drop-user change-root forget leave-folder close-three
        rename-run file-for-run link-for-run own-link forbid-run no-spool-names plant-archive limit-memory limit-files limit-descriptors limit-all
        clock-back rename-self arguments thread-storm abort-in-thread divide illegal beyond-file use-up-cpu alarm break-pipe kill-thread
        forbidden-call exit-in-handler exit quick-exit outlive-main signals""".split()
    for step in (0, 100, 199):
        yield from ((f"mode {mode} {step}", "mode", (mode, str(step))) for mode in modes)
    yield from ((f"mode {mode} 0", "mode", (mode, "0")) for mode in ("early-_exit", "early-exit", "early-abort"))
    for turn, call in enumerate(SYSTEM_CALLS):
        name, number = call.split(":")
        yield f"call {name}", "sandbox", (f"call-{number}-{ERRORS[turn % len(ERRORS)]}",)
    for what, values in ((7, (8, 12, 16, 20, 24, 28, 32, 40, 48, 64)), (1, (0, 1, 4096, 65536, 300000, 1 << 20, 4 << 20)), (2, (0, 1 << 20, 16 << 20)),
                         (9, tuple(n << 20 for n in (150, 200, 250, 300, 350, 400, 450, 500, 700))), (3, (128 << 10, 512 << 10)), (8, (0,)), (6, (0, 1)),
                         (11, (0,)), (4, (0,)), (0, (1,))):
        yield from ((f"limit {what} {value}", "sandbox", (f"limit-{what}-{value}",)) for value in values)
    yield from ((f"close {mask}", "sandbox", (f"close-{mask}",)) for mask in range(1, 8))
    yield from ((f"ignore {number}", "sandbox", (f"ignore-{number}",)) for number in (17, 25, 15, 10, 27))
    yield "block", "sandbox", ("block",)
    for name in NAMES:
        for place in ("program", "folder", "dir"):
            yield f"{place} {name!a}", "name", (place, name)
    for turn in range(25):
        yield from ((f"finalizing {victim} {turn}", "finalizing", (victim, turn)) for victim in ("0", "1", "convert", "join"))
    for turn in range(15):
        yield from ((f"starting {victim} {turn}", "starting", (victim,)) for victim in ("0", "1", "launcher"))
        yield f"together {turn}", "together", ()
    yield "alone limit-files", "alone", ("limit-files",)
    for option in OPTIONS:
        yield from ((f"option {option} {mode}", "option", (option, mode)) for mode in OPTION_MODES)
    yield from ((f"twice {turn}", "twice", ()) for turn in range(6))
    yield from ((f"inodes {n}", "inodes", (n,)) for n in range(3, 27))


def kill(victims):
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Attempt:
    def __init__(self, build, home, chance):
        self.build, self.home, self.chance, self.lost = build, home, chance, 0
        self.tool, self.program = build / "bin/whywait", build / "bin/deaths"

    def begin(self, name="at"):
        self.at = self.home / name
        for path in self.home.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.at.mkdir()
        self.truth = self.home / "truth"
        self.truth.mkdir()

    def start(self, words, more=(), **options):
        env = dict(ENV, TRUTH=str(self.truth), TMPDIR="/tmp", **dict(more))
        with open(self.home / "out", "wb") as out, open(self.home / "err", "wb") as err:
            return subprocess.Popen([LAUNCHER, "-n", str(N_RANKS), *words], cwd=self.at, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                    start_new_session=True, **options)

    def end(self, process):
        """(status, what was said); hanging is a status of its own."""
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            status = "hangs"
            os.killpg(process.pid, signal.SIGTERM)
            time.sleep(1)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        return status, (self.home / "err").read_text(errors="replace")

    def completed(self):
        return [int.from_bytes(path.read_bytes(), "little") for path in self.truth.iterdir() if path.stat().st_size == 8]

    def judge(self, status, plain, said, runs=None, has_moved=False):
        """What is wrong, or ""."""
        if status != plain and not (isinstance(plain, set) and status in plain):
            return f"status {status} instead of {plain}: {said[-600:]}"
        if "internal error" in said or "whywait: out of memory" in said:
            return f"said {said[-600:]}"
        calls = sum(self.completed()) - N_RANKS
        runs = [run for run in self.at.glob("*.whywait")] if runs is None else runs
        if not runs:
            told = "whywait:" in said and any(word in said for word in ("not record", "without being recorded", "NOT RECORDED", "recording is off", "removed while", "another name"))
            return "" if told or calls <= 0 or has_moved else f"{calls} calls, no run, and not a word: {said[-600:]}"
        return self.judge_report(max(runs), calls, said)

    def judge_report(self, run, calls, said):
        done = subprocess.run([self.tool, "report", "--format", "json", run], cwd=self.home, env=ENV, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode not in (0, 1, DEGRADED) or "internal error" in done.stderr:
            return f"the report ends with {done.returncode}: {done.stderr[-600:]}"
        off = re.search(r"(NOT RECORDED|recording is off|RECORDS LOST|only counted|could not be recorded|not record)", said)
        if done.returncode == 1:
            return "" if off and done.stderr.count("\n") == 1 else f"no report of {calls} calls: {done.stderr[-600:]}; said {said[-600:]}"
        told = json.loads(done.stdout)
        found, lost = told["mpi_calls"], sum(told["lost"].values()) if isinstance(told["lost"], dict) else 0
        ends = [rank["end"] for rank in told["by_rank"]]
        if found + lost < calls and not off and not {"gave-up"} & set(ends):
            self.lost += calls - found
            return f"{calls} calls, {found} in the report, {told['lost']} told as lost, {ends}, {told['notes']}; said {said[-600:]}"
        if off and "nothing lost" in said:
            return f"nothing lost, and: {said[-600:]}"
        return ""

    def plain(self, words, before=()):
        """The status without the recorder: of a rank that is left when another has ended badly there is nothing to see."""
        self.begin()
        return self.end(self.start([*before, self.program, *words], {"OMPI_MCA_odls_base_sigkill_timeout": "0"}))[0]

    def mode(self, mode, step):
        plain = 5 if mode in NEED_RUN else {5, 6} if mode == "exit-in-handler" else self.plain((mode, step))
        if plain == "hangs":
            return None
        self.begin()
        status, said = self.end(self.start([self.tool, "record", self.program, mode, step]))
        (self.at / "moved.whywait").is_dir() and [path.unlink() for path in self.at.glob("*.whywait") if path.is_symlink() or path.is_file()]
        for run in self.at.glob("*.whywait"):
            run.chmod(0o700)
        if mode == "no-spool-names":
            return "" if status == plain and "RECORDS REMOVED" in said else f"status {status}, said {said}"
        if mode in ("file-for-run", "link-for-run") and "another name" not in said:
            return f"nothing of the other name: {said}"
        if mode == "plant-archive":
            run = max(self.at.glob("*.whywait"))
            done = subprocess.run([self.tool, "report", run], env=ENV, capture_output=True, text=True, timeout=LIMIT_S)
            if done.returncode != 1 or "remove it" not in done.stderr or "`whywait report` will" not in said:
                return f"a file in the archive's place: {done}, said {said}"
            (run / "traces.otf2").unlink()
        return self.judge(status, plain, said, has_moved=mode in MOVED)

    def sandbox(self, what):
        box = (self.program, "sandbox", what)
        plain = self.plain(("nothing", "0"), box)
        if plain == "hangs":
            return None
        self.begin()
        status, said = self.end(self.start([*box, self.tool, "record", self.program, "nothing", "0"]))
        silent = what in ("close-4", "close-5", "close-6", "close-7")
        return self.judge(status, plain, said, has_moved=silent or not self.completed())

    def name(self, place, name):
        self.begin(os.fsencode(name).decode(errors="surrogateescape") if place == "folder" and len(os.fsencode(name)) < 200 else "at")
        program, options = self.program, []
        if place == "program":
            program = self.at / name
            shutil.copy(self.program, program)
        if place == "dir":
            options = ["--dir", "./" + name]
        words = ["./" + name if place == "program" else program, "nothing", "0"]
        plain = self.end(self.start(words))[0]
        status, said = self.end(self.start([self.tool, "record", *options, *words]))
        if list(self.home.rglob("owned")):
            return "a name was run"
        runs = [path for path in self.at.rglob("*") if path.is_dir() and path.name.endswith(".whywait") and (path / "traces.otf2").exists()]
        return self.judge(status, plain, said, runs)

    def find(self, process, words):
        """Processes below the launcher whose command line has one of the words."""
        parents, found = {}, []
        for path in pathlib.Path("/proc").iterdir():
            try:
                if path.name.isdigit():
                    parents[int(path.name)] = (int((path / "stat").read_text().rsplit(")", 1)[1].split()[1]), (path / "cmdline").read_bytes())
            except (OSError, ValueError):
                continue
        for pid, (parent, line) in parents.items():
            while parent in parents and parent != process.pid:
                parent = parents[parent][0]
            if parent == process.pid and line.split(b"\0")[:len(words)][-1:] == [words[-1]] and words[0] in line.split(b"\0")[0]:
                found.append(pid)
        return sorted(found)

    def finalizing(self, victim, turn):
        """A rank, or a tool that makes the archive, is killed while MPI_Finalize runs."""
        self.begin()
        process = self.start([self.tool, "record", self.program, "nothing", "0"])
        deadline, until, victims = time.monotonic() + LIMIT_S, self.chance.uniform(0, 0.3), []
        while time.monotonic() < deadline and process.poll() is None and not victims:
            if victim in ("convert", "join"):
                victims = self.find(process, (b"whywait", victim.encode()))
            elif (self.at / "finalizing").exists():
                time.sleep(until)
                victims = self.find(process, (b"deaths",))[int(victim):][:1]
                break
        if victim in ("convert", "join"):
            time.sleep(self.chance.uniform(0, 0.03))
        kill(victims)
        status, said = self.end(process)
        if victim in ("convert", "join") and status != 5:
            return f"status {status} after {victim} was killed: {said[-600:]}"
        return self.judge(0, 0, said)

    def starting(self, victim):
        """A rank, or the launcher, is killed at any moment from its start on."""
        self.begin()
        process = self.start([self.tool, "record", self.program, "nothing", "0"])
        time.sleep(self.chance.uniform(0, 1))
        victims = [process.pid] if victim == "launcher" else self.find(process, (b"deaths",))[int(victim):][:1]
        kill(victims)
        status, said = self.end(process)
        deadline = time.monotonic() + LIMIT_S  # ranks whose launcher is gone end a little later
        while victim == "launcher" and time.monotonic() < deadline and self.ranks_live():
            time.sleep(0.2)
        return self.judge(0, 0, said, has_moved=True)

    def ranks_live(self):
        here = str(self.at)
        for path in pathlib.Path("/proc").glob("[0-9]*/cwd"):
            try:
                if os.readlink(path) == here:
                    return True
            except OSError:
                continue
        return False

    def together(self):
        """Several reports make the archive of one run at once, and one of them is killed."""
        self.begin()
        status, said = self.end(self.start([self.tool, "record", "--no-convert", self.program, "nothing", "0"]))
        run = max(self.at.glob("*.whywait"))
        readers = [subprocess.Popen([self.tool, word, run], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for word in ("report", "salvage", "report", "salvage")]
        time.sleep(self.chance.uniform(0, 0.1))
        readers[0].kill()
        ends = [(reader.communicate(timeout=LIMIT_S)[1], reader.returncode) for reader in readers][1:]
        wrong = [end for end in ends if end[1] not in (0, 1) or end[1] and end[0].count("\n") != 1]
        return f"{wrong}" if wrong else self.judge(status, 5, said)

    def alone(self, mode):
        """Without a launcher, what is said goes into a file."""
        status = {}
        for words in ([self.program], [self.tool, "record", self.program]):
            self.begin()
            with open(self.home / "err", "wb") as err:
                err.write(b"a line of the program's\n")
                err.flush()
                status[len(words)] = subprocess.run([*words, mode, "100"], cwd=self.at, env=dict(ENV, TRUTH=str(self.truth)), stderr=err,
                                                    stdin=subprocess.DEVNULL, timeout=LIMIT_S).returncode
        return "" if status[1] == status[3] else f"status {status[3]} instead of {status[1]}"

    def option(self, option, mode):
        plain = self.plain((mode, "100"))
        if plain == "hangs":
            return None
        self.begin()
        (self.home / "spool").mkdir()
        options = option.replace("SPOOL", str(self.home / "spool")).split()
        status, said = self.end(self.start([self.tool, "record", *options, self.program, mode, "100"]))
        lacks = option.split()[0] in ("--window", "--limit", "--last")
        if lacks:
            for path in self.truth.iterdir():
                path.write_bytes(bytes(8))
        return self.judge(status, plain, said, has_moved=option == "--quiet")

    def twice(self):
        """Two runs of one program at once in one folder."""
        self.begin()
        first = self.start([self.tool, "record", self.program, "nothing", "0"])
        second = self.start([self.tool, "record", self.program, "nothing", "0"])
        ends = [self.end(each)[0] for each in (first, second)]
        runs = list(self.at.glob("*.whywait"))
        wrong = [self.judge_report(run, N_RANKS * 400, "") for run in runs]
        return f"status {ends}, {len(runs)} runs: {wrong}" if ends != [5, 5] or len(runs) != 2 or any(wrong) else ""

    def on_disk(self, room, *what):
        """The runs stand on a disk of their own with so much room. None: nothing can be mounted here."""
        self.begin()
        disk = self.at / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", room, "none", disk], stderr=subprocess.DEVNULL).returncode:
            return None
        try:
            status, said = self.end(self.start([self.tool, "record", "--dir", disk, self.program, *what]))
            runs = [pathlib.Path(shutil.copytree(run, self.home / run.name)) for run in disk.glob("*.whywait")]  # to where there is room
            return self.judge(status, 5, said, runs)
        finally:
            subprocess.run(["umount", "-l", disk], check=True)

    def inodes(self, n):
        """A disk that has room for so many files."""
        return self.on_disk(f"nr_inodes={n}", "nothing", "0")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--every", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("names", nargs="*")
    args = options.parse_intermixed_args()
    n, skipped, bad = 0, 0, 0
    with tempfile.TemporaryDirectory() as home:
        attempt = Attempt(args.build.resolve(), pathlib.Path(home).resolve() / "home", random.Random(args.seed))
        attempt.home.mkdir()
        for turn, (name, kind, words) in enumerate(attempts()):
            if turn % args.every != args.first or args.names and not any(name == word or name.startswith(word + " ") for word in args.names):
                continue
            wrong = getattr(attempt, kind)(*words)
            n += wrong is not None
            skipped += wrong is None
            bad += bool(wrong)
            if wrong:
                print(f"{name}: {wrong}", flush=True)
                if args.keep:
                    shutil.copytree(attempt.home, args.keep / str(turn), symlinks=True, dirs_exist_ok=True)
    print(f"{n} attempts, {skipped} that need what is not here, {bad} of them with findings, {attempt.lost} calls lost")
    sys.exit(bool(bad) or not n)


if __name__ == "__main__":
    main()
