/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/process/say.h"
#include "wrap/record/process/aside.h"
#include "wrap/launcher.h"
#include "wrap/record/process/signals.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NOTES = 32, NOTE_BYTES = 400 };

static struct {
    char text[MAX_NOTES][NOTE_BYTES];
    _Atomic unsigned n; /* that can be read: without the lock */
    pthread_mutex_t lock;
} notes = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The file that was standard error when the process began. Its descriptor is the program's, which may close it, and
 * open its results under that number. */
static struct {
    bool is_there;
    dev_t device;
    ino_t number;
    int kept_fd; /* a descriptor of our own for it; 0 = none */
} standard_error;

static void look_at_standard_error(void)
{
    struct stat st;
    standard_error.is_there = fstat(STDERR_FILENO, &st) == 0;
    if (standard_error.is_there) {
        standard_error.device = st.st_dev;
        standard_error.number = st.st_ino;
    }
}

/* Whichever comes first: this constructor, another one, or a thread of a library that is initialised before. */
static __attribute__((constructor)) void remember_standard_error(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int saved = errno;
    pthread_once(&once, look_at_standard_error);
    errno = saved;
}

static bool is_standard_error(int fd)
{
    struct stat st;
    return standard_error.is_there && fstat(fd, &st) == 0 && st.st_dev == standard_error.device &&
           st.st_ino == standard_error.number;
}

static void let_go(void)
{
    int saved = errno;
    if (standard_error.kept_fd && is_standard_error(standard_error.kept_fd))
        close(standard_error.kept_fd);
    standard_error.kept_fd = 0;
    errno = saved;
}

void say_keep(int least_fd)
{
    int saved = errno;
    remember_standard_error();
    int fd = standard_error.is_there ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, least_fd) : -1;
    if (fd >= 0 && pthread_atfork(NULL, NULL, let_go) == 0)
        standard_error.kept_fd = fd;
    else if (fd >= 0)
        close(fd);
    errno = saved;
}

int say_descriptor(void)
{
    remember_standard_error();
    int fd = is_standard_error(STDERR_FILENO) ? STDERR_FILENO : standard_error.kept_fd;
    return fd == STDERR_FILENO || (fd && is_standard_error(fd)) ? fd : -1;
}

struct saying {
    const char *format;
    va_list *arguments;
};

static void say_aside(void *context)
{
    const struct saying *saying = context;
    char line[5000] = "whywait: ";
    size_t n = strlen(line);
    int more = vsnprintf(line + n, sizeof line - n - 1, saying->format, *saying->arguments);
    if (more > 0)
        n += (size_t)more < sizeof line - n - 2 ? (size_t)more : sizeof line - n - 2;
    for (size_t i = 0; i < n; i++) /* names may hold what a terminal obeys */
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    line[n++] = '\n';
    int fd = say_descriptor();
    struct signals_of_size held;
    signals_hold_size(&held);
    if (fd >= 0)
        (void)!write(fd, line, n);
    signals_drop_size(&held);
}

void say(const char *format, ...)
{
    int saved = errno;
    va_list arguments;
    va_start(arguments, format);
    aside_run(say_aside, &(struct saying){format, &arguments});
    va_end(arguments);
    errno = saved;
}

bool say_is_first_rank(void)
{
    return launcher_is_first_rank();
}

bool say_is_first_on_node(void)
{
    return launcher_is_first_on_node();
}

bool say_claim(int *claim)
{
    *claim = launcher_claim("begin");
    return *claim != SAY_SILENT;
}

void say_note(const char *format, ...)
{
    int saved = errno;
    char text[NOTE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&notes.lock);
    unsigned known = 0, n = atomic_load(&notes.n);
    while (known < n && strcmp(notes.text[known], text) != 0)
        known++;
    if (known == n && n < MAX_NOTES) {
        strcpy(notes.text[n], text);
        atomic_store(&notes.n, n + 1);
    }
    pthread_mutex_unlock(&notes.lock);
    errno = saved;
}

const char *say_note_at(unsigned i)
{
    return i < atomic_load(&notes.n) ? notes.text[i] : NULL;
}
