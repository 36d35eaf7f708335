#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""As deaths.py, with other bad luck (perils.c): what the recorder had known of its process is no longer so.

    perils.py BUILD_DIR [--keep DIR] [NAME ...]

Each attempt is told by its name, such as "mode storm 100". --keep leaves those with findings in DIR.
"""
import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import deaths  # beside this file

STEPS = (0, 100, 199)
# Without the recorder there is no run to which it could happen.
NEED_RUN = {"move-and-back", "move-into", "cover-run", "read-only"}
SIZES_KB = (64, 128, 256, 400, 512, 600, 700, 800, 900, 1000, 1200, 1500, 2000, 3000)


def modes(program):
    return re.findall(r'^    \{"([a-z-]+)", [a-z_]+\},$', program.read_text(), re.M)


def attempts():
    for step in STEPS:
        yield from ((f"mode {mode} {step}", "mode", (mode, str(step))) for mode in modes(pathlib.Path(__file__).with_suffix(".c")))
    yield from ((f"timer {mode} 100", "mode", (mode, "100", "env", "WHYWAIT_SAMPLER=timer")) for mode in modes(pathlib.Path(__file__).with_suffix(".c")))
    yield from ((f"disk {size}", "disk", (size,)) for size in SIZES_KB)
    yield from ((f"same {turn}", "same", ()) for turn in range(4))


class Attempt(deaths.Attempt):
    def __init__(self, build, home, chance):
        super().__init__(build, home, chance)
        self.program = build / "bin/perils"

    def uncover(self):
        """Nothing is mounted below any more."""
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()[::-1]:
            if line.split()[1].startswith(str(self.home)):
                subprocess.run(["umount", "-l", line.split()[1]], check=True)

    def mode(self, mode, step, *before):
        plain = 5 if mode in NEED_RUN else self.plain((mode, step))
        if plain == "hangs":
            return None
        self.begin()
        status, said = self.end(self.start([*before, self.tool, "record", self.program, mode, step]))
        self.uncover()
        own = self.at / "own-results"
        if own.exists() and own.read_text() != "mine":
            return f"the program's file has {own.read_bytes()[:80]}"
        return self.judge(status, plain, said, has_moved=mode == "move-into")

    def disk(self, size_kb):
        """A disk with so much room: it is full while ranks record, make their archives, or join them."""
        return self.on_disk(f"size={size_kb}k", "spawn", "100")

    def same(self):
        """Two jobs at once to which the same folder was named: both are whole in it."""
        self.begin()
        jobs = [self.start([self.tool, "record", "-o", "here", self.program, "spawn", "100"]) for _ in range(2)]
        ends = [self.end(job)[0] for job in jobs]
        runs = list((self.at / "here").glob("*.whywait"))
        wrong = [self.judge_report(run, deaths.N_RANKS * 400, "") for run in runs]
        return f"status {ends}, {len(runs)} runs: {wrong}" if ends != [5, 5] or len(runs) != 2 or any(wrong) else ""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("names", nargs="*")
    args = options.parse_intermixed_args()
    n, skipped, bad = 0, 0, 0
    with tempfile.TemporaryDirectory() as home:
        attempt = Attempt(args.build.resolve(), pathlib.Path(home).resolve() / "home", random.Random(1))
        attempt.home.mkdir()
        for turn, (name, kind, words) in enumerate(attempts()):
            if args.names and not any(name == word or name.startswith(word + " ") for word in args.names):
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


main()
