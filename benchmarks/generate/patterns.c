/* SPDX-License-Identifier: BSD-3-Clause */
#include "benchmarks/generate/patterns.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <stdlib.h>

enum { LOAD_NS = 100000, LATE_TIMES = 4, WORK_NS = 50000, CALL_NS = 300, LATENCY_NS = 1000, TAG = 7, PEERS_MAX = 4 };

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A little longer than that, at random: no two steps are equal. */
static uint64_t about(struct run *run, uint64_t ns)
{
    run->random = run->random * 6364136223846793005u + 1442695040888963407u;
    return ns + (run->random >> 33) % (ns / 100);
}

static void compute(struct run *run, uint32_t rank, uint32_t routine, uint64_t ns)
{
    uint64_t from_ns = run->now_ns[rank];
    run->now_ns[rank] += ns;
    writer_run(&run->writer, rank, routine, from_ns, run->now_ns[rank]);
}

static void load(struct run *run, uint32_t rank)
{
    compute(run, rank, ROUTINE_LOAD, about(run, LOAD_NS) * (run->is_late[rank] ? LATE_TIMES : 1));
}

/* When a call ends that began at enter_ns and depends on something that comes at release_ns. */
static uint64_t wait_for(struct run *run, uint64_t enter_ns, uint64_t release_ns)
{
    run->waiting_ns += later(enter_ns, release_ns) - enter_ns;
    return later(enter_ns, release_ns) + LATENCY_NS;
}

/* Returns when it began. */
static uint64_t send_message(struct run *run, uint32_t rank, uint32_t to)
{
    uint64_t enter_ns = run->now_ns[rank];
    writer_enter(&run->writer, rank, WW_ID_Send, enter_ns);
    writer_send(&run->writer, rank, enter_ns, to, TAG);
    writer_leave(&run->writer, rank, WW_ID_Send, run->now_ns[rank] = enter_ns + CALL_NS);
    return enter_ns;
}

static void receive_message(struct run *run, uint32_t rank, uint32_t from, uint64_t sent_ns)
{
    uint64_t enter_ns = run->now_ns[rank], leave_ns = wait_for(run, enter_ns, sent_ns);
    writer_enter(&run->writer, rank, WW_ID_Recv, enter_ns);
    writer_recv(&run->writer, rank, leave_ns, from, TAG);
    writer_leave(&run->writer, rank, WW_ID_Recv, run->now_ns[rank] = leave_ns);
}

/* Neighbours exchange messages: what a process gets from from[k] is the other's k-th message. */
struct peers {
    uint32_t n, to[PEERS_MAX], from[PEERS_MAX];
};

static struct peers torus(const struct run *run, uint32_t rank)
{
    uint32_t columns = run->columns, row = rank / columns, column = rank % columns, rows = run->n / columns;
    uint32_t west = row * columns + (column + columns - 1) % columns, east = row * columns + (column + 1) % columns;
    uint32_t north = (row + rows - 1) % rows * columns + column, south = (row + 1) % rows * columns + column;
    return (struct peers){4, {west, east, north, south}, {east, west, south, north}};
}

static struct peers shift(const struct run *run, uint32_t rank)
{
    uint32_t by = 1 + (uint32_t)((run->random >> 33) % (run->n - 1));
    return (struct peers){1, {(rank + by) % run->n}, {(rank + run->n - by) % run->n}};
}

