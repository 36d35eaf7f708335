/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pipeline.h"
#include "analyze/verdict/verdict.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *name;
    enum ww_class class;
    enum ww_coll coll;
} mpi_calls[WW_N_CALLS] = {
#define WW_MPI(name, class, coll) [WW_ID_##name] = {"MPI_" #name, class, coll},
#include "wrap/mpi_calls.def"
#undef WW_MPI
};

struct scene *scene_make(uint32_t n_ranks)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->trace = trace_memory(n_ranks);
    return scene;
}

void scene_free(struct scene *scene)
{
    analysis_free(scene->analysis);
    trace_close(scene->trace);
    free(scene);
}

/* What the program did on a CPU, where it slept, what moved, and what lacked a CPU. */
enum level { LEVEL_COMPUTING, LEVEL_BLOCKED, LEVEL_TRANSFER, LEVEL_NO_CPU, N_LEVELS };

static enum level level_of_state(enum step_state state)
{
    return state == STEP_DESCHEDULED                     ? LEVEL_NO_CPU
           : state == STEP_BLOCKED                       ? LEVEL_BLOCKED
           : state == STEP_TRANSFER || state == STEP_MPI ? LEVEL_TRANSFER
                                                         : LEVEL_COMPUTING;
}

static enum level level_of_kind(enum cause_kind kind)
{
    return kind == KIND_DESCHEDULED ? LEVEL_NO_CPU
           : kind == KIND_BLOCKED   ? LEVEL_BLOCKED
           : kind == KIND_TRANSFER  ? LEVEL_TRANSFER
                                    : LEVEL_COMPUTING;
}

/* What the steps of classes say of a state, and the causes of a kind, is the same. */
static void check_levels(const struct analysis *analysis)
{
    struct arena scratch = {0};
    double of_steps[N_LEVELS] = {0}, of_causes[N_LEVELS] = {[LEVEL_NO_CPU] = analysis->machine.waiting_ns};
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        for (uint32_t j = 0; j < analysis->sites[i].n_classes; j++) {
            struct class_steps steps = analysis->class_steps(analysis, &analysis->sites[i].classes[j], &scratch);
            for (uint32_t k = 0; k < steps.n; k++)
                of_steps[level_of_state(analysis->steps[steps.at[k].step].state)] += steps.at[k].blame_ns;
        }
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (int kind = 0; kind < KIND_N; kind++)
            of_causes[level_of_kind((enum cause_kind)kind)] += analysis->causes[i].kind_ns[kind];
    for (int level = 0; level < N_LEVELS; level++)
        if (fabs(of_steps[level] - of_causes[level]) > 1 + 1e-6 * analysis->waiting_ns)
            fail_msg("level %d: steps have %.0f ns, causes %.0f ns", level, of_steps[level], of_causes[level]);
    arena_release(&scratch);
}

/* No process is blamed for more than what it is told to have done longer. */
static void check_steps(const struct analysis *analysis)
{
    struct arena scratch = {0};
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        for (uint32_t j = 0; j < analysis->sites[i].n_classes; j++) {
            struct class_steps steps = analysis->class_steps(analysis, &analysis->sites[i].classes[j], &scratch);
            for (uint32_t k = 0; k < steps.n; k++)
                if (steps.at[k].blame_ns > steps.at[k].dur_ns * (1 + 1e-6) + 1 && steps.at[k].blame_ns > 0)
                    fail_msg("site %u, class %u: rank %u is blamed for %.0f ns of a difference of %.0f ns", i, j,
                             steps.at[k].rank, steps.at[k].blame_ns, steps.at[k].dur_ns);
        }
    arena_release(&scratch);
}

static void check_times(const struct efficiency *all)
{
    double parts_ns = all->compute_ns + all->waiting_ns + all->transfer_ns + all->mpi_ns + all->descheduled_ns +
                      all->blocked_ns + all->unrecorded_ns + all->ended_ns;
    assert_true(fabs(parts_ns - all->all_ns) < 1e-6 * all->all_ns + 1);
}

const struct analysis *scene_analyse(struct scene *scene)
{
    scene->analysis = analysis_run(scene->trace, NULL, NULL, 0);
    if (!scene->analysis)
        abort();
    assert_int_equal(scene->analysis->n_contradictions, 0);
    check_levels(scene->analysis);
    check_steps(scene->analysis);
    check_times(&scene->analysis->efficiency);
    return scene->analysis;
}

enum answer_kind scene_answer(struct scene *scene)
{
    verdicts_find(scene->analysis);
    return scene->analysis->answer.kind;
}

void scene_event(struct scene *scene, struct event event)
{
    trace_memory_event(scene->trace, event);
}

static uint32_t scene_region(struct scene *scene, const char *name)
{
    for (uint32_t i = 0; i < scene->n_names; i++)
        if (!strcmp(scene->names[i], name))
            return scene->regions[i];
    scene->names[scene->n_names] = name;
    scene->regions[scene->n_names] = trace_memory_region(scene->trace, name, false, WW_LOCAL, WW_COLL_NONE);
    struct trace_region *region = &scene->trace->regions[scene->regions[scene->n_names]];
    region->file = "scene.c";
    region->line_first = region->line_last = 1 + scene->n_names;
    return scene->regions[scene->n_names++];
}

static uint32_t scene_mpi(struct scene *scene, enum ww_call_id call)
{
    if (!scene->mpi[call])
        scene->mpi[call] = 1 + trace_memory_region(scene->trace, mpi_calls[call].name, true, mpi_calls[call].class,
                                                   mpi_calls[call].coll);
    return scene->mpi[call] - 1;
}

