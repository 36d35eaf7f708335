/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Number 0 has the program beside it as a child. Another process of the launcher has two children: that program, and
 * the one that does the work. When this one dies, the launcher sees nothing of it, and number 0 gets to know it by the
 * next exchange: the launcher would end all of them. When the launcher ends its process, both children go with it.
 */
#include "analyze/engine/launched.h"
#include "analyze/engine/store.h"
#include "analyze/engine/way.h"
#include "analyze/engine/words.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The longest wait for an MPI that begins, for its program to end, and for a launcher to read what was printed. */
enum { MEETING_S = 30, TICK_S = 1, READ_MS = 2000 };
enum { NEVER_MET = 3 }; /* status of a process that was to work */

/* The first exchange. */
struct hello {
    char build[64], node[128];
};

struct launched {
    struct engine_way way;
    pid_t mpi;
    int socket;
    bool is_broken; /* nobody can be reached any more */
    time_t ticked_s;
    struct store given, taken;
    struct hello *hellos; /* by number, or NULL */
};

static struct launched *launched_of(const struct engine *engine)
{
    return (struct launched *)(void *)engine->way;
}

static unsigned meeting_s(void)
{
    const char *wanted = getenv("WHYWAIT_MEETING");
    return wanted ? (unsigned)strtoul(wanted, NULL, 10) : MEETING_S;
}

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

bool launched_are_several(void)
{
    const char *const *name = launcher_local_rank_names();
    while (*name && !getenv(*name))
        name++;
    return *name && meeting_s() && launcher_has_other_nodes() && !is_in_environment(getppid(), *name);
}

/* Words. */

static bool say(const struct launched *launched, enum word_kind kind, int flags)
{
    const struct word word = {kind, 0};
    ssize_t n;
    do
        n = send(launched->socket, &word, sizeof word, MSG_NOSIGNAL | flags);
    while (n < 0 && errno == EINTR);
    return n == sizeof word;
}

static bool hear(const struct launched *launched, struct word *word)
{
    ssize_t n;
    do
        n = recv(launched->socket, word, sizeof *word, 0);
    while (n < 0 && errno == EINTR);
    return n == sizeof *word;
}

/* Exchanges. */

static const char *node_of(const struct launched *launched, uint32_t number)
{
    return launched->hellos && *launched->hellos[number].node ? launched->hellos[number].node : "another node";
}

static void break_off(struct engine *engine, uint32_t number)
{
    struct launched *launched = launched_of(engine);
    if (!engine_is_first(engine))
        _exit(0);
    if (number)
        warn("%s has not answered for a while, so the work goes on without other nodes; look at that node and at the "
             "network",
             node_of(launched, number));
    else
        warn("MPI has failed between the processes that share the work, so it goes on without other nodes");
    launched->is_broken = true;
    for (uint32_t i = 1; i < engine_n(engine); i++)
        engine->is_lost[i] = true;
}

static void lose(struct engine *engine, uint32_t number)
{
    if (!engine->is_lost[number] && engine_is_first(engine))
        warn("a process on %s that shares the work has died or says nothing; the others do its part; look for lack of "
             "memory, and for disks that hang, there",
             node_of(launched_of(engine), number));
    engine->is_lost[number] = true;
}

static void take_all(struct engine *engine, struct parcel *take)
{
    struct launched *launched = launched_of(engine);
    for (uint32_t i = 0; i < engine_n(engine); i++) {
        if (i == engine->number)
            continue;
        if (launched->is_broken || !store_read(&launched->taken, i, &take[i]))
            take[i] = (struct parcel){NULL, PARCEL_LOST};
        if (take[i].n_bytes == PARCEL_LOST)
            lose(engine, i);
        else if (engine->is_lost[i])
            take[i] = (struct parcel){NULL, PARCEL_LOST};
    }
}

static void exchange(struct engine *engine, const struct parcel *give, struct parcel *take)
{
    struct launched *launched = launched_of(engine);
    struct word word = {0};
    store_leave(&launched->taken);
    if (!launched->is_broken) {
        if (!store_write(&launched->given, give, engine_n(engine), engine->number))
            err_out_of_memory(0);
        if (!say(launched, WORD_WRITTEN, 0) || !hear(launched, &word) || word.kind != WORD_TAKEN)
            break_off(engine, word.number);
    }
    take_all(engine, take);
}

static void tick(struct engine *engine)
{
    struct launched *launched = launched_of(engine);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec - launched->ticked_s < TICK_S)
        return;
    launched->ticked_s = now.tv_sec;
    say(launched, WORD_AT_WORK, MSG_DONTWAIT); /* one of many that say the same */
}

/* A launcher that is told to end all leaves what is still in its pipes. So may Open MPI 5 where a process ends with a
 * status other than 0. */
