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
#include <unistd.h>

enum { STACK_BYTES = 256 << 10 };
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
    int status; /* as waitpid gives it; -1 = it could not be started */
};

static void start_and_wait(struct job *job)
{
    pid_t pid;
    int status = 0;
    job->status = -1;
    if (posix_spawn(&pid, job->path, job->actions, job->attributes, job->arguments, job->environment) != 0)
        return;
    pid_t rc;
    do
        rc = waitpid(pid, &status, 0);
    while (rc < 0 && errno == EINTR);
    job->status = rc == pid ? status : -1;
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

int tool_run(const char *run_dir, const char *command, const char *argument)
{
    char path[PATH_MAX], log[PATH_MAX];
    int saved = errno, status = -1;
    if (!tool_path(path))
        return -1;
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
                struct job job = {path, arguments, environment, &actions, &attributes, -1};
                run_unseen(&job);
                status = job.status;
            }
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    errno = saved;
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
