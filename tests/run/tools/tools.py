#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Another tool of MPI's profiling interface beside the recorder.

Behind it, both see every call. Ahead of it, the tool passes calls on past the recorder: the report says so, and where that
hides MPI_Init, the program's last line does. A program whose address of MPI_Send is its own stub has no such tool.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
options = None


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="whywait-tools-")
        cls.home = Path(cls.scratch.name)
        tool, program = HERE / "tool.c", HERE / "program.c"
        cls.build("tool.so", tool, "-shared", "-fPIC")
        cls.build("tool_init.so", tool, "-shared", "-fPIC", "-DTOOL_WITH_INIT")
        cls.build("plain", program)
        cls.build("fixed", program, "-no-pie", "-fno-pie")
        cls.build("with_tool", program, tool, "-DTOOL_WITH_INIT")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def build(cls, name, *arguments):
        subprocess.run([options.mpicc, "-g", *map(str, arguments), "-o", str(cls.home / name)], check=True)

    def run_program(self, name, *libraries, record=True):
        """Status, what it said on stderr, and the report, or None without a run."""
        where = tempfile.mkdtemp(dir=self.home)
        preload = " ".join(str(library) for library in libraries)
        command = [options.mpirun, "-n", "2", "env", "LD_PRELOAD=" + preload, *([options.whywait, "record"] if record else []),
                   str(self.home / name)]
        environment = dict(ENV, WHYWAIT_TOOL=options.whywait)
        done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = subprocess.run([options.whywait, "report"], cwd=where, capture_output=True, text=True)
        return done.stderr, " ".join(report.stdout.split()) if report.returncode == 0 else None

    def n_calls(self, said):
        return int(re.search(r"(\d+) MPI calls", said).group(1))

    def test_behind_the_recorder_it_sees_every_call_and_so_do_we(self):
        alone, _ = self.run_program("plain")
        for tool in "tool.so", "tool_init.so":
            said, report = self.run_program("plain", self.home / tool)
            self.assertEqual(said.count("tool: 10 messages"), 2)
            self.assertEqual(self.n_calls(said), self.n_calls(alone))
            self.assertNotIn("ahead of the recorder", said + report)

    def test_ahead_of_the_recorder_it_is_named(self):
        said, report = self.run_program("plain", self.home / "tool.so", options.recorder, record=False)
        alone, _ = self.run_program("plain")
        self.assertEqual(said.count("tool: 10 messages"), 2)
        self.assertEqual(self.n_calls(said), self.n_calls(alone) - 20)
        self.assertRegex(report, r"note: tool\.so takes MPI_Recv ahead of the recorder \(2 MPI functions in all\): .* \(preload it behind")
        self.assertEqual(report.count("ahead of the recorder"), 1)

    def test_what_hides_mpi_init_is_told_at_the_end(self):
        for name, libraries, object_name in ("plain", [self.home / "tool_init.so", options.recorder], "tool_init.so"), \
                                            ("with_tool", [options.recorder], "with_tool"):
            said, report = self.run_program(name, *libraries, record=False)
            lines = re.findall(r"^whywait: .*", said, re.M)
            self.assertIsNone(report)
            self.assertEqual(len(lines), 1, said)
            self.assertRegex(lines[0], r"nothing was recorded: %s takes MPI_Init ahead" % object_name)

    def test_a_program_that_takes_addresses_is_no_tool(self):
        said, report = self.run_program("fixed")
        self.assertNotIn("ahead of the recorder", said + report)

    def test_check_finds_a_tool_inside_the_program(self):
        for name, has_tool in ("with_tool", True), ("plain", False), ("fixed", False):
            done = subprocess.run([options.whywait, "check", str(self.home / name)], capture_output=True, text=True)
            self.assertEqual(bool(re.search(r"other tools +no +the program itself defines MPI_Init \(3 MPI functions in all\)", done.stdout)), has_tool, done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in "--whywait", "--recorder", "--mpicc", "--mpirun":
        parser.add_argument(option, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
