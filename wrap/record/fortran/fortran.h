/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran entry points: `mpif.h` and `use mpi` call mpi_x_ in four spellings, `use mpi_f08` calls mpi_x_f08_ or
 * mpi_x_f08ts_. The bindings of the two libraries reach C by different names, partly past MPI_X. So calls are recorded
 * at the entry, where also the call site is, and what the binding calls further down is nested, hence not recorded.
 *
 * All arguments are addresses (of integers that stand for handles, of descriptors of buffers) except the lengths of
 * strings. They are passed on as they came. Only an absent ierror and MPI_STATUS(ES)_IGNORE are replaced by something
 * of ours.
 */
#pragma once
#include "wrap/record/fortran/row.h"

typedef void fortran_next(const struct fortran_row *row, void *function, void **arguments);

/* Records one call: looks at the arguments, lets `next` call the real function with them, looks at the results. */
void fortran_call(const struct fortran_row *row, void **arguments, fortran_next *next, void *function,
                  const void *return_address, const void *frame_address);
