#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every command of docs/tutorial.md, in order, and holds what it prints against what the page shows.

    tutorial.py BUILD_DIR            as a test
    tutorial.py BUILD_DIR --print    shows each command with what it prints, to renew the page

The commands are the blocks that begin with ```sh, the outputs those with ```text. Times differ from run to run, so an output must
hold the places, ranks, kinds and counts of the page's block only (FACTS).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
FACTS = re.compile(r"[a-z_]+\.c:\d+(?:-\d+)?(?: in \w+\(\))?|[Rr]ank \d+|\(more \w+|nothing lost|[\d,]+ MPI calls|[\d,]+ -> [\d,]+|[\d.]+M\b"
                   r"|these changes are certain|particle 0 is at [\d. ]+\d|for \(int i = .*\{")


def blocks(page):
    """[(commands, outputs shown below them)] of the page."""
    found = []
    for kind, text in re.findall(r"^```(sh|text)\n(.*?)^```$", page, flags=re.S | re.M):
        if kind == "sh":
            found.append((text, []))
        else:
            found[-1][1].append(text)
    return found


def run(commands, folder, build):
    """What each block prints. One shell runs them all, so that `cd` holds."""
    mark = "-- end of a block --"
    script = "set -e -o pipefail\n" + "".join(f"{text}\necho '{mark}'\n" for text in commands)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=dict(ENV, PATH=f"{build / 'bin'}:{os.environ['PATH']}"), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500)
    return done.stdout.split(mark)[:len(commands)], done.returncode


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    page = blocks((ROOT / "docs/tutorial.md").read_text())
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "docs", pathlib.Path(folder, "docs"))
        printed, status = run([commands for commands, _ in page], folder, build)
    if sys.argv[2:] == ["--print"]:
        print("".join(f"$ {commands}{output}\n" for (commands, _), output in zip(page, printed)))
    lines = [f"a command ended with status {status}:\n{printed[-1]}"] if status else []
    for (commands, shown), output in zip(page, printed):
        words = re.sub(r"\s+", " ", output)
        lines += [f"`{commands.strip()}` does not print \"{fact}\", which the page shows; it prints\n{output}" for text in shown
                  for fact in FACTS.findall(re.sub(r"[ \t]*\n[ \t]*", " ", text)) if fact.strip() not in words]
    n_facts = sum(len(FACTS.findall(text)) for _, shown in page for text in shown)
    print("\n".join([*lines, f"{len(page)} blocks of commands, {n_facts} facts"]))
    return 1 if lines or len(page) < 8 or n_facts < 20 else 0


sys.exit(main())
