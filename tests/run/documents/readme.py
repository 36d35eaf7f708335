#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The README's lines for make and CMake build a program that counts, and every option that the documents use is one of the command's.

    readme.py BUILD_DIR
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENTS = ["README.md", "docs/guide.md", "docs/tutorial.md"]
CMAKE_PROJECT = "cmake_minimum_required(VERSION 3.20)\nproject(pairs C)\nadd_executable(pairs pairs.c)\ntarget_link_libraries(pairs m)\n"


def line_with(text, word):
    """The line of the README that holds a word, without its comment."""
    line, = (line for line in text.splitlines() if word in line and "`" not in line)
    return line.split("#")[0].strip()


def counts(tool, program, env):
    said = subprocess.run([tool, "check", program], env=env, capture_output=True, text=True, timeout=100).stdout
    return any("counters" in line and "yes" in line for line in said.splitlines()), said


def built(folder, commands, env):
    done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, env=env, capture_output=True, text=True, timeout=200)
    return "" if done.returncode == 0 else f"{commands}: status {done.returncode}\n{done.stdout}{done.stderr}"


def unknown_options(tool, path):
    """(command, option) pairs of a document that the command's help does not have."""
    text = (ROOT / path).read_text()
    used = {(command, option) for command, rest in re.findall(r"whywait (\w+)([^`\n#|)]*)", text) for option in re.findall(r"(?<!\S)--[a-z-]+", rest)}
    used |= {(command, option) for command, rest in re.findall(r"`(report|diff|trend|annotate|export) ([^`]*)`", text)
             for option in re.findall(r"(?<!\S)--[a-z-]+", rest)}
    helps = {command: subprocess.run([tool, command, "--help"], capture_output=True, text=True, timeout=100).stdout for command, _ in used}
    return [pair for pair in sorted(used) if not re.search(rf"{pair[1]}\b", helps[pair[0]])], len(used)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    tool, readme = build / "bin/whywait", (ROOT / "README.md").read_text()
    env = dict(os.environ, PATH=f"{build / 'bin'}:{os.environ['PATH']}")
    makefile = f"CC = mpicc\nLDLIBS = -lm\nCFLAGS = -O2 -g\n{line_with(readme, 'CFLAGS +=')}\n"
    failed, n_used = [], 0
    for name, content, commands, program in (("Makefile", makefile, "make pairs", "pairs"),
                                             ("CMakeLists.txt", CMAKE_PROJECT, f"{line_with(readme, 'cmake -D')} -B out . && cmake --build out", "out/pairs")):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "docs/tutorial/pairs.c", folder)
            pathlib.Path(folder, name).write_text(content)
            error = built(folder, commands, env)
            does, said = (False, error) if error else counts(tool, pathlib.Path(folder, program), env)
            failed += [] if does else [f"{name}: the program does not count:\n{said}"]
    for path in DOCUMENTS:
        unknown, n = unknown_options(tool, path)
        failed += [f"{path}: `whywait {command}` has no {option}" for command, option in unknown]
        n_used += n
    print("\n".join([*failed, f"{n_used} options used by the documents"]))
    return 1 if failed or n_used < 15 else 0


sys.exit(main())
