/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of steps and sites as the reports print them, in one place so that all of them agree. */
#pragma once
#include "analyze/result/result.h"

struct label_book {
    struct arena *arena; /* labels live here */
    const struct analysis *analysis;
    bool full_paths;  /* files as in the debug information. Otherwise as short as they stay unique */
    bool short_names; /* steps and sites without long template arguments */
};

struct sentences {
    const char **at; /* in the book's arena */
    uint32_t n;
};

/* Behind the last slash; the path itself when nothing is. */
const char *label_base_name(const char *path);
/* "jacobi.c:58-63", or "jacobi.c" when no line is known. */
const char *label_lines(const struct label_book *book, const char *file, uint32_t first, uint32_t last);
/* "relax()": with parentheses unless the name has some. */
const char *label_routine(const struct label_book *book, const char *routine);
/* "loop jacobi.c:58-63 in relax()"; without debug information "loop at relax()+0x1c in libfoo.so". */
const char *label_step(const struct label_book *book, uint32_t step);
/* The same after "most of it": "in loop a.c:5-7", "inside MPI_Waitall b.c:9". */
const char *label_within(const struct label_book *book, uint32_t step);
/* By what it is alone: equal in another run of the program, whatever was seen around it there. */
const char *label_step_alone(const struct label_book *book, uint32_t step);
/* A cause as its step. Where another cause has that name, ", called at jacobi.c:20 in solve()" tells them apart, or "
 * <- main():85" behind that. */
const char *label_cause(const struct label_book *book, uint32_t cause);
/* "loop a.c:7 in f() and 2 more places": where one branch leads to several that matter. */
const char *label_cause_and_beside(const struct label_book *book, uint32_t cause);
/* The cause that the answer is about, with those that are like it, after "most": "in loop a.c:5-7 in f() and 1 more
 * place". */
const char *label_answer_within(const struct label_book *book);
/* "MPI_Barrier at jacobi.c:71 in solve() <- main()", as far as it is known; `call` NULL: without it. */
const char *label_call(const struct label_book *book, const char *call, const char *file, uint32_t line,
                       const char *path);
/* "MPI_Barrier jacobi.c:71 in solve() <- main()" */
const char *label_site(const struct label_book *book, uint32_t site);
/* "more work" */
const char *label_kind_words(enum cause_kind kind);
