/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread waits for that sleeps in a system call: for the helper only.
 *
 * The call's arguments name the files that it waits for, or a set of them (poll, select, epoll). The kernel tells of
 * which kind each is. A pipe or local socket whose other end this process holds as well wakes an event loop up: another
 * thread writes to it, if anybody does.
 */
#pragma once
#include <stdint.h>

enum awaited {
    AWAITED_UNKNOWN,
    AWAITED_PIPE,    /* another process, which writes or reads: a pipe, a local socket, its end */
    AWAITED_NETWORK, /* a connection of the network */
    AWAITED_TIME,    /* a time has passed; nothing else is waited for */
    AWAITED_WAKER    /* another thread, though a time may be set */
};
/* By the number of the call and its arguments, AWAITED_ARGUMENTS. */
enum { AWAITED_ARGUMENTS = 5 };
enum awaited awaited_by(int system_call, const uint64_t *argument);
