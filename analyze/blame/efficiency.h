/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares of the time of all ranks, the loss of the run, and how much sooner it would end otherwise.
 *
 * POP's efficiencies (the multiplicative ones):
 *     parallel = load balance x serialisation x transfer x processor,
 *     load balance = mean(U) / max(U), serialisation = max(U) / T_ideal, transfer = T_ideal / T_present,
 *     processor = T_present / T,
 * with U a rank's time outside MPI, T the run time, T_present without what the critical path spent inside MPI off the
 * CPU, and T_ideal without all that it spent inside MPI: the run on a network that takes no time, as long as the same
 * processes stay critical (an upper bound of T_ideal). POP's own transfer factor is transfer x processor: it takes a
 * process that lacks a CPU inside MPI for a slow network. If several threads of a process call MPI, U is their mean,
 * and shares are of the time of them all.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/result/result.h"
#include "analyze/waits/replay.h"

/* The critical path: how long what took by atom_key(rank, atom), packed. */
void efficiency_critical_path(const struct replay *replay, struct sparse *terms);
void efficiency_write(struct analysis *analysis, const struct replay *replay, const struct pools *pools,
                      const struct sparse *critical);

/*
 * The run rank by rank: where the time of each went, who made whom wait, and what the critical path is made of.
 *
 * The waiting of a class is known by waiting rank, its blame by late rank; who made whom wait is their product, class
 * by class, which is exact where a class has one of either. The critical path is the chain that ends last: its
 * imbalance in a step is how much more of the step it has than the ranks have on average (Boehme, Wolf, de Supinski,
 * Schulz, Geimer: "Scalable critical-path based performance analysis", IPDPS 2012).
 *
 * Memory: MATRIX_GROUPS_MAX squared, and code size.
 */

enum { MATRIX_GROUPS_MAX = 256 };

/* Fills in ranks, matrix, critical, transfers and outside of the result. `critical`: efficiency_critical_path. Sites
 * are complete. */
void ranks_write(const struct measure_input *input, const struct measures *measures, const struct sparse *critical,
                 struct analysis *analysis);

/*
 * Time by which the run would end sooner without the waiting for one cause.
 *
 * If balanced. Were what is too much shared out so that all arrive together, they would arrive at the mean of their
 * present arrivals. The last of them earlier by (sum of waiting) / (number of ranks; of threads, where several of a
 * process call MPI). With fewer CPUs than ranks, waiting counts only as far as it left CPUs idle (cpu_use.h).
 *
 * Work under a lock that others take as well is done by one process at a time (onesided.h). Shared out, it lasts as
 * long as all of it under one lock, so that this part gains no more than the rank that has most of it is in it for
 * longer.
 *
 * No rank can end sooner by more than it waits for the cause plus what it spends in it, and the run ends with the last
 * rank. With fewer CPUs than ranks more goes with the cause: elsewhere a rank may lack a CPU, or wait for one that
 * does, because others have it who are in the cause, or wait for it where MPI polls. They free no more than all ranks'
 * times in it and waits for it. So the least of these sums over the ranks bounds the gain: a cause that one rank
 * neither waits for nor has is hidden by whatever that rank does meanwhile. The gain is no more than the cause takes on
 * the critical path, which is there without it as well (with fewer CPUs than ranks, but for what it lacks a CPU
 * elsewhere). The lesser of the two is the most that is gained if the cause takes no time.
 *
 * A rank's waits for the cause are, class by class (classes.h), as much as would go if the cause alone went: all, where
 * the cause is longer than the wait (another cause on the waiting side hides a part of it, or two on the late side
 * share it). Time that the cause lost without a CPU goes with it, though it is the machine's row. Time of which nobody
 * knows what it waits for, after a rank's end or inside a call that never returned, bounds nothing.
 *
 * As others. Were late ranks in it no longer than the others, each rank would end sooner by its waits for the cause and
 * by what it has too much of it. That is by how much it is longer in it than the others are, and no less than its part
 * of the blame for each rank that waits: where another rank is late each time, nobody is longer in all. Again the least
 * of these sums is the gain.
 *
 * Late ranks that lack a CPU in it. The waiting for that is the machine's (cause_sums.h). It goes with the work where
 * the work that remains lacks a CPU as often as before, and stays where other work then lacks one instead. Both are
 * told, and no gain makes the run shorter than the computing of its ranks divided by the CPUs that they can use. If
 * late ranks become as the others, the lack is a part of the gain already: the least has only what the cause takes on
 * the critical path with a CPU, or asleep.
 */