/* Receives and sends are begun one after the other, then all are waited for. */
static void exchange(struct run *run, struct peers (*peers_of)(const struct run *run, uint32_t rank))
{
    struct writer *writer = &run->writer;
    for (uint32_t rank = 0; rank < run->n; rank++)
        load(run, rank);
    for (uint32_t rank = 0; rank < run->n; rank++) {
        struct peers peers = peers_of(run, rank);
        uint64_t now_ns = run->entered_ns[rank] = run->now_ns[rank];
        for (uint32_t k = 0; k < 2 * peers.n; k++, now_ns += CALL_NS) {
            bool is_send = k >= peers.n;
            uint32_t call = is_send ? WW_ID_Isend : WW_ID_Irecv;
            writer_enter(writer, rank, call, now_ns);
            if (is_send)
                writer_isend(writer, rank, now_ns, peers.to[k - peers.n], TAG + k - peers.n, k);
            else
                writer_irecv(writer, rank, now_ns, k);
            writer_leave(writer, rank, call, now_ns + CALL_NS / 2);
        }
        run->now_ns[rank] = now_ns;
    }
    for (uint32_t rank = 0; rank < run->n; rank++) {
        struct peers peers = peers_of(run, rank);
        uint64_t enter_ns = run->now_ns[rank], release_ns = 0;
        for (uint32_t k = 0; k < peers.n; k++)
            release_ns = later(release_ns, run->entered_ns[peers.from[k]] + (peers.n + k) * CALL_NS);
        uint64_t leave_ns = wait_for(run, enter_ns, release_ns);
        writer_enter(writer, rank, WW_ID_Waitall, enter_ns);
        for (uint32_t k = 0; k < peers.n; k++)
            writer_irecv_done(writer, rank, leave_ns, peers.from[k], TAG + k, k);
        for (uint32_t k = 0; k < peers.n; k++)
            writer_isend_done(writer, rank, leave_ns, peers.n + k);
        writer_leave(writer, rank, WW_ID_Waitall, run->now_ns[rank] = leave_ns);
    }
}

static void stencil_step(struct run *run)
{
    exchange(run, torus);
}

static void random_step(struct run *run)
{
    about(run, LOAD_NS);
    exchange(run, shift);
}

/* Over the grid from one corner, next time from the opposite one. By place from the corner: entered_ns is when a
 * process sent along its row, others_ns along its column. */
static void wavefront_step(struct run *run)
{
    uint32_t columns = run->columns, last = run->n_steps % 2 ? run->n - 1 : 0;
    for (uint32_t at = 0; at < run->n; at++) {
        uint32_t rank = last ? last - at : at;
        bool has_row = at % columns, has_column = at >= columns;
        if (has_row)
            receive_message(run, rank, last ? rank + 1 : rank - 1, run->entered_ns[at - 1]);
        if (has_column)
            receive_message(run, rank, last ? rank + columns : rank - columns, run->others_ns[at - columns]);
        compute(run, rank, ROUTINE_WORK, about(run, WORK_NS));
        if ((at + 1) % columns)
            run->entered_ns[at] = send_message(run, rank, last ? rank - 1 : rank + 1);
        if (at + columns < run->n)
            run->others_ns[at] = send_message(run, rank, last ? rank - columns : rank + columns);
    }
}

static void pipeline_step(struct run *run)
{
    for (uint32_t rank = 0; rank < run->n; rank++) {
        uint32_t hop = rank % (run->hops + 1);
        if (hop)
            receive_message(run, rank, rank - 1, run->entered_ns[rank - 1]);
        else
            load(run, rank);
        if (hop < run->hops && rank + 1 < run->n)
            run->entered_ns[rank] = send_message(run, rank, rank + 1);
    }
}

/* Process 0 takes results in the order in which they come, and thinks about each before it sends new work. */
static void master_step(struct run *run)
{
    struct heap ready = {0};
    for (uint32_t rank = 1; rank < run->n; rank++) {
        compute(run, rank, ROUTINE_WORK, about(run, WORK_NS));
        run->entered_ns[rank] = send_message(run, rank, 0);
        heap_push(&ready, run->entered_ns[rank], rank);
    }
    for (; ready.n; heap_pop(&ready)) {
        uint32_t rank = ready.items[0].stream;
        receive_message(run, 0, rank, run->entered_ns[rank]);
        load(run, 0);
        receive_message(run, rank, 0, send_message(run, 0, rank));
    }
    heap_release(&ready);
}

