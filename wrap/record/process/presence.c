/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/process/presence.h"
#include "wrap/presence.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_begun;

/* -1 = the variable is not there, or no number. */
static long number_of(const char *variable)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long number = text ? strtol(text, &end, 10) : -1;
    return text && end != text && !*end ? number : -1;
}

bool presence_is_first(void)
{
    return number_of("WHYWAIT_PROCESS") == getpid();
}

bool presence_is_doubtful(void)
{
    return presence_is_first() && number_of("WHYWAIT_CAME") >= 0;
}

/* Not another file that the program has put there since. */
static bool is_ours(const char *path)
{
    char target[64] = "";
    return readlink(path, target, sizeof target - 1) > 0 && !strncmp(target, PRESENCE_LINK, strlen(PRESENCE_LINK));
}

void presence_tell(void)
{
    char path[64];
    int saved_errno = errno;
    long process = number_of("WHYWAIT_PROCESS"), descriptor = number_of("WHYWAIT_CAME");
    __atomic_store_n(&has_begun, true, __ATOMIC_RELEASE);
    snprintf(path, sizeof path, "/proc/%ld/fd/%ld", process, descriptor);
    int fd = process > 0 && descriptor >= 0 && is_ours(path) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        ssize_t ignored = write(fd, "1", 1);
        (void)ignored;
        close(fd);
    }
    errno = saved_errno;
}

bool presence_is_told(void)
{
    return __atomic_load_n(&has_begun, __ATOMIC_ACQUIRE);
}

bool presence_nobody_came(void)
{
    char path[64];
    struct stat status;
    long descriptor = number_of("WHYWAIT_CAME");
    snprintf(path, sizeof path, "/proc/self/fd/%ld", descriptor);
    return descriptor >= 0 && is_ours(path) && stat(path, &status) == 0 && status.st_size == 0;
}
