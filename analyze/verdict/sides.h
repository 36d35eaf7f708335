/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is compared with whom in a cause, and what each side did there.
 *
 * Those who carry the blame are late; the others wait and carry little of it or nothing. Ranks are chosen first, by
 * their sums in the code that names the cause, and measured then.
 */
#pragma once
#include "analyze/result/result.h"
#include "wrap/base/containers.h"

/* What one rank did there, or several of them on average. */
struct doing {
    uint32_t rank;
    double time_ns, computing_ns, entered_ns, executions, called_back;
    double instructions, cost_ns; /* of one execution; NAN: there is none */
    double cost_error;            /* relative; 0 = unknown */
    double bytes, file_bytes, n_accesses;
    double thread_ns;   /* time on a CPU of all threads */
    double error_ns;    /* standard error of the time, as far as samples tell it */
    double unseen_ns;   /* perhaps in it as well: no sample tells where it was */
    double borrowed_ns; /* of the time: as samples of others tell */
};

struct crowd {
    uint32_t *ranks, n;
    const char *names;  /* for who prints them; not set here */
    struct doing *each; /* in the order of ranks */
    struct doing mean;
};

enum measure { MEASURE_TIME, MEASURE_EXECUTIONS, MEASURE_INSTRUCTIONS, MEASURE_COST, MEASURE_CALLED_BACK };
double doing_measure(const struct doing *doing, enum measure measure);
double crowd_most(const struct crowd *crowd, enum measure measure);

/* Of the late ranks some may spend no longer in it than the others do on average: they are in it while others already
 * wait. */
struct sides {
    struct crowd late, others;
    struct crowd longer, no_longer; /* all are `longer` where there are not both */
};

struct sides sides_of(struct arena *arena, const struct cause *cause);

/* How many times as long, and at how many times the cost each time: of one rank or of several on average. The error is
 * that of samples and fitted costs, and what core and cache alone make of the same work. */
struct ratio sides_times(const struct doing *late, const struct doing *others);
struct ratio sides_costs(const struct doing *late, const struct doing *others);
/* True when `late` takes longer there: by more than the error, or by so much that few samples do not tell it. */
bool sides_is_longer(const struct doing *late, const struct doing *others);
