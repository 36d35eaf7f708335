#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What others could do to a user of whywait: look into the records, put links where files are made, name pipes and
devices where files are read, write to the terminal through names. Each check makes the trap and looks that nobody fell in.

    safety.py BUILD_DIR
"""
import base64
import csv
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_QUIET="1")
LIMIT_S = 200
EVIL = "\033[31m<script>\"';$(touch owned)`touch owned`\n../x\x07"


def unpacked(page):
    """The data that a page carries."""
    return [zlib.decompress(base64.b64decode(text)) for name, text in re.findall(r'octet-stream" id="([^"]*)">([^<]*)<', page) if "cells" not in name]


class Traps:
    def __init__(self, build, home):
        self.tool, self.home, self.n_failed = build / "bin" / "whywait", home, 0
        self.program, self.data = build / "tests/run/known/late_sender", pathlib.Path(__file__).parents[2] / "unit/trace/data"
        (home / "good").mkdir()
        self.good = self.record(home / "good", KEEP="1")

    def check(self, holds, what):
        if not holds:
            self.n_failed += 1
            print(f"FAILED: {what}")

    def run(self, *arguments, cwd=None, limits=None, **environment):
        return subprocess.run([str(self.tool), *map(str, arguments)], cwd=cwd or self.home, env=dict(ENV, **environment),
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, preexec_fn=limits)

    def record(self, cwd, *options, umask=0o022, program=None, KEEP="", **environment):
        """Records two ranks in `cwd`; returns the run directory."""
        if KEEP:
            environment["WHYWAIT_KEEP_SPOOL"] = KEEP
        subprocess.run([shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", str(self.tool), "record", *options,
                        str(program or self.program)], cwd=cwd, env=dict(ENV, **environment), capture_output=True, timeout=LIMIT_S,
                       preexec_fn=lambda: os.umask(umask))
        runs = list(cwd.glob("*.whywait"))
        return runs[0] if runs else None

    def copy(self, name, with_archive=False):
        """A run of which only the spool is left (or a finished one)."""
        to = self.home / name / "run.whywait"
        shutil.copytree(self.good, to)
        for path in () if with_archive else (to / "traces.otf2", to / "traces.def"):
            path.unlink()
        if not with_archive:
            shutil.rmtree(to / "traces")
        return to

    def archive(self, name):
        to = self.home / name
        shutil.copytree(self.data / "scorep-phases", to)
        return to

    # Each trap is a method; its first line says what must hold.

    def trap_modes(self):
        """Run directories are 0700 and files 0600, whatever the umask; with --spool as well."""
        for umask in (0, 0o077):
            cwd, spool = self.home / f"umask-{umask}", self.home / f"local-{umask}"
            cwd.mkdir()
            run = self.record(cwd, "--spool", str(spool), umask=umask, KEEP="1")
            self.check(run is not None, f"a run with umask {umask:o}")
            for path in [run, *run.rglob("*")] if run else []:
                mode, wanted = stat.S_IMODE(path.lstat().st_mode), 0o700 if path.is_dir() else 0o600
                is_program = path.parent.name == "code"  # the user's own file
                self.check(path.is_symlink() or is_program or mode == wanted, f"{path} has mode {mode:o} with umask {umask:o}")

    def trap_directory_is_link(self):
        """`parts` that leads elsewhere: nothing is made or removed there."""
        run, victim = self.copy("linked"), self.home / "victim"
        for name in ("0.tmp", "1.tmp", "whole"):
            (victim / name).mkdir(parents=True)
            (victim / name / "precious").touch()
        shutil.rmtree(run / "parts", ignore_errors=True)
        (run / "parts").symlink_to(victim)
        done = self.run("salvage", run)
        self.check(done.returncode == 1 and b"parts" in done.stderr, f"salvage into a link: {done}")
        self.check(sorted(p.name for p in victim.rglob("*")) == sorted(["0.tmp", "1.tmp", "whole"] + 3 * ["precious"]),
                   f"what lies behind a link changed: {list(victim.rglob('*'))}")

    def trap_folder_is_exchanged(self):
        """A folder that is a link every other moment: nothing is made, changed or removed behind it."""
        exchanger = ("import ctypes, sys\nlibc, names = ctypes.CDLL(None), [name.encode() for name in sys.argv[1:]]\n"
                     "while True: libc.renameat2(-100, names[0], -100, names[1], 2)")
        for name in ("parts", "spool", "code", "traces"):
            for _ in range(3):
                run, victim = self.copy("exchanged"), self.home / "exchanged" / "victim"
                for folder in ("0", "1", "0.tmp", "1.tmp", "whole", "traces"):
                    (victim / folder).mkdir(parents=True)
                    (victim / folder / "0.evt").write_text("precious")
                (victim / "0-0.ev").write_text("precious")
                before = sorted((str(path), path.is_dir() or path.read_text()) for path in victim.rglob("*"))
                (run / name).mkdir(exist_ok=True)
                (self.home / "exchanged/link").symlink_to(victim)
                other = subprocess.Popen([sys.executable, "-c", exchanger, str(run / name), str(self.home / "exchanged/link")])
                for _ in range(2):
                    self.run("salvage", run)
                other.kill()
                other.wait()
                self.check(before == sorted((str(path), path.is_dir() or path.read_text()) for path in victim.rglob("*")),
                           f"what lies behind {name} changed")
                shutil.rmtree(self.home / "exchanged")

    def trap_root_reports(self):
        """What root makes in the run of another user belongs to that user."""
        if os.geteuid() != 0:
            return
        run = self.copy("users")
        for path in (run.parent, run, *run.rglob("*")):
            os.chown(path, 65534, 65534)
        done = self.run("report", run)
        others = [str(path) for path in run.rglob("*") if path.stat().st_uid != 65534]
        self.check(done.returncode == 0 and not others and (run / "traces.otf2").exists(), f"not the user's: {others} {done}")

    def trap_sources_elsewhere(self):
        """A program whose debug information names the reader's secrets as its source: they get into no page and no run."""
        home = self.home / "reader"
        (home / ".ssh").mkdir(parents=True)
        (home / "project").mkdir()
        for name, secret in (("hidden", home / ".ssh/key"), ("beside", home / "letter"), ("outside", self.home / "outside")):
            secret.write_text("SECRET text\n" * 9)
            source, program = home / "project" / f"{name}.c", home / "project" / name
            source.write_text(f'#include <mpi.h>\nstatic volatile double sum;\n# 2 "{secret}"\nstatic void slow(void) {{ for (int i = 0; i < 9000000; '
                              'i++) sum += i; }\n# 9 "own.c"\nint main(int n, char **words) { int rank; MPI_Init(&n, &words); MPI_Comm_rank(MPI_COMM_WORLD, '
                              '&rank); for (int i = 0; i < 9; i++) { if (!rank) slow(); MPI_Barrier(MPI_COMM_WORLD); } return MPI_Finalize(); }\n')
            subprocess.run([shutil.which("mpicc.openmpi") or "mpicc", "-g", "-fno-inline", str(source), "-o", str(program)], check=True)
            run = self.record(home / "project", program=program)
            page = home / "page.html"
            told = self.run("html", "-o", page, run, HOME=str(home))
            texts = [*unpacked(page.read_text()), self.run("annotate", run, HOME=str(home)).stdout, *[path.read_bytes() for path in run.rglob("*source*/*")]]
            self.check(not any(b"SECRET" in text for text in texts), f"{name}: a secret was taken for a source")
            self.check(str(secret).encode() not in told.stdout, f"{name}: {told}")
            told = self.run("html", "--source", secret.parent, "-o", page, run, HOME=str(home))
            self.check(any(b"SECRET" in text for text in unpacked(page.read_text())) and secret.name.encode() in told.stdout,
                       f"{name}: a folder that the reader names was not looked into: {told}")
            self.run("html", "--source", secret.parent, "--no-sources", "-o", page, run, HOME=str(home))
            self.check(not any(b"SECRET" in text for text in unpacked(page.read_text())), f"{name}: --no-sources left text in the page")
            shutil.rmtree(run)

    def trap_output_is_link(self):
        """Files of the archive that are links already: what they lead to stays as it is."""
        run, victim = self.copy("outputs"), self.home / "victim.txt"
        victim.write_text("precious")
        for name in ("traces.def", "convert.log", "join.lock", "parts/0.lock"):
            (run / name).parent.mkdir(exist_ok=True)
            (run / name).unlink(missing_ok=True)
            (run / name).symlink_to(victim)
        self.run("salvage", run)
        self.check(victim.read_text() == "precious", "a link was followed and its target written")

    def trap_page_is_link(self):
        """The page that `html` names after the run is never written through a link; it is for its user alone."""
        run, victim, cwd = self.copy("paged", with_archive=True), self.home / "victim.html", self.home / "pages"
        cwd.mkdir()
        victim.write_text("precious")
        for make in (os.symlink, os.link):
            make(victim, cwd / "run.html")
            done = self.run("html", run, cwd=cwd)
            self.check(done.returncode == 1 and b"run.html" in done.stderr, f"a page in place of a link: {done}")
            self.check(victim.read_text() == "precious", "a page was written through a link")
            (cwd / "run.html").unlink()
        umask = os.umask(0)
        for options in ((), ("-o", "other.html")):
            self.run("html", *options, run, cwd=cwd)
        os.umask(umask)
        modes = [stat.S_IMODE(page.stat().st_mode) for page in cwd.glob("*.html")]
        self.check(modes == [0o600, 0o600], f"others may read a page: {modes}")

    def trap_spool_is_taken(self):
        """--spool in a folder that all may write to: the name cannot be foreseen and is made new."""
        cwd, spool = self.home / "shared-cwd", self.home / "shared"
        cwd.mkdir()
        spool.mkdir()
        spool.chmod(0o1777)
        run = self.record(cwd, "--spool", str(spool))
        self.check(run is not None and not list(spool.iterdir()), "records in a shared folder come home and leave nothing")

    def trap_foreign_spool(self):
        """A link in the spool to a file of somebody else's folder is not taken home, nor removed."""
        run, victim = self.copy("stolen"), self.home / "open"
        victim.mkdir()
        victim.chmod(0o777)
        (victim / "0-0.ev").write_bytes((run / "spool/0-0.ev").read_bytes())
        (run / "spool/0-0.ev").unlink()
        (run / "spool/0-0.ev").symlink_to(victim / "0-0.ev")
        self.run("salvage", run)
        self.check((victim / "0-0.ev").exists(), "a file was taken out of a folder that others can write")

    def trap_pipes(self):
        """Pipes and devices in place of files: one line, no waiting."""
        for name in ("traces.otf2", "traces.def", "traces/0.evt", "traces/1.def"):
            for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path)):
                archive = self.archive("pipe")
                (archive / name).unlink()
                make(archive / name)
                done = self.run("report", archive)
                self.check(done.returncode == 1 and done.stderr.count(b"\n") == 1, f"{name} is no file: {done}")
                shutil.rmtree(archive)
        for name in ("spool/0-0.ev", "spool/1-0.sm", "spool"):
            run = self.copy("pipes")
            shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink()
            os.mkfifo(run / name)
            self.run("report", run)
            shutil.rmtree(run.parent)
        fifo = self.home / "fifo"
        os.mkfifo(fifo)
        for command in ("report", "salvage", "check", "loops", "export", "annotate"):
            self.check(self.run(command, fifo).returncode in (0, 1), f"{command} of a pipe")

    def trap_debug_link(self):
        """A program whose debug file is said to be a device or a pipe."""
        program = self.home / "linked-debug"
        for link in ("../" * 20 + "dev/zero", "pipe.debug"):
            shutil.copy(self.program, program)
            section = self.home / "link.bin"
            name = link.encode() + b"\0"
            section.write_bytes(name + bytes(-len(name) % 4) + struct.pack("<I", 1))
            subprocess.run(["objcopy", "--strip-all", "--add-section", f".gnu_debuglink={section}", str(program)], check=True)
            if not (self.home / "pipe.debug").exists():
                os.mkfifo(self.home / "pipe.debug")
            self.check(self.run("loops", program).returncode == 0, f"loops of a program with debug link {link}")

    def trap_debug_bomb(self):
        """Compressed debug information that becomes a thousand times as much is not expanded."""
        program, section = self.home / "bomb", self.home / "section"
        n_bytes = 1 << 29
        packer = zlib.compressobj(9)
        packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(n_bytes >> 20)) + packer.flush()
        section.write_bytes(struct.pack("<IIQQ", 1, 0, n_bytes, 1) + packed)
        subprocess.run(["objcopy", "--update-section", f".debug_info={section}", str(self.program), str(program)], check=True)
        elf = bytearray(program.read_bytes())
        table, = struct.unpack_from("<Q", elf, 40)
        size, n_sections, n_names = struct.unpack_from("<HHH", elf, 58)
        names, = struct.unpack_from("<Q", elf, table + n_names * size + 24)
        for at in range(table, table + n_sections * size, size):
            name, = struct.unpack_from("<I", elf, at)
            if elf[names + name:].startswith(b".debug_info\0"):
                flags, = struct.unpack_from("<Q", elf, at + 8)
                struct.pack_into("<Q", elf, at + 8, flags | 0x800)  # SHF_COMPRESSED
        program.write_bytes(elf)
        done = self.run("loops", program, limits=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)))
        self.check(done.returncode == 1 and done.stderr.count(b"\n") == 1 and b"memory" not in done.stderr, f"a bomb: {done}")

    def trap_nested_entries(self):
        """Debug entries in each other, four hundred thousand deep, are read as fast as others."""
        source, program = self.home / "nested.s", self.home / "nested"
        entry = ".uleb128 2\n.quad main\n.quad 16\n"
        source.write_text(f""".text
.globl main
main: xor %eax, %eax
ret
.zero 32
.section .debug_abbrev
.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0
.byte 2, 0x0b, 1, 0x11, 1, 0x12, 7, 0, 0, 0
.section .debug_info
.long end - begin
begin: .value 4
.long 0
.byte 8, 1
.quad main, 32
.rept 400000
{entry}.endr
.zero 400001
end:
.section .note.GNU-stack
""")
        subprocess.run(["gcc", str(source), "-o", str(program)], check=True)
        begin = time.monotonic()
        done = self.run("loops", program)
        self.check(done.returncode == 0 and time.monotonic() - begin < 30, f"nested entries: {done}")

    def trap_server(self):
        """A server of debug information that takes the question and never answers is asked once."""
        program, cache = self.home / "asks", self.home / "cache"
        subprocess.run(["objcopy", "--strip-all", str(self.program), str(program)], check=True)
        with socket.create_server(("127.0.0.1", 0)) as server:
            begin = time.monotonic()
            done = self.run("loops", program, DEBUGINFOD_URLS=f"http://127.0.0.1:{server.getsockname()[1]}",
                            DEBUGINFOD_CACHE_PATH=str(cache))
            self.check(done.returncode == 0 and time.monotonic() - begin < 30, "a server that does not answer")
            server.setblocking(False)
            n_asked = 0
            try:
                while True:
                    server.accept()[0].close()
                    n_asked += 1
            except BlockingIOError:
                self.check(n_asked == 1, f"a server that does not answer was asked {n_asked} times")

    def trap_sources(self):
        """Sources that are pipes, devices, or files of the kernel are not read."""
        source = self.home / "x.c"
        source.write_text("int x;\n")
        for target in ("/dev/zero", "/proc/kmsg", None):
            folder = self.home / "sources"
            folder.mkdir()
            for name in ("late_sender.c", "known.h"):
                os.mkfifo(folder / name) if target is None else (folder / name).symlink_to(target)
            run = self.copy("source", with_archive=True)
            for path in [*run.rglob("*.def")]:
                path.write_bytes(path.read_bytes().replace(b"/late_sender.c", b"/missing_sou.c"))
            done = self.run("annotate", "--source", folder, run)
            self.check(done.returncode in (0, 1), f"annotate with sources in {target}: {done}")
            shutil.rmtree(folder)
            shutil.rmtree(run.parent)

    def trap_names(self):
        """Names that hold escapes, markup and shell commands: text without control characters, valid JSON, nothing run."""
        archive = self.archive("names")
        evil = EVIL.encode()
        definitions = archive / "traces.def"
        contents = definitions.read_bytes()
        for name in (b"MPI_Barrier", b"phases.c", b"machine", b"node", b"main"):
            contents = contents.replace(name, (evil * 2)[:len(name)])
        definitions.write_bytes(contents)
        for options in ((), ("--sites",), ("--all-steps",)):
            done = self.run("report", *options, archive)
            self.check(all(byte >= 32 and byte != 127 or byte == 10 for byte in done.stdout + done.stderr),
                       f"control characters in the report: {done}")
        done = self.run("report", "--all", "--format", "json", archive)
        self.check(done.returncode == 1 or isinstance(json.loads(done.stdout), dict), "JSON of evil names")
        done = self.run("report", self.home / EVIL.replace("/", "_"))
        self.check(done.returncode == 1 and b"\033" not in done.stderr and done.stderr.count(b"\n") == 1, f"messages: {done}")
        self.check(not list(self.home.rglob("owned")), "a name was run by a shell")

    def trap_cells(self):
        """Names that a spreadsheet would compute, or that turn the direction of writing, stand in no output as they are."""
        archive, turned = self.archive("cells"), "\u202e=1".encode()
        for path in archive.rglob("*.def"):
            contents = path.read_bytes()
            for name, evil in ((b"MPI_Barrier", b"=1+cmd|'/c'"), (b"phases.c", turned.ljust(8, b"!")), (b"main", b"@SUM"),
                               (b"node", "\u2066x".encode())):
                contents = contents.replace(name, evil)
            path.write_bytes(contents)
        page = self.home / "cells.html"
        texts = [self.run("export", "--format", "csv", "--table", table, archive).stdout for table in ("sites", "causes", "routines", "calls")]
        cells = [cell for text in texts for row in csv.reader(text.decode().splitlines()) for cell in row]
        self.check(any("=1+cmd" in cell for cell in cells), "no cell has the name that was planted")
        for cell in cells:
            is_number = re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", cell)
            self.check(is_number or not cell or cell[0] not in "=+-@", f"a cell is a formula: {cell}")
        self.run("html", "-o", page, archive)
        texts += [self.run("report", "--all", *options, archive).stdout for options in ((), ("--format", "json"))]
        texts += [page.read_bytes(), *unpacked(page.read_text())]
        for text in texts:
            self.check(not re.search("[\u202a-\u202e\u2066-\u2069]", text.decode(errors="replace")) and b"\\u20" not in text,
                       f"the direction of writing is turned in {text[:200]}")

    def trap_program_name(self):
        """A program of any name makes a run directory of plain characters, here."""
        cwd = self.home / "named"
        cwd.mkdir()
        program = cwd / EVIL.replace("/", "_")
        shutil.copy(self.program, program)
        run = self.record(cwd, program=program)
        self.check(run is not None and run.name.isprintable() and not set(run.name) & set("<>$`'\"; "), f"run directory {run}")
        self.check(not list(self.home.rglob("owned")), "a program's name was run by a shell")

    def trap_set_user_id(self):
        """Programs with another user's rights are run, not recorded."""
        if os.geteuid() != 0:
            return
        cwd = self.home / "suid"
        cwd.mkdir()
        self.home.chmod(0o755)
        for mode in (0o4755, 0o2755):
            program = cwd / "program"
            shutil.copy(shutil.which("true"), program)
            os.chown(program, 65534, 65534)
            program.chmod(mode)
            done = self.run("record", program, cwd=cwd)
            self.check(done.returncode == 0 and b"not recorded" in done.stderr and not list(cwd.glob("*.whywait")),
                       f"a program of mode {mode:o}: {done}")

    def trap_loader(self):
        """`check` does not run the loader that a program names, unless it is the system's."""
        program, folder = self.home / "loaded", pathlib.Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        (folder / "ld.so").write_text(f"#!/bin/sh\ntouch {self.home}/owned-by-loader\n")
        (folder / "ld.so").chmod(0o777)
        wanted = b"/lib64/ld-linux-x86-64.so.2\0"
        program.write_bytes(self.program.read_bytes().replace(wanted, str(folder / "ld.so").encode().ljust(len(wanted), b"\0")))
        program.chmod(0o755)
        self.run("check", program)
        shutil.rmtree(folder)
        self.check(not (self.home / "owned-by-loader").exists(), "check ran the loader that the program names")


def main():
    signal.alarm(580)
    with tempfile.TemporaryDirectory(prefix="whywait-safety-") as home:
        traps = Traps(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(home))
        names = [name for name in dir(traps) if name.startswith("trap_")]
        for name in names:
            try:
                getattr(traps, name)()
            except subprocess.TimeoutExpired as late:
                traps.check(False, f"{name}: {late}")
        print(f"{len(names)} kinds of traps, {traps.n_failed} failed")
        return 1 if traps.n_failed else 0


sys.exit(main())
