/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways on which a process goes before MPI has begun in it, and with it the recorder: its end, by exit or _exit, and
 * exec. If MPI_Init itself was hidden from us, never called, or called by a program from whose environment the recorder
 * was taken, nobody else says so.
 *
 * Only the process that `whywait record` became speaks of exec. A child between vfork and exec is another one, and here
 * reads two variables and its number at most.
 */
#include "wrap/presence.h"
#include "wrap/record/pmpi/next.h"
#include "wrap/record/process/presence.h"
#include "wrap/record/process/say.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static __attribute__((constructor)) void at_begin(void)
{
    if (presence_is_doubtful())
        say_keep(PRESENCE_FD_LEAST);
}

static __attribute__((destructor)) void at_exit(void)
{
    next_tell_unseen();
}

/* Our name as the dynamic linker was told it. */
static bool names_us(const char *preload)
{
    Dl_info ours;
    return dladdr((void *)names_us, &ours) && ours.dli_fname && strstr(preload, ours.dli_fname);
}

static bool has_recorder(char *const *environment)
{
    static const char variable[] = "LD_PRELOAD=";
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, variable, sizeof variable - 1))
            return names_us(*environment);
    return false;
}

static void before_exec(const char *path, char *const *environment)
{
    if (!presence_is_told() && presence_is_first() && !has_recorder(environment) && say_is_first_rank())
        say("%s becomes %s without the recorder (LD_PRELOAD was set or cleared): %s is not recorded (put `whywait "
            "record` right before it)",
            program_invocation_short_name, path, path);
}

#define STAND_BEFORE(result, name, parameters, path, environment, ...)                                                 \
    WW_EXPORT result name parameters                                                                                   \
    {                                                                                                                  \
        __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                           \
        before_exec(path, environment);                                                                                \
        return next(__VA_ARGS__);                                                                                      \
    }

STAND_BEFORE(int, execve, (const char *path, char *const argv[], char *const envp[]), path, envp, path, argv, envp)
STAND_BEFORE(int, execv, (const char *path, char *const argv[]), path, environ, path, argv)
STAND_BEFORE(int, execvp, (const char *file, char *const argv[]), file, environ, file, argv)
STAND_BEFORE(int, execvpe, (const char *file, char *const argv[], char *const envp[]), file, envp, file, argv, envp)

/* Some shells end so. */
WW_EXPORT void _exit(int status)
{
    void (*next)(int) = (void (*)(int))dlsym(RTLD_NEXT, "_exit");
    if (presence_is_first())
        next_tell_unseen();
    next(status);
    __builtin_unreachable();
}
