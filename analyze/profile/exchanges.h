/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a call of MPI moves: how many messages of which sizes, and with whom, by how far the partner's rank lies from
 * the own one (neighbours of a grid have few such distances); of collectives, what a rank sends, and among how many.
 * From the events alone; memory follows the sites.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/steps/lanes.h"

struct exchanges {
    VEC(struct site_exchange) sites; /* by site */
};

/* Every event of the trace; `lane` is that of its location. Others than data moved are passed over. */
void exchanges_feed(struct exchanges *exchanges, const struct trace *trace, const struct lane *lane,
                    const struct event *event);
/* Tells each site of the analysis what is moved there. */
void exchanges_write(const struct exchanges *exchanges, const struct classes *classes, const struct measures *measures,
                     struct analysis *analysis);
void exchanges_release(struct exchanges *exchanges);
