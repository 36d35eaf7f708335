#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails the system calls of the commands that write, one by one. A command succeeds as without the fault, or says in one
message that it did not; then what had the output's name before stays. The next one, without a fault, writes the same as
ever, and nothing is left beside it.

    writers.py BUILD_DIR [--most N] [--seed S] [--more] [NAME ...]

Runs are those of tests/fuzz/corpus. Of the calls that a command makes, N are failed: as many of each function, with an
error that it may have.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from importlib.machinery import SourceFileLoader

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "fuzz"
sys.dont_write_bytecode = True
unpack = SourceFileLoader("bundle", str(CORPUS / "bundle")).load_module().unpack

ENV = dict({name: value for name, value in os.environ.items() if not name.startswith("WHYWAIT")}, DEBUGINFOD_URLS="", NO_COLOR="1",
           WHYWAIT_PAGER="")
LIMIT_S, SKIPPED, DEGRADED = 30, 77, 2
# Errors that the kernel may give. MORE: of libraries and of what is only looked at; there, a few go unnoticed.
ERRORS = {"openat": "EMFILE EACCES ENOSPC EIO ENOMEM EINTR", "write": "ENOSPC EIO EINTR EDQUOT", "read": "EIO EINTR",
          "rename": "EIO ENOSPC EACCES", "renameat": "EIO ENOSPC EACCES", "mkdir": "ENOSPC EACCES EIO",
          "mkdirat": "ENOSPC EACCES EIO", "fsync": "EIO ENOSPC EINTR", "close": "EIO EINTR ENOSPC", "mmap": "ENOMEM EACCES",
          "ftruncate": "EIO EINTR", "fallocate": "ENOSPC EINTR", "unlink": "EIO EACCES", "unlinkat": "EIO EACCES", "rmdir": "EIO",
          "fchmod": "EIO EACCES", "getdents64": "EIO ENOMEM", "flock": "ENOLCK EINTR", "link": "EIO", "sendfile": "EIO ENOSPC EINTR",
          "pwrite64": "EIO ENOSPC", "pipe2": "EMFILE", "clone3": "EAGAIN", "clone": "EAGAIN"}
MORE = {"pread64": "EIO", "lseek": "EIO", "newfstatat": "EIO ENOMEM", "fstat": "EIO", "statx": "EIO", "readlink": "EIO", "munmap": "ENOMEM"}
# RUN is an archive, OTHER one more, APART one whose program has its debug information in a file of its own, SPOOL a run that nobody
# has converted, KEPT a baseline, OUT the file to write.
COMMANDS = {name: words.split() for name, words in (line.split(": ") for line in """
html: html -o OUT RUN
lcov: export --format lcov -o OUT RUN
gcov: export --format gcov-json -o OUT RUN
chrome: export --format chrome -o OUT RUN
folded: export --format folded -o OUT RUN
callgrind: export --format callgrind -o OUT RUN
csv: export --format csv --table steps -o OUT RUN
dot: export --format dot -o OUT RUN
otf2: export --format otf2 -o OUT RUN
annotate: annotate --source RUN RUN
keep: diff --keep OUT RUN
baseline: diff --baseline KEPT --format json RUN
trend: trend --format json KEPT RUN
salvage: salvage SPOOL
report: report --format json SPOOL
html-spool: html -o OUT SPOOL
pages: html -o OUT RUN vs OTHER
sources: annotate RUN
diff: diff RUN vs OTHER
trend-text: trend KEPT RUN
list: list
views: report --all --routines RUN
apart: report --format json APART
apart-csv: export --format csv --table steps -o OUT APART
spread: export --format csv --table steps -o OUT RUN OTHER
cc: cc --from RUN
""".strip().splitlines())}


def part_debug(folder):
    """The programs' debug information goes into files of its own."""
    for program in list(folder.iterdir()):
        for words in (["--only-keep-debug", program, f"{program}.debug"], ["--strip-debug", f"--add-gnu-debuglink={program}.debug", program]):
            subprocess.run(["objcopy", *words], check=True)


class Place:
    """A folder with the runs in it, always of the same name."""
    def __init__(self, home):
        self.home = home
        self.files = {"RUN": home / "run.whywait", "SPOOL": home / "spool.whywait", "OTHER": home / "other.whywait",
                      "APART": home / "apart.whywait", "KEPT": home / "kept", "OUT": home / "made"}

    def fill(self, words):
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        if "RUN" in words or "list" in words:
            unpack(CORPUS / "corpus/tool/archive", self.files["RUN"])
        if "OTHER" in words:
            unpack(CORPUS / "corpus/tool/windows", self.files["OTHER"])
        if "APART" in words:
            unpack(CORPUS / "corpus/tool/archive", self.files["APART"])
            part_debug(self.files["APART"] / "code")
        if "SPOOL" in words:
            unpack(CORPUS / "corpus/tool/spool", self.files["SPOOL"])
        if "KEPT" in words:
            shutil.copy(CORPUS / "corpus/kept/counted", self.files["KEPT"])

    def give(self, tool, words, fault=()):
        words = [str(self.files.get(word, word)) for word in words]
        return subprocess.run([*fault, tool, *words], cwd=self.home, env=ENV, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=LIMIT_S)

    def state(self):
        """All files, and what is in them."""
        return {str(path.relative_to(self.home)): path.read_bytes() for path in self.home.rglob("*") if path.is_file()}


