/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of each cause: causes.c collects them, causes_write.c writes them out. Private to the two and what that
 * uses. */
#pragma once
#include "analyze/blame/causes_input.h"
#include "analyze/blame/uncounted.h"
#include "analyze/steps/calltree.h"
#include "analyze/steps/cpu_use.h"
#include "analyze/blame/rollup.h"

/* Waiting, and all that is known of it. */
struct waiting {
    double ns, direct_ns;
    struct sparse ranks;   /* by rank */
    struct sparse classes; /* by (site in result order, class) */
    struct sparse by_site; /* by (site in result order, rank) */
};

struct cause_sums {
    double kind_ns[KIND_N]; /* what the program did: no time without a CPU */
    struct waiting waiting;
    double critical_ns;     /* on the critical path, */
    double critical_off_ns; /* and of that, without a CPU */
    struct sparse times;    /* time by rank */
    struct sparse inside;   /* of it in the code that names the cause, but for time without a CPU */
    struct sparse entered;  /* by rank, in code that is entered from there and no part of the cause; likewise */
    struct sparse noise;    /* variance of it by rank, as far as samples tell it */
    struct sparse unseen;   /* by rank: perhaps in it, as it was seen nowhere between calls between which others were */
    struct sparse borrowed; /* of inside, by rank: what only other processes were seen in */
    struct sparse busy;     /* as inside, computing only */
    struct sparse in_kernel; /* as inside, in system calls and page faults, by rank */
    struct sparse by_code;   /* as busy, by (rank, code place) */
    struct sparse lacks;     /* of all its time, without a CPU, by rank */
    struct sparse lacking;   /* waiting for ranks that had no CPU in the code that names the cause, by rank */
    struct sparse held_up;   /* waiting by (site in result order, class), also for what it lacked a CPU */
    struct sparse serial;    /* of times, by (lock that others take as well, rank); a serving thread is one */
};

/* Of a node of the tree, whatever cause it belongs to. */
struct own {
    double kind_ns[KIND_N];
    double on_path_ns;
};

struct causes {
    const struct causes_input *input;
    struct steps *steps;
    struct placing placing;
    struct rollup rollup;
    struct sparse busy_code; /* computing time by (rank, code place) */
    struct sparse blocked;   /* time asleep or in the kernel, outside MPI, by step */
    struct uncounted uncounted;
    struct sparse kernel_part; /* by (rank, blocked step): the part of its samples that were on a CPU */
    const struct crew *crews;  /* by rank */
    struct arena arena;
    VEC(struct cause_sums) sums; /* by cause in rollup */
    VEC(bool) is_inside;         /* by node in rollup: it lies in the code that names its cause */
    VEC(struct own) own;         /* by node */
    double path_off_cpu_ns;      /* of the critical path, without a CPU */
    struct waiting machine;      /* ranks that were ready to run but had no CPU */
    struct sparse machine_steps; /* likewise, by the step that names the code */
    double *lost_ns;             /* by rank and part of the run: without a CPU, or waiting for others without; NULL:
                                    there is one for each rank */
};

/* Needed to write the causes one by one. */
struct writer {
    struct causes *causes;
    struct cause_sums *sums;
    uint32_t number;      /* of the cause at hand */
    uint32_t called_back; /* the place that its libraries call back; CODE_NONE */
    bool has_executions;  /* those of the code that names it are its own */
    struct arena scratch;
    bool *is_part;     /* by node */
    uint32_t *part_of; /* by node: the part of its cause that it lies in, + 1; 0 = in none */
};

/*
 * Threads may run a place while the main thread is inside MPI, or without a CPU. That is no time of the process in the
 * place, but the executions are the process's. It shows where more threads were seen there at a time than can be on a
 * CPU at once: then this returns how many, else 0.
 */
double causes_threads_beyond(const struct causes *causes, uint32_t rank, uint32_t place);
/* The relative error of what one execution of a place takes on a process, of its time there. After busy_code. */
double causes_cost_error(const struct causes *causes, uint32_t rank, uint32_t place);
/* The class of a vector's key: (site in result order, class). */
const struct path_class *causes_class(const struct causes_input *input, uint64_t key);
