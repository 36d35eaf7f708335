#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Gives damaged runs to the commands of the tool. The tool neither crashes nor hangs. It either says why it fails, or
what it writes is whole: JSON and pages can be parsed, text has no control characters. A failure leaves no output file.

    tool.py BUILD_DIR [--mutations N] [--seed S] [--jobs N] [--keep DIR]

A mutation follows from its number, from S on, so a finding is made again by --seed NUMBER --mutations 1. Each is read
by one command, in turns, with 10 s of CPU time and 1 GB. --keep leaves the mutated runs of findings in DIR. Bundles are
those of tests/fuzz/corpus, or archives that make no sense from the beginning (absurd.c). BUILD_DIR of the preset dev
has sanitizers in the tool.
"""
import argparse
import base64
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib

from importlib.machinery import SourceFileLoader

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
unpack = SourceFileLoader("bundle", str(HERE / "bundle")).load_module().unpack

LIMIT_CPU_S, PATIENCE_S, MOST_BYTES, SANITIZER = 10, 120, 1 << 30, 86
ENV = dict({name: value for name, value in os.environ.items() if not name.startswith("WHYWAIT")}, DEBUGINFOD_URLS="", NO_COLOR="1",
           ASAN_OPTIONS=f"detect_leaks=0:exitcode={SANITIZER}:allocator_may_return_null=1:hard_rss_limit_mb=1024:max_allocation_size_mb=1024",
           UBSAN_OPTIONS=f"print_stacktrace=1:exitcode={SANITIZER}")
# RUN is the mutated run, GOOD another one, KEPT a mutated baseline, OUT a file.
COMMANDS = [line.split() for line in """
report RUN
report --format json --all --routines RUN
html -o OUT RUN
annotate --source RUN RUN
export --format lcov -o OUT RUN
export --format gcov-json -o OUT RUN
export --format chrome -o OUT RUN
export --format folded -o OUT RUN
export --format callgrind -o OUT RUN
export --format csv --table steps -o OUT RUN
export --format dot -o OUT RUN
export --format otf2 -o OUT RUN
diff GOOD RUN
diff --baseline KEPT --format json RUN
diff --keep OUT RUN
html -o OUT GOOD RUN
trend GOOD RUN
trend --format json KEPT RUN
salvage RUN
report --ranks RUN
report --by space RUN
""".strip().splitlines()]
BASES = ["tool/archive"] * 6 + ["tool/spool"] * 2 + ["tool/windows"] * 4 + [
    "absurd", "absurd", "run/archive-files", "run/archive-icollective", "run/archive-scorep", "run/archive-tau", "run/spool-files", "run/spool-polling"]
NUMBERS = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 1 << 24, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
WORDS = [b"\0", b"\x1b[2J", b"</script>", b"%n%s", b"../" * 8 + b"etc/passwd", b"\xff\xfe", b"\xed\xa0\x80", b'"\\', b"A" * 5000, b"\n", b"-1", b"1e999"]
VALUES = [b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"9223372036854775807", b"-9223372036854775808", b"18446744073709551616", b"[" * 2000 + b"]" * 2000,
          b"[" * 100000, b'{"a":' * 1000 + b"0" + b"}" * 1000, b"null", b'""', b"{}", b"[]", b"true", b"0.5", b'"\\u0000"', b'"\\ud800"', b"1" * 5000]


def change_bytes(data, chance):
    """One small change, wherever it falls."""
    at, width, kind = chance.randrange(len(data)), chance.choice((1, 2, 4, 8)), chance.randrange(9)
    if chance.randrange(4) == 0:
        at = chance.randrange(min(len(data), 128))  # headers
    if kind < 2:
        data[at] ^= 1 << chance.randrange(8)
    elif kind < 4:
        data[at:at + width] = (chance.choice(NUMBERS) & ((1 << 8 * width) - 1)).to_bytes(width, chance.choice(("little", "big")))
    elif kind < 5:
        value = int.from_bytes(data[at:at + width], "little") + chance.randrange(-16, 17)
        data[at:at + width] = (value % (1 << 64)).to_bytes(8, "little")[:len(data[at:at + width])]
    elif kind < 6:
        word = chance.choice(WORDS)
        data[at:at + chance.choice((0, len(word)))] = word
    elif kind < 7:
        length = chance.randrange(1, 65)
        data[at:at] = data[chance.randrange(len(data)):][:length]
    elif kind < 8:
        del data[at:at + chance.randrange(1, 65)]
    else:
        texts = [match.span() for match in re.finditer(rb"[ -~]{4,}", data)]
        start, end = chance.choice(texts or [(0, 1)])
        word = chance.choice(WORDS)
        data[start:end] = (word * (end - start))[:end - start]
    return data


def short_contents(path):
    """An earlier mutation may have made it gigabytes long."""
    with open(path, "rb") as file:
        return file.read(1 << 24)


def mutate_contents(path, chance, others):
    data = bytearray(short_contents(path))
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        data = change_bytes(data or bytearray(1), chance)
    path.write_bytes(data)


def mutate_values(path, chance):
    """A few values of a JSON text become others."""
    data = path.read_bytes()
    values = [match.span() for match in re.finditer(rb'-?\d+|"[^"]*"|null|true|false', data)]
    for start, end in sorted(chance.sample(values, min(len(values), chance.choice((1, 2, 8)))), reverse=True):
        data = data[:start] + chance.choice(VALUES) + data[end:]
    path.write_bytes(data)


def mutate_length(path, chance, others):
    os.truncate(path, chance.choice((0, chance.randrange(path.stat().st_size + 1), path.stat().st_size * 2, 1 << 32)))


def mutate_name(path, chance, others):
    name = chance.choice(("x\x1b[2Jy", "<script>", "a" * 250, path.name + ".1", ".", "..", "\udcff", "0" * 40, "18446744073709551615"))
    if name.strip("."):
        path.rename(path.with_name(name))
    else:
        path.unlink()


def mutate_kind(path, chance, others):
    path.unlink()
    kind = chance.choice(("fifo", "folder", "/dev/zero", "/dev/null", "/etc/passwd", "loop", "nothing", "rights"))
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind != "nothing":
        path.symlink_to(path.name if kind == "loop" else "/proc/self/mem" if kind == "rights" else kind)


def mutate_place(path, chance, others):
    """Another file of the run has its contents."""
    data = short_contents(chance.choice(others))
    path.unlink()
    path.write_bytes(data)


def mutate_folder(path, chance, others):
    folder = path.parent
    names = "spool parts parts/0 traces code source join.lock spool/ended spool/0-0.ev.given traces.starts executions.txt".split()
    extra, data = folder / chance.choice(names), short_contents(chance.choice(others))
    shutil.rmtree(extra, ignore_errors=True) if extra.is_dir() and chance.randrange(2) else None
    if not os.path.lexists(extra) and (extra.parent.is_dir() or not os.path.lexists(extra.parent)):
        extra.parent.mkdir(exist_ok=True)
        chance.choice((lambda: extra.mkdir(), lambda: extra.write_bytes(chance.randbytes(500)), lambda: os.mkfifo(extra),
                       lambda: extra.write_bytes(data)))()


MUTATIONS = [mutate_contents] * 14 + [mutate_length] * 2 + [mutate_name, mutate_kind, mutate_place, mutate_folder]


def turn_times_back(run, chance):
    """OTF2 refuses to write times that do not rise: some of those that it wrote are moved."""
    for path in run.rglob("*.evt"):
        data = bytearray(path.read_bytes())
        for _ in range(chance.choice((0, 0, 1, 20))):
            at = chance.choice([match.start() for match in re.finditer(rb"\x05.{6}\x00\x00", data, re.S)] or [0])
            data[at + 1:at + 9] = (chance.choice(NUMBERS) & ((1 << 64) - 1)).to_bytes(8, "little")
        path.write_bytes(data)


def mutate(run, chance):
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        files = sorted(path for path in run.rglob("*") if path.is_file() and not path.is_symlink())
        if files:
            chance.choice(MUTATIONS)(chance.choice(files), chance, files)


def limit(has_sanitizers):
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU_S, LIMIT_CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not has_sanitizers:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def give(tool, words, folder, has_sanitizers):
    """Status, or a word; what was printed."""
    with open(folder / "stdout", "w+b") as out, open(folder / "stderr", "w+b") as err:
        process = subprocess.Popen([tool, *words], env=ENV, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   preexec_fn=lambda: limit(has_sanitizers))
        try:
            status = process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            status = "hangs"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        return status, *(pathlib.Path(file.name).read_bytes() for file in (out, err))


def is_plain(text):
    return not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text.decode())


def is_page(text):
    """All that is packed into the page can be unpacked."""
    packed = re.findall(rb'<script type="application/octet-stream" id="([a-z]+)[-0-9]*">([^<]*)</script>', text)
    for name, item in packed:
        data = zlib.decompress(base64.b64decode(item + b"=" * (-len(item) % 4), validate=True))
        if name != b"cells":
            json.loads(data)
    return {b"report", b"timeline", b"sources"} <= {name for name, _ in packed} and text.decode().rstrip().endswith("</html>")


def is_whole(words, text):
    """Whether what was written is what the command promises."""
    try:
        if "json" in words or {"gcov-json", "chrome"} & set(words):
            lines = text.decode().splitlines() if "gcov-json" in words else [text]
            return all(json.loads(line) is not None for line in lines)
        return is_page(text) if words[0] == "html" else is_plain(text)
    except (ValueError, zlib.error):
        return False


def complaint(words, status, out, err, made):
    """Why this is a finding; None: all is well."""
    if status == "hangs" or not isinstance(status, int) or status < 0 or status not in (0, 1, 2):
        return f"ended with {status}"
    refused = b"Sanitizer failed to allocate"  # malloc has given NULL, to a library that looks (OTF2_IdMap_Create)
    if any(b"Sanitizer" in line and refused not in line or b"runtime error:" in line for line in err.splitlines()):
        return "sanitizer"
    if not is_plain(err):
        return "control characters in messages"
    if b"out of memory" in err or b"internal error" in err:
        return "memory or an internal error"
    if status == 1 and not err:
        return "failed without a word"
    if status == 1 and made is not None:
        return "failed, but left an output file"
    if status != 1 and "-o" in words and made is None:
        return "wrote no output file"
    if status != 1 and not is_whole(words, out if made is None or words[0] != "export" and "-o" not in words else made):
        return "what it wrote is not whole"
    return None


def attempt(tool, number, keep, has_sanitizers):
    chance = random.Random(number)
    command = COMMANDS[number % len(COMMANDS)]
    base = chance.choice(BASES)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as home:
        folder = pathlib.Path(home)
        places = {"RUN": folder / "run.whywait", "GOOD": folder / "good.whywait", "KEPT": folder / "kept", "OUT": folder / "made"}
        if base == "absurd":
            subprocess.run([pathlib.Path(tool).parent / "absurd", str(number), places["RUN"]], check=True)
            turn_times_back(places["RUN"], chance)
        else:
            unpack(HERE / "corpus" / base, places["RUN"])
        if base != "absurd" or chance.randrange(2):
            mutate(places["RUN"], chance)
        if "GOOD" in command:
            unpack(HERE / "corpus" / "tool" / "archive", places["GOOD"])
        if "KEPT" in command:
            shutil.copy(HERE / "corpus" / "kept" / chance.choice(("counted", "programs", "series")), places["KEPT"])
            turn = chance.randrange(4)
            if turn == 1:
                mutate_contents(places["KEPT"], chance, [])
            elif turn:
                mutate_values(places["KEPT"], chance)
        if keep:
            shutil.copytree(places["RUN"], keep / f"{number}" / "before", symlinks=True, copy_function=copy_any)
        words = [str(places.get(word, word)) for word in command]
        try:
            status, out, err = give(tool, words, folder, has_sanitizers)
            made = places["OUT"].read_bytes() if places["OUT"].exists() else None
            why = complaint(words, status, out, err, made)
        except UnicodeDecodeError:
            why = "messages are no UTF-8"
        if why and keep:
            (keep / f"{number}" / "stderr").write_bytes(err)
        elif keep:
            shutil.rmtree(keep / f"{number}")
    return status, why and f"number {number}, {base}, {' '.join(command)}: {why}\n{err[:3000].decode(errors='replace')}"


def copy_any(source, to):
    if pathlib.Path(source).is_file():
        shutil.copyfile(source, to) if os.stat(source).st_size < 1 << 24 else pathlib.Path(to).touch()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--mutations", type=int, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--keep", type=pathlib.Path)
    args = options.parse_args()
    tool = str(args.build.resolve() / "bin" / "whywait")
    has_sanitizers = b"__asan_init" in pathlib.Path(tool).read_bytes()
    statuses, findings = {}, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        numbers = range(args.seed, args.seed + args.mutations)
        for status, why in pool.map(lambda number: attempt(tool, number, args.keep, has_sanitizers), numbers):
            statuses[status] = statuses.get(status, 0) + 1
            if why:
                findings += 1
                print(why, flush=True)
    print(f"{args.mutations} mutations, {findings} findings, of status {statuses}")
    sys.exit(findings > 0)


main()
