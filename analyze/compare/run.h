/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of a run for a comparison, without the run: the tree of loops and calls with blame, time and critical path,
 * what the machine held up, and the exact counts. Made from an analysis, or read from a file that was made from runs
 * (kept.h). Nodes that are below a ten-thousandth in everything are added to what is around them.
 *
 * Times are whole ns, so that a run that was kept is the same as the run.
 *
 * Everything lives in the arena it is made in.
 */
#pragma once
#include "analyze/result/result.h"

struct run_place {
    const char *name; /* as the report names it */
    const char *key;  /* likewise, but the same in every run of the program; NULL = the name is */
    const char *file; /* base name; NULL = unknown, as the routine */
    const char *routine;
    enum step_state state;
    bool is_loop;
    uint64_t build; /* of its module; 0 = unknown */
    uint32_t line_first, line_last;
};

struct run_node {
    uint32_t parent; /* stands before it; TRACE_NONE */
    uint32_t place;
    uint32_t cause;                                          /* from 1; 0 = none */
    double kind_ns[KIND_N], time_ns, longest_ns, on_path_ns; /* struct code_node */
};

struct run {
    const char *path, *program;
    const char *command;  /* as it was started; "" = unknown */
    const char *mpi;      /* the MPI library and its version; "" = unknown */
    const char *compiler; /* of the program, and how it optimised: "GNU C17 12.2.0 -O2"; "" = unknown */
    const char *hosts;    /* names, by first appearance */
    uint32_t n_ranks, n_hosts;
    uint64_t build, realtime_ns; /* 0 = unknown */
    bool is_counted, is_whole;
    double wall_ns, waiting_ns;
    double machine_ns;      /* of the waiting: for ranks without a CPU */
    double path_off_cpu_ns; /* of the critical path, without a CPU */
    /* Of all ranks' time (struct efficiency). */
    double all_ns, compute_ns, transfer_ns, mpi_ns, descheduled_ns, blocked_ns;
    struct run_place *places;
    struct run_node *nodes;
    struct fact *facts;
    uint32_t n_places, n_nodes, n_facts;
};

/* Texts of each step that a node of the analysis stands for, as in struct run_place. */
struct run_texts {
    const char *const *names, *const *keys;
};

/* The analysis is not needed afterwards. */
struct run *run_make(struct arena *arena, const struct analysis *analysis, const char *path, struct run_texts texts,
                     bool is_whole);
