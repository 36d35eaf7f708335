# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe. Copy it to packages/whywait/package.py of a repository of your own, and set `git`."""
from spack.package import *


class Whywait(CMakePackage):
    """Names the loop that makes the other ranks of an MPI program wait."""

    homepage = "https://example.org/whywait"
    git = "https://example.org/whywait.git"
    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("otf2@3:")
    depends_on("elfutils")
    depends_on("capstone@4:")
    depends_on("binutils+libiberty")
    depends_on("jansson")
    depends_on("xz")
    depends_on("zlib-api")

    # The plugin for exact counts takes the compiler's own headers, which Spack's GCC installs.
    requires("%gcc@10:")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]
