/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From waits to instances of classes (classes.h): the paths of all who waited at one occurrence of a collective, or of
 * one waiting completion, are taken from the tree of chains and added up by call site. An instance that is complete
 * goes to its class.
 */
#pragma once
#include "analyze/blame/classes.h"
#include "analyze/waits/sink.h"

/* Sums of a path's terms. */
struct path {
    double noise_ns2, code_ns; /* variance; time in the program's code */
    uint64_t longest_ns;       /* of what was done between two nodes */
};

/* The waits of one occurrence, collected until the last member's is known. */
struct occurrence {
    struct occurrence *next; /* at another call site */
    struct instance instance;
    /* The late path is mostly the same for all who wait: expanded once, counted. */
    uint64_t late_order, common_order;
    uint32_t n_late;
    struct path late_path;
    struct sparse late, late_counts;
};

struct occurrences {
    struct classes *classes;
    struct occurrence *spare;
    struct sparse path; /* scratch: of the wait at hand */
};

void occurrences_begin(struct occurrences *occurrences, struct classes *classes);
void occurrences_release(struct occurrences *occurrences);
/* Takes the waits: an occurrence is one instance a call site, and is complete when it is closed. */
struct wait_sink occurrences_sink(struct occurrences *occurrences);
