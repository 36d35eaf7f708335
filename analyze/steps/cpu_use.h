/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which waiting left CPUs idle, where there are more ranks than CPUs.
 *
 * Of R ranks at most C run at once: on each host as many as it has CPUs that they may use, or as it has ranks. While n
 * of them are on a CPU and w wait, work that were shared out better could fill the C - n that are idle, and would be
 * done sooner by (C - n) / C of that time. With a CPU for every rank that is w / R, the mean of their waiting. With
 * fewer, a rank that waits may only leave its CPU to one that lacks it, and nothing is gained. So waiting counts by the
 * share
 *
 *     ((C - n) / C) / (w / R), at most 1.
 *
 * Added up over a run, no gain makes it shorter than the CPU time of its ranks divided by C. By n count main threads
 * outside MPI and not off the CPU, by w those that are neither there nor kept from it. Both are means over equal parts
 * of the run, of which there are CPU_USE_PARTS: fewer than a step has.
 *
 * Nothing is kept, and all waiting counts in full, where R <= C or where it is not known what CPUs there were.
 */
#pragma once
#include "analyze/steps/lanes.h"
#include "wrap/base/packing.h"

enum { CPU_USE_PARTS = 4096 };

/* The threads of a rank, and how many of them can be on a CPU at once, by the CPUs that they may use. */
struct crew {
    uint32_t n_threads, n_at_once;
};

/* By rank, in the arena. */
struct crew *crews_of(const struct trace *trace, struct arena *arena);

struct cpu_use {
    const struct trace *trace;
    double n_at_once;       /* C; 0 = no fewer than ranks */
    double *on_ns, *off_ns; /* by part, over ranks: needed a CPU and had it, or had none */
    double *counts_ns;      /* by part: waiting before it counts as much as if one rank had waited so long */
    struct cpu_user {
        uint64_t since_ns;
        int state;
    } *users; /* by location */
    struct arena arena;
};

void cpu_use_begin(struct cpu_use *use, const struct trace *trace);
void cpu_use_release(struct cpu_use *use);
/* First reading: after lanes_feed. */
void cpu_use_feed(struct cpu_use *use, const struct lane *lane, const struct event *event);
/* Gives that of a section away; adds it to that of the run. */
void cpu_use_pack(const struct cpu_use *use, struct packing *packing);
void cpu_use_unpack(struct cpu_use *use, struct unpacking *unpacking);
/* After it. */
void cpu_use_complete(struct cpu_use *use);
/* The share of waiting in this time that counts, in [0,1]. */
double cpu_use_share(const struct cpu_use *use, uint64_t from_ns, uint64_t to_ns);