struct gain {
    double if_balanced_ns, if_gone_ns;                  /* of wall time; >= 0, the first not above the second */
    double if_as_others_ns;                             /* likewise not above it */
    double if_balanced_least_ns, if_as_others_least_ns; /* where its late ranks lack a CPU as long then; no more */
    double
        if_as_others_known_ns; /* likewise, by what is known that ranks wait for it and have too much of it; no more */
    double if_gone_off_ns;     /* of the second, at least so much is time without a CPU, in it or elsewhere */
    uint32_t last_rank;        /* that would be the last before all arrive together; TRACE_NONE */
    double among_ns;           /* the most that those who take part gain, whatever others do meanwhile */
};

/* Adds to `waits_ns`, by rank, what would go of a class's waiting with a cause that `blame_ns` of it is put down to. */
void gain_add_class(double *waits_ns, const struct path_class *class, double blame_ns);

/* Of one cause. */
struct gain_input {
    const struct efficiency *efficiency;
    const struct rank_time *ranks;
    uint32_t n_ranks;
    const double *waits_ns;      /* for it, by rank */
    const bool *takes_part;      /* by rank: it is blamed, or waits where the cause is felt */
    const struct sparse *times;  /* in it, by rank, packed */
    const struct sparse *blames; /* likewise */
    double usual_ns;             /* in it on average, those who are not to blame; NAN: all are */
    const double *lacks_ns;   /* by rank: without a CPU elsewhere, or waiting for others without, while ranks wait for
                                 the cause; NULL: there is a CPU for each */
    double waiting_ns;        /* that is put down to it, */
    double left_idle_ns;      /* and of that, what counts as leaving CPUs idle */
    double lacking_ns;        /* put down to the machine, since its late ranks had no CPU in it */
    double n_at_once;         /* ranks that can be on a CPU at the same time; 0 = all (cpu_use.h) */
    double serial_share;      /* of it, done under locks that let in one process at a time, */
    double serial_gain_ns;    /* and the most that sharing this part out gains */
    double critical_ns;       /* in it on the critical path, */
    double critical_off_ns;   /* of that, without a CPU, */
    double critical_lacks_ns; /* and elsewhere there, without a CPU */
};
struct gain gain_of(const struct gain_input *input);

/*
 * The number of causes that contradict themselves: a large part of all waiting is put down to them, most of it where
 * only times show what was waited for, and without them those who take part would gain next to nothing. Then it was not
 * they that were waited for.
 */
uint32_t gains_count_contradictions(const struct analysis *analysis);

/*
 * The ranks' shares of their nodes: CPUs for ranks and threads, other programs there, and the time that a limit or the
 * host of a virtual machine took away. From the processes' own facts (trace.h). It is what the machine's row of a
 * report gives as its reason.
 *
 * Ranks are crowded where a set of CPUs has more of them than CPUs: of each set that a rank may use, the ranks that may
 * use nothing else are counted. A node's CPUs are one such set.
 */

/* Adds the hosts of the trace to the machine of the analysis. `young_ns`, by rank: for how long threads too young to be
 * watched needed a CPU, all together; NULL = none did. */
void hosts_write(struct analysis *analysis, const double *young_ns);
/* Which processes were stopped, by what the recorder told of their main threads; after the last event. */
void stops_write(struct analysis *analysis, const struct lanes *lanes);
