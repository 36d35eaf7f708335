/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which libraries are run-time libraries: their time belongs to the loop that called them, because the reader of a
 * report cannot change them. Known by the name of the file alone, so that it holds where the file is missing. A name
 * ends at ".so", at "-<version>.so" or at the end; what is linked statically is the program's own.
 */
#include "analyze/code/runtime.h"

#include <string.h>

/* A pattern that ends in '*' matches every longer name. */
static const char *const runtime_names[] = {
    /* C library and loader */
    "libc",
    "libm",
    "libmvec",
    "libpthread",
    "libdl",
    "librt",
    "libresolv",
    "libutil",
    "libanl",
    "ld-linux*",
    "linux-vdso",
    "ld64*",
    "ld",
    "ld-musl*",
    "libnss_*",
    "libthread_db",
    "libBrokenLocale",
    "libcrypt",
    /* compilers */
    "libgcc_s",
    "libstdc++",
    "libc++",
    "libc++abi",
    "libunwind*",
    "libgfortran",
    "libquadmath",
    "libatomic",
    "libgomp",
    "libomp",
    "libiomp5",
    "libimf",
    "libsvml",
    "libintlc",
    "libirng",
    "libirc",
    "libifcore*",
    "libifport*",
    "libasan",
    "libubsan",
    "libtsan",
    "liblsan",
    "libflang*",
    "libFortran*",
    "libpgmath",
    "libnvf",
    "libnvc",
    "libnvomp",
    "libamath*",
    /* MPI and what it stands on */
    "libmpi",
    "libmpi_*",
    "libmpifort",
    "libmpicxx",
    "libmpijava",
    "libmpich*",
    "libpmpi*",
    "libopen-pal",
    "libopen-rte",
    "libmca_common_*",
    "mca_*",
    "libompi*",
    "liboshmem*",
    "libpmix*",
    "libprrte",
    "libucx*",
    "libucp*",
    "libucs*",
    "libuct*",
    "libucm*",
    "libucc*",
    "libfabric*",
    "libpsm*",
    "libinfinipath",
    "libibverbs",
    "librdmacm",
    "libmlx4",
    "libmlx5",
    "libefa",
    "libhfi1*",
    "libnl-3",
    "libnl-route-3",
    "libevent*",
    "libhwloc*",
    "libnuma",
    "libxpmem",
    "libmunge",
    "libpmi*",
    "libslurm*",
    "libcxi*",
    "libhcoll",
    "libsharp*",
    "libocoms",
    "libtcp*-fi",
    "libverbs*-fi",
    "libze_loader",
    "libcuda",
    "libcudart",
    "libgdrapi",
    /* numerical libraries */
    "libblas*",
    "liblapack*",
    "libopenblas*",
    "libmkl_*",
    "libfftw3*",
    "libfftw*",
    "libcblas*",
    "libatlas*",
    "libsatlas",
    "libtatlas",
    "libblis*",
    "libflame*",
    "libscalapack*",
    "libsci_*",
    "libgsl*",
    "libgmp",
    "libmpfr",
    "libarmpl*",
    "libtbb*",
    "libjemalloc*",
    "libtcmalloc*",
    /* compression and other small change of every process */
    "libz",
    "libzstd",
    "liblzma",
    "libbz2",
    "libselinux",
    "libudev",
    "libsystemd",
    "libcap",
    "libpcre*",
    "libltdl",
    /* ourselves */
    "libwhywait*",
};

static bool name_matches(const char *pattern, const char *name, size_t n_name)
{
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*')
        return n_name >= n - 1 && memcmp(pattern, name, n - 1) == 0;
    return n_name == n && memcmp(pattern, name, n) == 0;
}

/* "libm-2.36.so" and "libm.so.6" are both libm, but "libopen-pal.so" keeps its hyphen. */
static size_t stem_length(const char *name)
{
    const char *so = strstr(name, ".so");
    size_t n = so != NULL ? (size_t)(so - name) : strlen(name);
    size_t stem = n;
    while (stem > 0 && ((name[stem - 1] >= '0' && name[stem - 1] <= '9') || name[stem - 1] == '.'))
        stem--;
    return stem > 0 && stem < n && name[stem - 1] == '-' ? stem - 1 : n;
}

bool runtime_is_library(const char *path)
{
    if (path == NULL || path[0] == 0 || path[0] == '[')
        return true;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strstr(name, ".so") == NULL)
        return false;
    size_t n_name = stem_length(name);
    for (size_t i = 0; i < sizeof runtime_names / sizeof *runtime_names; i++)
        if (name_matches(runtime_names[i], name, n_name))
            return true;
    return false;
}
