/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that a launcher has started on other nodes: how the first process gets hold of them.
 *
 * They meet once, at the beginning, through the launcher's MPI (analyze/meet): each learns where the first one listens,
 * and connects to it by TCP. A process that waits on a connection sleeps, and sees when the other side has gone. A
 * connection serves one archive. When it is asked for, the process on the other node leaves it to a child and connects
 * anew, so that any number of archives can be open, and to close a connection is all that it takes to end one.
 */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nodes_role {
    NODES_FIRST, /* it does the work */
    NODES_ALONE, /* it does so, and has waited in vain for others */
    NODES_FAR,   /* it serves the first one, on another node */
    NODES_IDLE   /* there is nothing to do for it */
};
/* The longest wait for the others; 0 = none. */
unsigned nodes_patience_s(void);
/* True where a launcher has started this very command on other nodes, too. Of the commands of a script it is not known
 * whether each process comes to them. */
bool nodes_are_several(void);
/* Called at the beginning by each of these processes; `program` is the one by which they meet, of the launcher's MPI.
 * If they cannot, the first one is alone. */
enum nodes_role nodes_meet(const char *program);

/* The file to be read, the same one everywhere. */
struct nodes_file {
    char path[PATH_MAX];
    int64_t size_bytes, changed_s, changed_ns;
};
/* False where it is not there. */
bool nodes_look_at(const char *path, struct nodes_file *file);

/* In the first process: connections to processes elsewhere that have opened the file, `most` at most. They are the
 * caller's, to be closed. */
uint32_t nodes_ask(const struct nodes_file *file, int *sockets, uint32_t most);
/* The number that can be asked. */
uint32_t nodes_count(void);
/* In a child of it: what is not needed there is closed. */
void nodes_leave(void);

/* In a process on another node: returns in a child of it, for each file that it is asked for. Then -1, when the first
 * process has ended. When the file is open, nodes_agree is to say so. */
int nodes_serve(struct nodes_file *file);
bool nodes_agree(int socket);

/* All of it, or false. With `more` to follow at once. */
bool nodes_send(int socket, const void *what, size_t size_bytes, bool more);
bool nodes_receive(int socket, void *what, size_t size_bytes);