def calls_of(log):
    return re.findall(r"^(?:\d+ +)?([a-z_0-9]+)\(", log.read_text(errors="replace"), re.M)


class Writer:
    def __init__(self, tool, home, name):
        self.tool, self.home, self.name, self.words = tool, home, name, COMMANDS[name]
        place = Place(home / "at")
        place.fill(self.words)
        self.good = place.give(tool, self.words)
        self.made = place.state()
        log = home / f"{name}.log"
        counts = []
        for words in (["version"], self.words):
            place.fill(self.words)
            place.give(tool, words, ("strace", "-f", "-o", str(log), "-e", "trace=" + ",".join(ERRORS)))
            counts.append(calls_of(log))
        self.numbers = {call: list(range(counts[0].count(call) + 1, counts[1].count(call) + 1)) for call in ERRORS}

    def faults(self, most, chance):
        """Of each function the first few in an order of chance."""
        for numbers in self.numbers.values():
            chance.shuffle(numbers)
        turns = [(i, call, nth) for call, numbers in self.numbers.items() for i, nth in enumerate(numbers)]
        return [(call, nth) for i, call, nth in sorted(turns, key=lambda turn: turn[0])[:most]]

    def fail(self, place, call, nth, error, old):
        """What is wrong, or ""; None when the fault did not come."""
        place.fill(self.words)
        if old is not None and "OUT" in self.words:
            place.files["OUT"].write_bytes(old)
        log = place.home.with_suffix(".log")
        fault = ("strace", "-f", "--seccomp-bpf", "-o", str(log), "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={nth}")
        try:
            done = place.give(self.tool, self.words, fault)
        except subprocess.TimeoutExpired:
            return "hangs"
        failed = [line for line in log.read_text(errors="replace").splitlines() if "INJECTED" in line]
        if not failed:
            return None
        wrong = self.judge(place, call, done, old)
        return wrong and f"{wrong}\n    {failed[0]}"

    def judge(self, place, call, done, old):
        said, state = done.stderr.decode(), place.state()
        told = f"status {done.returncode}, said: {said!r}"
        is_same = done.stdout == self.good.stdout and state.get("made") == self.made.get("made")
        if done.returncode not in (0, 1, DEGRADED):
            return "ended the tool: " + told
        said_more = len(set(said.splitlines()) - set(self.good.stderr.decode().splitlines()))
        if done.returncode == self.good.returncode and not is_same and (done.returncode == 0 or not said_more):
            return "another output without a word: " + told
        if done.returncode == 1 and said_more not in (1, 2):  # what is not there, and what follows from that
            return "failed with no clear message: " + told
        is_made = is_same or "cannot write to standard output" in said  # the file is there, of which the command says that
        if done.returncode == 1 and "OUT" in self.words and state.get("made") != old and not is_made:
            return "failed, and what had the name has gone: " + told
        if done.returncode == DEGRADED and not said_more and not is_same:
            return "lacks something, without a word: " + told
        left = [name for name in state if name not in self.made and "/" not in name and name != "made"]
        if left and call != "unlink":
            return f"left {left}: " + told
        return self.judge_next(place, said, told, left)

    def judge_next(self, place, said, told, left):
        done, state = place.give(self.tool, self.words), place.state()
        if (done.returncode, done.stdout) != (self.good.returncode, self.good.stdout):
            return f"the next one has status {done.returncode} and says {done.stderr.decode()!r}, after {told}"
        changed = {name for name in self.made.keys() | state.keys() if self.made.get(name) != state.get(name)} - set(left)
        changed.discard("spool.whywait/traces.otf2")  # it has an identifier
        if said:  # copies of files that are elsewhere
            changed = {name for name in changed if not name.startswith(("spool.whywait/source/", "spool.whywait/code/"))}
        return f"left another {sorted(changed)}, after {told}" if changed else ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--most", type=int, default=1000, help="faults a command")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--more", action="store_true", help="also " + ", ".join(MORE))
    options.add_argument("names", nargs="*", help="; ".join(COMMANDS))
    args = options.parse_intermixed_args()
    ERRORS.update(MORE if args.more else {})
    if not shutil.which("strace"):
        print("not tried: there is no strace")
        sys.exit(SKIPPED)
    chance, n, bad = random.Random(args.seed), 0, 0
    old = (CORPUS / "corpus/kept/series").read_bytes()
    with tempfile.TemporaryDirectory() as home:
        for name in args.names or COMMANDS:
            writer = Writer(str(args.build.resolve() / "bin" / "whywait"), pathlib.Path(home), name)
            for call, nth in writer.faults(args.most, chance):
                error = chance.choice(ERRORS[call].split())
                wrong = writer.fail(Place(pathlib.Path(home) / "at"), call, nth, error, chance.choice((None, old)))
                n += wrong is not None
                bad += bool(wrong)
                if wrong:
                    print(f"{name}: {call} {nth} {error}: {wrong}", flush=True)
    print(f"{n} faults, {bad} of them with consequences")
    sys.exit(bool(bad) or not n)


if __name__ == "__main__":
    main()
