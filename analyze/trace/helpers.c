/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A helper fills blocks of events in turn, written as on a tape, and says so with a byte on a socket. A byte back says
 * that a block is free again. So the helper is ahead by the blocks that there are at most, both sleep while they wait,
 * and each sees when the other one has gone.
 *
 * The first blocks of a reading that others follow stay, up to a bound: the next one plays them from there. If they
 * end, the helper stays as well, while a copy of it reads on; from there another copy reads the rest again.
 */
#include "analyze/trace/helpers.h"
#include "analyze/trace/block.h"
#include "analyze/trace/bookmark.h"
#include "analyze/trace/far.h"
#include "analyze/trace/locations.h"
#include "analyze/trace/nodes.h"
#include "analyze/trace/opening.h"
#include "analyze/trace/tape.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A block is a part of a millisecond of work at least, so that who sleeps is seldom woken: on a busy machine that costs
 * a turn. With many of them the helpers need not go at the same pace. A socket takes some hundred bytes that nobody has
 * read, so there are fewer blocks than that.
 */
enum { BLOCKS = 64, BLOCK_BYTES = 128 << 10, BLOCK_BINS = 4096, PAGE = 64 << 10 /* the largest anywhere */ };

/* Messages on the socket. */
enum { BLOCK_FULL = 'f', BLOCK_FREE = 'e', READ_AGAIN = 'a' };

struct helper {
    pid_t pid; /* 0 = it is not needed any more */
    int socket;
    struct tape_code *code; /* what is shared: this, and the blocks behind it */
    char *blocks;
    size_t shared_bytes, block_bytes;
    uint32_t most_bins;
    uint32_t n_kept; /* the first blocks of a reading, which stay; behind them others are used in turn */
    uint64_t n_used; /* blocks, filled or read in this reading */
    struct block *block;
    size_t at; /* in its bytes */
    int far;   /* the connection to one on another node, for which it takes in blocks; -1 = it reads itself */
    /* In the helper. */
    uint64_t now_ns;   /* of the last event */
    uint32_t n_free;   /* of the blocks */
    bool is_copy;      /* another one stays where the blocks that are kept end */
    bool is_far;       /* this is the one on another node. It has one block, and `socket` is the connection */
    uint32_t n_shapes; /* of the code, that have been sent */
    /* In the process that asked for it. */
    uint64_t n_held; /* of the blocks that are kept, have been filled by a reading before */
    bool is_last;    /* no reading follows */
    bool is_over;    /* all of this reading has been read */
    struct tape_player player;
};

static struct block *block_in_turn(struct helper *helper)
{
    uint64_t number = helper->n_used++, kept = helper->n_kept;
    uint64_t place = helper->is_far ? 0 : number < kept ? number : kept + (number - kept) % BLOCKS;
    helper->at = 0;
    return (struct block *)(void *)(helper->blocks + place * helper->block_bytes);
}

