/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A helper fills blocks of events in turn and says so with a byte on a socket; a byte back says that a block is free
 * again. So the helper is ahead by a few blocks at most, both sleep while they wait, and each sees when the other one
 * has gone. The memory stands at the same address in both, so pointers into a block hold.
 */
#include "analyze/trace/helpers.h"
#include "analyze/trace/otf2_reader.h"
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

/* A block is a millisecond of work, so that who sleeps is seldom woken: on a busy machine that costs a turn. */
enum { BLOCKS = 4, BLOCK_EVENTS = 8192, BLOCK_BINS = 4096 };

/* Beside the kinds of events: the records of location `loc` cannot be read after the one of time `request`. */
enum { EV_DAMAGED = EV_END + 1 };

/* What is said on the socket. */
enum { BLOCK_FULL = 'f', BLOCK_FREE = 'e', READ_AGAIN = 'a', READ_LAST = 'l' };

struct block {
    uint32_t n, n_bins;
    uint64_t n_records; /* that were read for these events */
    bool is_last;       /* of this reading */
    struct event events[BLOCK_EVENTS];
    struct trace_bin bins[]; /* helper.most_bins */
};

struct helper {
    pid_t pid;
    int socket;
    void *memory;
    size_t block_bytes;
    uint32_t most_bins;
    uint64_t n_blocks; /* filled, or read, so far */
    struct block *block;
    uint32_t at;               /* in it, of the next event */
    const struct event *ahead; /* what it hands out next; NULL = it is at its end */
    uint32_t n_free;           /* the helper's: of the blocks */
};

static struct block *block_in_turn(struct helper *helper)
{
    return (struct block *)((char *)helper->memory + helper->n_blocks++ % BLOCKS * helper->block_bytes);
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

/* What is said to it, but that a block is free, which it counts; ends with the one that would say it. */
static char hear(struct helper *helper)
{
    char word;
    if (!listen_to(helper, &word))
        _exit(0);
    helper->n_free += word == BLOCK_FREE;
    return word;
}

static void block_begin(struct helper *helper)
{
    while (!helper->n_free)
        hear(helper);
    helper->n_free--;
    helper->block = block_in_turn(helper);
    helper->block->n = helper->block->n_bins = 0;
    helper->block->is_last = false;
}

static void block_end(struct helper *helper, struct archive_reader *archive, bool is_last)
{
    helper->block->n_records = archive->trace->meter.n_done;
    helper->block->is_last = is_last;
    archive->trace->meter.n_done = 0;
    if (!say(helper, BLOCK_FULL))
        _exit(0);
    if (!is_last)
        block_begin(helper);
}

/* Counts of more points than there are belong to a damaged archive: they are told in parts. */
static void write_event(struct helper *helper, struct archive_reader *archive, const struct event *event)
{
    uint32_t n_left = event->n_bins;
    do {
        uint32_t n = n_left < helper->most_bins ? n_left : helper->most_bins;
        if (helper->block->n == BLOCK_EVENTS || n > helper->most_bins - helper->block->n_bins)
            block_end(helper, archive, false);
        struct event *to = &helper->block->events[helper->block->n++];
        *to = *event;
        to->n_bins = n;
        to->bins = n ? &helper->block->bins[helper->block->n_bins] : NULL;
        for (uint32_t i = 0; i < n; i++)
            helper->block->bins[helper->block->n_bins++] = event->bins[event->n_bins - n_left + i];
        n_left -= n;
    } while (n_left);
}

static void write_damage(struct helper *helper, struct archive_reader *archive, const struct location_reader *location,
                         uint64_t now_ns)
{
    struct event event = {
        .kind = EV_DAMAGED, .loc = location->loc, .time_ns = now_ns, .request = location->last_raw_ns};
    if (location->is_damaged)
        write_event(helper, archive, &event);
}

static void read_all(struct helper *helper, struct archive_reader *archive)
{
    block_begin(helper);
    if (locations_begin(archive))
        _exit(1);
    for (uint32_t i = 0; i < archive->trace->n_locations; i++)
        write_damage(helper, archive, &archive->locations[i], 0);
    struct event_block block = {.n = 0};
    uint64_t now_ns = 0;
    do {
        struct location_reader *location = archive->used_up;
        bool was_damaged = location && location->is_damaged;
        locations_merge(archive, &block);
        if (location && !was_damaged)
            write_damage(helper, archive, location, now_ns);
        for (uint32_t i = 0; i < block.n; i++)
            write_event(helper, archive, block.at[i]);
        now_ns = block.n ? block.at[block.n - 1]->time_ns : now_ns;
    } while (block.n);
    block_end(helper, archive, true);
}

_Noreturn static void help(struct helper *helper, struct archive_reader *archive, uint32_t number, uint32_t n)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); /* a pager sees the end when nobody holds its pipe */
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    launcher_leave_core();
    for (uint32_t i = 0; i < number; i++)
        close(archive->helpers.at[i].socket);
    archive->helpers.n = 0;
    archive->dealt = number;
    archive->n_dealt = n;
    tape_discard(&archive->tape); /* of all locations */
    archive->tape.most_bytes /= n;
    archive->trace->meter = (struct meter){.is_silent = true};
    helper->n_free = BLOCKS;
    for (;;) {
        read_all(helper, archive);
        char word;
        while ((word = hear(helper)) == BLOCK_FREE)
            continue;
        archive->trace->is_last_reading = word == READ_LAST;
    }
}

/* In the process that asked for it. */

