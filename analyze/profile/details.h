/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other facts about a cause: its files, and the library that most of it is inside. And of a
 * call: what it moves.
 *
 * Which calls work on which files, and how much they read and write, how often: by call, file and process. A cause that
 * is a call of MPI-IO, or one that completes what another has started, is told with its files.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/counts/executions.h"
#include "analyze/profile/keyed_sums.h"
#include "analyze/result/result.h"
#include "analyze/steps/calltree.h"
#include "analyze/steps/lanes.h"

/* A file access: bytes and how many, by struct file_use_key. */
void file_use_take(struct keyed_sums *use, const struct lane *lane, const struct event *event);
/* Every event of the trace; `lane` is that of its location. Others than file accesses are passed over. */
static inline void file_use_feed(struct keyed_sums *use, const struct lane *lane, const struct event *event)
{
    if (event->kind == EV_IO)
        file_use_take(use, lane, event);
}
/* Adds the files to the causes and what was moved to their ranks. Causes are complete. */
void file_use_add_to_causes(const struct keyed_sums *use, struct sites *sites, struct analysis *analysis);

/*
 * Causes whose time passes inside a library that no counters are in. More work of such a library in each call looks
 * like work that is dearer: a matrix product of larger matrices is called as often.
 */

/*
 * Of a line of a script, which may call anything: the loop or routine of an installed package that most of it is in,
 * and which line of several it is.
 *
 * Causes and steps are complete. The library: of causes that are told to be slower, and of lines of scripts.
 */
void insides_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey);

/*
 * What an interpreter does for a script besides running it (steps/errands.h), where that is most of a cause.
 *
 * While the thread that calls MPI waits for the interpreter's lock, another one of the process runs the script, and its
 * time is the process's. So a cause that such threads run is the lock's where looks at the rank most to blame found it
 * asleep for the lock for at least half of that time. It is also where the threads run the script's own code, in which
 * nobody else can be meanwhile, and the rank did not sleep for something else.
 */

/* After insides_add_to_causes: an errand says more than the library that it is in. */
void errands_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey);

/*
 * What a blocked cause sleeps or enters the kernel for: a sleep of its own, files, memory, or a process that it
 * started. The C library's routines in the stacks of sleeps and of samples in the kernel tell, and that it reads from a
 * pipe; where most are others, or have no name, nothing is known.
 */

/* By the name of a routine of the C library. */
enum pause pause_of_routine(const char *routine);
/* Causes and steps are complete. Packs `awaited`, which lanes gathered (steps/lanes.h). */
void pauses_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey,
                          struct sparse *awaited);

/*
 * The places of allocation, from bins of bytes (recorded with --space): every point of the program at which counted
 * code asks for memory, with what each process asked for there. Copies of one source line in one routine (inlined,
 * unrolled, from templates) are one point. Routines that allocate for others (xmalloc) have no bytes of their own: what
 * they ask for is their callers', as far as these were built to count.
 *
 * Of a cause that is a loop, what is allocated in it and in the loops inside it is compared between the late ranks and
 * the others; of a routine, what is allocated in no loop of it.
 */

/* Fills in the allocation points of the analysis from the packed bins of the whole run, by atom_key(rank, counter). */
void space_find(struct analysis *analysis, struct executions *executions, const struct sparse *bins);
/* Adds the bytes to the ranks of every cause. Causes and steps are complete. */
void space_add_to_causes(struct analysis *analysis);

/*
 * The messages of a call of MPI: how many of which sizes, and with whom, by how far the partner's rank lies from the
 * own one (neighbours of a grid have few such distances); of collectives, what a rank sends, and among how many. From
 * the events alone; memory follows the sites.
 */

struct exchanges {
    VEC(struct site_exchange) sites; /* by site */
};

/* A message, or a collective that has ended. */
void exchanges_take(struct exchanges *exchanges, const struct trace *trace, const struct lane *lane,
                    const struct event *event);
/* Every event of the trace; `lane` is that of its location. Others than data moved are passed over. */
static inline void exchanges_feed(struct exchanges *exchanges, const struct trace *trace, const struct lane *lane,
                                  const struct event *event)
{
    if (event->kind == EV_SEND || event->kind == EV_ISEND || event->kind == EV_RECV || event->kind == EV_IRECV_DONE ||
        event->kind == EV_COLL_END)
        exchanges_take(exchanges, trace, lane, event);
}
/* Tells each site of the analysis what is moved there. */
void exchanges_write(const struct exchanges *exchanges, const struct classes *classes, const struct measures *measures,
                     struct analysis *analysis);
void exchanges_release(struct exchanges *exchanges);
/* Gives those of a section away; adds them to those of the run. */
void exchanges_pack(const struct exchanges *exchanges, struct packing *packing);
void exchanges_unpack(struct exchanges *exchanges, struct unpacking *unpacking);
