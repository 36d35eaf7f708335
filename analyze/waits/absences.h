/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When locations were preempted inside an MPI call: ready to run, but without a CPU; and when the MPI library had
 * called a function of the program there (a reduction of its own), which is work of the program.
 *
 * Meanwhile such a location does nothing for others that communicate with it. All absences stand in one list in the
 * order of their ends, which is the order in which events tell of them. Only the last ones are asked for: whoever knows
 * how far back forgets the others now and then, so that memory follows what is under way.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>

struct absence {
    uint64_t from_ns, to_ns;
    uint64_t call_ns; /* when the call began */
    uint32_t lane, rank, site;
    uint32_t atom; /* 1 + what it did meanwhile, for the most part; 0: nothing, without a CPU */
};

typedef VEC(struct absence) absence_list;

struct absences {
    absence_list over;      /* by to_ns */
    absence_list under_way; /* to_ns: UINT64_MAX */
    size_t n_kept;          /* of those over, when they were last forgotten */
};

void absences_release(struct absences *absences);
/* One that is just over. */
void absences_add_over(struct absences *absences, struct absence absence);
/* The location is back on a CPU. Nothing happens where it had not left. A time of 0: nobody knows since when. */
void absences_end(struct absences *absences, uint32_t lane, uint64_t now_ns);
/* Adds those with a part between the two times to the list, cut to it, by the order of their beginnings. */
void absences_find(const struct absences *absences, uint64_t from_ns, uint64_t to_ns, absence_list *list);
/* True when there are many to forget. */
bool absences_are_many(const struct absences *absences);
/* Nobody will ask for a time before this any more. */
void absences_forget(struct absences *absences, uint64_t before_ns);

/* Those of one location. */
struct idle {
    const struct absences *absences; /* NULL = none are known */
    uint32_t lane;
};
/* The time without a CPU between two times. */
uint64_t idle_between(const struct idle *idle, uint64_t from_ns, uint64_t to_ns);
/* The time in functions of the program, which MPI had called. */
uint64_t at_work_between(const struct idle *idle, uint64_t from_ns, uint64_t to_ns);
/* The end of the last such function before to_ns, which is to_ns inside of one; from_ns = none ended since. */
uint64_t at_work_until(const struct idle *idle, uint64_t from_ns, uint64_t to_ns);
