/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small MPI programs, several in one executable: `program --list` prints "name ranks together|alone" lines, `program
 * name...` runs some, those that go together under one MPI_Init. A case checks its own results (CHECK), and folds
 * everything that it received into a digest (FOLD) that rank 0 prints, so that two runs can be compared. Nothing else
 * goes to stdout.
 *
 * Every MPI call between MPI_Init and MPI_Finalize is counted, by macros made from the recorder's own list of calls;
 * the scripts compare the counts with what was recorded. What an MPI library or the recorder calls for itself does not
 * pass these macros. Calls made inside other calls (in callbacks) are not recorded: they are written (MPI_Send)(...),
 * which the macros do not touch. What is called through a function pointer is counted by hand (count_call).
 */
#pragma once
#include "wrap/format.h"
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum life {
    TOGETHER, /* runs between the MPI_Init and MPI_Finalize of the main function, after and before others */
    OWN_LIFE, /* calls them itself */
    ALONE,    /* has the main function call them, but needs a process of its own */
};

struct mpi_case {
    const char *name;
    void (*run)(void);
    int ranks;
    enum life life;
};
extern const struct mpi_case cases[];

extern int rank, size;
#define WORLD MPI_COMM_WORLD

void fold(const void *data, size_t bytes);
void check(bool holds, const char *what, const char *file, int line);
/* States how many records of a type (enum ww_type) this rank leaves: for cases that are alone. */
void known_records(const char *type, long n);
void count_call(enum ww_call_id call);
/* For cases with a life of their own. */
void print_digest(void);

#define FOLD(object) fold(&(object), sizeof(object))
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
#define KNOWN_RECORDS(type, n) known_records(#type, n)
#define OK(call) check((call) == MPI_SUCCESS, #call, __FILE__, __LINE__)

/* #define MPI_Send(...) (count_call(WW_ID_Send), MPI_Send(__VA_ARGS__)), and so on. */
#include "counted_calls.h"
