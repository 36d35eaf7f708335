/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/archive/conversion.h"
#include "analyze/archive/convert.h"
#include "analyze/files/paths.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

struct shown {
    char *at;
    size_t left;
    const char *region;
    int peer, comm;
    unsigned long long bytes, bytes_in, request;
};

static int or_none(uint32_t id)
{
    return id == TRACE_NONE ? -1 : (int)id;
}

static bool show_message(const struct shown *to, const struct event *event)
{
    static const char *const names[] = {[EV_SEND] = "send to", [EV_RECV] = "recv from"};
    switch (event->kind) {
    case EV_SEND:
    case EV_RECV:
        snprintf(to->at, to->left, "%s %d comm %d tag %d bytes %llu", names[event->kind], to->peer, to->comm,
                 event->tag, to->bytes);
        return true;
    case EV_ISEND:
        snprintf(to->at, to->left, "isend to %d comm %d tag %d bytes %llu request %llu", to->peer, to->comm, event->tag,
                 to->bytes, to->request);
        return true;
    case EV_ISEND_DONE:
        snprintf(to->at, to->left, "isend done %llu", to->request);
        return true;
    case EV_IRECV:
        snprintf(to->at, to->left, "irecv request %llu", to->request);
        return true;
    case EV_IRECV_DONE:
        snprintf(to->at, to->left, "irecv done from %d comm %d tag %d bytes %llu request %llu", to->peer, to->comm,
                 event->tag, to->bytes, to->request);
        return true;
    case EV_CANCELLED:
        snprintf(to->at, to->left, "cancelled %llu", to->request);
        return true;
    default:
        return false;
    }
}

static bool show_collective(const struct shown *to, const struct event *event)
{
    switch (event->kind) {
    case EV_COLL_BEGIN:
        snprintf(to->at, to->left, "coll begin");
        return true;
    case EV_COLL_END:
        snprintf(to->at, to->left, "coll end %d comm %d root %d bytes %llu in %llu", event->coll, to->comm, to->peer,
                 to->bytes, to->bytes_in);
        return true;
    case EV_ICOLL:
        snprintf(to->at, to->left, "icoll %d comm %d request %llu", event->coll, to->comm, to->request);
        return true;
    case EV_ICOLL_DONE:
        snprintf(to->at, to->left, "icoll done %d comm %d request %llu", event->coll, to->comm, to->request);
        return true;
    case EV_RMA:
        snprintf(to->at, to->left, "rma %d comm %d bytes %llu in %llu", to->peer, to->comm, to->bytes, to->bytes_in);
        return true;
    case EV_RMA_DONE:
        snprintf(to->at, to->left, "rma done window %d request %llu", or_none(event->window), to->request);
        return true;
    case EV_RMA_SYNC:
        snprintf(to->at, to->left, "rma sync %d comm %d window %d lock %d", to->peer, to->comm, or_none(event->window),
                 event->tag);
        return true;
    default:
        return false;
    }
}

static void show_other(const struct shown *to, const struct event *event)
{
    switch (event->kind) {
    case EV_ENTER:
        snprintf(to->at, to->left, "enter %s frame %d", to->region, (int)event->frame);
        break;
    case EV_LEAVE:
        snprintf(to->at, to->left, event->tag ? "leave %s calls %+d" : "leave %s", to->region, event->tag);
        break;
    case EV_POLLS:
        snprintf(to->at, to->left, "polls %llu", to->bytes);
        break;
    case EV_PROBED:
        snprintf(to->at, to->left, "probed %d comm %d tag %d", to->peer, to->comm, event->tag);
        break;
    case EV_OUTSIDE:
        snprintf(to->at, to->left, "outside");
        break;
    case EV_PENDING:
        snprintf(to->at, to->left, "pending %d comm %d peer %d tag %d", event->flags, to->comm, to->peer, event->tag);
        break;
    case EV_SAMPLE:
        snprintf(to->at, to->left, "sample frame %d weight %llu flags %d", (int)event->frame,
                 (unsigned long long)event->weight_ns, event->flags);
        break;
    case EV_OFF:
        snprintf(to->at, to->left, "off %d", event->flags);
        break;
    case EV_ON:
        snprintf(to->at, to->left, "on");
        break;
    case EV_UNFINISHED:
        snprintf(to->at, to->left, "unfinished %s comm %d peer %d tag %d", to->region, to->comm, to->peer, event->tag);
        break;
    default:
        snprintf(to->at, to->left, "end %d", event->flags);
        break;
    }
}

void show_event(char *line, size_t size, const struct trace *trace, const struct event *event)
{
    int used = snprintf(line, size, "%u ", event->loc);
    struct shown to = {.at = line + used,
                       .left = size - (size_t)used,
                       .region = event->region == TRACE_NONE ? "" : trace->regions[event->region].name,
                       .peer = or_none(event->peer),
                       .comm = or_none(event->comm),
                       .bytes = event->bytes,
                       .bytes_in = event->bytes_in,
                       .request = event->request};
    if (!show_message(&to, event) && !show_collective(&to, event))
        show_other(&to, event);
}

void expect_events(struct trace *trace, const char *const *expected)
{
    uint64_t last_ns = 0;
    size_t i = 0;
    for (const struct event *event; (event = trace_next(trace)); i++) {
        char line[512];
        show_event(line, sizeof line, trace, event);
        assert_non_null(expected[i]);
        assert_string_equal(line, expected[i]);
        assert_true(event->time_ns >= last_ns);
        last_ns = event->time_ns;
    }
    assert_null(expected[i]);
}

struct trace *make_trace(const char *dir)
{
    assert_int_equal(convert_salvage(dir, NULL), 0);
    char *anchor = path_format("%s/traces.otf2", dir);
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    free(anchor);
    return trace;
}

void save(struct spool_image *image, const char *dir)
{
    image_save(image, dir, image->bytes.n);
    image_release(image);
}
