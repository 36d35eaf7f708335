/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/comms.h"
#include "analyze/archive/stream.h"
#include "analyze/archive/emit_calls.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <string.h>

/* Stack ids count from 1; one far beyond the last is damage. */
enum { STACK_GAP = 1 << 16 };

int stream_open(struct stream *stream, const char *path, const char *part_path, bool gives_back)
{
    int result = spool_reader_open(&stream->reader, path);
    if (result)
        return result;
    stream->part = fopen(part_path, "wbx");
    if (!stream->part) {
        error("cannot write %s: %s", part_path, strerror(errno));
        return SPOOL_UNREAD;
    }
    union {
        struct ww_header header;
        uint8_t bytes[WW_HEADER_BYTES];
    } block = {.bytes = {0}};
    block.header = stream->reader.header;
    block.header.slot_bytes = 0; /* the part is no ring */
    stream->part_failed |= fwrite(&block, sizeof block, 1, stream->part) != 1;
    if (gives_back && stream->reader.header.kind == WW_KIND_EVENTS)
        spool_reader_give_back(&stream->reader);
    stream->ahead = spool_reader_next(&stream->reader);
    return 0;
}

void stream_close(struct stream *stream)
{
    if (stream->part && fclose(stream->part))
        stream->part_failed = true;
    spool_reader_close(&stream->reader);
    vec_release(&stream->call.attached);
    vec_release(&stream->call.pending);
    vec_release(&stream->call.ranks);
    vec_release(&stream->call.new_comms);
    vec_release(&stream->bins);
    vec_release(&stream->callbacks);
    vec_release(&stream->callback_bins);
    vec_release(&stream->has_stack);
    vec_release(&stream->stacks);
    arena_release(&stream->arena);
    gaps_release(&stream->gaps);
}

void stream_write(struct stream *stream, const void *record, size_t bytes, uint16_t type)
{
    static const uint8_t zeros[WW_UNIT];
    size_t units = (bytes + WW_UNIT - 1) / WW_UNIT;
    struct ww_head head = {type, (uint16_t)units};
    stream->part_failed |= fwrite(&head, sizeof head, 1, stream->part) != 1;
    stream->part_failed |= fwrite((const char *)record + sizeof head, bytes - sizeof head, 1, stream->part) != 1;
    size_t pad = units * WW_UNIT - bytes;
    stream->part_failed |= pad && fwrite(zeros, pad, 1, stream->part) != 1;
}

static void define(struct stream *stream, struct emitter *emitter, const struct ww_head *head)
{
    const void *record = head;
    if (head->type == WW_STACK) {
        const struct ww_stack *stack = record;
        if (!stack->id || !stack->n || stack->id > stream->has_stack.n + STACK_GAP)
            return;
        if (stack->id >= stream->has_stack.n)
            vec_resize(&stream->has_stack, (size_t)stack->id + 1);
        stream->has_stack.at[stack->id] = 1;
        if (stream->reader.header.kind == WW_KIND_SAMPLES) {
            vec_resize(&stream->stacks, stream->has_stack.n);
            stream->stacks.at[stack->id] = (struct stream_stack){
                arena_copy(&stream->arena, stack->address, stack->n * sizeof *stack->address), stack->n, stack->flags};
        }
    }
    if (head->type == WW_COMM) {
        const struct ww_comm *comm = record;
        emit_define_comm(emitter, comm);
        if (comm->id > COMM_SELF_ID)
            *vec_push(&stream->call.new_comms) = comm->id;
    }
    if (head->type == WW_WIN) {
        const struct ww_win *win = record;
        stream->call.new_win = win->id;
        *map_put(&emitter->win_comm, win->id, NULL) = win->comm;
    }
    if (head->type == WW_FILE) {
        const struct ww_file *file = record;
        stream->call.new_file = file->id;
        if (!emit_define_file(emitter, file))
            return;
    }
    stream_write(stream, head, (size_t)head->units * WW_UNIT, head->type);
}

uint32_t stream_unwind_distance(struct stream *stream)
{
    struct stream_stack none = {0}, before = stream->sampled;
    struct stream_stack now = stream->sample.stack < stream->stacks.n ? stream->stacks.at[stream->sample.stack] : none;
    uint32_t n_common = 0, n_most = now.n < before.n ? now.n : before.n;
    if (now.flags != before.flags)
        n_most = 0;
    while (n_common < n_most && now.address[now.n - 1 - n_common] == before.address[before.n - 1 - n_common])
        n_common++;
    /* The innermost frame is an instruction, the others are return addresses: it is none of another stack's others. */
    if (n_common == n_most && now.n != before.n && n_common)
        n_common--;
    stream->sampled = now;
    return now.n - n_common + 1;
}

