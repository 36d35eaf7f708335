/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/awaited.h"
#include "wrap/record/process/machine.h"
#include <fcntl.h>
#include <stdbool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MOST_FILES = 64, MOST_SEARCHED = 256, PATH_BYTES = 64, PROTOCOL_BYTES = 32 };

struct files {
    unsigned n, n_pipes, n_networks, n_wakers;
    bool is_known, ends, is_loop; /* ends: at a time, also if nothing happens */
};

static bool read_own(uint64_t from, void *to, size_t n)
{
    struct iovec local = {to, n}, remote = {(void *)(uintptr_t)from, n};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* The other end of a local socket; 0 = not known. */
static ino_t peer_of(ino_t inode)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req about;
    } ask = {{sizeof ask, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0},
             {.sdiag_family = AF_UNIX,
              .udiag_states = UINT32_MAX,
              .udiag_ino = (uint32_t)inode,
              .udiag_show = UDIAG_SHOW_PEER,
              .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    ino_t peer = 0;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return 0;
    ssize_t n = send(fd, &ask, sizeof ask, 0) > 0 ? recv(fd, &answer, sizeof answer, MSG_DONTWAIT) : -1;
    close(fd);
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct unix_diag_msg)) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    struct rtattr *at = (struct rtattr *)((char *)NLMSG_DATA(&answer.head) + NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
    int rest = (int)n - (int)((char *)at - answer.bytes);
    for (; RTA_OK(at, rest); at = RTA_NEXT(at, rest))
        if (at->rta_type == UNIX_DIAG_PEER)
            peer = *(uint32_t *)RTA_DATA(at);
    return peer;
}

/* The program's descriptors may be in another table than the helper's: /proc tells of them. */
static const char *program_file(char path[PATH_BYTES], const char *kind, int fd)
{
    snprintf(path, PATH_BYTES, "/proc/self/%s/%d", kind, fd);
    return path;
}

/* "flags:  02000001", in octal */
static bool is_writable(int fd)
{
    char path[PATH_BYTES], text[256];
    machine_read_text(program_file(path, "fdinfo", fd), text, sizeof text);
    const char *flags = strstr(text, "flags:");
    return flags && (strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE) != O_RDONLY;
}

/* Another file of this process is the end with this number, or of a pipe writes to it. */
static bool holds_end(ino_t end, int but)
{
    struct stat about;
    char path[PATH_BYTES];
    for (int fd = 0; fd < MOST_SEARCHED; fd++)
        if (fd != but && stat(program_file(path, "fd", fd), &about) == 0 && about.st_ino == end &&
            (S_ISSOCK(about.st_mode) || (S_ISFIFO(about.st_mode) && is_writable(fd))))
            return true;
    return false;
}

/* Looks are many, and files few. */
static bool holds_other_end(const struct stat *about, int fd)
{
    enum { KNOWN = 8 };
    static struct known {
        ino_t inode;
        bool holds;
    } known[KNOWN];
    static unsigned next;
    for (unsigned i = 0; i < KNOWN; i++)
        if (known[i].inode == about->st_ino)
            return known[i].holds;
    ino_t end = S_ISFIFO(about->st_mode) ? about->st_ino : peer_of(about->st_ino);
    struct known *found = &known[next++ % KNOWN];
    *found = (struct known){about->st_ino, end && holds_end(end, fd)};
    return found->holds;
}

/* A file that is neither a pipe nor a socket: "anon_inode:[eventfd]". */
static void add_other(struct files *files, int fd)
{
    char path[PATH_BYTES], link[64] = "";
    ssize_t n = readlink(program_file(path, "fd", fd), link, sizeof link - 1);
    link[n > 0 ? n : 0] = '\0';
    files->n_wakers += strstr(link, "[eventfd]") != NULL || strstr(link, "[timerfd]") != NULL;
    files->ends |= strstr(link, "[timerfd]") != NULL;
    files->n_pipes += strstr(link, "[pidfd]") != NULL;
}

