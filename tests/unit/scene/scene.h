/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces for tests of the passes, one line an activity. Code is user regions, named by a text; time is in us, so that
 * numbers stay short. Activities of one rank are given in order.
 */
#pragma once
#include "analyze/result/result.h"
#include "tests/unit/scene/trace_memory.h"

enum { SCENE_RANKS_MAX = 64, SCENE_NAMES_MAX = 32 };

struct scene {
    struct trace *trace;
    struct analysis *analysis; /* after scene_analyse */
    uint64_t now_us[SCENE_RANKS_MAX];
    const char *names[SCENE_NAMES_MAX];
    uint32_t regions[SCENE_NAMES_MAX], n_names;
    uint32_t mpi[WW_N_CALLS]; /* region + 1 */
    uint32_t comm;            /* used by what follows */
    uint64_t request;
};

struct scene *scene_make(uint32_t n_ranks);
void scene_free(struct scene *scene);
/* Asserts that no cause is inferred and belied by its own gain, and that steps, causes and the machine's row say the
 * same of time on and off the CPU, and that the parts of the time add up to all of it. */
const struct analysis *scene_analyse(struct scene *scene);
/* Of a scene that has been analysed: all verdicts, and among them what is said first. */
enum answer_kind scene_answer(struct scene *scene);

/* Code `name` runs on `rank` from now to `until_us`. */
void scene_work(struct scene *scene, uint32_t rank, const char *name, uint64_t until_us);
/* The MPI call is entered at enter_us (from now until then nothing known runs) and left at leave_us. */
void scene_enter(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t enter_us);
void scene_leave(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t leave_us);
void scene_event(struct scene *scene, struct event event);
/* Calls with their records. `root`: TRACE_NONE for none. They begin when the rank's previous activity ended. */
void scene_collective(struct scene *scene, uint32_t rank, enum ww_call_id call, uint32_t root, uint64_t leave_us);
void scene_send(struct scene *scene, uint32_t rank, uint32_t to, int tag, uint64_t leave_us);
void scene_receive(struct scene *scene, uint32_t rank, uint32_t from, int tag, uint64_t leave_us);
/* Non-blocking: return the request, to be passed to scene_wait. */
uint64_t scene_isend(struct scene *scene, uint32_t rank, uint32_t to, int tag, uint64_t leave_us);
uint64_t scene_irecv(struct scene *scene, uint32_t rank, uint64_t leave_us);
uint64_t scene_icollective(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t leave_us);

/* What was found, in us. */
double scene_waiting(const struct scene *scene, enum wait_kind kind, uint32_t rank);
double scene_blame(const struct scene *scene, const char *name, uint32_t rank);
/* Sum of all instances' signed durations of a step in a class; or in all classes of a kind of wait. */
double scene_signed_of(const struct scene *scene, const struct wait_class *class, const char *name);
double scene_signed(const struct scene *scene, enum wait_kind kind, const char *name);
const struct wait_site *scene_site(const struct scene *scene, enum wait_kind kind);