static void wait_until_read(int fd)
{
    int left_bytes;
    struct stat file;
    bool is_pipe = fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode);
    for (int i = 0; i < READ_MS && is_pipe && ioctl(fd, FIONREAD, &left_bytes) == 0 && left_bytes > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void end(struct engine *engine)
{
    struct launched *launched = launched_of(engine);
    fflush(NULL);
    wait_until_read(STDOUT_FILENO);
    wait_until_read(STDERR_FILENO);
    if (launched->socket >= 0)
        close(launched->socket);
    while (launched->mpi > 0 && waitpid(launched->mpi, NULL, 0) < 0 && errno == EINTR)
        continue;
    store_release(&launched->given);
    store_release(&launched->taken);
    free(launched->hellos);
    free(launched);
}

/* The meeting. */

/* Parcels between nodes only the same build understands. */
static struct hello hello_here(void)
{
    struct hello hello = {.build = ""};
    struct stat tool;
    bool is_known = stat("/proc/self/exe", &tool) == 0;
    snprintf(hello.build, sizeof hello.build, WHYWAIT_VERSION "-%lld", is_known ? (long long)tool.st_size : 0);
    gethostname(hello.node, sizeof hello.node - 1);
    return hello;
}

/* Processes of another build than number 0's are lost from here on. */
static void greet(struct engine *engine)
{
    uint32_t n = engine_n(engine);
    const struct hello here = hello_here();
    struct hello *hellos = memory_new(n, sizeof *hellos);
    struct parcel *take = memory_new(n, sizeof *take);
    engine_tell_all(engine, (struct parcel){&here, sizeof here}, take);
    for (uint32_t i = 0; i < n; i++)
        if (take[i].n_bytes == sizeof *hellos)
            memcpy(&hellos[i], take[i].at, sizeof *hellos);
    for (uint32_t i = 0; i < n; i++) {
        if (engine->is_lost[i] || !strcmp(hellos[i].build, hellos[0].build))
            continue;
        if (engine_is_first(engine))
            warn("the tool on %s is another build than the one on %s, so the work goes on without it; have the same "
                 "on all nodes",
                 hellos[i].node, hellos[0].node);
        engine->is_lost[i] = true;
    }
    free(take);
    launched_of(engine)->hellos = hellos;
    if (engine->is_lost[engine->number])
        _exit(0);
}

_Noreturn static void become_mpi(const struct launched *launched, int socket, const char *program)
{
    char n[16], seconds[16], patience[16];
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); /* where there is no MPI, number 0 says so */
    snprintf(n, sizeof n, "%u", launcher_n_processes());
    snprintf(seconds, sizeof seconds, "%u", meeting_s());
    snprintf(patience, sizeof patience, "%u", way_patience_s());
    int given = fcntl(launched->given.fd, F_DUPFD, WORDS_STORE_TAKEN + 1),
        taken = fcntl(launched->taken.fd, F_DUPFD, WORDS_STORE_TAKEN + 1);
    dup2(socket, WORDS_SOCKET);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    dup2(given, WORDS_STORE_GIVEN);
    dup2(taken, WORDS_STORE_TAKEN);
    execl(program, program, n, seconds, patience, (char *)NULL);
    _exit(127);
}

/* Starts the program; false where that is impossible. */
static bool start_mpi(struct launched *launched, const char *program, bool is_first)
{
    int ends[2];
    if (!store_create(&launched->given) || !store_create(&launched->taken) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return false;
    launched->socket = ends[0];
    launched->mpi = fork();
    if (launched->mpi == 0) {
        if (!is_first)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        become_mpi(launched, ends[1], program);
    }
    close(ends[1]);
    return launched->mpi > 0;
}

static int status_of(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* In the launcher's process: the other two have ended when it returns. If the one that knows MPI was killed, the
 * launcher would end all processes when this one ended. Number 0 has it end them later, if they have met. */
static void wait_for(struct launched *launched, pid_t worker)
{
    close(launched->socket);
    if (WIFSIGNALED(status_of(launched->mpi))) {
        if (WEXITSTATUS(status_of(worker)) == NEVER_MET)
            die("the program beside this one, which knows MPI, was killed before all had met; start the command again");
        for (;;)
            pause();
    }
    kill(worker, SIGKILL);
    status_of(worker);
}

/* True in a child that is to work; else false, when it has ended. */
static bool divide(struct launched *launched)
{
    pid_t parent = getpid(), worker;
    fflush(NULL);
    worker = fork();
    if (worker) {
        wait_for(launched, worker);
        return false;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (getppid() != parent || nowhere < 0)
        _exit(0);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    return true;
}

/* Whether all have met; number 0 tells where they have not. */
static bool have_met(const struct launched *launched, const char *program, uint32_t *number)
{
    struct word word = {0};
    bool is_there = hear(launched, &word);
    *number = word.number;
    bool is_first = launcher_is_first_rank();
    if (is_there && word.kind == WORD_MET && is_first == !word.number)
        return true;
    if (!is_first)
        _exit(NEVER_MET);
    if (is_there)
        warn("some processes have not come within %u s ($WHYWAIT_MEETING), so it goes on without other nodes; is the "
             "tool, with %s, the same on all nodes?",
             meeting_s(), program);
    else
        warn("%s cannot run here, so it goes on without other nodes; is its MPI installed?", program);
    return false;
}

struct engine *launched_engine(void)
{
    static struct engine engine; /* one of a process, as its launcher is */
    return &engine;
}

enum launched_role launched_meet(const char *program)
{
    struct engine *engine = launched_engine();
    bool is_first = launcher_is_first_rank();
    uint32_t n = launcher_n_processes(), number;
    struct launched *launched = memory_new(1, sizeof *launched);
    bool *is_lost = memory_new(n + 1, sizeof *is_lost);
    *engine = (struct engine){.n_others = n - 1, .way = &launched->way, .is_lost = is_lost, .is_lasting = true};
    *launched = (struct launched){.way = {exchange, tick, end}, .socket = -1, .given.fd = -1, .taken.fd = -1};
    bool is_started = start_mpi(launched, program, is_first);
    if (!is_first && (!is_started || !divide(launched)))
        return LAUNCHED_IDLE;
    if (!is_started || !have_met(launched, program, &number)) {
        engine_give_up(engine);
        return LAUNCHED_FIRST;
    }
    engine->number = number;
    greet(engine);
    return is_first ? LAUNCHED_FIRST : LAUNCHED_OTHER;
}
