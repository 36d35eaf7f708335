/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forked processes. A process writes all that it gives to memory that all have (store.h). It says to number 0 when that
 * is written. When all have said so, number 0 tells each who is lost, and everybody reads. Each process has two stores,
 * which it uses in turn: nobody reads in one any more when it is written again, since all have come to the exchange in
 * between.
 *
 * A process that dies closes its socket, which number 0 sees. When number 0 dies, the kernel ends the others.
 */
#include "analyze/engine/store.h"
#include "analyze/engine/way.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Words to number 0. */
enum { IS_WRITTEN = 'w', IS_AT_WORK = 't' };
enum { MS = 1000, TICK_MS = 1000 };

struct other {
    pid_t pid;
    int socket;         /* in number 0, to this one; in the others that of their own to number 0 */
    bool has_written;   /* for this exchange */
    int64_t heard_ms;   /* last, on `clock_ms` */
    struct store at[2]; /* what it gives, in turn */
};

struct forked {
    struct engine_way way;
    struct other *all; /* by number, this one included */
    unsigned turn;
    int64_t now_ms, clock_ms, ticked_ms; /* the clock leaves out times in which this process was stopped */
};

static struct forked *forked_of(const struct engine *engine)
{
    return (struct forked *)(void *)engine->way;
}

static int64_t look_at_clock(struct forked *forked)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * MS + now.tv_nsec / 1000000, since_ms = now_ms - forked->now_ms;
    forked->clock_ms += since_ms < 2 * TICK_MS ? since_ms : 2 * TICK_MS;
    forked->now_ms = now_ms;
    return forked->clock_ms;
}

/* In number 0. */

/* A disk that hangs may keep one that was killed. */
static void reap(struct other *other, int *status)
{
    enum { TRIES = 100, TRY_US = 10000 };
    for (int i = 0; i < TRIES && waitpid(other->pid, status, WNOHANG) == 0; i++)
        usleep(TRY_US);
    close(other->socket);
    other->socket = -1;
}

static void lose(struct engine *engine, uint32_t number, bool is_silent)
{
    struct other *other = &forked_of(engine)->all[number];
    int status = 0;
    if (is_silent)
        kill(other->pid, SIGKILL);
    reap(other, &status);
    engine->is_lost[number] = true;
    if (is_silent)
        warn("one of %u processes that share the work said nothing for %u s and was ended; the others do its part; was "
             "it stopped, or does a disk hang?",
             engine_n(engine), way_patience_s());
    else if (WIFSIGNALED(status))
        warn("one of %u processes that share the work was killed (%s); the others do its part; perhaps memory has run "
             "out",
             engine_n(engine), strsignal(WTERMSIG(status)));
    else
        warn("one of %u processes that share the work ended too early (status %d); the others do its part",
             engine_n(engine), WEXITSTATUS(status));
}

