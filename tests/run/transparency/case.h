/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small MPI programs, several in one executable: `program --list` prints "name ranks" lines, `program name` runs one.
 * A case checks its own results (CHECK), and folds everything that it received into a digest (FOLD) that rank 0 prints,
 * so that two runs can be compared. Nothing else goes to stdout.
 *
 * KNOWN_CALLS states how often this rank calls an MPI function; the script compares it with what was recorded.
 */
#pragma once
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mpi_case {
    const char *name;
    void (*run)(void);
    int ranks;
    bool own_life; /* calls MPI_Init and MPI_Finalize itself */
};
extern const struct mpi_case cases[];

extern int rank, size;
#define WORLD MPI_COMM_WORLD

void fold(const void *data, size_t bytes);
void check(bool holds, const char *what, const char *file, int line);
void known_calls(const char *name, long n);
/* For cases with a life of their own. */
void print_digest(void);

#define FOLD(object) fold(&(object), sizeof(object))
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
#define KNOWN_CALLS(name, n) known_calls(#name, n)
#define OK(call) CHECK((call) == MPI_SUCCESS)
