/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time of all ranks went, and POP's efficiencies (the multiplicative ones):
 *     parallel = load balance x serialisation x transfer x processor,
 *     load balance = mean(U) / max(U), serialisation = max(U) / T_ideal, transfer = T_ideal / T_present,
 *     processor = T_present / T,
 * with U a rank's time outside MPI, T the run time, T_present without what the critical path spent inside MPI off the
 * CPU, and T_ideal without all that it spent inside MPI: the run on a network that takes no time, as long as the same
 * processes stay critical (an upper bound of T_ideal). POP's own transfer factor is transfer x processor: it takes a
 * process that lacks a CPU inside MPI for a slow network.
 * Where several threads of a process call MPI, U is their mean, and shares are of the time of them all.
 */
#pragma once
#include "analyze/waits/replay.h"

/* The critical path: how long what took by atom_key(rank, atom), packed. */
void efficiency_critical_path(const struct replay *replay, struct sparse *terms);
void efficiency_write(struct analysis *analysis, const struct replay *replay, struct pools *pools,
                      const struct sparse *critical);