/* Members first .. first + n - 1 of MPI_COMM_WORLD. */
static void gather(struct run *run, uint32_t call, uint32_t comm, uint32_t first, uint32_t n)
{
    uint64_t release_ns = 0;
    for (uint32_t rank = first; rank < first + n; rank++)
        release_ns = later(release_ns, run->now_ns[rank]);
    for (uint32_t rank = first; rank < first + n; rank++) {
        uint64_t enter_ns = run->now_ns[rank];
        run->now_ns[rank] = wait_for(run, enter_ns, release_ns);
        writer_collective(&run->writer, rank, call, comm, enter_ns, run->now_ns[rank]);
    }
}

static void reduction_step(struct run *run)
{
    for (uint32_t rank = 0; rank < run->n; rank++)
        load(run, rank);
    gather(run, WW_ID_Allreduce, 0, 0, run->n);
}

/* Neighbours exchange messages, and now and then all meet, as in most solvers. */
static void solver_step(struct run *run)
{
    exchange(run, torus);
    if ((run->n_steps + 1) % run->hops == 0)
        gather(run, WW_ID_Allreduce, 0, 0, run->n);
}

static void rows_step(struct run *run)
{
    for (uint32_t rank = 0; rank < run->n; rank++)
        load(run, rank);
    for (uint32_t i = 1; i < run->writer.comms.n; i++) {
        const struct written_comm *row = &run->writer.comms.at[i];
        gather(run, WW_ID_Allreduce, i, (uint32_t)row->members.at[0], (uint32_t)row->members.n);
    }
}

/* A thousand places at which all meet, each after every part of the program. */
static void wide_step(struct run *run)
{
    uint32_t place = ROUTINE_PLACE + (uint32_t)(run->n_steps % PLACES);
    uint32_t part = ROUTINE_PART + (uint32_t)(run->n_steps / PLACES % PARTS);
    for (uint32_t rank = 0; rank < run->n; rank++) {
        compute(run, rank, part, about(run, LOAD_NS) * (run->is_late[rank] ? LATE_TIMES : 1));
        writer_open(&run->writer, rank, place, run->now_ns[rank]);
    }
    gather(run, WW_ID_Allreduce, 0, 0, run->n);
    for (uint32_t rank = 0; rank < run->n; rank++)
        writer_close(&run->writer, rank, place, run->now_ns[rank]);
}

/* Each with the one before and the one behind it on a ring. */
static void neighbors_step(struct run *run)
{
    for (uint32_t rank = 0; rank < run->n; rank++) {
        load(run, rank);
        run->entered_ns[rank] = run->now_ns[rank];
    }
    for (uint32_t rank = 0; rank < run->n; rank++) {
        const uint32_t *of = run->writer.processes[rank].neighbors;
        uint64_t release_ns = later(run->entered_ns[of[0]], run->entered_ns[of[1]]);
        run->now_ns[rank] = wait_for(run, run->entered_ns[rank], release_ns);
        writer_collective(&run->writer, rank, WW_ID_Neighbor_alltoall, 0, run->entered_ns[rank], run->now_ns[rank]);
    }
}

/* Who is late. */

static void middle_is_late(struct run *run)
{
    run->is_late[run->n / 2] = true;
}

static void nobody_is_late(struct run *run)
{
    (void)run;
}

static void some_are_late(struct run *run)
{
    for (uint32_t rank = 3 % run->n; rank < run->n; rank += 16)
        run->is_late[rank] = true;
}

static void heads_are_late(struct run *run)
{
    for (uint32_t rank = 0; rank < run->n; rank += run->hops + 1)
        run->is_late[rank] = true;
}

static void first_is_late(struct run *run)
{
    run->is_late[0] = true;
}

static void rows_begin(struct run *run)
{
    for (uint32_t rank = 0; rank < run->n; rank++) {
        if (rank % run->columns == 0) {
            *vec_push(&run->writer.comms) = (struct written_comm){.name = "row"};
            run->is_late[rank] = rank / run->columns % 4 == 0;
        }
        *vec_push(&run->writer.comms.at[run->writer.comms.n - 1].members) = rank;
    }
}