static bool say(const struct helper *helper, char word)
{
    ssize_t n;
    do
        n = send(helper->socket, &word, 1, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* False when the other one has gone. */
static bool listen_to(const struct helper *helper, char *word)
{
    ssize_t n;
    do
        n = recv(helper->socket, word, 1, 0);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* In the helper. */

/* Messages to it, but that a block is free, which it counts; ends with the one that would say it. */
static char hear(struct helper *helper)
{
    char word;
    if (!listen_to(helper, &word))
        _exit(0);
    helper->n_free += word == BLOCK_FREE;
    return word;
}

/* Earlier messages about blocks are over. */
static bool waits_for_reading(void *context)
{
    struct helper *helper = context;
    while (hear(helper) != READ_AGAIN)
        continue;
    helper->n_free = helper->is_far ? 1 : BLOCKS;
    return true;
}

static void block_begin(struct helper *helper)
{
    if (helper->n_kept && helper->n_used == helper->n_kept && !helper->is_copy && helper->far < 0) {
        bookmark(waits_for_reading, helper);
        helper->is_copy = true;
    }
    while (!helper->n_free)
        hear(helper);
    helper->n_free--;
    helper->block = block_in_turn(helper);
    helper->block->damaged = TRACE_NONE;
}

/* To the process that takes in what this one reads on another node. The block is free again. */
static bool block_send(struct helper *helper)
{
    helper->n_free++;
    return far_send_block(helper->socket, helper->block, helper->code, &helper->n_shapes);
}

static void block_end(struct helper *helper, struct archive_reader *archive, bool is_last)
{
    helper->block->n_records = archive->trace->meter.n_done;
    helper->block->n_bytes = helper->at;
    helper->block->is_last = is_last;
    archive->trace->meter.n_done = 0;
    if (!(helper->is_far ? block_send(helper) : say(helper, BLOCK_FULL)))
        _exit(0);
    if (!is_last)
        block_begin(helper);
}

static void write_whole(struct helper *helper, struct archive_reader *archive, const struct event *event)
{
    if (helper->block_bytes - sizeof *helper->block - helper->at < tape_most_bytes(event_n_bins(event)))
        block_end(helper, archive, false);
    unsigned char *at = helper->block->bytes + helper->at;
    helper->at += (size_t)(tape_encode(helper->code, &helper->now_ns, event, at) - at);
}

/* Counts of more points than there are belong to a damaged archive. They are told in parts. */
static void write_event(struct helper *helper, struct archive_reader *archive, const struct event *event)
{
    if (event_n_bins(event) <= helper->most_bins) {
        write_whole(helper, archive, event);
        return;
    }
    struct event part = *event;
    for (uint32_t n_left = event->n_bins; n_left; n_left -= part.n_bins, part.bins += part.n_bins) {
        part.n_bins = n_left < helper->most_bins ? n_left : helper->most_bins;
        write_whole(helper, archive, &part);
    }
}

static void write_damage(struct helper *helper, struct archive_reader *archive, const struct location_reader *location)
{
    if (!location->is_damaged)
        return;
    helper->block->damaged = location->loc;
    helper->block->damaged_raw_ns = location->last_raw_ns;
    block_end(helper, archive, false);
}

static void read_all(struct helper *helper, struct archive_reader *archive)
{
    helper->n_used = helper->now_ns = 0;
    block_begin(helper);
    if (locations_begin(archive))
        _exit(1);
    for (uint32_t i = 0; i < archive->trace->n_locations; i++)
        write_damage(helper, archive, &archive->locations[i]);
    struct event_block block = {.n = 0};
    do {
        struct location_reader *location = archive->used_up;
        bool was_damaged = location && location->is_damaged;
        locations_merge(archive, &block);
        if (location && !was_damaged)
            write_damage(helper, archive, location);
        for (uint32_t i = 0; i < block.n; i++)
            write_event(helper, archive, block.at[i]);
    } while (block.n);
    block_end(helper, archive, true);
}

/* A pager sees the end when nobody holds its pipe. */
static void go_nowhere(int from)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, from);
}

_Noreturn static void help(struct helper *helper, struct archive_reader *archive)
{
    launcher_leave_core();
    tape_discard(&archive->tape); /* of all locations */
    archive->trace->meter = (struct meter){.is_silent = true};
    for (;;) {
        read_all(helper, archive);
        if (helper->is_copy)
            _exit(0);
        waits_for_reading(helper);
    }
}

/* On another node. */

_Noreturn static void help_from_far(int socket, const struct nodes_file *file)
{
    struct far_task task;
    struct nodes_file here;
    static struct archive_reader archive;
    if (!nodes_look_at(file->path, &here) || memcmp(&here, file, sizeof here) || opening_read(&archive, file->path) ||
        !nodes_agree(socket) || !far_receive_task(socket, &task, &archive))
        _exit(0);
    struct helper helper = {.socket = socket,
                            .far = -1,
                            .is_far = true,
                            .n_kept = task.n_kept,
                            .block_bytes = task.block_bytes,
                            .most_bins = task.most_bins,
                            .n_free = 1,
                            .code = calloc(1, sizeof *helper.code),
                            .blocks = calloc(1, task.block_bytes)};
    if (!helper.code || !helper.blocks)
        err_out_of_memory(task.block_bytes);
    help(&helper, &archive);
}

void helpers_serve(void)
{
    struct nodes_file file;
    int socket;
    go_nowhere(STDERR_FILENO); /* what there is to tell, the first one tells */
    if ((socket = nodes_serve(&file)) >= 0)
        help_from_far(socket, &file);
}

/* Puts what is read there where a helper of this node would. */
_Noreturn static void help_as_far(struct helper *helper, const struct archive_reader *archive)
{
    const struct far_task task = {.block_bytes = helper->block_bytes,
                                  .dealt = archive->dealt,
                                  .n_dealt = archive->n_dealt,
                                  .most_bins = helper->most_bins,
                                  .n_kept = helper->n_kept};
    bool is_there = far_send_task(helper->far, task, archive);
    for (; is_there; helper->n_used = helper->n_kept) {
        do {
            block_begin(helper);
            is_there = far_receive_block(helper->far, helper->block, helper->block_bytes, helper->code);
            if (is_there && !say(helper, BLOCK_FULL))
                _exit(0);
        } while (is_there && !helper->block->is_last);
        is_there = is_there && waits_for_reading(helper);
        const char again = READ_AGAIN;
        is_there = is_there && nodes_send(helper->far, &again, 1, false);
    }
    error("%s: a process on another node that helped to read it has ended; perhaps memory has run out there",
          archive->trace->path);
    _exit(1);
}

/* In the process that asked for it. */

/* The size of blocks, and the number of them that are kept. */
static void blocks_measure(struct helper *helper, const struct archive_reader *archive, uint32_t n)
{
    enum { EVENT_BYTES = 32 }; /* as a rule less */
    const struct trace *trace = archive->trace;
    helper->most_bins = trace->n_points > BLOCK_BINS ? trace->n_points : BLOCK_BINS;
    size_t bytes = sizeof(struct block) + tape_most_bytes(helper->most_bins), room = trace->kept_bytes / n;
    bytes = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    helper->block_bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    if (trace->n_records && trace->n_records / n < room / EVENT_BYTES)
        room = trace->n_records / n * EVENT_BYTES;
    if (!trace->is_last_reading)
        helper->n_kept = (uint32_t)(room / helper->block_bytes + 1);
}

/* In the new process: what only the one that asked for it needs is closed. */
_Noreturn static void helper_run(struct helpers *helpers, struct archive_reader *archive, uint32_t number, uint32_t n)
{
    const struct helper *others = helpers->at;
    struct helper *helper = &helpers->at[number];
    go_nowhere(STDOUT_FILENO);
    nodes_leave();
    for (uint32_t i = 0; i < number; i++)
        close(others[i].socket);
    for (uint32_t i = 0; i < n; i++)
        if (i != number && others[i].far >= 0)
            close(others[i].far);
    archive->dealt = number;
    archive->n_dealt = n;
    helper->n_free = BLOCKS;
    if (helper->far >= 0)
        help_as_far(helper, archive);
    help(helper, archive);
}

static bool helper_begin(struct helpers *helpers, struct archive_reader *archive, uint32_t number, uint32_t n)
{
    struct helper *helper = &helpers->at[number];
    size_t code_bytes = (sizeof *helper->code + PAGE - 1) / PAGE * PAGE;
    int sockets[2];
    *helper = (struct helper){.is_last = archive->trace->is_last_reading, .far = helper->far};
    blocks_measure(helper, archive, n);
    helper->shared_bytes = code_bytes + (helper->n_kept + BLOCKS) * helper->block_bytes;
    void *shared =
        mmap(NULL, helper->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    helper->code = shared;
    helper->blocks = (char *)shared + code_bytes;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
        munmap(shared, helper->shared_bytes);
        return false;
    }
    helper->pid = fork();
    helper->socket = sockets[helper->pid == 0];
    close(sockets[helper->pid != 0]);
    if (helper->pid == 0)
        helper_run(helpers, archive, number, n);
    if (helper->pid > 0)
        return true;
    close(helper->socket);
    munmap(shared, helper->shared_bytes);
    return false;
}

/* It ends when it sees that nobody listens. Returns how, as waitpid tells. */
static int helper_dismiss(struct helper *helper)
{
    int status = 0;
    close(helper->socket);
    while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    helper->pid = 0;
    return status;
}

void helpers_end(struct helpers *helpers)
{
    for (uint32_t i = 0; i < helpers->n; i++) {
        struct helper *helper = &helpers->at[i];
        if (helper->pid) {
            kill(helper->pid, SIGKILL);
            helper_dismiss(helper);
        }
        munmap(helper->code, helper->shared_bytes);
        vec_release(&helper->player.bins);
    }
    free(helpers->at);
    free(helpers->merged);
    *helpers = (struct helpers){0};
}

/* One that ends by itself has told why. */
static void fail(struct archive_reader *archive, struct helper *helper)
{
    int status = helper_dismiss(helper);
    archive->trace->has_failed = true;
    if (WIFSIGNALED(status))
        error("%s: a process that helped to read it was killed (%s); perhaps memory has run out", archive->trace->path,
              strsignal(WTERMSIG(status)));
}

static void block_leave(struct archive_reader *archive, struct helper *helper)
{
    struct block *block = helper->block;
    bool was_held = helper->n_used <= helper->n_held;
    if (block->damaged != TRACE_NONE)
        location_note_damage(archive, block->damaged, block->damaged_raw_ns);
    helper->is_over = block->is_last;
    helper->block = NULL;
    if (was_held && helper->is_last) /* best effort */
        madvise(block, helper->block_bytes, MADV_REMOVE);
    if (!was_held && !say(helper, BLOCK_FREE))
        fail(archive, helper);
}

static void block_enter(struct archive_reader *archive, struct helper *helper)
{
    char word;
    if (helper->n_used >= helper->n_held && !listen_to(helper, &word)) {
        fail(archive, helper);
        return;
    }
    helper->block = block_in_turn(helper);
    meter_add(&archive->trace->meter, helper->block->n_records);
}

/* The helper's next events; none at its end. */
static void helper_read(struct archive_reader *archive, struct helper *helper, struct event_block *events)
{
    events->n = 0;
    while (!events->n && !helper->is_over && !archive->trace->has_failed) {
        const struct block *block = helper->block;
        if (!block) {
            block_enter(archive, helper);
        } else if (helper->at == block->n_bytes) {
            block_leave(archive, helper);
        } else {
            const unsigned char *at = block->bytes + helper->at, *end = block->bytes + block->n_bytes;
            at = tape_decode(helper->code, &helper->player, at, end, events);
            helper->at = (size_t)(at - block->bytes);
        }
    }
}

/* Connections for those of n helpers that more of the launcher's processes were started for elsewhere than here. */
static uint32_t ask_far(const struct trace *trace, int *connections, uint32_t n)
{
    struct nodes_file file;
    uint32_t n_near = trace->n_helpers > nodes_count() ? trace->n_helpers - nodes_count() : 0;
    return n > n_near && nodes_look_at(trace->path, &file) ? nodes_ask(&file, connections, n - n_near) : 0;
}

static void helpers_begin(struct helpers *helpers, struct archive_reader *archive)
{
    struct trace *trace = archive->trace;
    int connections[HELPERS_MOST];
    uint32_t n = trace->n_helpers < trace->n_locations ? trace->n_helpers : trace->n_locations;
    n = n < HELPERS_MOST ? n : HELPERS_MOST;
    uint32_t n_far = ask_far(trace, connections, n);
    locations_close(archive);
    archive->has_started = false;
    helpers->at = calloc(n + 1, sizeof *helpers->at);
    helpers->merged = calloc(2 * n + 1, sizeof *helpers->merged);
    if (!helpers->at || !helpers->merged)
        err_out_of_memory(n * sizeof *helpers->at);
    for (uint32_t i = 0; i < n; i++)
        helpers->at[i].far = i < n - n_far ? -1 : connections[i - (n - n_far)];
    fflush(NULL); /* what a helper inherits unwritten could be written twice */
    while (helpers->n < n && helper_begin(helpers, archive, helpers->n, n))
        helpers->n++;
    for (uint32_t i = 0; i < n_far; i++)
        close(connections[i]);
    if (helpers->n < n)
        helpers_end(helpers);
}

/* Plays what blocks hold, and has the rest read again; false when it can do neither. */
static bool helper_rewind(struct helper *helper, bool is_last_reading)
{
    bool holds_all = helper->n_used <= helper->n_kept, has_let_go = helper->is_last && helper->n_held;
    if (!helper->is_over || has_let_go)
        return false;
    if (helper->pid && holds_all)
        helper_dismiss(helper);
    helper->n_held = holds_all ? helper->n_used : helper->n_kept;
    helper->is_last = is_last_reading;
    helper->is_over = false;
    helper->n_used = helper->player.now_ns = 0;
    return holds_all || say(helper, READ_AGAIN);
}

bool helpers_rewind(struct helpers *helpers, struct archive_reader *archive)
{
    bool go_on = helpers->n;
    for (uint32_t i = 0; go_on && i < helpers->n; i++)
        go_on = helper_rewind(&helpers->at[i], archive->trace->is_last_reading);
    if (!go_on) {
        helpers_end(helpers);
        helpers_begin(helpers, archive);
    }
    for (uint32_t i = 0; i < 2 * helpers->n; i++)
        helpers->merged[i] = (struct event_block){.n = 0};
    return helpers->n;
}

/* Streams are merged by twos. The first n are the helpers', and what comes of two that follow each other is one more at
 * the end, until one is left. */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->loc < b->loc;
}

