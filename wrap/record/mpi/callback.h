/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the program that MPI calls: reductions of its own (MPI_Op_create), functions that copy and delete
 * attributes, error handlers, and those of generalised requests.
 *
 * MPI is given a function of ours in their place, which calls the program's between record_callback_begin and _end. Not
 * every kind is told by what MPI passes to it which function it is of, so each of the program's functions has one of
 * ours. These are never given back: a program has few such functions, however often it makes reductions of them. Beyond
 * CALLBACK_MOST of them, what they do counts as time in MPI.
 *
 * All kinds have at most six parameters, integers and pointers, which travel in registers. So do the first of an error
 * handler's variable ones. Hence one function of ours serves for every kind. It passes on six words, of which some may
 * mean nothing.
 */
#pragma once
#include "wrap/record/pmpi/next.h"

enum { CALLBACK_MOST = 256 };

#define CALLBACK_WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f
typedef uintptr_t callback_function(CALLBACK_WORDS);
/* What to give MPI for a function of the program; of Fortran, for one with at most six parameters. NULL stays NULL. */
callback_function *callback_of(callback_function *function);