/* True when the record belongs to the call before it or defines something; it is then done with. Out of line, like all
 * that is not for each call: what it would keep in registers there, each call would have to save. */
static __attribute__((noinline)) bool take_passing(struct stream *stream, struct emitter *emitter,
                                                   const struct ww_head *head)
{
    stream->call.is_followed = true;
    switch (head->type) {
    case WW_DONE:
    case WW_STARTED:
        *vec_push(&stream->call.attached) =
            (struct emit_attached){head->type, *(const struct ww_done *)(const void *)head};
        return true;
    case WW_RANKS: {
        const struct ww_ranks *record = (const void *)head;
        stream->call.ranks.n = 0;
        for (uint32_t i = 0; i < record->n; i++)
            *vec_push(&stream->call.ranks) = record->rank[i];
        return true;
    }
    case WW_CALLBACK: {
        const struct ww_callback *record = (const void *)head;
        *vec_push(&stream->callbacks) =
            (struct stream_callback){record->from_ns, record->to_ns, stream->callback_bins.n};
        return true;
    }
    case WW_CALLBACK_BINS: {
        size_t at = stream->callback_bins.n, bytes = (size_t)head->units * WW_UNIT;
        vec_resize(&stream->callback_bins, at + bytes);
        memcpy(stream->callback_bins.at + at, head, bytes);
        if (stream->callbacks.n)
            stream->callbacks.at[stream->callbacks.n - 1].bins = at + bytes;
        return true;
    }
    case WW_PENDING:
        *vec_push(&stream->call.pending) = *(const struct ww_call *)(const void *)head;
        return true;
    case WW_CALL:
    case WW_SAMPLE:
    case WW_SWITCH:
    case WW_CONTROL:
    case WW_BINS:
        return false;
    case WW_STACK:
    case WW_CODE:
    case WW_MODULE:
    case WW_COMM:
    case WW_NAME:
    case WW_WIN:
    case WW_FILE:
    case WW_CLOCK:
    case WW_NOTE:
    case WW_COUNTERS:
    case WW_NEIGHBORS:
    case WW_OFF:
        define(stream, emitter, head);
        return true;
    case WW_KEPT: {
        const struct ww_call *kept = (const void *)head;
        struct request request = emit_request_of(emitter, kept, kept->comm);
        requests_keep(&emitter->requests, kept->request, &request);
        return true;
    }
    default:
        return true; /* of a later version */
    }
}

static inline void skip_passing(struct stream *stream, struct emitter *emitter)
{
    while (stream->ahead && stream->ahead->type != WW_CALL && take_passing(stream, emitter, stream->ahead))
        stream->ahead = spool_reader_next(&stream->reader);
}

static bool is_sane(uint64_t time_ns)
{
    return time_ns >> STREAM_LATEST_NS_LOG2 == 0;
}

/* A call left by a jump or an exception has no end: it lasts until the next record at most. */
static void close_call(struct stream *stream)
{
    struct ww_call *call = &stream->call.call;
    bool is_last = !stream->ahead;
    stream->call.is_unfinished = false;
    if (call->leave_ns && is_sane(call->leave_ns)) {
        if (call->leave_ns < call->enter_ns)
            call->leave_ns = call->enter_ns;
        return;
    }
    call->leave_ns = call->enter_ns;
    if (is_last) {
        call->leave_ns = UINT64_MAX;
        stream->call.is_unfinished = true;
    } else if (stream->ahead->type == WW_CALL) {
        uint64_t next_ns = ((const struct ww_call *)(const void *)stream->ahead)->enter_ns;
        if (next_ns > call->enter_ns && is_sane(next_ns))
            call->leave_ns = next_ns;
    }
}

/* Of those before this call only the ones that a part of its polls is told with; its own follow. */
static void keep_callbacks(struct stream *stream, uint64_t enter_ns)
{
    size_t n_over = 0;
    while (n_over < stream->callbacks.n && stream->callbacks.at[n_over].from_ns < enter_ns)
        n_over++;
    stream->n_callbacks_told = n_over;
    if (n_over < stream->callbacks.n)
        return;
    stream->callbacks.n = stream->n_callbacks_told = 0;
    stream->callback_bins.n = 0;
}

void stream_next_in_call(struct stream *stream)
{
    const struct ww_call *call = &stream->call.call;
    struct stream_callback *next = &stream->callbacks.at[stream->n_callbacks_told];
    if (stream->item == STREAM_CALLBACK) {
        stream->item = STREAM_RETURN;
        stream->time_ns = next->to_ns;
        stream->n_callbacks_told++;
    } else if (next->from_ns >= stream->time_ns && next->to_ns >= next->from_ns && next->to_ns <= call->leave_ns &&
               is_sane(next->to_ns)) {
        stream->item = STREAM_CALLBACK;
        stream->time_ns = next->from_ns;
    } else {
        stream->item = STREAM_LEAVE;
        stream->time_ns = call->leave_ns;
    }
}

