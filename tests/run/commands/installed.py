#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The install tree: it works where it is moved to, blanks in its path included, has all that it names, and nothing of the folders
that it was built in. `installed.py BUILD_DIR SOURCE_DIR`"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MPIRUN = shutil.which("mpirun.openmpi") or "mpirun"
ENV = dict({name: value for name, value in os.environ.items() if not name.startswith("WHYWAIT")}, OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none")
failures = []


def that(holds, *words):
    if not holds:
        failures.append(" ".join(str(word) for word in words))


def run(*command, cwd):
    return subprocess.run([str(word) for word in command], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=300)


def check_documents(prefix):
    folder = next(prefix.glob("share/doc/whywait"))
    for text in folder.glob("**/*.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text.read_text()):
            name = link[len("docs/"):] if text.name == "README.md" and link.startswith("docs/") else link
            at = prefix / "share/man/man1/whywait.1" if name.endswith("whywait.1") else (text.parent / name)
            that(at.exists(), text.relative_to(prefix), "names", link, "which is not installed")
    parts = {part["name"]: part["version"] for part in json.loads((folder / "bom.json").read_text())["components"]}
    that(len(parts) >= 6 and all(parts.values()), "the list of libraries has", parts)
    for command in re.findall(r"^  ([a-z]+) ", run(prefix / "bin/whywait", "help", cwd=prefix).stdout, re.M):
        that((prefix / f"share/man/man1/whywait-{command}.1").stat().st_size > 200, "no man page of", command)
    that((prefix / "share/bash-completion/completions/whywait").exists(), "no completion for bash")
    that((prefix / "share/zsh/site-functions/_whywait").exists(), "no completion for zsh")


def check_paths(prefix):
    for path in (path for path in prefix.rglob("*") if path.is_file()):
        content = path.read_bytes()
        that(str(BUILD).encode() not in content, path.relative_to(prefix), "names the build folder")
        that(str(SOURCE).encode() not in content, path.relative_to(prefix), "names the folder of the sources")


def check_run(prefix, folder):
    tool = prefix / "bin/whywait"
    version = run(tool, "version", cwd=folder).stdout
    that(str(prefix) in version and "no recorder" not in version, "version says", version)
    done = run(MPIRUN, "-n", 2, tool, "record", BUILD / "tests/run/known/barriers", cwd=folder)
    that(done.returncode == 0 and "nothing lost" in done.stderr, "record:", done.stderr)
    report = run(tool, "report", cwd=folder)
    that(report.returncode == 0 and "Rank 1 makes others wait" in report.stdout.split("\n\n")[0], "report:", report.stdout[:300], report.stderr)


def main():
    with tempfile.TemporaryDirectory(prefix="whywait-installed-") as name:
        folder = pathlib.Path(name)
        done = run("cmake", "--install", BUILD, "--prefix", folder / "first", cwd=folder)
        that(done.returncode == 0, done.stderr)
        prefix = (folder / "moved here")
        (folder / "first").rename(prefix)
        check_documents(prefix)
        check_paths(prefix)
        check_run(prefix, folder)
    print("\n".join(failures) or "installed, moved, and used")
    return 1 if failures else 0


sys.exit(main())
