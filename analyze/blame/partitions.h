/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One imbalance of the data, many causes. A rank that owns twice as many cells is late in every loop over cells. Each
 * of them is a cause, small, and what is to be mended is how the data is divided.
 *
 * The largest cause that is known to be late says which ranks are, and by which factor. Where none is, all of them
 * together do. Another cause shares its reason if these ranks have most of its blame, and if they take longer there by
 * the same factor, as far as its errors allow: half as much again is what core and cache make of the same work. Causes
 * that are too small to be known by themselves are asked together: where their sum is late by that factor, they share
 * it too. Where it is not, none of them does.
 *
 * That is an imbalance of a partition where no single cause has half of it. Otherwise that one stands for itself, and
 * the next one is asked.
 *
 * Only code that computes is asked: ranks sleep, write files and are inside MPI for reasons of their own.
 *
 * Cost: causes x causes worth a row x ranks at worst.
 */
#pragma once
#include "analyze/result/result.h"

/* Of causes in their order: adds the partitions to the analysis, all but what each would gain, and numbers them in the
 * causes. */
void partitions_find(struct analysis *analysis);
