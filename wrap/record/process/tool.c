/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program may have a SIGCHLD handler, ignore SIGCHLD, or reap every child it finds. So the tool is not our child: a
 * short-lived process without exit signal, sharing our memory while this thread stands still (as vfork does), starts
 * it, waits for it and hands its status over in a variable. Ordinary waits do not see such a process.
 */
#include "wrap/record/process/tool.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 256 << 10, KILLED_WITHIN_S = 5 };
extern char **environ;

static bool tool_path(char path[PATH_MAX])
{
    const char *chosen = getenv("WHYWAIT_TOOL");
    char library[PATH_MAX]; /* preloaded through a link, perhaps */
    Dl_info info;
    if (chosen && *chosen)
        snprintf(path, PATH_MAX, "%s", chosen);
    else if (dladdr((void *)(uintptr_t)tool_run, &info) && info.dli_fname && realpath(info.dli_fname, library))
        snprintf(path, PATH_MAX, "%.*s/../bin/whywait", (int)(strrchr(library, '/') - library), library);
    else
        return false;
    return access(path, X_OK) == 0;
}

/* Everything but what would load us into the tool. */
static char **clean_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **clean = calloc(n + 1, sizeof *clean);
    for (size_t i = 0; clean && i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            clean[kept++] = environ[i];
    return clean;
}

struct job {
    const char *path;
    char *const *arguments;
    char **environment;
    posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    unsigned most_s;
    bool is_endless; /* it had to be killed */
    int status;      /* as waitpid gives it; -1 = it could not be started */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* True when it has ended within that time, or is none of ours. Kernels before 5.3 have no descriptors of processes:
 * there it looks again and again. */
static bool ends_within(pid_t pid, unsigned most_s, int *status)
{
    enum { LOOK_AGAIN_MS = 5, LONGEST_MS = 1000 };
#ifdef SYS_pidfd_open
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
#else
    int fd = -1;
#endif
    int64_t end_ms = now_ms() + (int64_t)most_s * 1000, left_ms;
    pid_t rc;
    while ((rc = waitpid(pid, status, WNOHANG)) == 0 && (left_ms = end_ms - now_ms()) > 0) {
        int64_t longest_ms = fd >= 0 ? LONGEST_MS : LOOK_AGAIN_MS;
        poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, (int)(left_ms < longest_ms ? left_ms : longest_ms));
    }
    if (fd >= 0)
        close(fd);
    *status = rc == pid ? *status : -1;
    return rc != 0;
}

static void start_and_wait(struct job *job)
{
    pid_t pid;
    job->status = -1;
    if (posix_spawn(&pid, job->path, job->actions, job->attributes, job->arguments, job->environment) != 0)
        return;
    job->is_endless = !ends_within(pid, job->most_s, &job->status);
    if (!job->is_endless)
        return;
    kill(pid, SIGKILL);
    ends_within(pid, KILLED_WITHIN_S, &job->status);
}

/* If SIGCHLD is ignored, nobody learns how children end. This process has handlers of its own, but its memory is the
 * program's: whoever stands before sigaction must not note what is changed here. */
static int between(void *context)
{
    static const uint64_t by_default[4]; /* the kernel's struct: SIG_DFL, no flags, no mask */
    syscall(SYS_rt_sigaction, SIGCHLD, by_default, NULL, sizeof(uint64_t));
    start_and_wait(context);
    _exit(0);
}

static void run_unseen(struct job *job)
{
    sigset_t all, before;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = -1;
    job->status = -1;
    if (stack != MAP_FAILED)
        pid = clone(between, (char *)stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, job);
    if (pid > 0) {
        while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
            ;
    } else
        start_and_wait(job);
    if (stack != MAP_FAILED)
        munmap(stack, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The tool shall not inherit what the program blocks or ignores. */
static bool set_up_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    return posix_spawnattr_setsigmask(attributes, &none) == 0 && posix_spawnattr_setsigdefault(attributes, &all) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0;
}

int tool_run(const char *run_dir, const char *command, const char *argument, unsigned most_s)
{
    char path[PATH_MAX], log[PATH_MAX];
    int saved = errno, status = -1;
    bool is_endless = false;
    if (!tool_path(path))
        return TOOL_FAILED;
    char *const arguments[] = {path, (char *)command, (char *)run_dir, (char *)argument, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = clean_environment();
    if (environment && posix_spawn_file_actions_init(&actions) == 0) {
        if (posix_spawnattr_init(&attributes) == 0) {
            snprintf(log, PATH_MAX, "%s/convert.log", run_dir);
            if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600) ==
                    0 &&
                set_up_signals(&attributes)) {
                struct job job = {path, arguments, environment, &actions, &attributes, most_s, false, -1};
                run_unseen(&job);
                status = job.status;
                is_endless = job.is_endless;
            }
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    errno = saved;
    if (is_endless)
        return TOOL_ENDLESS;
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_FAILED;
}
