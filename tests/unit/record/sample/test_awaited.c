/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread sleeps in each of these calls, and the kernel's account of it tells for what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/sample/asleep.h"
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum way {
    READS,
    RECEIVES,
    WRITES,
    SENDS,
    POLLS,
    POLLS_FOR_A_TIME,
    SELECTS,
    SELECTS_NOTHING,
    WAITS_IN_LOOP,
    WAITS_IN_LOOP_FOR_A_TIME
};
enum { LONG_MS = 100000 };
static struct sleeper {
    enum way way;
    int file, loop;
    _Atomic int32_t tid;
} sleeper;

static int pipe_end, full_pipe, local_end, network_end, waker[2], events, timer;

static void *do_sleep(void *unused)
{
    char bytes[4096] = "";
    fd_set set;
    struct epoll_event event;
    struct pollfd file = {sleeper.file, POLLIN, 0};
    struct timeval time = {LONG_MS / 1000, 0};
    (void)unused;
    FD_ZERO(&set);
    if (sleeper.file >= 0)
        FD_SET(sleeper.file, &set);
    atomic_store(&sleeper.tid, (int32_t)syscall(SYS_gettid));
    switch (sleeper.way) {
    case READS:
        return (void *)read(sleeper.file, bytes, sizeof bytes);
    case RECEIVES:
        return (void *)recv(sleeper.file, bytes, sizeof bytes, 0);
    case WRITES:
        for (;;)
            (void)!write(sleeper.file, bytes, sizeof bytes);
    case SENDS:
        for (;;)
            send(sleeper.file, bytes, sizeof bytes, 0);
    case POLLS:
    case POLLS_FOR_A_TIME:
        poll(&file, sleeper.file >= 0, sleeper.way == POLLS ? -1 : LONG_MS);
        break;
    case SELECTS:
    case SELECTS_NOTHING:
        select(sleeper.file + 1, sleeper.file >= 0 ? &set : NULL, NULL, NULL, sleeper.way == SELECTS ? NULL : &time);
        break;
    default:
        epoll_wait(sleeper.loop, &event, 1, sleeper.way == WAITS_IN_LOOP ? -1 : LONG_MS);
    }
    return NULL;
}

static enum awaited found(enum way way, int file, int loop)
{
    pthread_t thread;
    struct asleep at = {.system_call = -1};
    enum asleep_found state = THREAD_IS_BUSY;
    atomic_store(&sleeper.tid, 0);
    sleeper.way = way;
    sleeper.file = file;
    sleeper.loop = loop;
    pthread_create(&thread, NULL, do_sleep, NULL);
    while (!atomic_load(&sleeper.tid))
        usleep(1000);
    for (int i = 0; i < 5000 && (state != THREAD_SLEEPS || at.system_call < 0 || at.system_call == SYS_futex); i++) {
        usleep(1000);
        state = asleep_find(atomic_load(&sleeper.tid), &at);
    }
    enum awaited awaited = awaited_by(at.system_call, at.argument);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return awaited;
}

static int loop_of(const int *files, unsigned n)
{
    int loop = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < n; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        assert_int_equal(epoll_ctl(loop, EPOLL_CTL_ADD, files[i], &event), 0);
    }
    return loop;
}

/* The other ends of pipes and of the local socket are held by another process alone. */
static int set_up(void **state)
{
    int ends[2], full[2], local[2];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof address;
    (void)state;
    assert_int_equal(pipe(ends) | pipe(full) | socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        close(full[1]);
        close(local[0]);
        for (;;)
            pause();
    }
    close(ends[1]);
    close(full[0]);
    close(local[1]);
    *state = (void *)(intptr_t)child;
    pipe_end = ends[0];
    full_pipe = full[1];
    local_end = local[0];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, bytes) | listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&address, &bytes);
    network_end = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(network_end, (struct sockaddr *)&address, bytes), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, waker), 0);
    events = eventfd(0, 0);
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    return 0;
}

static int tear_down(void **state)
{
    return kill((pid_t)(intptr_t)*state, SIGKILL);
}

static void test_single_files(void **state)
{
    (void)state;
    assert_int_equal(found(READS, pipe_end, -1), AWAITED_PIPE);
    assert_int_equal(found(RECEIVES, local_end, -1), AWAITED_PIPE);
    assert_int_equal(found(RECEIVES, network_end, -1), AWAITED_NETWORK);
    assert_int_equal(found(WRITES, full_pipe, -1), AWAITED_PIPE);
    assert_int_equal(found(SENDS, network_end, -1), AWAITED_NETWORK);
    assert_int_equal(found(READS, events, -1), AWAITED_WAKER);
    assert_int_equal(found(POLLS, pipe_end, -1), AWAITED_PIPE);
    assert_int_equal(found(POLLS_FOR_A_TIME, network_end, -1), AWAITED_NETWORK);
    assert_int_equal(found(POLLS_FOR_A_TIME, -1, -1), AWAITED_TIME);
    assert_int_equal(found(SELECTS, network_end, -1), AWAITED_NETWORK);
    assert_int_equal(found(SELECTS, local_end, -1), AWAITED_PIPE);
    assert_int_equal(found(SELECTS_NOTHING, -1, -1), AWAITED_TIME);
}

/* asyncio's loop has a pair of sockets by which it is woken up. */
static void test_loops(void **state)
{
    (void)state;
    int alone = loop_of(waker, 1), piped = loop_of((int[]){waker[0], pipe_end}, 2);
    int local = loop_of((int[]){waker[0], local_end}, 2), network = loop_of((int[]){network_end, waker[0]}, 2);
    int mixed = loop_of((int[]){network_end, pipe_end}, 2), timed = loop_of((int[]){timer, events}, 2);
    assert_int_equal(found(WAITS_IN_LOOP, -1, alone), AWAITED_WAKER);
    assert_int_equal(found(WAITS_IN_LOOP_FOR_A_TIME, -1, alone), AWAITED_TIME);
    assert_int_equal(found(WAITS_IN_LOOP_FOR_A_TIME, -1, piped), AWAITED_PIPE);
    assert_int_equal(found(WAITS_IN_LOOP, -1, local), AWAITED_PIPE);
    assert_int_equal(found(WAITS_IN_LOOP, -1, network), AWAITED_NETWORK);
    assert_int_equal(found(WAITS_IN_LOOP, -1, mixed), AWAITED_UNKNOWN);
    assert_int_equal(found(WAITS_IN_LOOP, -1, timed), AWAITED_TIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_single_files), cmocka_unit_test(test_loops)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
