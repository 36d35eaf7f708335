/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about the lines of a source file beside blame: time, executions by rank, ways behind conditions, loops. */
#pragma once
#include "analyze/counts/coverage.h"
#include "analyze/result/result.h"
#include "wrap/base/containers.h"

/* A way behind a condition, ranks added up. */
struct line_way {
    uint32_t function, block, way;
    double taken, executions;
};

struct line_facts {
    double time_ns; /* on a CPU at this line itself, and in MPI functions that it calls */
    bool is_counted;
    uint64_t least, most; /* executions on a rank; */
    double sum;           /* of all ranks */
    VEC(struct line_way) ways;
};

/* A loop of the machine code, as the source has it. */
struct line_loop {
    uint32_t first, last, depth; /* depth 0: in no other of the file */
};

struct file_facts {
    const char *path;
    VEC(struct line_facts) lines; /* by number */
    VEC(struct line_loop) loops;  /* the outer before the inner */
    uint32_t n_deep;              /* loops within each other, at most */
    bool has_time, has_counts, has_ways;
};

/* `coverage` is read, or NULL. Facts are released one by one. */
void line_facts_gather(struct file_facts *files, size_t n, const struct analysis *analysis, struct coverage *coverage);
void line_facts_release(struct file_facts *file);