static void hear(struct engine *engine, uint32_t number)
{
    struct forked *forked = forked_of(engine);
    struct other *other = &forked->all[number];
    char word;
    ssize_t n = recv(other->socket, &word, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    other->heard_ms = forked->clock_ms;
    if (n <= 0)
        lose(engine, number, false);
    else if (word == IS_WRITTEN)
        other->has_written = true;
}

static bool is_awaited(const struct engine *engine, uint32_t number)
{
    return number && !engine->is_lost[number] && !forked_of(engine)->all[number].has_written;
}

static void hear_all(struct engine *engine, struct pollfd *events)
{
    struct forked *forked = forked_of(engine);
    uint32_t n = engine_n(engine), n_awaited = 1;
    look_at_clock(forked);
    for (uint32_t i = 1; i < n; i++)
        forked->all[i].heard_ms = forked->clock_ms;
    while (n_awaited) {
        n_awaited = 0;
        for (uint32_t i = 0; i < n; i++) {
            events[i] = (struct pollfd){.fd = is_awaited(engine, i) ? forked->all[i].socket : -1, .events = POLLIN};
            n_awaited += events[i].fd >= 0;
        }
        int n_heard = n_awaited ? poll(events, n, TICK_MS) : 0;
        int64_t now_ms = look_at_clock(forked);
        for (uint32_t i = 1; i < n; i++)
            if (n_heard > 0 && events[i].revents)
                hear(engine, i);
            else if (is_awaited(engine, i) && now_ms - forked->all[i].heard_ms > (int64_t)way_patience_s() * MS)
                lose(engine, i, true);
    }
}

/* One that ends just now is lost in the next exchange: its parcels are there. */
static void meet_as_first(struct engine *engine)
{
    struct forked *forked = forked_of(engine);
    uint32_t n = engine_n(engine);
    struct pollfd *events = memory_new(n + 1, sizeof *events);
    hear_all(engine, events);
    free(events);
    for (uint32_t i = 1; i < n; i++) {
        forked->all[i].has_written = false;
        while (!engine->is_lost[i] && send(forked->all[i].socket, engine->is_lost, n, MSG_NOSIGNAL) < 0 &&
               errno == EINTR)
            continue;
    }
}

/* In the others. */

static void meet_as_other(struct engine *engine)
{
    const int socket = forked_of(engine)->all[engine->number].socket;
    const char word = IS_WRITTEN;
    ssize_t n;
    do
        n = send(socket, &word, 1, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    do
        n = recv(socket, engine->is_lost, engine_n(engine), 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        _exit(0);
}

static void tick(struct engine *engine)
{
    struct forked *forked = forked_of(engine);
    const char word = IS_AT_WORK;
    int64_t now_ms = look_at_clock(forked);
    if (engine_is_first(engine) || now_ms - forked->ticked_ms < TICK_MS)
        return;
    forked->ticked_ms = now_ms;
    send(forked->all[engine->number].socket, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* one of many that say the same */
}

/* In all. */

_Noreturn static void lack_memory(const struct engine *engine, size_t n_bytes)
{
    if (engine_is_first(engine))
        err_out_of_memory(n_bytes);
    _exit(1);
}

static void exchange(struct engine *engine, const struct parcel *give, struct parcel *take)
{
    struct forked *forked = forked_of(engine);
    uint32_t n = engine_n(engine), turn = forked->turn;
    size_t n_bytes = 0;
    forked->turn = 1 - turn;
    for (uint32_t i = 0; i < n; i++) {
        store_leave(&forked->all[i].at[1 - turn]);
        n_bytes += give ? give[i].n_bytes : 0;
    }
    if (!store_write(&forked->all[engine->number].at[turn], give, n, engine->number))
        lack_memory(engine, n_bytes);
    if (engine_is_first(engine))
        meet_as_first(engine);
    else
        meet_as_other(engine);
    for (uint32_t i = 0; i < n; i++) {
        if (engine->is_lost[i])
            take[i] = (struct parcel){NULL, PARCEL_LOST};
        else if (i != engine->number && !store_read(&forked->all[i].at[turn], engine->number, &take[i]))
            lack_memory(engine, 0);
    }
}

static void end(struct engine *engine)
{
    struct forked *forked = forked_of(engine);
    for (uint32_t i = 1; i < engine_n(engine); i++)
        if (forked->all[i].socket >= 0)
            kill(forked->all[i].pid, SIGKILL);
    for (uint32_t i = 0; i < engine_n(engine); i++) {
        int status;
        if (forked->all[i].socket >= 0)
            reap(&forked->all[i], &status);
        for (unsigned turn = 0; turn < 2; turn++)
            store_release(&forked->all[i].at[turn]);
    }
    free(forked->all);
    free(forked);
}

static void begin_as_other(struct engine *engine, uint32_t number, pid_t first)
{
    struct forked *forked = forked_of(engine);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != first)
        _exit(0);
    engine->number = number;
    for (uint32_t i = 1; i < number; i++)
        if (forked->all[i].socket >= 0)
            close(forked->all[i].socket);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
}

/* In the new process; else false where there is none. */
static bool fork_one(struct engine *engine, uint32_t number)
{
    struct other *other = &forked_of(engine)->all[number];
    pid_t first = getpid();
    int sockets[2];
    if (other->at[0].fd < 0 || other->at[1].fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return engine->is_lost[number] = true, false;
    other->pid = fork();
    other->socket = sockets[other->pid == 0];
    close(sockets[other->pid != 0]);
    if (other->pid == 0)
        begin_as_other(engine, number, first);
    if (other->pid >= 0)
        return other->pid == 0;
    close(other->socket);
    other->socket = -1;
    engine->is_lost[number] = true;
    return false;
}

void engine_fork(struct engine *engine, uint32_t n)
{
    if (n < 2)
        return;
    struct forked *forked = memory_new(1, sizeof *forked);
    struct other *all = memory_new(n, sizeof *all);
    bool *is_lost = memory_new(n, sizeof *is_lost);
    *forked = (struct forked){.way = {exchange, tick, end}, .all = all};
    *engine = (struct engine){.n_others = n - 1, .way = &forked->way, .is_lost = is_lost};
    for (uint32_t i = 0; i < n; i++) {
        all[i].socket = -1;
        for (unsigned turn = 0; turn < 2; turn++)
            store_create(&all[i].at[turn]);
    }
    if (all[0].at[1].fd < 0) {
        engine_end(engine);
        return;
    }
    fflush(NULL); /* what another one inherits unwritten could be written twice */
    for (uint32_t i = 1; i < n; i++)
        if (fork_one(engine, i))
            break;
    launcher_leave_core();
}
