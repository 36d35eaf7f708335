/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes what the recorder would have left of a process that exchanges messages with itself: a run directory whose
 * spool has CALLS calls, for `whywait convert RUN 0`.
 *
 *   generate_spool RUN [CALLS]
 */
#include "wrap/base/err.h"
#include "wrap/format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STEP_CALLS = 6, STACKS = 3, COMM_WORLD = 1, TAG = 7, MESSAGE_BYTES = 8192, CALL_NS = 250, BETWEEN_NS = 900 };

/* `step` numbers requests and collectives. */
struct process {
    FILE *spool;
    uint64_t now_ns, step;
};

static void put(struct process *process, void *record, uint16_t type, size_t bytes)
{
    struct ww_head head = {type, (uint16_t)(bytes / WW_UNIT)};
    memcpy(record, &head, sizeof head);
    fwrite(record, bytes, 1, process->spool);
}

static void put_call(struct process *process, uint16_t number, uint32_t stack, int32_t tag, uint64_t request)
{
    bool is_message = tag == TAG;
    struct ww_call call = {.call = number,
                           .enter_ns = process->now_ns,
                           .leave_ns = process->now_ns + CALL_NS + process->step % 16,
                           .stack = stack,
                           .comm = COMM_WORLD,
                           .peer = is_message ? 0 : WW_NO_PEER,
                           .tag = tag,
                           .bytes_out = MESSAGE_BYTES,
                           .bytes_in = is_message ? 0 : MESSAGE_BYTES,
                           .request = request};
    process->now_ns = call.leave_ns + BETWEEN_NS + process->step % 64;
    put(process, &call, WW_CALL, sizeof call);
}

static void put_done(struct process *process, uint64_t request)
{
    struct ww_done done = {.request = request, .peer = 0, .tag = TAG, .bytes = MESSAGE_BYTES};
    put(process, &done, WW_DONE, sizeof done);
}

/* A message by a request, one without, and two collectives. */
static void step(struct process *process)
{
    uint64_t n = ++process->step, request = 1 + n % 8;
    put_call(process, WW_ID_Irecv, 1, TAG, request);
    put_call(process, WW_ID_Send, 2, TAG, 0);
    put_call(process, WW_ID_Wait, 3, 0, 0);
    put_done(process, request);
    put_call(process, WW_ID_Sendrecv, 2, TAG, 0);
    put_done(process, 0);
    put_call(process, WW_ID_Allreduce, 1, (int32_t)(2 * n - 1), 0);
    put_call(process, WW_ID_Barrier, 3, (int32_t)(2 * n), 0);
}

static void put_definitions(struct process *process)
{
    union {
        struct ww_comm record;
        uint8_t bytes[2 * WW_UNIT];
    } comm = {.record = {.id = COMM_WORLD, .size = 1}};
    comm.record.world_rank[0] = 0;
    put(process, &comm, WW_COMM, sizeof comm);
    for (uint32_t i = 1; i <= STACKS; i++) {
        union {
            struct ww_stack record;
            uint8_t bytes[WW_UNIT];
        } stack = {.record = {.id = i, .n = 1}};
        stack.record.address[0] = 0x1000 + 0x40 * i;
        put(process, &stack, WW_STACK, sizeof stack);
    }
}

static void put_header(struct process *process, uint64_t n_calls)
{
    union {
        struct ww_header header;
        uint8_t bytes[WW_HEADER_BYTES];
    } block = {.bytes = {0}};
    block.header = (struct ww_header){.magic = WW_MAGIC,
                                      .version = WW_FORMAT_VERSION,
                                      .header_bytes = WW_HEADER_BYTES,
                                      .kind = WW_KIND_EVENTS,
                                      .n_ranks = 1,
                                      .start_ns = 1,
                                      .n_calls = n_calls,
                                      .end_ns = UINT32_MAX,
                                      .end_how = WW_END_FINALIZE};
    fwrite(&block, sizeof block, 1, process->spool);
}

int main(int argc, char **argv)
{
    uint64_t n_steps = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000) / STEP_CALLS;
    char dir[4096], path[4096 + 16];
    if (argc < 2) {
        fprintf(stderr, "usage: generate_spool RUN [CALLS]\n");
        return 2;
    }
    snprintf(dir, sizeof dir, "%s/spool", argv[1]);
    snprintf(path, sizeof path, "%s/0-0.ev", dir);
    struct process process = {.now_ns = 1000};
    if (mkdir(argv[1], 0755) || mkdir(dir, 0755) || !(process.spool = fopen(path, "wb"))) {
        error("cannot write %s: %s must not be there yet", path, argv[1]);
        return 1;
    }
    put_header(&process, n_steps * STEP_CALLS);
    put_definitions(&process);
    for (uint64_t i = 0; i < n_steps; i++)
        step(&process);
    bool has_failed = ferror(process.spool);
    has_failed |= fclose(process.spool) != 0;
    return has_failed ? error("%s could not be written: is the disk full?", path), 1 : 0;
}
