/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/comms.h"
#include "analyze/archive/lane.h"
#include "analyze/archive/emit_calls.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <string.h>

/* Stack ids count from 1; one far beyond the last is damage. */
enum { STACK_GAP = 1 << 16 };

int lane_open(struct lane *lane, const char *path, const char *part_path, bool gives_back)
{
    if (spool_reader_open(&lane->reader, path))
        return -1;
    lane->part = fopen(part_path, "wbx");
    if (!lane->part)
        return error("cannot write %s: %s", part_path, strerror(errno));
    union {
        struct ww_header header;
        uint8_t bytes[WW_HEADER_BYTES];
    } block = {.bytes = {0}};
    block.header = lane->reader.header;
    block.header.slot_bytes = 0; /* the part is no ring */
    lane->part_failed |= fwrite(&block, sizeof block, 1, lane->part) != 1;
    if (gives_back && lane->reader.header.kind == WW_KIND_EVENTS)
        spool_reader_give_back(&lane->reader);
    lane->ahead = spool_reader_next(&lane->reader);
    return 0;
}

void lane_close(struct lane *lane)
{
    if (lane->part && fclose(lane->part))
        lane->part_failed = true;
    spool_reader_close(&lane->reader);
    vec_release(&lane->call.attached);
    vec_release(&lane->call.ranks);
    vec_release(&lane->call.new_comms);
    vec_release(&lane->bins);
    vec_release(&lane->has_stack);
    gaps_release(&lane->gaps);
}

void lane_write(struct lane *lane, const void *record, size_t bytes, uint16_t type)
{
    static const uint8_t zeros[WW_UNIT];
    size_t units = (bytes + WW_UNIT - 1) / WW_UNIT;
    struct ww_head head = {type, (uint16_t)units};
    lane->part_failed |= fwrite(&head, sizeof head, 1, lane->part) != 1;
    lane->part_failed |= fwrite((const char *)record + sizeof head, bytes - sizeof head, 1, lane->part) != 1;
    size_t pad = units * WW_UNIT - bytes;
    lane->part_failed |= pad && fwrite(zeros, pad, 1, lane->part) != 1;
}

static void define(struct lane *lane, struct emitter *emitter, const struct ww_head *head)
{
    const void *record = head;
    if (head->type == WW_STACK) {
        const struct ww_stack *stack = record;
        if (!stack->id || !stack->n || stack->id > lane->has_stack.n + STACK_GAP)
            return;
        if (stack->id >= lane->has_stack.n)
            vec_resize(&lane->has_stack, (size_t)stack->id + 1);
        lane->has_stack.at[stack->id] = 1;
    }
    if (head->type == WW_COMM) {
        const struct ww_comm *comm = record;
        emit_define_comm(emitter, comm);
        if (comm->id > COMM_SELF_ID)
            *vec_push(&lane->call.new_comms) = comm->id;
    }
    if (head->type == WW_WIN) {
        const struct ww_win *win = record;
        lane->call.new_win = win->id;
        *map_put(&emitter->win_comm, win->id, NULL) = win->comm;
    }
    if (head->type == WW_FILE) {
        const struct ww_file *file = record;
        lane->call.new_file = file->id;
        if (!emit_define_file(emitter, file))
            return;
    }
    lane_write(lane, head, (size_t)head->units * WW_UNIT, head->type);
}

uint32_t lane_context(const struct lane *lane, uint32_t stack)
{
    if (stack >= lane->has_stack.n || !lane->has_stack.at[stack])
        return 0;
    return 1 + 2 * stack + (lane->reader.header.kind == WW_KIND_SAMPLES);
}

/* True when the record belongs to the call before it or defines something; it is then done with. */
static bool take_passing(struct lane *lane, struct emitter *emitter, const struct ww_head *head)
{
    switch (head->type) {
    case WW_DONE:
    case WW_STARTED:
        *vec_push(&lane->call.attached) =
            (struct emit_attached){head->type, *(const struct ww_done *)(const void *)head};
        return true;
    case WW_RANKS: {
        const struct ww_ranks *record = (const void *)head;
        lane->call.ranks.n = 0;
        for (uint32_t i = 0; i < record->n; i++)
            *vec_push(&lane->call.ranks) = record->rank[i];
        return true;
    }
    case WW_CALL:
    case WW_SAMPLE:
    case WW_SWITCH:
    case WW_CONTROL:
    case WW_BINS:
        return false;
    case WW_STACK:
    case WW_MODULE:
    case WW_COMM:
    case WW_NAME:
    case WW_WIN:
    case WW_FILE:
    case WW_CLOCK:
    case WW_NOTE:
    case WW_COUNTERS:
    case WW_NEIGHBORS:
        define(lane, emitter, head);
        return true;
    case WW_KEPT: {
        struct request request = emit_request_of((const struct ww_call *)(const void *)head);
        requests_keep(&emitter->requests, ((const struct ww_call *)(const void *)head)->request, &request);
        return true;
    }
    default:
        return true; /* of a later version */
    }
}