static void ring_begin(struct run *run)
{
    middle_is_late(run);
    for (uint32_t rank = 0; rank < run->n; rank++) {
        struct written_process *process = &run->writer.processes[rank];
        process->n_in = process->n_out = 2;
        process->neighbors[0] = (rank + run->n - 1) % run->n;
        process->neighbors[1] = (rank + 1) % run->n;
    }
}

const struct pattern patterns[] = {
    {"stencil", "load", STYLES_ALL, middle_is_late, stencil_step},
    {"solver", "load", STYLES_ALL, middle_is_late, solver_step},
    {"wavefront", "work", STYLES_ALL, nobody_is_late, wavefront_step},
    {"pipeline", "load", STYLES_ALL, heads_are_late, pipeline_step},
    {"workers", "load", STYLES_ALL, first_is_late, master_step},
    {"random", "load", STYLES_ALL, some_are_late, random_step},
    {"reduction", "load", STYLES_ALL, middle_is_late, reduction_step},
    {"neighborhood", "load", STYLES_OURS, ring_begin, neighbors_step},
    {"rows", "load", STYLES_ALL, rows_begin, rows_step},
    {"wide", "part_0", STYLES_FOREIGN, middle_is_late, wide_step},
    {0},
};

static uint64_t count_events(const struct run *run)
{
    uint64_t n = 0;
    for (uint32_t rank = 0; rank < run->n; rank++)
        n += run->writer.processes[rank].n_events;
    return n;
}

/* All begin together, and end when the last one comes to it. */
static void begin_or_end(struct run *run, uint32_t call)
{
    uint64_t last_ns = 0;
    for (uint32_t rank = 0; rank < run->n; rank++)
        last_ns = later(last_ns, run->now_ns[rank]);
    for (uint32_t rank = 0; rank < run->n; rank++) {
        writer_enter(&run->writer, rank, call, run->now_ns[rank]);
        run->now_ns[rank] = wait_for(run, run->now_ns[rank], last_ns);
        writer_leave(&run->writer, rank, call, run->now_ns[rank]);
    }
}

static void begin(struct run *run)
{
    struct written_comm *world = vec_push(&run->writer.comms);
    *world = (struct written_comm){.name = "MPI_COMM_WORLD"};
    for (uint32_t rank = 0; rank < run->n; rank++)
        *vec_push(&world->members) = rank;
    run->columns = (uint32_t)sqrt(run->n);
    while (run->n % run->columns)
        run->columns--;
    run->waiting_ns = run->random = run->n_steps = 0;
    run->now_ns = calloc(run->n, sizeof *run->now_ns);
    run->entered_ns = calloc(run->n, sizeof *run->entered_ns);
    run->others_ns = calloc(run->n, sizeof *run->others_ns);
    run->is_late = calloc(run->n, sizeof *run->is_late);
    if (!run->now_ns || !run->entered_ns || !run->others_ns || !run->is_late)
        err_out_of_memory(run->n * sizeof *run->now_ns);
    run->pattern->begin(run);
}

void run_release(struct run *run)
{
    free(run->now_ns);
    free(run->entered_ns);
    free(run->others_ns);
    free(run->is_late);
    run->now_ns = run->entered_ns = run->others_ns = NULL;
    run->is_late = NULL;
}

static void take_place(struct run *run, uint64_t n_events)
{
    begin_or_end(run, WW_ID_Init);
    do {
        run->pattern->step(run);
        run->n_steps++;
    } while (count_events(run) < n_events);
    begin_or_end(run, WW_ID_Finalize);
}

void run_pattern(struct run *run, uint64_t n_events)
{
    for (uint32_t first = 0; first < run->n && !run->writer.has_failed;) {
        first = writer_begin_share(&run->writer, first);
        run_release(run);
        begin(run);
        take_place(run, n_events);
    }
}
