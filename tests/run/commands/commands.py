#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bad input of every kind to every command: one line that says what and where, on standard error, and a status that is
not 0. Each row: the status, what the line must hold, and the command line; words that begin with @ are made here.

    commands.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 200
TABLE = """
1 | no command "nosuch"      | nosuch
1 | no command               | help nosuch
1 | did you mean `whywait report` | reprot
1 | did you mean --cause     | report --cuase 1 @good
1 | takes no value           | report --sites=3 @good
1 | needs a value            | report --top
1 | did you mean --quiet     | record --queit @program
1 | one directory            | list @good @good
1 | cannot read              | list @missing
1 | which runs               | rm
1 | no run directory         | rm @good
1 | no such file             | rm @missing
1 | no such file             | report @missing
1 | no run                   | report @empty
1 | neither a run directory  | report @text
1 | neither a directory      | report /dev/null
1 | no run here              | report
1 | no OTF2 archive          | report @cut-anchor
1 | definitions              | report @no-definitions
1 | definitions              | report @cut-definitions
2 | cut off                  | report @no-events
2 | cut off                  | report @cut-events
2 | records of some ranks    | report @one-of-two.whywait
2 | records of some ranks    | report @without-room.whywait
1 | 2 archives               | report @two
1 | no records               | report @no-records.whywait
1 | another version          | report @other-version.whywait
1 | unknown option           | report --bogus @good
1 | needs a value            | report @good --top
1 | takes one run            | annotate @good @good
1 | --ranks shows one run    | report --ranks @good @good
1 | --top                    | report --top x @good
1 | --top                    | report --top -1 @good
1 | --top                    | report --top 99999999999999999999 @good
1 | --width                  | report --width 3 @good
1 | --threshold              | report --threshold 3 @good
1 | text nor json            | report --format xml @good
1 | no cause 9999            | report --cause 9999 @good
1 | no site 9999             | report --site 9999 @good
1 | --cause                  | report --cause 0 @good
1 | one of --cause           | report --cause 1 --sites @good
1 | one of --cause           | report --sites --by space @good
1 | --causing and --by       | report --routines --causing --by space @good
1 | --watch                  | report --watch=0 @good
1 | go with --routines       | report --graph @good
1 | --sort                   | report --routines --sort size @good
1 | no such file             | html @missing
1 | cannot write             | html -o @empty/x/y.html @good
1 | unknown option           | html --bogus @good
1 | no space left            | html -o - @good >/dev/full
1 | no such file             | annotate @missing
1 | no run                   | annotate @empty
1 | definitions              | annotate @cut-definitions
1 | unknown option           | annotate --bogus @good
1 | --context                | annotate --context x @good
1 | none of the sources      | annotate --width 80 @good
1 | no source to show        | annotate --file nosuch.c @good
1 | takes two runs           | diff --top 1 @good
1 | which are before         | diff @good @good @good
1 | two runs at least        | trend --top 1 @good
1 | is not like              | diff --fail-above much @good @good
1 | none of text             | diff --format xml @good @good
1 | takes two runs           | diff @good vs
1 | takes two runs           | diff vs @good
1 | takes two runs           | diff @good vs @good vs @good
1 | no such file             | diff @good @missing
1 | no run                   | diff @empty @good
1 | definitions              | diff @good @no-definitions
1 | unknown option           | diff --bogus @good @good
1 | no space left            | diff @good @good >/dev/full
1 | no such file             | export @missing
1 | no exact counts          | export @good
1 | unknown option           | export --bogus @good
1 | lcov                     | export --format xml @good
1 | there is no table        | export --format csv --table nosuch @good
1 | cannot write             | export --format csv -o @empty/no/where @good
1 | no space left            | export --format csv @good >/dev/full
1 | no such file             | salvage @missing
1 | no run directory         | salvage @text
1 | no records               | salvage @empty
1 | unknown option           | salvage --bogus
1 | usage                    | salvage
1 | another version          | salvage @other-version.whywait
1 | no such program          | check @missing
1 | unknown option           | check --bogus
1 | one program              | check a b
1 | which program            | loops
1 | unknown option           | loops --bogus
1 | ELF                      | loops @missing
1 | ELF                      | loops @text
1 | ELF                      | loops @empty
1 | hexadecimal              | loops @program zz
1 | neither GCC nor clang    | cc --compiler nosuch
1 | needs a value            | cc --compiler
1 | unknown option           | cc --bogus
1 | options only             | cc words
1 | usage                    | convert
1 | no rank                  | convert @empty x
1 | missing                  | convert @missing 0
1 | no usable file           | convert @empty 0
1 | usage                    | join
1 | cannot open              | join @missing
1 | record what              | record
1 | unknown option           | record --bogus @program
1 | needs a value            | record --dir
1 | --rate                   | record --rate fast @program
1 | --limit                  | record --limit 3q @program
1 | 512k is the least        | record --last 511k @program
1 | 512k is the least        | record --last 0 @program
1 | expected a number        | record --last 1mm @program
127 | no such program        | record @missing
127 | no such program        | record nosuch
126 | cannot run             | record @empty
126 | cannot run             | record @text
1 | no space left            | report @good >/dev/full
1 | no space left            | report --format json @good >/dev/full
1 | no space left            | check >/dev/full
1 | no space left            | loops @program >/dev/full
1 | no space left            | help >/dev/full
1 | no space left            | version >/dev/full
"""
# As root without the right to pass over permissions, or as the user who runs the tests.
REFUSED = """
1 | permission denied        | report @unreadable
2 | cut off                  | report @unreadable-events
1 | permission denied        | salvage @unwritable.whywait
1 | permission denied        | annotate @unreadable
1 | permission denied        | export @unreadable
126 | permission denied      | record @unreadable-program
"""


