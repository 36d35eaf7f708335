/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way from a wrapper to the MPI behind it.
 *
 * This library must load into shells and launchers that know no MPI, and into interpreters that load MPI later.
 * So it refers to no symbol of MPI at all, neither function nor predefined handle: everything is looked up by
 * name, when first needed.
 *
 *     MPI_ENTRY(Send, (const void *buf, int count, ...))
 *     {
 *         ...
 *         int err = NEXT(Send)(buf, count, ...);
 *
 * defines MPI_Send and calls the next definition: MPI's, or that of another tool stacked behind us. The recorder's own
 * questions go straight to MPI's PMPI_ names (PMPI(Type_size)).
 */
#pragma once
#include "wrap/record/pmpi/abi.h"
#include "wrap/record/record.h"
#include <stdbool.h>

#define WW_EXPORT __attribute__((visibility("default")))

/* Never NULL: what cannot be found is a function that says so once and returns MPI_ERR_OTHER. */
void *next_find(const char *name);
void *next_find_pmpi(const char *name);
/* Any other symbol of the MPI library or the program; NULL if there is none. */
void *next_find_data(const char *name);

#define NEXT_IN(variable, find, name)                                                                                  \
    ({                                                                                                                 \
        __typeof__(variable) next_ = __atomic_load_n(&(variable), __ATOMIC_RELAXED);                                   \
        if (__builtin_expect(!next_, 0)) {                                                                             \
            next_ = (__typeof__(variable))find(name);                                                                  \
            __atomic_store_n(&(variable), next_, __ATOMIC_RELAXED);                                                    \
        }                                                                                                              \
        next_;                                                                                                         \
    })
#define NEXT(name) NEXT_IN(next_##name, next_find, "MPI_" #name)
#define PMPI(name)                                                                                                     \
    ({                                                                                                                 \
        static __typeof__(&MPI_##name) pmpi_##name;                                                                    \
        NEXT_IN(pmpi_##name, next_find_pmpi, "PMPI_" #name);                                                           \
    })

#define MPI_ENTRY(name, parameters)                                                                                    \
    WW_EXPORT int MPI_##name parameters;                                                                               \
    static __typeof__(&MPI_##name) next_##name;                                                                        \
    WW_EXPORT int MPI_##name parameters

/* Handles as the spool knows them. */
#define HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

/* The predefined handles that the recorder compares with or uses itself; valid after next_load_handles. */
struct mpi_handles {
#define ABI_HANDLE(field, type, name, open_mpi, mpich, standard) type field;
#include "wrap/record/pmpi/abi.def"
};
extern struct mpi_handles mpi_handles;
/* 0, or -1 when the MPI of this process has another binary interface than this recorder. */
int next_load_handles(void);
/* The name of this recorder's interface, and the library of the recorder that fits the MPI of this process. */
const char *next_own_interface(void);
const char *next_fitting_recorder(void);
/* Makes the calls of all loaded objects go past this library. For a process whose MPI is not ours. */
void next_unhook(void);
/* Leaves a note for the report if another tool takes functions of MPI before us (shadows ours). */
void next_note_shadowed(void);
/* At the end of a process that has not begun MPI as far as we saw: says so where the user has to know. */
void next_tell_unseen(void);
