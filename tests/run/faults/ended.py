#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ends the commands that write by a signal in one of their system calls, or lets them have too little memory, descriptors or room in a
file. What had the output's name before is there, or all of what is written without that. The next command, left alone, does the same as ever.

    ended.py BUILD_DIR [--most N] [--seed S] [NAME ...]     N: attempts a command
"""
import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import writers  # beside this file

SIGNALS = ("KILL", "TERM", "INT", "XFSZ", "PIPE", "HUP", "QUIT", "XCPU")
LIMITS = ("--as=40000000", "--as=80000000", "--nofile=6", "--nofile=9", "--fsize=0", "--fsize=4096", "--fsize=65536", "--stack=65536", "--data=8000000",
          "--nproc=1")


def attempts(writer, most, chance):
    """(words before the command, its name): by turns a signal and a limit."""
    calls = [(call, nth) for call, numbers in writer.numbers.items() for nth in numbers]
    for turn in range(most):
        call, nth = chance.choice(calls)
        signal, limit = chance.choice(SIGNALS), chance.choice(LIMITS)
        if turn % 3 < 2:
            yield ("strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal={signal}:when={nth}"), f"{signal} in {call} {nth}"
        else:
            yield ("prlimit", limit), f"limit {limit}"


def judge(writer, place, done, old):
    """What is wrong, or ""."""
    said, made = done.stderr.decode(errors="replace"), place.state().get("made")
    told = f"status {done.returncode}, said: {said!r}"
    if "internal error" in said or "Sanitizer" in said or done.returncode in (-11, 139, -6, 134, -7, 135, -8):
        return "crashed: " + told
    lacks = done.returncode == writers.DEGRADED and said  # that it does is what the status and the message say
    if made not in (old, writer.made.get("made")) and not lacks:
        return f"left {len(made or b'')} bytes in the output's place: " + told
    if done.returncode == 0 and done.stdout != writer.good.stdout and not said:
        return "another output without a word: " + told
    left = [name for name in place.state() if name not in writer.made and "/" not in name and name != "made"]
    return writer.judge_next(place, "ended", told, left)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--most", type=int, default=6)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("names", nargs="*", help="; ".join(writers.COMMANDS))
    args = options.parse_intermixed_args()
    if not shutil.which("strace") or not shutil.which("prlimit"):
        print("not tried: there is no strace or prlimit")
        sys.exit(writers.SKIPPED)
    chance, n, n_ended, bad = random.Random(args.seed), 0, 0, 0
    old_text = (writers.CORPUS / "corpus/kept/series").read_bytes()
    with tempfile.TemporaryDirectory() as home:
        for name in args.names or writers.COMMANDS:
            writer = writers.Writer(str(args.build.resolve() / "bin" / "whywait"), pathlib.Path(home), name)
            for before, what in attempts(writer, args.most, chance):
                place, old = writers.Place(pathlib.Path(home) / "at"), chance.choice((None, old_text))
                place.fill(writer.words)
                if old is not None and "OUT" in writer.words:
                    place.files["OUT"].write_bytes(old)
                try:
                    done = place.give(writer.tool, writer.words, before)
                    n_ended += done.returncode != writer.good.returncode
                    wrong = judge(writer, place, done, old if "OUT" in writer.words else None)
                except subprocess.TimeoutExpired:
                    wrong = "hangs"
                n += 1
                bad += bool(wrong)
                if wrong:
                    print(f"{name}: {what}: {wrong}", flush=True)
    print(f"{n} attempts, {n_ended} of which ended the command, {bad} of them with consequences")
    sys.exit(bool(bad) or not n_ended)


main()
