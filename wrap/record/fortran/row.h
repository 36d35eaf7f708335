/* SPDX-License-Identifier: BSD-3-Clause */
/* An entry point as calls.def has it: the call, the shape of its arguments, and where the ones are that all have. */
#pragma once
#include <stdint.h>

/* Bits of an entry. */
enum {
    FORTRAN_TS = 1,    /* buffers are C descriptors */
    FORTRAN_LARGE = 2, /* counts are INTEGER(MPI_COUNT_KIND) */
};

enum fortran_shape {
#define SHAPE(name, begin, found, end) FORTRAN_##name,
#include "wrap/record/fortran/shapes.def"
#undef SHAPE
};

struct fortran_row {
    uint16_t id, shape;
    uint8_t entry;  /* FORTRAN_ bits */
    int8_t ierror;  /* index of the argument */
    int8_t request; /* index of the argument; -1 = none */
};
