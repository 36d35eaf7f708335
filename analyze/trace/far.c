/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/far.h"
#include "analyze/trace/locations.h"
#include "analyze/trace/nodes.h"
#include "wrap/base/err.h"
#include <stdlib.h>

bool far_send_task(int socket, struct far_task task, const struct archive_reader *archive)
{
    task.origin_ns = archive->clocks.origin_ns;
    task.synthesise = archive->synthesise;
    bool is_sent = nodes_send(socket, &task, sizeof task, true);
    for (uint32_t i = task.dealt; is_sent && i < archive->trace->n_locations; i += task.n_dealt) {
        const struct clock_location *of = &archive->clocks.locations[i];
        const uint64_t n[3] = {of->points.n, of->floors.n, archive->n_skipped ? archive->n_skipped[i] : 0};
        is_sent = nodes_send(socket, n, sizeof n, true) &&
                  nodes_send(socket, of->points.at, n[0] * sizeof *of->points.at, true) &&
                  nodes_send(socket, of->floors.at, n[1] * sizeof *of->floors.at, true);
    }
    return is_sent && nodes_agree(socket);
}

bool far_receive_task(int socket, struct far_task *task, struct archive_reader *archive)
{
    char end;
    if (!nodes_receive(socket, task, sizeof *task))
        return false;
    archive->clocks.origin_ns = task->origin_ns;
    archive->synthesise = task->synthesise;
    archive->dealt = task->dealt;
    archive->n_dealt = task->n_dealt;
    archive->n_skipped = calloc(archive->trace->n_locations, sizeof *archive->n_skipped);
    if (!archive->n_skipped)
        err_out_of_memory(archive->trace->n_locations * sizeof *archive->n_skipped);
    for (uint32_t i = task->dealt; i < archive->trace->n_locations; i += task->n_dealt) {
        struct clock_location *of = &archive->clocks.locations[i];
        uint64_t n[3];
        if (!nodes_receive(socket, n, sizeof n))
            return false;
        archive->n_skipped[i] = n[2];
        vec_resize(&of->points, n[0]);
        vec_resize(&of->floors, n[1]);
        if (!nodes_receive(socket, of->points.at, n[0] * sizeof *of->points.at) ||
            !nodes_receive(socket, of->floors.at, n[1] * sizeof *of->floors.at))
            return false;
    }
    return nodes_receive(socket, &end, 1);
}

/* The shapes that are sent with a block: from which number on, and how many. */
struct shapes_sent {
    uint32_t first, n;
};

bool far_send_block(int socket, const struct block *block, const struct tape_code *code, uint32_t *n_shapes)
{
    const struct shapes_sent sent = {*n_shapes, code->n_shapes - *n_shapes};
    *n_shapes = code->n_shapes;
    return nodes_send(socket, &sent, sizeof sent, true) &&
           nodes_send(socket, &code->shapes[sent.first], sent.n * sizeof *code->shapes, true) &&
           nodes_send(socket, block, sizeof *block + block->n_bytes, false);
}

/* A part that is read again makes the same shapes again. */
bool far_receive_block(int socket, struct block *block, size_t size_bytes, struct tape_code *code)
{
    struct shapes_sent sent;
    if (!nodes_receive(socket, &sent, sizeof sent) || sent.first > code->n_shapes || sent.n > SHAPES_MAX - sent.first ||
        !nodes_receive(socket, &code->shapes[sent.first], sent.n * sizeof *code->shapes))
        return false;
    code->n_shapes = sent.first + sent.n > code->n_shapes ? sent.first + sent.n : code->n_shapes;
    return nodes_receive(socket, block, sizeof *block) && block->n_bytes <= size_bytes - sizeof *block &&
           nodes_receive(socket, block->bytes, block->n_bytes);
}