def cut(path, n_bytes):
    os.truncate(path, n_bytes)


class Inputs:
    """What the words @name of the table stand for, made below `home`."""

    def __init__(self, build, home):
        self.home, self.data = home, pathlib.Path(__file__).parents[2] / "unit/trace/data/scorep-phases"
        self.program = build / "tests/run/known/one"
        for name in ("good", "cut-anchor", "no-definitions", "cut-definitions", "no-events", "cut-events", "two", "unreadable",
                     "unreadable-events"):
            shutil.copytree(self.data, home / name)
        (home / "empty").mkdir()
        (home / "text").write_text("not a program\n")
        cut(home / "cut-anchor/traces.otf2", 20)
        (home / "no-definitions/traces.def").unlink()
        cut(home / "cut-definitions/traces.def", 3000)
        (home / "no-events/traces/1.evt").unlink()
        cut(home / "cut-events/traces/1.evt", 500)
        (home / "two/traces.otf2").rename(home / "two/one.otf2")
        shutil.copy(home / "two/one.otf2", home / "two/other.otf2")
        shutil.copy(self.program, home / "program")
        shutil.copy(self.program, home / "unreadable-program")
        self.make_spools()

    def make_spools(self):
        """One file each, a header and no record."""
        def header_of(n_ranks, n_dropped):
            words = (1, 4096, 1, 0, n_ranks, 0, 1, 1)
            return b"WHYWAIT\0" + b"".join(n.to_bytes(4, "little") for n in words) + bytes(24) + n_dropped.to_bytes(8, "little")
        good = header_of(1, 0)
        for name, header in (("no-records", None), ("other-version", good[:8] + b"\x63" + good[9:]), ("unwritable", good),
                             ("one-of-two", header_of(2, 0)), ("without-room", header_of(1, 5))):
            spool = self.home / f"{name}.whywait" / "spool"
            spool.mkdir(parents=True)
            if header:
                (spool / "0-0.ev").write_bytes(header.ljust(4096, b"\0"))

    def forbid(self):
        """After everything else was copied."""
        for path in ("unreadable", "unreadable-events/traces", "unreadable-program"):
            (self.home / path).chmod(0)
        (self.home / "unwritable.whywait").chmod(0o555)

    def allow(self):
        for path in ("unreadable", "unreadable-events/traces", "unwritable.whywait"):
            (self.home / path).chmod(0o755)


class Sweep:
    def __init__(self, build, home):
        self.tool, self.home, self.n_done, self.n_failed = build / "bin" / "whywait", home, 0, 0

    def run(self, words, prefix=()):
        where = subprocess.PIPE
        if words[-1] == ">/dev/full":
            where, words = open("/dev/full", "wb"), words[:-1]
        words = [str(self.home / word[1:]) if word.startswith("@") else word for word in words]
        return subprocess.run([*prefix, str(self.tool), *words], cwd=self.home / "empty", stdin=subprocess.DEVNULL, stdout=where,
                              stderr=subprocess.PIPE, timeout=LIMIT_S)

    def judge(self, row, prefix=()):
        status, text, command = (part.strip() for part in row.split("|"))
        done = self.run(command.split(), prefix)
        lines = done.stderr.decode(errors="replace").splitlines()
        named = [word[1:] for word in command.split() if word.startswith("@")]
        holds = done.returncode == int(status) and any(text.lower() in line.lower() for line in lines)
        is_one_line = len(lines) == 1 or "another version" in text  # there: which file, which rank, and what comes of it
        is_ours = all(line.startswith("whywait: ") for line in lines)
        self.n_done += 1
        is_named = len(command.split()) > 2 or not named or any(named[0] in line for line in lines)
        if not (holds and is_one_line and is_ours and is_named):
            self.n_failed += 1
            print(f"FAILED: {command}: status {done.returncode}, wanted {status} with \"{text}\"; it said:", *lines, sep="\n    ")

    def table(self, text, prefix=()):
        for row in text.strip().splitlines():
            self.judge(row, prefix)

    def full_disk(self):
        """A file system of 64 KB that is full: the archive is not made, the spool is kept."""
        script = f'''mount -t tmpfs -o size=64k none {self.home}/disk && cp -r {self.home}/unwritable.whywait {self.home}/disk/run &&
                     (head -c 65536 /dev/zero >{self.home}/disk/filler; {self.tool} salvage {self.home}/disk/run); echo "status $?"
                     test -s {self.home}/disk/run/spool/0-0.ev && echo kept'''
        (self.home / "disk").mkdir()
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=LIMIT_S)
        if "status" not in done.stdout:
            return print(f"no file systems of one's own here: {done.stderr.strip()}")
        self.n_done += 1
        if "status 1" not in done.stdout or "kept" not in done.stdout or done.stderr.count("whywait: ") != 1:
            self.n_failed += 1
            print(f"FAILED: salvage on a full disk: {done}")
        return None


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="whywait-commands-") as home:
        home = pathlib.Path(home)
        home.chmod(0o755)
        inputs, sweep = Inputs(build, home), Sweep(build, home)
        sweep.table(TABLE)
        if os.geteuid() == 0 and shutil.which("unshare"):
            sweep.full_disk()
        inputs.forbid()
        sweep.table(REFUSED, ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else ())
        inputs.allow()
        print(f"{sweep.n_done} bad inputs, {sweep.n_failed} not told well")
        return 1 if sweep.n_failed else 0


sys.exit(main())
