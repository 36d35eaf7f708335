#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What stands in the way of an archive, or of an output: one message, a status that says so, and nothing recorded is lost.

    hostile.py BUILD_DIR
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from importlib.machinery import SourceFileLoader

TOOL = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait"
FUZZ = pathlib.Path(__file__).resolve().parents[2] / "fuzz"
sys.dont_write_bytecode = True
unpack = SourceFileLoader("bundle", str(FUZZ / "bundle")).load_module().unpack
n_failed = 0


def check(good, *what):
    global n_failed
    n_failed += not good
    if not good:
        print("FAILED:", *what)


def run(*words, cwd, **options):
    return subprocess.run([str(TOOL), *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **options)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refuses(done, *said):
    return done.returncode == 1 and done.stderr.count("\n") == 1 and all(word in done.stderr for word in said)


def blocked_anchors(home):
    """A name in the archive's place is no archive: salvage does not call the run whole."""
    for kind, make in {"text": lambda path: path.write_text("no archive at all\n" * 9), "pipe": os.mkfifo, "empty file": pathlib.Path.touch, "folder": os.mkdir, "link": lambda path: path.symlink_to("nowhere")}.items():
        spool = home / f"{kind}.whywait"
        unpack(FUZZ / "corpus/tool/spool", spool)
        anchor = spool / "traces.otf2"
        make(anchor)
        before = files(spool / "spool")
        for words in (["convert", spool, "0"], ["join", spool], ["salvage", spool]) + ((["report", spool],) if anchor.is_file() else ()):
            done = run(*words, cwd=home)
            check(refuses(done, "traces.otf2", "remove it"), kind, "as anchor:", done)
        check(files(spool / "spool") == before, kind, "as anchor: the spool has changed")
        os.rmdir(anchor) if anchor.is_dir() else os.unlink(anchor)
        done = run("salvage", spool, cwd=home)
        check(done.returncode == 0 and anchor.is_file() and not (spool / "spool").exists(), kind, "removed:", done)


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def size_limits(home):
    """Where files may not grow, as by ulimit -f, commands say so; the kernel's signal for it ends none, and what they began does not stay."""
    place = home / "limited"
    place.mkdir()
    archive, spool = place / "run.whywait", place / "spool.whywait"
    unpack(FUZZ / "corpus/tool/archive", archive)
    unpack(FUZZ / "corpus/tool/spool", spool)
    before = files(spool)
    for words in (["html", "-o", "made"], ["export", "--format", "csv", "-o", "made"], ["diff", "--keep", "made"], ["html"]):
        done = run(*words, archive, cwd=place, preexec_fn=small_files)
        check(refuses(done, "File too large"), "a limit of file sizes:", done)
    done = run("salvage", spool, cwd=place, preexec_fn=small_files)
    check(done.returncode == 1 and done.stderr, "a limit of file sizes:", done)
    for most in (40, 60):
        run("html", "-o", "made", archive, cwd=place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most << 20, most << 20)))
        (place / "made").unlink(missing_ok=True)
    done = run("annotate", archive, cwd=place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
    lines = done.stderr.splitlines()
    check(done.returncode in (1, 2) and len(lines) == len(set(lines)), "five descriptors: a line is repeated:", done)
    left = [path.name for path in place.iterdir() if path not in (archive, spool)]
    check(not left, "limits of memory and file sizes left", left)
    check(all(files(spool).get(name) == text for name, text in before.items()), "a limit of file sizes: the spool has changed")
    done = run("salvage", spool, cwd=place)
    check(done.returncode == 0 and (spool / "traces.otf2").is_file(), "without a limit of file sizes:", done)


def outputs(home):
    """Over an archive nothing is written, and a long name has a file beside it as a short one has."""
    archive = home / "run.whywait"
    unpack(FUZZ / "corpus/tool/archive", archive)
    before = files(archive)
    for words in (["export", "--format", "csv", "-o"], ["html", "-o"]):
        done = run(*words, archive / "traces.otf2", archive, cwd=home)
        check(refuses(done, "is there already") and files(archive) == before, "over the archive:", done)
        for name in ("n" * 250, "n" * 255):
            done = run(*words, name, archive, cwd=home, preexec_fn=small_files)
            check(refuses(done, "cannot write") and not (home / name).exists(), len(name), "letters, no room:", done)
            done = run(*words, name, archive, cwd=home)
            check(done.returncode == 0 and (home / name).exists(), len(name), "letters:", done)
            (home / name).unlink()
    done = run("html", "-o", "n" * 256, archive, cwd=home)
    check(refuses(done, "File name too long"), "256 letters:", done)


def many_alike(home):
    """Of 200 files that cannot be used not each has its lines."""
    spool = home / "many.whywait"
    unpack(FUZZ / "corpus/tool/spool", spool)
    for rank in range(100, 300):
        (spool / f"spool/{rank}-0.ev").write_bytes(b"none")
    done = run("salvage", spool, cwd=home)
    left_out = [int(line.split(" more like it")[0].split()[-1]) for line in done.stderr.splitlines() if " more like it" in line]
    check(done.returncode == 0 and left_out and max(left_out) > 190 and done.stderr.count("\n") < 25, "200 bad files:", done)
    check("299" in done.stderr, "200 bad files: the last is not named:", done)


def small_stacks(home):
    """Where stacks may be 128 KiB, and no more, every command does as ever."""
    archive, made = home / "run.whywait", home / "made"
    code = next((archive / "code").iterdir())

    def small():
        resource.setrlimit(resource.RLIMIT_STACK, (128 << 10, 128 << 10))
    formats = ("chrome", "folded", "callgrind", "csv", "dot", "otf2", "lcov")
    for words in (["report", archive], ["report", "--routines", archive], ["report", "--format", "json", archive], ["html", "-o", "-", archive],
                  ["annotate", archive], ["diff", archive, "vs", archive], ["trend", archive], ["list"], ["loops", code], ["check"], ["cc"],
                  ["version"], ["help"], ["completion", "bash"], ["cc", "--from", archive], *(["export", "--format", name, "-o", made, archive] for name in formats)):
        seen = []
        for options in ({}, {"preexec_fn": small}):
            done = run(*words, cwd=home, **options)
            seen.append((done.returncode, done.stdout, done.stderr, made.exists()))
            shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)
        check(seen[0] == seen[1], "a small stack:", words, seen)
    spool = home / "small.whywait"
    unpack(FUZZ / "corpus/tool/spool", spool)
    done = run("salvage", spool, cwd=home, preexec_fn=small)
    check(done.returncode == 0 and (spool / "traces.otf2").is_file(), "a small stack:", done)


def read_only(home):
    """A file system that cannot be written: a run that has its archive needs nothing."""
    place = home / "read only"
    place.mkdir()
    script = 'mount -t tmpfs none "$1" || exit 77; cp -r "$2" "$1"; mount -o remount,ro "$1" || exit 77; "$3" salvage "$1"/run.whywait'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", place, home / "run.whywait", TOOL], capture_output=True, text=True, timeout=60)
    if os.geteuid() or done.returncode in (1, 77) and "mount" in done.stderr:
        print("not tried: a file system that cannot be written")
    else:
        check(done.returncode == 0 and not done.stderr, "read only:", done)


with tempfile.TemporaryDirectory() as folder:
    blocked_anchors(pathlib.Path(folder))
    size_limits(pathlib.Path(folder))
    outputs(pathlib.Path(folder))
    many_alike(pathlib.Path(folder))
    small_stacks(pathlib.Path(folder))
    read_only(pathlib.Path(folder))
sys.exit(n_failed > 0)
