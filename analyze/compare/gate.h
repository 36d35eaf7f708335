/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A limit on increases, for scripts. Times count only where they are more than scatter; counts that are exact always
 * do.
 */
#pragma once
#include "analyze/compare/compare.h"

enum gate_what { GATE_TIME, GATE_WAITING, GATE_CAUSE, GATE_COMPUTING, GATE_EXECUTIONS, GATE_ANY };
struct gate {
    double share; /* 0.05: an increase by more than 5 % */
    enum gate_what what;
};

/* An increase beyond the limit: of the run time, of the waiting for the program's code, of an exact count, each by what
 * it was; of a cause by what all waiting for the program's code was; of what the slowest rank computes in a part of the
 * program by all such computing. */
struct gate_hit {
    const struct compare_row *row;   /* or NULL */
    const struct compare_fact *fact; /* or NULL */
    double share;                    /* INFINITY where there was nothing before */
};
typedef VEC(struct gate_hit) gate_hits;

/* "5%", "5%:cause" ...; false when it is none. */
bool gate_parse(const char *text, struct gate *gate);
/* `is_blind`: times were asked for, but there are too few runs to tell. */
void gate_check(const struct comparison *comparison, const struct gate *gate, gate_hits *hits, bool *is_blind);
