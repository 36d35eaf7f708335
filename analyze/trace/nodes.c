/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/nodes.h"
#include "analyze/meet/message.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

/* How long to wait for who ought to be there: an MPI that begins, a process that answers. */
enum { MEETING_S = 30, ANSWER_S = 3 };
enum { WORD_BYTES = 32, PLACE_BYTES = 192, VERSION_BYTES = 64 };
static const char AGREED = 'y';

/* Who has called and has not said the word yet. Nobody waits for it: a stranger may never say it. */
struct caller {
    int socket;
    size_t n_said;
    char said[WORD_BYTES];
};
enum { MOST_CALLERS = 256 }; /* processes that call at the same time; of more, the oldest are strangers */

/* One of a process, as its launcher is. */
static struct {
    VEC(int) idle;                 /* in the first process: connections that are not in use */
    VEC(struct caller) callers;    /* likewise, in the order in which they came */
    int listening;                 /* likewise */
    char word[WORD_BYTES + 1];     /* who says it belongs together */
    struct sockaddr_storage first; /* in the others: where it listens */
    socklen_t first_bytes;
} nodes = {.listening = -1};

bool nodes_send(int socket, const void *what, size_t size_bytes, bool more)
{
    for (const char *at = what; size_bytes;) {
        ssize_t n = send(socket, at, size_bytes, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        size_bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool nodes_receive(int socket, void *what, size_t size_bytes)
{
    for (char *at = what; size_bytes;) {
        ssize_t n = recv(socket, at, size_bytes, 0);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
        size_bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void set_patience(int socket, int seconds)
{
    const struct timeval patience = {.tv_sec = seconds}; /* 0 = for ever; connect takes the second one */
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

/* A node that has gone without a word is noticed within half a minute; one that is busy answers. */
static void set_watchful(int socket)
{
    static const struct {
        int level, option, value;
    } settings[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                    {IPPROTO_TCP, TCP_KEEPIDLE, 10},
                    {IPPROTO_TCP, TCP_KEEPINTVL, 5},
                    {IPPROTO_TCP, TCP_KEEPCNT, 4},
                    {IPPROTO_TCP, TCP_NODELAY, 1}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setsockopt(socket, settings[i].level, settings[i].option, &settings[i].value, sizeof settings[i].value);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Connections. */

static void drop_caller(size_t at)
{
    memmove(&nodes.callers.at[at], &nodes.callers.at[at + 1], (--nodes.callers.n - at) * sizeof *nodes.callers.at);
}

static void take_callers(void)
{
    for (int socket; (socket = accept4(nodes.listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        if (nodes.callers.n == MOST_CALLERS) {
            close(nodes.callers.at[0].socket);
            drop_caller(0);
        }
        *vec_push(&nodes.callers) = (struct caller){.socket = socket};
    }
}

/* Whoever says the word is a process on another node. */
static void hear_caller(size_t at)
{
    struct caller *caller = &nodes.callers.at[at];
    ssize_t n = recv(caller->socket, caller->said + caller->n_said, sizeof caller->said - caller->n_said, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    caller->n_said += n > 0 ? (size_t)n : 0;
    if (n > 0 && caller->n_said < sizeof caller->said)
        return;
    int socket = caller->socket;
    bool is_known = n > 0 && !memcmp(caller->said, nodes.word, sizeof caller->said);
    drop_caller(at);
    if (is_known && !fcntl(socket, F_SETFL, 0) && nodes_agree(socket)) {
        set_watchful(socket);
        *vec_push(&nodes.idle) = socket;
    } else
        close(socket);
}

/* Takes in who comes, for so long at most (-1 = as long as it takes) or until something else happened: true when that
 * is `other`, which can be read then or has gone. */
static bool attend(int other, int most_ms)
{
    struct pollfd events[2 + MOST_CALLERS] = {{.fd = other, .events = POLLIN},
                                              {.fd = nodes.listening, .events = POLLIN}};
    size_t n_callers = nodes.callers.n;
    for (size_t i = 0; i < n_callers; i++)
        events[2 + i] = (struct pollfd){.fd = nodes.callers.at[i].socket, .events = POLLIN};
    int n = poll(events, 2 + n_callers, most_ms);
    if (n <= 0)
        return n < 0 && errno != EINTR;
    for (size_t i = n_callers; i-- > 0;)
        if (events[2 + i].revents)
            hear_caller(i);
    if (events[1].revents)
        take_callers();
    return events[0].revents != 0;
}

/* The first process as it answers, -1 where it does not within so many seconds (0 = as long as it is there). */
static int dial(int seconds)
{
    char answer;
    int socket_ = socket(nodes.first.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0)
        return -1;
    set_watchful(socket_);
    set_patience(socket_, seconds);
    if (!connect(socket_, (struct sockaddr *)&nodes.first, nodes.first_bytes) &&
        nodes_send(socket_, nodes.word, WORD_BYTES, false) && nodes_receive(socket_, &answer, 1) && answer == AGREED) {
        set_patience(socket_, 0);
        return socket_;
    }
    close(socket_);
    return -1;
}

bool nodes_agree(int socket)
{
    return nodes_send(socket, &AGREED, 1, false);
}

/* The meeting. */

/* False also where it cannot be read: a launcher's daemon may be another user's. */
static bool is_in_environment(pid_t pid, const char *name)
{
    char path[32], *entry = NULL;
    size_t size = 0, length = strlen(name);
    bool is_there = false;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && !is_there && getdelim(&entry, &size, 0, file) > 0)
        is_there = !strncmp(entry, name, length) && entry[length] == '=';
    free(entry);
    if (file)
        fclose(file);
    return is_there;
}

unsigned nodes_patience_s(void)
{
    const char *wanted = getenv("WHYWAIT_MEETING");
    return wanted ? (unsigned)strtoul(wanted, NULL, 10) : MEETING_S;
}

bool nodes_are_several(void)
{
    const char *const *name = launcher_local_rank_names();
    while (*name && !getenv(*name))
        name++;
    return *name && nodes_patience_s() && launcher_has_other_nodes() && !is_in_environment(getppid(), *name);
}

/* Starts the program by which all meet; messages with it go over what is returned. */
static int meeting_begin(const char *program, pid_t *pid)
{
    int ends[2];
    char n[16], seconds[16];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    snprintf(n, sizeof n, "%u", launcher_n_processes());
    snprintf(seconds, sizeof seconds, "%u", nodes_patience_s());
    *pid = fork();
    if (*pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY); /* where there is no meeting, nothing is lost */
        dup2(ends[1], STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execl(program, program, n, seconds, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (*pid > 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* Once all have met, or are not going to: false where some have not come. */
static bool meeting_end(int meeting, pid_t pid)
{
    char nothing;
    int status = 0;
    recv(meeting, &nothing, 1, 0);
    close(meeting);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return !WIFEXITED(status) || WEXITSTATUS(status) != MEET_LATE;
}

/* Processes of a launcher that are on one node have this in common: its name, and the process that began them. */
static void name_place(char place[PLACE_BYTES])
{
    char host[PLACE_BYTES - 32] = "";
    gethostname(host, sizeof host - 1);
    snprintf(place, PLACE_BYTES, "%s:%d", *host ? host : "-", (int)getppid());
}

/* What is sent between nodes only the same build understands. */
static void name_version(char version[VERSION_BYTES])
{
    struct stat tool;
    bool is_known = stat("/proc/self/exe", &tool) == 0;
    snprintf(version, VERSION_BYTES, WHYWAIT_VERSION "-%lld", is_known ? (long long)tool.st_size : 0);
}

/* True for one under which other nodes may reach this one; its own to itself where there is no other. */
static bool is_wanted(const struct ifaddrs *interface, bool loopback)
{
    const struct sockaddr *address = interface->ifa_addr;
    bool is_up = address && (interface->ifa_flags & IFF_UP) && !(interface->ifa_flags & IFF_LOOPBACK) == !loopback;
    if (is_up && address->sa_family == AF_INET6)
        return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return is_up && address->sa_family == AF_INET;
}

static void append_addresses(struct meet_message *message)
{
    struct ifaddrs *all = NULL;
    size_t used = strlen(message->text), begin = used;
    if (getifaddrs(&all))
        return;
    for (unsigned loopback = 0; loopback < 2 && used == begin; loopback++)
        for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
            char text[INET6_ADDRSTRLEN];
            if (is_wanted(at, loopback) && used + sizeof text + 1 < sizeof message->text &&
                !getnameinfo(at->ifa_addr, sizeof(struct sockaddr_in6), text, sizeof text, NULL, 0, NI_NUMERICHOST))
                used += (size_t)snprintf(message->text + used, sizeof message->text - used, " %s", text);
        }
    freeifaddrs(all);
}

/* A port of every address of this node, whose system may be without IPv6; 0 = there can be none. */
static unsigned listen_anywhere(void)
{
    static const int no = 0;
    struct sockaddr_in6 here = {.sin6_family = AF_INET6};
    socklen_t size = sizeof here;
    nodes.listening = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (nodes.listening >= 0) {
        setsockopt(nodes.listening, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no); /* takes in IPv4 as well */
    } else {
        here.sin6_family = AF_INET;
        size = sizeof(struct sockaddr_in);
        nodes.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    bool is_listening = nodes.listening >= 0 && !bind(nodes.listening, (struct sockaddr *)&here, size) &&
                        !listen(nodes.listening, SOMAXCONN) &&
                        !getsockname(nodes.listening, (struct sockaddr *)&here, &size);
    return is_listening ? ntohs(here.sin6_port) : 0; /* which stands at the same place for both */
}

/* Begins to listen, and tells where; nothing where that is impossible. */
static struct meet_message invitation(void)
{
    struct meet_message message = {.text = ""};
    char place[PLACE_BYTES], version[VERSION_BYTES];
    uint8_t random[WORD_BYTES / 2];
    unsigned port = listen_anywhere();
    if (!port || getrandom(random, sizeof random, 0) != sizeof random)
        return message;
    plain_hex(nodes.word, random, sizeof random);
    name_place(place);
    name_version(version);
    snprintf(message.text, sizeof message.text, "%s %s %s %u", place, version, nodes.word, port);
    append_addresses(&message);
    return message;
}

/* The first process: takes in who comes until all have met. */
static void invite(int meeting)
{
    struct meet_message message = invitation();
    if (send(meeting, &message, sizeof message, MSG_NOSIGNAL) < 0)
        return;
    while (!attend(meeting, -1))
        continue;
}

/* False where it is none. */
static bool set_first(const char *address, const char *port)
{
    static const struct addrinfo as_it_is = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(address, port, &as_it_is, &found))
        return false;
    memcpy(&nodes.first, found->ai_addr, found->ai_addrlen);
    nodes.first_bytes = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* A process that has been told where the first one is: the connection, or -1 where there is none to be had or none is
 * wanted. */
static int follow(struct meet_message *message)
{
    char place[PLACE_BYTES], version[VERSION_BYTES], *rest;
    const char *its_place = strtok_r(message->text, " ", &rest), *its_version = strtok_r(NULL, " ", &rest),
               *word = strtok_r(NULL, " ", &rest), *port = strtok_r(NULL, " ", &rest), *address;
    int socket = -1;
    name_place(place);
    name_version(version);
    if (!port || !strcmp(place, its_place) || strcmp(version, its_version) != 0 || strlen(word) != WORD_BYTES)
        return -1;
    memcpy(nodes.word, word, WORD_BYTES);
    while (socket < 0 && (address = strtok_r(NULL, " ", &rest)))
        if (set_first(address, port))
            socket = dial(ANSWER_S);
    return socket;
}

enum nodes_role nodes_meet(const char *program)
{
    struct meet_message message = {.text = ""};
    enum nodes_role role = launcher_is_first_rank() ? NODES_FIRST : NODES_IDLE;
    pid_t pid;
    int meeting = meeting_begin(program, &pid);
    if (meeting < 0)
        return role;
    if (role == NODES_FIRST) {
        invite(meeting);
    } else if (recv(meeting, &message, sizeof message, 0) == sizeof message) {
        int socket = follow(&message);
        if (socket >= 0) {
            *vec_push(&nodes.idle) = socket;
            role = NODES_FAR;
        }
        send(meeting, &AGREED, 1, MSG_NOSIGNAL);
    }
    return meeting_end(meeting, pid) || role != NODES_FIRST ? role : NODES_ALONE;
}

/* Files. */

bool nodes_look_at(const char *path, struct nodes_file *file)
{
    struct stat at;
    memset(file, 0, sizeof *file);
    if (!realpath(path, file->path) || stat(file->path, &at))
        return false;
    file->size_bytes = at.st_size;
    file->changed_s = at.st_mtim.tv_sec;
    file->changed_ns = at.st_mtim.tv_nsec;
    return true;
}

uint32_t nodes_count(void)
{
    return (uint32_t)nodes.idle.n;
}

/* Who was asked leaves the question to a child, and calls anew. */
static void wait_for_one(void)
{
    size_t n_idle = nodes.idle.n;
    int64_t end_ms = now_ms() + 1000 * ANSWER_S, left_ms;
    while (nodes.idle.n == n_idle && (left_ms = end_ms - now_ms()) > 0)
        if (attend(-1, (int)left_ms))
            break;
}

uint32_t nodes_ask(const struct nodes_file *file, int *sockets, uint32_t most)
{
    uint32_t n_asked = 0, n = 0;
    char answer;
    while (n_asked < most && nodes.idle.n)
        sockets[n_asked++] = nodes.idle.at[--nodes.idle.n];
    for (uint32_t i = 0; i < n_asked; i++)
        nodes_send(sockets[i], file, sizeof *file, false);
    for (uint32_t i = 0; i < n_asked; i++) {
        wait_for_one();
        if (nodes_receive(sockets[i], &answer, 1))
            sockets[n++] = sockets[i];
        else
            close(sockets[i]);
    }
    return n;
}

void nodes_leave(void)
{
    for (size_t i = 0; i < nodes.idle.n; i++)
        close(nodes.idle.at[i]);
    nodes.idle.n = 0;
    for (size_t i = 0; i < nodes.callers.n; i++)
        close(nodes.callers.at[i].socket);
    nodes.callers.n = 0;
    if (nodes.listening >= 0)
        close(nodes.listening);
}

int nodes_serve(struct nodes_file *file)
{
    int socket = nodes.idle.at[0];
    signal(SIGCHLD, SIG_IGN);
    while (socket >= 0 && nodes_receive(socket, file, sizeof *file)) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            return socket;
        }
        close(socket);
        socket = dial(0);
    }
    while (wait(NULL) > 0) /* none is left when it returns */
        continue;
    return -1;
}