size_t stream_callback_bins(const struct stream *stream, const uint8_t **records)
{
    size_t at = stream->n_callbacks_told - 1, from = at ? stream->callbacks.at[at - 1].bins : 0;
    *records = stream->callback_bins.n ? &stream->callback_bins.at[from] : NULL;
    return stream->callbacks.at[at].bins - from;
}

/* Samples and the like. False when its time makes no sense. */
static bool take_single(struct stream *stream, const struct ww_head *head)
{
    const void *record = head;
    switch (head->type) {
    case WW_SAMPLE:
        stream->item = STREAM_SAMPLE;
        stream->sample = *(const struct ww_sample *)record;
        stream->time_ns = stream->sample.time_ns;
        break;
    case WW_SWITCH:
        stream->item = STREAM_SWITCH;
        stream->onoff = *(const struct ww_switch *)record;
        stream->time_ns = stream->onoff.time_ns;
        break;
    default:
        stream->item = STREAM_CONTROL;
        stream->control = *(const struct ww_control *)record;
        stream->time_ns = stream->control.time_ns;
        break;
    }
    return is_sane(stream->time_ns);
}

static void forget_following(struct emit_call *emit)
{
    emit->attached.n = emit->pending.n = emit->ranks.n = emit->new_comms.n = 0;
    emit->new_win = emit->new_file = 0;
    emit->is_followed = false;
}

static inline void take_call(struct stream *stream, struct emitter *emitter, const struct ww_call *call)
{
    stream->call.call = *call;
    if (call->call >= WW_N_CALLS)
        stream->call.call.call = WW_CALL_NONE;
    if (stream->call.is_followed)
        forget_following(&stream->call);
    if (stream->callbacks.n || stream->callback_bins.n)
        keep_callbacks(stream, call->enter_ns);
    stream->ahead = spool_reader_next(&stream->reader);
    skip_passing(stream, emitter);
    stream->call.old_comm = stream->call.call.comm;
    if (emitter->has_outsiders.n && emit_is_outside(emitter, &stream->call.call))
        stream->call.call.comm = 0;
    close_call(stream);
    stream->item = STREAM_ENTER;
    stream->time_ns = stream->call.call.enter_ns;
}

/* Takes the record ahead, which is no call of a time that makes sense. */
static __attribute__((noinline)) bool take_other(struct stream *stream)
{
    const struct ww_head *head = stream->ahead;
    bool is_item = false;
    if (head->type == WW_BINS) {
        size_t at = stream->bins.n, bytes = (size_t)head->units * WW_UNIT;
        vec_resize(&stream->bins, at + bytes);
        memcpy(stream->bins.at + at, head, bytes);
    } else if (head->type != WW_CALL)
        is_item = take_single(stream, head);
    stream->ahead = spool_reader_next(&stream->reader);
    return is_item;
}

/* A switch that was made up for a gap, where it is due. */
static __attribute__((noinline)) bool take_gap_switch(struct stream *stream)
{
    const struct ww_head *head = stream->ahead;
    uint64_t ahead_ns = UINT64_MAX;
    if (stream->n_gap_switches == stream->gaps.switches.n)
        return false;
    if (head && head->type == WW_SAMPLE)
        ahead_ns = ((const struct ww_sample *)(const void *)head)->time_ns;
    else if (head && head->type == WW_SWITCH)
        ahead_ns = ((const struct ww_switch *)(const void *)head)->time_ns;
    if (stream->gaps.switches.at[stream->n_gap_switches].time_ns > ahead_ns)
        return false;
    stream->item = STREAM_SWITCH;
    stream->onoff = stream->gaps.switches.at[stream->n_gap_switches++];
    stream->time_ns = stream->onoff.time_ns;
    return true;
}

void stream_next_record(struct stream *stream, struct emitter *emitter)
{
    stream->item = STREAM_NONE;
    for (;;) {
        skip_passing(stream, emitter);
        if ((stream->n_gap_switches < stream->gaps.switches.n && take_gap_switch(stream)) || !stream->ahead)
            return;
        const struct ww_call *call = (const void *)stream->ahead;
        if (stream->ahead->type == WW_CALL && is_sane(call->enter_ns)) {
            take_call(stream, emitter, call);
            return;
        }
        if (take_other(stream))
            return;
    }
}