/* Until more of one of them must be read. Which one comes first is as good as random: no branch depends on it. */
static void merge(struct event_block *a, struct event_block *b, struct event_block *to)
{
    while (to->n < EVENTS_READY && a->next < a->n && b->next < b->n) {
        const struct event *of_a = a->at[a->next], *of_b = b->at[b->next];
        bool is_a = is_before(of_a, of_b);
        to->at[to->n++] = is_a ? of_a : of_b;
        a->next += is_a;
        b->next += !is_a;
    }
    struct event_block *left = a->n ? a : b;
    while ((!a->n || !b->n) && to->n < EVENTS_READY && left->next < left->n)
        to->at[to->n++] = left->at[left->next++];
}

/* More of a stream, where all that was there has been handed out. None at its end. */
static struct event_block *stream_read(struct helpers *helpers, struct archive_reader *archive, uint32_t number)
{
    struct event_block *events = &helpers->merged[number];
    if (events->next < events->n)
        return events;
    events->n = events->next = 0;
    if (number < helpers->n) {
        helper_read(archive, &helpers->at[number], events);
        return events;
    }
    uint32_t first = 2 * (number - helpers->n);
    struct event_block *a = stream_read(helpers, archive, first), *b = stream_read(helpers, archive, first + 1);
    merge(a, b, events);
    return events;
}

void helpers_read(struct helpers *helpers, struct archive_reader *archive, struct event_block *block)
{
    struct event_block *all = stream_read(helpers, archive, 2 * helpers->n - 2);
    *block = *all;
    all->next = all->n;
    if (archive->trace->has_failed)
        block->n = 0;
}
