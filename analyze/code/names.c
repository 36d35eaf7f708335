/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Demangles through the C++ run-time library and then cuts what a reader of a report does not want: return type,
 * parameters, the suffixes of copies that the compiler made.
 */
#include "analyze/code/names.h"
#include <stdlib.h>
#include <string.h>

/* From the C++ ABI: <cxxabi.h> is a C++ header. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

enum { MAX_MANGLED = 8192 };

/* The end of "f" in "f(int, char) const": the last top-level parenthesis group, "operator()" left alone. */
static size_t end_of_function(const char *text, size_t n)
{
    size_t depth = 0;
    for (size_t i = n; i-- > 0;) {
        if (text[i] == ')')
            depth++;
        else if (text[i] == '(' && depth > 0 && --depth == 0) {
            bool is_operator = i >= 8 && strncmp(text + i - 8, "operator", 8) == 0 && text[i + 1] == ')';
            bool is_scope = i + 10 < n && strncmp(text + i, "(anonymous", 10) == 0;
            return is_operator || is_scope ? n : i;
        } else if (depth == 0 && (text[i] == '>' || text[i] == '}'))
            return n;
    }
    return n;
}

/* The start of "f" in "void f<int>": after the last blank outside brackets. */
static size_t start_of_function(const char *text, size_t n)
{
    size_t start = 0;
    long depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(text + i, "operator", 8) == 0 && (i == 0 || text[i - 1] == ':' || text[i - 1] == ' '))
            return start;
        if (strchr("<({[", text[i]) != NULL)
            depth++;
        else if (strchr(">)}]", text[i]) != NULL)
            depth--;
        else if (text[i] == ' ' && depth == 0)
            start = i + 1;
    }
    return start;
}

const char *name_readable(struct arena *arena, const char *linked)
{
    if (linked == NULL || linked[0] == 0)
        return NULL;
    /* Copies that GCC and Clang make of a routine keep its name before a dot. */
    size_t n = strcspn(linked + 1, ".") + 1;
    const char *plain = arena_printf(arena, "%.*s", (int)n, linked);
    if (strncmp(plain, "_Z", 2) == 0 && strlen(plain) < MAX_MANGLED) {
        int status = 0;
        char *text = __cxa_demangle(plain, NULL, NULL, &status);
        if (text == NULL)
            return plain;
        const char *clone = strstr(text, " [clone ");
        size_t n_text = clone != NULL ? (size_t)(clone - text) : strlen(text), end = end_of_function(text, n_text);
        size_t start = end < n_text ? start_of_function(text, end) : 0;
        const char *name = arena_printf(arena, "%.*s", (int)(end - start), text + start);
        free(text);
        return name;
    }
    /* gfortran: __module_MOD_procedure. */
    const char *mod = strncmp(plain, "__", 2) == 0 ? strstr(plain, "_MOD_") : NULL;
    return mod != NULL ? arena_printf(arena, "%.*s::%s", (int)(mod - plain - 2), plain + 2, mod + 5) : plain;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

bool name_is_noreturn(const char *linked)
{
    /* Sorted. */
    static const char *const names[] = {
        "_Exit",
        "_Unwind_Resume",
        "_ZSt9terminatev",
        "__assert",
        "__assert_fail",
        "__assert_perror_fail",
        "__chk_fail",
        "__clang_call_terminate",
        "__cxa_bad_cast",
        "__cxa_bad_typeid",
        "__cxa_call_unexpected",
        "__cxa_deleted_virtual",
        "__cxa_pure_virtual",
        "__cxa_rethrow",
        "__cxa_throw",
        "__cxa_throw_bad_array_length",
        "__cxa_throw_bad_array_new_length",
        "__fortify_fail",
        "__libc_start_main",
        "__longjmp_chk",
        "__stack_chk_fail",
        "_exit",
        "_gfortran_error_stop_numeric",
        "_gfortran_error_stop_string",
        "_gfortran_os_error",
        "_gfortran_os_error_at",
        "_gfortran_runtime_error",
        "_gfortran_runtime_error_at",
        "_gfortran_stop_numeric",
        "_gfortran_stop_string",
        "_longjmp",
        "abort",
        "err",
        "errx",
        "exit",
        "longjmp",
        "pthread_exit",
        "quick_exit",
        "siglongjmp",
        "thrd_exit",
        "verr",
        "verrx",
    };
    if (linked == NULL)
        return false;
    /* std::__throw_length_error and its siblings */
    if (strncmp(linked, "_ZSt", 4) == 0 && strstr(linked, "__throw_") != NULL)
        return true;
    return bsearch(linked, names, sizeof names / sizeof *names, sizeof *names, compare_text) != NULL;
}

/*
 * Which libraries are run-time libraries: their time belongs to the loop that called them, because the reader of a
 * report cannot change them. Known by the name of the file alone, so that it holds where the file is missing. A name
 * ends at ".so", at "-<version>.so" or at the end; what is linked statically is the program's own.
 */

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
    for (size_t i = 0; i < sizeof runtime_names / sizeof *runtime_names; i++) {
        size_t n = strlen(runtime_names[i]);
        bool is_prefix = runtime_names[i][n - 1] == '*';
        n -= is_prefix;
        if ((is_prefix ? n_name >= n : n_name == n) && memcmp(runtime_names[i], name, n) == 0)
            return true;
    }
    return false;
}
