/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronisation of one-sided communication: fences are collectives, access epochs are messages without data. */
#include "analyze/waits/reading.h"

/* A fence ends for nobody before the last has come. */
static void read_fence(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct gather_call fence = {
        .comm = event->comm, .space = GATHER_FENCE, .class = WW_RMA_FENCE, .coll = WW_COLL_BARRIER, .root = TRACE_NONE};
    if (event->comm < reader->trace->n_comms)
        reading_join(reader, lane, fence, reading_point(reader, lane));
}

/*
 * Post-start-complete-wait is an exchange of messages without data: each MPI_Win_post lets the origins go on, each
 * MPI_Win_complete the targets. MPI_Win_start may return before it was let, and then MPI_Win_complete waits.
 */
enum { TAG_POST = -1000, TAG_COMPLETE = -1001 };

static void read_epoch_send(struct reader *reader, uint32_t lane, struct event event, int32_t tag)
{
    event.tag = tag;
    message_drop(reader->replay->messages,
                 messages_send(reader->replay->messages, &event, reading_point(reader, lane)));
}

static void read_epoch_start(struct reader *reader, uint32_t lane, struct event event)
{
    event.tag = TAG_POST;
    struct message *message =
        messages_receive(reader->replay->messages, &event, reading_point(reader, lane), reading_point(reader, lane));
    if (message && message->send)
        reading_need(&reader->readings[lane], (struct need){.kind = NEED_SEND, .message = message});
    else if (message)
        *vec_push(&reader->readings[lane].posts) = message;
}

static void read_epoch_complete(struct reader *reader, uint32_t lane)
{
    struct reading *reading = &reader->readings[lane];
    for (size_t i = 0; i < reading->posts.n; i++)
        reading_need(reading, (struct need){.kind = NEED_SEND, .message = reading->posts.at[i]});
    reading->posts.n = 0;
}

void reading_rma_sync(struct reader *reader, uint32_t lane, const struct event *event)
{
    struct event received = *event;
    enum ww_class class = reader->readings[lane].call->class;
    if (class == WW_RMA_FENCE || class == WW_RMA_COMPLETE)
        operations_complete(&reader->operations, reader->lanes->at[lane].rank, event->window, TRACE_NONE);
    switch (class) {
    case WW_RMA_FENCE:
        read_fence(reader, lane, event);
        break;
    case WW_RMA_POST:
        read_epoch_send(reader, lane, *event, TAG_POST);
        break;
    case WW_RMA_START:
        read_epoch_start(reader, lane, *event);
        break;
    case WW_RMA_COMPLETE:
        read_epoch_send(reader, lane, *event, TAG_COMPLETE);
        read_epoch_complete(reader, lane);
        break;
    case WW_RMA_WAIT:
        received.tag = TAG_COMPLETE;
        *vec_push(&reader->readings[lane].completions) = (struct completion){.event = received, .number = UINT64_MAX};
        break;
    case WW_RMA_LOCK:
    case WW_RMA_UNLOCK:
    case WW_RMA_FLUSH:
        reading_passive_sync(reader, lane, event);
        break;
    default:
        break;
    }
}