static void scene_border(struct scene *scene, uint32_t rank, enum event_kind kind, uint32_t region, uint64_t time_us)
{
    scene_event(
        scene,
        (struct event){
            .kind = (uint16_t)kind, .loc = rank, .time_ns = time_us * 1000, .region = region, .frame = TRACE_NONE});
    scene->now_us[rank] = time_us;
}

void scene_work(struct scene *scene, uint32_t rank, const char *name, uint64_t until_us)
{
    uint32_t region = scene_region(scene, name);
    scene_border(scene, rank, EV_ENTER, region, scene->now_us[rank]);
    scene_border(scene, rank, EV_LEAVE, region, until_us);
}

void scene_enter(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t enter_us)
{
    scene_border(scene, rank, EV_ENTER, scene_mpi(scene, call), enter_us);
}

void scene_leave(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t leave_us)
{
    scene_border(scene, rank, EV_LEAVE, scene_mpi(scene, call), leave_us);
}

void scene_collective(struct scene *scene, uint32_t rank, enum ww_call_id call, uint32_t root, uint64_t leave_us)
{
    scene_enter(scene, rank, call, scene->now_us[rank]);
    scene_event(scene, (struct event){.kind = EV_COLL_END,
                                      .loc = rank,
                                      .time_ns = leave_us * 1000,
                                      .comm = scene->comm,
                                      .coll = (uint16_t)mpi_calls[call].coll,
                                      .peer = root});
    scene_leave(scene, rank, call, leave_us);
}

void scene_send(struct scene *scene, uint32_t rank, uint32_t to, int tag, uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Send, scene->now_us[rank]);
    scene_event(scene, (struct event){.kind = EV_SEND,
                                      .loc = rank,
                                      .time_ns = scene->now_us[rank] * 1000,
                                      .comm = scene->comm,
                                      .peer = to,
                                      .tag = tag});
    scene_leave(scene, rank, WW_ID_Send, leave_us);
}

void scene_receive(struct scene *scene, uint32_t rank, uint32_t from, int tag, uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Recv, scene->now_us[rank]);
    scene_event(
        scene,
        (struct event){
            .kind = EV_RECV, .loc = rank, .time_ns = leave_us * 1000, .comm = scene->comm, .peer = from, .tag = tag});
    scene_leave(scene, rank, WW_ID_Recv, leave_us);
}

static uint64_t scene_start(struct scene *scene, uint32_t rank, enum ww_call_id call, struct event event,
                            uint64_t leave_us)
{
    scene_enter(scene, rank, call, scene->now_us[rank]);
    event.loc = rank;
    event.time_ns = scene->now_us[rank] * 1000;
    event.comm = scene->comm;
    event.request = ++scene->request;
    scene_event(scene, event);
    scene_leave(scene, rank, call, leave_us);
    return event.request;
}

uint64_t scene_isend(struct scene *scene, uint32_t rank, uint32_t to, int tag, uint64_t leave_us)
{
    return scene_start(scene, rank, WW_ID_Isend, (struct event){.kind = EV_ISEND, .peer = to, .tag = tag}, leave_us);
}

uint64_t scene_irecv(struct scene *scene, uint32_t rank, uint64_t leave_us)
{
    return scene_start(scene, rank, WW_ID_Irecv, (struct event){.kind = EV_IRECV}, leave_us);
}

uint64_t scene_icollective(struct scene *scene, uint32_t rank, enum ww_call_id call, uint64_t leave_us)
{
    return scene_start(scene, rank, call, (struct event){.kind = EV_ICOLL, .coll = (uint16_t)mpi_calls[call].coll},
                       leave_us);
}

double scene_waiting(const struct scene *scene, enum wait_kind kind, uint32_t rank)
{
    double waiting_ns = 0;
    for (uint32_t i = 0; i < scene->analysis->n_sites; i++)
        if (scene->analysis->sites[i].kind == kind)
            waiting_ns += scene->analysis->sites[i].rank_waiting_ns[rank];
    return waiting_ns / 1000;
}

static bool step_is(const struct scene *scene, uint32_t step, const char *name)
{
    const struct step *at = &scene->analysis->steps[step];
    return at->routine && !strcmp(at->routine, name);
}

double scene_blame(const struct scene *scene, const char *name, uint32_t rank)
{
    double blame_ns = 0;
    for (uint32_t i = 0; i < scene->analysis->n_causes; i++) {
        const struct cause *cause = &scene->analysis->causes[i];
        for (uint32_t j = 0; j < cause->n_ranks && step_is(scene, cause->step, name); j++)
            blame_ns += cause->ranks[j].rank == rank ? cause->ranks[j].blame_ns : 0;
    }
    return blame_ns / 1000;
}

double scene_signed_of(const struct scene *scene, const struct wait_class *class, const char *name)
{
    struct arena scratch = {0};
    struct class_steps steps = scene->analysis->class_steps(scene->analysis, class, &scratch);
    double sum_ns = 0;
    for (uint32_t i = 0; i < steps.n; i++)
        if (step_is(scene, steps.at[i].step, name))
            sum_ns += steps.at[i].dur_ns;
    arena_release(&scratch);
    return sum_ns / 1000;
}

double scene_signed(const struct scene *scene, enum wait_kind kind, const char *name)
{
    double sum_us = 0;
    for (uint32_t i = 0; i < scene->analysis->n_sites; i++) {
        const struct wait_site *site = &scene->analysis->sites[i];
        for (uint32_t j = 0; j < site->n_classes && site->kind == kind; j++)
            sum_us += scene_signed_of(scene, &site->classes[j], name);
    }
    return sum_us;
}

const struct wait_site *scene_site(const struct scene *scene, enum wait_kind kind)
{
    for (uint32_t i = 0; i < scene->analysis->n_sites; i++)
        if (scene->analysis->sites[i].kind == kind)
            return &scene->analysis->sites[i];
    return NULL;
}
