#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Options and environment of any content: empty, huge, not UTF-8, numbers beyond every type. The tool answers with a
status of its own and in time; a recorded program ends as it does without.

    options.py BUILD_DIR [--seconds N] [--seed N]
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
import time

LIMIT_S = 60
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_rmaps_base_oversubscribe="1")
VALUES = [b"", b"0", b"1", b"-1", b" 7", b"1e9", b"0x10", b"18446744073709551615", b"99999999999999999999999", b"1k", b"9999999999g", b"-",
          b"--", b"=", b"nan", b"inf", b"\xff\xfe\x80", "µs".encode(), b"%s%n%s%n", b"a b", b"$(exit 3)", b"`exit 3`", b"\x1b[31m", b"\n\n",
          b"../../../..", b"." * 300, b"x" * 5000, b"/" * 4096, b"y" * 100000, b"good", b"missing", b"program", b"/dev/null", b"text", b"json",
          b"off", b"perf", b"timer"]
COMMANDS = ["list", "rm", "report", "diff", "trend", "annotate", "html", "export", "check", "salvage", "cc", "loops", "convert", "join", "help",
            "version", "record"]
RECORDER = ["WHYWAIT_DIR", "WHYWAIT_SPOOL", "WHYWAIT_LIMIT", "WHYWAIT_RATE", "WHYWAIT_SAMPLER", "WHYWAIT_CONVERT", "WHYWAIT_QUIET", "WHYWAIT_TOOL",
            "WHYWAIT_KEEP_SPOOL", "WHYWAIT_SPACE", "WHYWAIT_LAST", "WHYWAIT_WINDOW", "WHYWAIT_EVERY", "WHYWAIT_ONLY",
            "TMPDIR", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "COLUMNS", "LD_PRELOAD"]
OWN_STATUSES = {0, 1, 2, 3, 126, 127}


class Storm:
    def __init__(self, build, home, seed):
        self.tool, self.program, self.home = build / "bin/whywait", build / "tests/run/known/one", home
        self.random, self.n_failed, self.n_done = random.Random(seed), 0, 0
        self.known = {command.encode(): self.options_of(command) for command in COMMANDS}
        data = pathlib.Path(__file__).parents[2] / "unit/trace/data/tau-phases"
        shutil.copytree(data, home / "good")
        shutil.copy(self.program, home / "program")

    def options_of(self, command):
        """Those that its help lists."""
        done = subprocess.run([self.tool, command, "--help"], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
        return sorted(set(re.findall(rb"^ .*?--([a-z-]+)", done.stdout, re.M)))

    def value(self):
        if self.random.randrange(4):
            return self.random.choice(VALUES)
        return bytes(self.random.randrange(1, 256) for _ in range(self.random.randrange(40)))

    def fail(self, what, words, done):
        self.n_failed += 1
        print(f"FAILED: {what}: {[word[:80] for word in words]}: {str(done)[-600:]}")

    def options(self):
        """A command with some of its options, right and wrong values, in any order."""
        command = self.random.choice(list(self.known))
        words = [str(self.tool).encode(), command]
        for _ in range(self.random.randrange(5)):
            if self.known[command] and self.random.randrange(3):
                option = b"--" + self.random.choice(self.known[command])
                words += [option + b"=" + self.value()] if self.random.randrange(2) else [option, self.value()]
            else:
                words.append(self.value())
        if command == b"record":
            words = [word for word in words if not word.startswith(b"/") or word == words[0]] + [b"true"]
        elif self.random.randrange(2):
            words.append(self.random.choice([b"good", b"program"]))
        self.try_one(words, {}, "options", lambda done: done.returncode in OWN_STATUSES)

    def environment(self):
        """A program recorded with some variables set to anything."""
        changed = {name: self.value() for name in self.random.sample(RECORDER, self.random.randrange(1, 4))}
        changed = {name: value for name, value in changed.items() if not value.startswith((b"/", b"..")) and len(value) < 100000}
        words = [str(self.tool).encode(), b"record", str(self.program).encode()]
        self.try_one(words, changed, "environment", lambda done: done.returncode == 0 and done.stdout == b"")

    def try_one(self, words, changed, what, holds):
        self.n_done += 1
        try:
            done = subprocess.run(words, env={**ENV, **changed}, cwd=self.home, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=LIMIT_S)
        except subprocess.TimeoutExpired as late:
            return self.fail("too late", words, late)
        if not holds(done):
            self.fail(what, [*words, *(name.encode() + b"=" + value for name, value in changed.items())], done)
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whywait-options-") as home:
        storm = Storm(options.build.resolve(), pathlib.Path(home), options.seed)
        end = time.monotonic() + options.seconds
        while time.monotonic() < end and storm.n_failed < 10:
            for _ in range(20):
                storm.options()
            storm.environment()
        print(f"{storm.n_done} command lines and environments, {storm.n_failed} failed")
        return 1 if storm.n_failed else 0


sys.exit(main())