static bool helper_begin(struct archive_reader *archive, uint32_t number, uint32_t n)
{
    struct helper *helper = &archive->helpers.at[number];
    uint32_t n_points = archive->trace->n_points;
    int sockets[2];
    *helper = (struct helper){.most_bins = n_points > BLOCK_BINS ? n_points : BLOCK_BINS};
    helper->block_bytes = (sizeof(struct block) + helper->most_bins * sizeof(struct trace_bin) + 63) & ~(size_t)63;
    helper->memory =
        mmap(NULL, BLOCKS * helper->block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (helper->memory == MAP_FAILED)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
        munmap(helper->memory, BLOCKS * helper->block_bytes);
        return false;
    }
    helper->pid = fork();
    helper->socket = sockets[helper->pid == 0];
    close(sockets[helper->pid != 0]);
    if (helper->pid == 0)
        help(helper, archive, number, n);
    if (helper->pid > 0)
        return true;
    close(helper->socket);
    munmap(helper->memory, BLOCKS * helper->block_bytes);
    return false;
}

/* Returns how it ended, as waitpid tells. */
static int helper_end(struct helper *helper)
{
    int status = 0;
    close(helper->socket);
    while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    munmap(helper->memory, BLOCKS * helper->block_bytes);
    helper->pid = 0;
    return status;
}

void helpers_end(struct helpers *helpers)
{
    for (uint32_t i = 0; i < helpers->n; i++)
        if (helpers->at[i].pid) {
            kill(helpers->at[i].pid, SIGKILL);
            helper_end(&helpers->at[i]);
        }
    free(helpers->at);
    heap_release(&helpers->heap);
    *helpers = (struct helpers){0};
}

/* One that ends by itself has told why. */
static void fail(struct archive_reader *archive, struct helper *helper)
{
    int status = helper_end(helper);
    archive->trace->has_failed = true;
    if (WIFSIGNALED(status))
        error("%s: a process that helped to read it was killed (%s); perhaps memory has run out", archive->trace->path,
              strsignal(WTERMSIG(status)));
}

/* The helper's next event becomes the one ahead; false at its end. */
static bool helper_next(struct archive_reader *archive, struct helper *helper)
{
    for (;;) {
        struct block *block = helper->block;
        if (block && helper->at < block->n) {
            const struct event *event = &block->events[helper->at++];
            __builtin_prefetch(event + 12);
            __builtin_prefetch((const char *)(event + 12) + 64);
            helper->ahead = event;
            if (event->kind != EV_DAMAGED)
                return true;
            location_note_damage(archive, event->loc, event->request);
            continue;
        }
        helper->ahead = NULL;
        bool is_last = block && block->is_last;
        helper->block = NULL;
        char word;
        if ((block && !say(helper, BLOCK_FREE)) || (!is_last && !listen_to(helper, &word))) {
            fail(archive, helper);
            return false;
        }
        if (is_last)
            return false;
        helper->block = block_in_turn(helper);
        helper->at = 0;
        meter_add(&archive->trace->meter, helper->block->n_records);
    }
}

static void helpers_begin(struct archive_reader *archive)
{
    struct helpers *helpers = &archive->helpers;
    struct trace *trace = archive->trace;
    uint32_t n = trace->n_helpers < trace->n_locations ? trace->n_helpers : trace->n_locations;
    locations_close(archive);
    archive->has_started = false;
    helpers->at = calloc(n + 1, sizeof *helpers->at);
    if (!helpers->at)
        err_out_of_memory(n * sizeof *helpers->at);
    fflush(NULL); /* what a helper inherits unwritten could be written twice */
    while (helpers->n < n && helper_begin(archive, helpers->n, n))
        helpers->n++;
    if (helpers->n < n)
        helpers_end(helpers);
}

bool helpers_rewind(struct archive_reader *archive)
{
    struct helpers *helpers = &archive->helpers;
    char word = archive->trace->is_last_reading ? READ_LAST : READ_AGAIN;
    bool go_on = helpers->n && !helpers->used_up && !helpers->heap.n;
    for (uint32_t i = 0; go_on && i < helpers->n; i++)
        go_on = say(&helpers->at[i], word);
    if (!go_on) {
        helpers_end(helpers);
        helpers_begin(archive);
    }
    for (uint32_t i = 0; i < helpers->n; i++)
        if (helper_next(archive, &helpers->at[i]))
            heap_push(&helpers->heap, helpers->at[i].ahead->time_ns, helpers->at[i].ahead->loc);
    return helpers->n;
}

/* The heap knows streams by the location of their next event, which decides between equal times. */
static void helper_go_on(struct archive_reader *archive, struct helper *helper)
{
    struct heap *heap = &archive->helpers.heap;
    if (helper_next(archive, helper)) {
        heap->items[0].stream = helper->ahead->loc;
        heap_replace(heap, helper->ahead->time_ns);
    } else
        heap_pop(heap);
}

void helpers_read(struct archive_reader *archive, struct event_block *block)
{
    struct helpers *helpers = &archive->helpers;
    if (helpers->used_up)
        helper_go_on(archive, helpers->used_up);
    helpers->used_up = NULL;
    block->n = 0;
    while (helpers->heap.n && block->n < EVENTS_READY && !helpers->used_up && !archive->trace->has_failed) {
        struct helper *helper = &helpers->at[helpers->heap.items[0].stream % helpers->n];
        block->at[block->n++] = helper->ahead;
        if (helper->at == helper->block->n || helper->block->events[helper->at].kind == EV_DAMAGED)
            helpers->used_up = helper;
        else
            helper_go_on(archive, helper);
    }
}
