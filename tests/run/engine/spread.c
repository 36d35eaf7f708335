/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that processes of two nodes share, as the analysis does it: number 0 calls the others twice, they share parts in
 * two readings, and number 0 prints what has come of it, the same whoever is lost.
 *
 *     spread PROGRAM N_PARTS LARGEST_BYTES [HOW NUMBER PART]
 *
 * PROGRAM is the one that knows MPI. At that part process NUMBER comes to an end: it is killed, or stopped (by HOW), or
 * the one beside it is (kill-mpi), or its node lacks the file at the second call (refuse).
 */
#include "analyze/engine/call.h"
#include "analyze/engine/launched.h"
#include "analyze/engine/share.h"
#include "wrap/launcher.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 2, PART_US = 10000 };

struct work {
    struct engine *engine;
    uint32_t n_parts, n_taken, end_part;
    uint64_t sum, largest_bytes;
    const char *how; /* it ends; NULL = it does not */
    const char *program;
};

/* Of /proc/PID/stat; 0 = it has gone. */
static int parent_of(const char *pid)
{
    char path[300], line[4096];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) && strrchr(line, ')'))
        sscanf(strrchr(line, ')') + 1, " %*c %d", &parent);
    if (file)
        fclose(file);
    return parent;
}

/* The other child of the launcher's process, of which this one is a grandchild. */
static void kill_mpi(const char *program)
{
    char parent[16], path[300], at[4096];
    snprintf(parent, sizeof parent, "%d", (int)getppid());
    int launched = parent_of(parent);
    DIR *dir = opendir("/proc");
    for (const struct dirent *entry; (entry = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/%s/exe", entry->d_name);
        ssize_t n = readlink(path, at, sizeof at - 1);
        at[n > 0 ? n : 0] = 0;
        if (!strcmp(at, program) && parent_of(entry->d_name) == launched)
            kill(atoi(entry->d_name), SIGKILL);
    }
    closedir(dir);
}

static void come_to_end(struct work *work)
{
    if (!strcmp(work->how, "kill"))
        raise(SIGKILL);
    else if (!strcmp(work->how, "stop"))
        raise(SIGSTOP);
    else if (!strcmp(work->how, "kill-mpi"))
        kill_mpi(work->program);
}

static bool perform(void *context, struct deal *deal)
{
    struct work *work = context;
    for (uint32_t part = 0; part < work->n_parts; part++) {
        if (!deal_has(deal, part))
            continue;
        uint64_t n = part * work->largest_bytes / work->n_parts;
        unsigned char *bytes = malloc(n + 1);
        memset(bytes, (int)part, n);
        deal_give(deal, part, (struct parcel){bytes, n});
        free(bytes);
        usleep(PART_US);
        if (work->how && part >= work->end_part)
            come_to_end(work);
    }
    return true;
}

static void take(void *context, uint32_t part, struct parcel result)
{
    struct work *work = context;
    const unsigned char *bytes = result.at;
    for (size_t i = 0; i < result.n_bytes; i++)
        work->sum += bytes[i] == (part & 0xff) && part == work->n_taken;
    work->n_taken++;
}

static void share_out(struct work *work)
{
    struct share share = {.context = work, .perform = perform, .take = take, .is_for_all = true};
    share_perform(work->engine, &share);
    share.is_for_all = false;
    share.n_parts = work->n_parts;
    work->n_taken = 0;
    share_perform(work->engine, &share);
}

static struct work work; /* of this process */

static void perform_call(struct engine *engine, struct parcel called)
{
    bool refuses = *(const int *)called.at == CALLS - 1 && work.how && !strcmp(work.how, "refuse");
    call_answer(engine, refuses ? "a process on that node cannot open the run: No such file or directory" : NULL);
    share_out(&work);
}

int main(int argc, char **argv)
{
    struct engine *engine = launched_engine();
    enum launched_role role = launcher_is_first_rank() ? LAUNCHED_FIRST : LAUNCHED_IDLE;
    work = (struct work){.engine = engine,
                         .program = argv[1],
                         .n_parts = argc > 2 ? (uint32_t)atoi(argv[2]) : 0,
                         .largest_bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
                         .end_part = argc > 6 ? (uint32_t)atoi(argv[6]) : 0};
    if (launched_are_several())
        role = launched_meet(work.program);
    if (role == LAUNCHED_IDLE)
        return 0;
    if (argc > 6 && engine->n_others && engine->number == (uint32_t)atoi(argv[5]))
        work.how = argv[4];
    if (role == LAUNCHED_OTHER)
        call_serve(engine, perform_call);
    for (int call = 0; call < CALLS; call++) {
        work.n_taken = 0;
        call_others(engine, (struct parcel){&call, sizeof call});
        share_out(&work);
    }
    printf("%u parts, %llu\n", work.n_taken, (unsigned long long)work.sum);
    engine_give_up(engine);
    return 0;
}
