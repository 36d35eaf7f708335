#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each file that the tool reads becomes a pipe just before it is opened: the tool goes on without it, or says so; it waits for nothing.
A file that the system fails to open is not taken for one that is missing, nor one of another run for the one that was there.

    exchanged.py BUILD_DIR [--most N] [NAME ...]     N: the first so many times that a file is opened
"""
import argparse
import errno
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_QUIET="1", DEBUGINFOD_URLS="")
LIMIT_S, DEGRADED = 30, 2
# RUN is an archive, SPOOL a run that nobody has converted, KEPT a baseline, OUT the file to write.
COMMANDS = {name: words.split() for name, words in (line.split(": ") for line in """
report: report RUN
spool: report SPOOL
html: html -o OUT RUN
annotate: annotate faulted.c:20-50 RUN
csv: export --format csv --table steps -o OUT RUN
otf2: export --format otf2 -o OUT RUN
baseline: diff --baseline KEPT RUN
cc: cc --from RUN
list: list
""".strip().splitlines())}


class Exchange:
    def __init__(self, build, home):
        self.tool, self.library = build / "bin" / "whywait", build / "lib" / "libexchanged.so"
        self.pristine, self.at = home / "pristine", home / "at"
        self.at.mkdir()
        shutil.copy(HERE / "faulted.c", self.at)
        subprocess.run([shutil.which("mpicc.openmpi") or "mpicc", "-g", "-O1", "-o", self.at / "faulted", self.at / "faulted.c"], cwd=self.at, check=True)
        for name, options in (("RUN", []), ("SPOOL", ["--no-convert"]), ("OTHER", ["--no-convert"])):
            known = set(self.at.glob("*.whywait"))
            subprocess.run([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", self.tool, "record", *options, self.at / "faulted", "2000"], cwd=self.at,
                           env=ENV, capture_output=True, timeout=LIMIT_S)
            (set(self.at.glob("*.whywait")) - known).pop().rename(self.at / f"{name}.whywait")
        subprocess.run([self.tool, "diff", "--keep", "KEPT", "RUN.whywait"], cwd=self.at, env=ENV, check=True, capture_output=True)
        self.files = sorted(path.relative_to(self.at) for path in self.at.rglob("*") if path.is_file())
        self.at.rename(self.pristine)

    def begin(self):
        shutil.rmtree(self.at, ignore_errors=True)
        shutil.copytree(self.pristine, self.at)

    def give(self, words, file=None, turn=1, why=None, out=subprocess.PIPE):
        names = {"RUN": "RUN.whywait", "SPOOL": "SPOOL.whywait"}
        env = dict(ENV, LD_PRELOAD=str(self.library), EXCHANGED=str(self.at / file), EXCHANGED_TURN=str(turn)) if file else dict(ENV)
        if why:
            env["EXCHANGED_ERRNO"] = str(why)
        return subprocess.run([self.tool, *(names.get(word, word) for word in words)], cwd=self.at, env=env, stdin=subprocess.DEVNULL,
                              stdout=out, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)

    def one(self, words, file, turn):
        """What is wrong, or ""; None when the file is not opened so many times."""
        self.begin()
        try:
            done = self.give(words, file, turn)
        except subprocess.TimeoutExpired:
            return "waits"
        path = self.at / file
        if not path.exists() or not stat.S_ISFIFO(path.stat().st_mode):
            return None
        return "" if done.returncode in (0, 1, DEGRADED) else f"status {done.returncode}, said: {done.stderr[-400:]!r}"

    def program_unread(self):
        """Without the names in it no archive is made: nothing else has them."""
        self.begin()
        done = self.give(["salvage", "SPOOL"], "faulted", 1, errno.EMFILE)
        if done.returncode != 1 or done.stderr.count("\n") != 1 or "faulted: Too many open files" not in done.stderr:
            return f"the program cannot be opened: status {done.returncode}, said {done.stderr!r}"
        done = self.give(["salvage", "SPOOL"])
        names = (self.at / "SPOOL.whywait/traces.def").read_bytes()
        return "" if done.returncode == 0 and not done.stderr and b"faulted.c" in names else f"afterwards: {done}"

    def debug_unread(self):
        """Debug information in a file of its own: where that cannot be opened, all say so once, and none that there is no such."""
        self.begin()
        for words in (["--only-keep-debug", "faulted", "faulted.debug"], ["--strip-debug", "--add-gnu-debuglink=faulted.debug", "faulted"]):
            subprocess.run(["objcopy", *words], cwd=self.at, check=True)
        (self.at / "split.c").write_text("int main(int n, char **words) { for (int i = 0; i < n; i++) words[i] = 0; return 0; }\n")
        for words in (["-c", "split.c"], ["-o", "split", "split.o"]):
            subprocess.run(["gcc", "-g", "-gsplit-dwarf", *words], cwd=self.at, check=True)
        for name in ("RUN", "SPOOL"):
            shutil.rmtree(self.at / f"{name}.whywait/code", ignore_errors=True)
        for path in (self.at / "faulted", self.at / "faulted.debug"):
            for command, status in (("report", DEGRADED), ("html", DEGRADED), ("csv", DEGRADED), ("baseline", DEGRADED), ("loops", 1)):
                words = ["loops", "faulted"] if command == "loops" else COMMANDS[command]
                good, done = self.give(words), self.give(words, path, 1, errno.EMFILE)
                if good.returncode or good.stderr and command != "baseline":
                    return f"{command}, debug information apart: {good}"
                if done.returncode != status or done.stderr.count("\n") != good.stderr.count("\n") + 1 or f"{path.name}: Too many open files" not in done.stderr:
                    return f"{command}, {path.name} unread: status {done.returncode}, said {done.stderr!r}"
                if any(word in done.stdout for word in ("compile with -g", "not there any more", "as an ELF file")):
                    return f"{command}, {path.name} unread: another reason is given: {done.stdout}"
        done = self.give(["loops", "split"], "split.dwo", 1, errno.EMFILE)
        if done.returncode != 1 or done.stderr.count("\n") != 1 or "split.dwo: Too many" not in done.stderr:
            return f"loops, split debug information unread: {done}"
        done = self.give(["salvage", "SPOOL"], "faulted.debug", 1, errno.EMFILE)
        if done.returncode != 1 or done.stderr.count("\n") != 1 or "faulted.debug: Too many" not in done.stderr:
            return f"salvage, debug information unread: {done}"
        done = self.give(["salvage", "SPOOL"])
        is_named = b"faulted.c" in (self.at / "SPOOL.whywait/traces.def").read_bytes()
        return "" if done.returncode == 0 and is_named else f"salvage, debug information there again: {done}"

    def other_run(self):
        """A rank of another run is not joined with this one."""
        self.begin()
        spool, other = (self.at / f"{name}.whywait/spool" for name in ("SPOOL", "OTHER"))
        away = self.at / "away"
        for folder, to in ((spool, away), (other, spool)):
            to.mkdir(exist_ok=True)
            for path in folder.glob("1-*"):
                path.rename(to / path.name)
        before = {path: path.read_bytes() for path in spool.iterdir()}
        for command in ("salvage", "report"):
            done = self.give([command, "SPOOL"])
            if done.returncode != 1 or done.stderr.count("\n") != 1 or "two runs" not in done.stderr or done.stdout:
                return f"{command} of two runs: {done}"
        if any(not path.is_file() or path.read_bytes() != bytes for path, bytes in before.items()):
            return "two runs: the spool has changed"
        for folder, to in ((spool, other), (away, spool)):
            for path in folder.glob("1-*"):
                path.rename(to / path.name)
        done = [self.give(["salvage", name]) for name in ("SPOOL", "OTHER.whywait")]
        return "" if not any(one.returncode or one.stderr for one in done) else f"two runs, parted again: {done}"

    def build_unread(self):
        """The kept build stands in for a program that has gone. Where it may not be read, that is said."""
        self.begin()
        program = (self.at / "faulted").read_bytes()
        (self.at / "faulted").unlink()
        kept, = (file for file in self.files if file.parts[:2] == ("RUN.whywait", "code") and (self.at / file).read_bytes() == program)
        good, done = self.give(COMMANDS["report"]), self.give(COMMANDS["report"], kept, 1, errno.EACCES)
        if good.returncode or good.stderr:
            return f"the kept build: {good}"
        if done.returncode != DEGRADED or done.stderr.count("\n") != 1 or f"{kept.name}: Permission denied" not in done.stderr:
            return f"the kept build may not be read: status {done.returncode}, said {done.stderr!r}"
        return ""

    def source_unread(self):
        """Another text than the one that ran is not shown without a word, also where the word for what was written has no room."""
        self.begin()
        kept, = (file for file in self.files if file.name.endswith("-faulted.c"))
        words = COMMANDS["annotate"]
        for file, why in ((kept, errno.EIO), (kept, errno.EMFILE), (kept, errno.EACCES)):
            done = self.give(words, file, 1, why)
            if done.returncode != DEGRADED or done.stderr.count("\n") != 1 or str(kept) not in done.stderr:
                return f"the kept source: {os.strerror(why)}: status {done.returncode}, said {done.stderr!r}"
        with open("/dev/full", "w") as full:
            done = self.give(COMMANDS["html"], kept, 1, errno.EACCES, full)
        if done.returncode != 1 or "No space left" not in done.stderr:
            return f"html, standard output full: status {done.returncode}, said {done.stderr!r}"
        return ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--most", type=int, default=1000)
    options.add_argument("names", nargs="*", help="; ".join(COMMANDS))
    args = options.parse_intermixed_args()
    n, bad = 0, []
    with tempfile.TemporaryDirectory() as home:
        exchange = Exchange(args.build.resolve(), pathlib.Path(home).resolve())
        for name in args.names or COMMANDS:
            for file in (file for file in exchange.files if not str(file).startswith("OTHER")):
                for turn in range(1, args.most + 1):
                    wrong = exchange.one(COMMANDS[name], file, turn)
                    if wrong is None:
                        break
                    n += 1
                    if wrong:
                        bad.append(f"{name}: {file}, opened for time {turn}: {wrong}")
                        print(bad[-1], flush=True)
        for wrong in (exchange.program_unread(), exchange.source_unread(), exchange.build_unread(), exchange.debug_unread(), exchange.other_run()):
            bad += [wrong] if wrong else []
            print(wrong, end="\n" if wrong else "")
    print(f"{n} files exchanged, {len(bad)} of them with consequences")
    sys.exit(bool(bad) or not n)


main()
