/* SPDX-License-Identifier: BSD-3-Clause */
/* What an executable file says about itself before it runs: which MPI it is linked with, directly or through its
 * libraries, and which of MPI's entry points it calls. Nothing of it is executed. */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/recorders.h"
#include <limits.h>
#include <stdbool.h>

enum program_kind { PROGRAM_DYNAMIC, PROGRAM_STATIC, PROGRAM_LIBRARY, PROGRAM_SCRIPT, PROGRAM_OTHER };
/* MPICH stands for all that share its binary interface: Intel MPI, Cray MPICH, MVAPICH. The standard's own came with
 * MPI 5. */
enum program_mpi {
    PROGRAM_NO_MPI,
#define ENUMERATE(interface, name, library) PROGRAM_##interface,
    RECORDERS(ENUMERATE)
#undef ENUMERATE
        PROGRAM_OTHER_MPI, /* none of these: no recorder fits */
    PROGRAM_STATIC_MPI
};

struct program_symbol {
    const char *name;
    bool is_intercepted; /* set by program_mark_intercepted */
};

struct program {
    struct arena arena;
    const char *path;
    enum program_kind kind;
    enum program_mpi mpi;
    const char *mpi_library; /* "libmpi.so.40"; NULL without a shared MPI library */
    const char
        *other_loader; /* the program's dynamic linker where this tool has another one, as with musl; else NULL */
    bool has_asan;     /* AddressSanitizer's library, which refuses to run behind a preloaded one unless told */
    bool has_debug;    /* sections of debug information in the file itself */
    bool has_build_id, has_counters;
    bool names_mpi;                       /* "MPI_Init" stands in it as a text, as where dlsym is asked for it */
    VEC(struct program_symbol) mpi_calls; /* entry points of MPI that it or its own libraries refer to, by name */
    VEC(struct program_symbol) mpi_own;   /* those that it defines itself: a tool was linked into it */
    VEC(const char *) libraries;          /* paths, as the loader resolves them */
    VEC(const char *) missing;            /* names of libraries that the loader does not find */
};

/* The path by which execvp finds it. False, with errno set, when it is nowhere. */
bool program_find(const char *name, char path[PATH_MAX]);
/* Says so, after program_find; returns -1. */
int program_not_found(const char *name);
/* Which MPI the dynamic linker finds on this machine by its usual name, Open MPI before others. Takes some ten
 * milliseconds. */
enum program_mpi program_mpi_here(void);
/* Of the file at `path` and the libraries that the loader finds for it: kind, MPI, loader and sanitizer, but no calls.
 * Takes some milliseconds. Release it. */
void program_glance(struct program *program, const char *path);
/* The kernel gives it rights of another user or group, or capabilities, that this process has not. Its loader then
 * obeys no LD_PRELOAD. Of an executable, not of a script. */
bool program_gains_rights(const char *path);
/* `name` is found by program_find. Returns 0, or -1 after error(); release in both cases. */
int program_read(struct program *program, const char *name);
/* Marks the calls that this recorder library defines. Returns 0, or -1 after error(). */
int program_mark_intercepted(struct program *program, const char *recorder_path);
void program_release(struct program *program);

/* The file name of the recorder for programs of this MPI; NULL = there is none. */
const char *program_recorder(enum program_mpi mpi);
/* "Open MPI", "MPICH" ... */
const char *program_mpi_name(enum program_mpi mpi);
