/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/process/image.h"
#include "wrap/format.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* WHYWAIT_RECORDS is "PROCESS RANK RUN_DIR". */
void image_leave_word(const char *run_dir, int rank)
{
    char word[PATH_MAX + 32];
    if (snprintf(word, sizeof word, "%d %d %s", (int)getpid(), rank, run_dir) < (int)sizeof word)
        setenv("WHYWAIT_RECORDS", word, 1);
}

/* Children inherit the word, and perhaps its process id on another node. */
static bool is_of_this_process(const struct ww_header *header)
{
    char host[sizeof header->host] = "";
    return memcmp(header->magic, WW_MAGIC, sizeof header->magic) == 0 && header->pid == getpid() &&
           gethostname(host, sizeof host - 1) == 0 && strncmp(host, header->host, sizeof host) == 0;
}

static struct {
    const char *run_dir;
    bool was_cut;
} before;

/* In the file of the thread that began recording: the others' have nothing to add. */
static void end_recording(const char *run_dir, long rank)
{
    char path[PATH_MAX + 32];
    struct timespec t = {0, 0};
    struct stat st;
    snprintf(path, sizeof path, "%s/spool/%ld-0.ev", run_dir, rank);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct ww_header *header = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= WW_HEADER_BYTES)
        header = mmap(NULL, WW_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (header == MAP_FAILED)
        return;
    if (is_of_this_process(header)) {
        before.run_dir = run_dir;
        before.was_cut = header->end_how == WW_END_NONE && clock_gettime(CLOCK_MONOTONIC, &t) == 0;
    }
    if (before.was_cut) {
        header->end_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        header->end_how = WW_END_EXEC;
    }
    munmap(header, WW_HEADER_BYTES);
}

/* All but this library, of the libraries to be loaded first. */
static void leave_preload(void)
{
    const char *list = getenv("LD_PRELOAD");
    char *others = list ? calloc(1, strlen(list) + 1) : NULL;
    Dl_info own;
    if (!others || !dladdr((void *)(uintptr_t)leave_preload, &own) || !own.dli_fname)
        own.dli_fname = "";
    for (size_t n; others && *list; list += n + strspn(list + n, ": ")) {
        n = strcspn(list, ": ");
        if (n != strlen(own.dli_fname) || strncmp(list, own.dli_fname, n) != 0)
            sprintf(others + strlen(others), "%s%.*s", *others ? ":" : "", (int)n, list);
    }
    if (others && *others)
        setenv("LD_PRELOAD", others, 1);
    else if (list)
        unsetenv("LD_PRELOAD");
    free(others);
}

/* A program that a recorded one has started is another: it, and all that it starts, is not to be recorded. */
static void leave_alone(void)
{
    static const char prefix[] = "WHYWAIT_";
    char name[64];
    leave_preload();
    for (size_t i = 0; environ && environ[i];) {
        size_t n = strcspn(environ[i], "=");
        bool is_ours = !strncmp(environ[i], prefix, strlen(prefix)) && n < sizeof name;
        if (is_ours) {
            snprintf(name, sizeof name, "%.*s", (int)n, environ[i]);
            is_ours = unsetenv(name) == 0;
        }
        i += !is_ours;
    }
}

static __attribute__((constructor)) void look_at_what_was_before(void)
{
    int saved_errno = errno;
    const char *word = getenv("WHYWAIT_RECORDS");
    char *rest = NULL;
    if (word && strtol(word, &rest, 10) == getpid()) {
        long rank = strtol(rest, &rest, 10);
        if (*rest == ' ')
            end_recording(rest + 1, rank);
    } else if (word)
        leave_alone();
    errno = saved_errno;
}

const char *image_before(bool *was_cut)
{
    *was_cut = before.was_cut;
    return before.run_dir;
}