/* "TCP", "UDPv6", "UNIX-STREAM"; "" for what is no socket. */
static const char *protocol_of(const char *path, char name[PROTOCOL_BYTES])
{
    ssize_t n = getxattr(path, "system.sockprotoname", name, PROTOCOL_BYTES - 1);
    name[n > 0 ? n : 0] = '\0';
    return name;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Of an event loop, what wakes it up is no other process. */
static void add_file(struct files *files, int fd)
{
    struct stat about;
    char path[PATH_BYTES], protocol[PROTOCOL_BYTES] = "";
    files->n++;
    if (fd == STDIN_FILENO || stat(program_file(path, "fd", fd), &about) != 0)
        return;
    if (S_ISSOCK(about.st_mode) && !*protocol_of(path, protocol))
        return;
    bool is_local = S_ISFIFO(about.st_mode) || begins_with(protocol, "UNIX");
    if (!is_local && *protocol && !begins_with(protocol, "NETLINK"))
        files->n_networks++;
    else if (!is_local)
        add_other(files, fd);
    else if (files->is_loop && holds_other_end(&about, fd))
        files->n_wakers++;
    else
        files->n_pipes++;
}

static void add_polled(struct files *files, uint64_t from, uint64_t n)
{
    struct pollfd file[MOST_FILES];
    files->is_known = n <= MOST_FILES && (n == 0 || read_own(from, file, n * sizeof *file));
    for (uint64_t i = 0; files->is_known && i < n; i++) {
        files->is_known = file[i].events & POLLIN;
        add_file(files, file[i].fd);
    }
}

static void add_selected(struct files *files, int n, uint64_t reads, uint64_t writes)
{
    fd_set set;
    uint64_t from = writes ? 0 : reads;
    size_t bytes = ((size_t)n + 63) / 64 * 8;
    files->is_known = n == 0 || (!reads && !writes);
    if (files->is_known || !from || n > FD_SETSIZE)
        return;
    FD_ZERO(&set);
    files->is_known = read_own(from, &set, bytes);
    for (int fd = 0; files->is_known && fd < n; fd++)
        if (FD_ISSET(fd, &set))
            add_file(files, fd);
}

/* "tfd:        5 events:       19 data: ..." */
static void add_loop(struct files *files, int epoll)
{
    char path[PATH_BYTES], text[4096];
    machine_read_text(program_file(path, "fdinfo", epoll), text, sizeof text);
    files->is_known = *text != '\0' && strlen(text) < sizeof text - 1;
    files->is_loop = true;
    for (const char *at = text; (at = strstr(at, "tfd:")); at++)
        add_file(files, atoi(at + strlen("tfd:")));
}

static struct files files_of(int system_call, const uint64_t *argument)
{
    struct files files = {.n = 0};
    switch (system_call) {
    case SYS_read:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
        files.is_known = true;
        add_file(&files, (int)argument[0]);
        break;
    case SYS_write: /* until another process has read; what a program prints it hands to its launcher */
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
        files.is_known = (int)argument[0] > STDERR_FILENO;
        add_file(&files, (int)argument[0]);
        break;
#ifdef SYS_poll
    case SYS_poll:
        files.ends = (int)argument[2] >= 0;
        add_polled(&files, argument[0], argument[1]);
        break;
    case SYS_select:
        files.ends = argument[4] != 0;
        add_selected(&files, (int)argument[0], argument[1], argument[2]);
        break;
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        files.ends = (int)argument[3] >= 0;
        add_loop(&files, (int)argument[0]);
        break;
    case SYS_ppoll:
        files.ends = argument[2] != 0;
        add_polled(&files, argument[0], argument[1]);
        break;
    case SYS_pselect6:
        files.ends = argument[4] != 0;
        add_selected(&files, (int)argument[0], argument[1], argument[2]);
        break;
    default:
        break;
    }
    return files;
}

enum awaited awaited_by(int system_call, const uint64_t *argument)
{
    struct files files = files_of(system_call, argument);
    if (!files.is_known)
        return AWAITED_UNKNOWN;
    if (files.n == files.n_wakers)
        return files.n > 0 && !files.ends ? AWAITED_WAKER : files.ends ? AWAITED_TIME : AWAITED_UNKNOWN;
    if (files.n == files.n_wakers + files.n_networks)
        return AWAITED_NETWORK;
    return files.n == files.n_wakers + files.n_pipes ? AWAITED_PIPE : AWAITED_UNKNOWN;
}
