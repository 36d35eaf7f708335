/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words between a process of the tool and the one beside it that knows MPI (mpi.c). They share two stores: what the
 * tool gives, and what it takes. The tool writes, says so, and is answered when it can take.
 */
#pragma once
#include <stdint.h>

/* Descriptors of that process when it begins. */
enum { WORDS_SOCKET = 0, WORDS_STORE_GIVEN = 3, WORDS_STORE_TAKEN = 4 };

enum word_kind {
    WORD_MET,     /* from MPI, once: all processes have come to it */
    WORD_LATE,    /* likewise: some have not */
    WORD_WRITTEN, /* to MPI: exchange it */
    WORD_AT_WORK, /* to MPI, between exchanges */
    WORD_TAKEN,   /* from MPI: the exchange has ended */
    WORD_BROKEN /* from MPI: there is none any more, since the process with that number says nothing; 0 = it has failed
                 */
};

struct word {
    uint32_t kind, number;
};