static void skip_passing(struct lane *lane, struct emitter *emitter)
{
    while (lane->ahead && lane->ahead->type != WW_CALL && take_passing(lane, emitter, lane->ahead))
        lane->ahead = spool_reader_next(&lane->reader);
}

static bool is_sane(uint64_t time_ns)
{
    return time_ns >> LANE_LATEST_NS_LOG2 == 0;
}

/* A call left by a jump or an exception has no end: it lasts until the next record at most. */
static void close_call(struct lane *lane)
{
    struct ww_call *call = &lane->call.call;
    bool is_last = !lane->ahead;
    lane->call.is_unfinished = false;
    if (call->leave_ns && is_sane(call->leave_ns)) {
        if (call->leave_ns < call->enter_ns)
            call->leave_ns = call->enter_ns;
        return;
    }
    call->leave_ns = call->enter_ns;
    if (is_last) {
        call->leave_ns = UINT64_MAX;
        lane->call.is_unfinished = true;
    } else if (lane->ahead->type == WW_CALL) {
        uint64_t next_ns = ((const struct ww_call *)(const void *)lane->ahead)->enter_ns;
        if (next_ns > call->enter_ns && is_sane(next_ns))
            call->leave_ns = next_ns;
    }
}

/* Samples and the like. False when its time makes no sense. */
static bool take_single(struct lane *lane, const struct ww_head *head)
{
    const void *record = head;
    switch (head->type) {
    case WW_SAMPLE:
        lane->item = LANE_SAMPLE;
        lane->sample = *(const struct ww_sample *)record;
        lane->time_ns = lane->sample.time_ns;
        break;
    case WW_SWITCH:
        lane->item = LANE_SWITCH;
        lane->onoff = *(const struct ww_switch *)record;
        lane->time_ns = lane->onoff.time_ns;
        break;
    default:
        lane->item = LANE_CONTROL;
        lane->control = *(const struct ww_control *)record;
        lane->time_ns = lane->control.time_ns;
        break;
    }
    return is_sane(lane->time_ns);
}

static bool take_item(struct lane *lane, struct emitter *emitter)
{
    const struct ww_head *head = lane->ahead;
    if (head->type == WW_CALL) {
        const struct ww_call *call = (const void *)head;
        if (is_sane(call->enter_ns)) {
            lane->call.call = *call;
            if (call->call >= WW_N_CALLS)
                lane->call.call.call = WW_CALL_NONE;
            lane->call.attached.n = lane->call.ranks.n = lane->call.new_comms.n = 0;
            lane->call.new_win = lane->call.new_file = 0;
            lane->ahead = spool_reader_next(&lane->reader);
            skip_passing(lane, emitter);
            lane->call.old_comm = lane->call.call.comm;
            if (emit_is_outside(emitter, &lane->call.call))
                lane->call.call.comm = 0;
            close_call(lane);
            lane->item = LANE_ENTER;
            lane->time_ns = lane->call.call.enter_ns;
            return true;
        }
    } else if (head->type == WW_BINS) {
        size_t at = lane->bins.n, bytes = (size_t)head->units * WW_UNIT;
        vec_resize(&lane->bins, at + bytes);
        memcpy(lane->bins.at + at, head, bytes);
    } else if (take_single(lane, head)) {
        lane->ahead = spool_reader_next(&lane->reader);
        return true;
    }
    lane->ahead = spool_reader_next(&lane->reader);
    return false;
}

static uint64_t time_ahead(const struct lane *lane)
{
    const struct ww_head *head = lane->ahead;
    switch (head ? head->type : WW_PAD) {
    case WW_SAMPLE:
        return ((const struct ww_sample *)(const void *)head)->time_ns;
    case WW_SWITCH:
        return ((const struct ww_switch *)(const void *)head)->time_ns;
    default:
        return UINT64_MAX;
    }
}

/* A switch that was made up for a gap, where it is due. */
static bool take_gap_switch(struct lane *lane)
{
    if (lane->n_gap_switches == lane->gaps.switches.n ||
        lane->gaps.switches.at[lane->n_gap_switches].time_ns > time_ahead(lane))
        return false;
    lane->item = LANE_SWITCH;
    lane->onoff = lane->gaps.switches.at[lane->n_gap_switches++];
    lane->time_ns = lane->onoff.time_ns;
    return true;
}

void lane_next(struct lane *lane, struct emitter *emitter)
{
    if (lane->item == LANE_ENTER) {
        lane->item = LANE_LEAVE;
        lane->time_ns = lane->call.call.leave_ns;
        return;
    }
    lane->item = LANE_NONE;
    for (;;) {
        skip_passing(lane, emitter);
        if (take_gap_switch(lane) || !lane->ahead || take_item(lane, emitter))
            return;
    }
}
