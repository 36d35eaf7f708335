/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/constants/constants.h"
#include "analyze/profile/details.h"
#include "wrap/base/keys.h"
#include "wrap/base/sparse.h"
#include <stdio.h>
#include <string.h>

/* System calls, as the C library names them. */
static const struct {
    const char *name;
    enum pause pause;
} calls[] = {
    {"nanosleep", PAUSE_SLEEP},
    {"clock_nanosleep", PAUSE_SLEEP},
    {"usleep", PAUSE_SLEEP},
    {"sleep", PAUSE_SLEEP},
    {"read", PAUSE_FILE},
    {"write", PAUSE_FILE},
    {"pread", PAUSE_FILE},
    {"pwrite", PAUSE_FILE},
    {"readv", PAUSE_FILE},
    {"writev", PAUSE_FILE},
    {"preadv", PAUSE_FILE},
    {"pwritev", PAUSE_FILE},
    {"fsync", PAUSE_FILE},
    {"fdatasync", PAUSE_FILE},
    {"sync_file_range", PAUSE_FILE},
    {"open", PAUSE_FILE},
    {"openat", PAUSE_FILE},
    {"ftruncate", PAUSE_FILE},
    {"fallocate", PAUSE_FILE},
    {"posix_fallocate", PAUSE_FILE},
    {"madvise", PAUSE_MEMORY},
    {"mmap", PAUSE_MEMORY},
    {"munmap", PAUSE_MEMORY},
    {"mremap", PAUSE_MEMORY},
    {"brk", PAUSE_MEMORY},
    {"sbrk", PAUSE_MEMORY},
    {"wait4", PAUSE_CHILD},
    {"waitpid", PAUSE_CHILD},
    {"waitid", PAUSE_CHILD},
    {"fork", PAUSE_CHILD},
    {"Fork", PAUSE_CHILD},
    {"vfork", PAUSE_CHILD},
    {"posix_spawn", PAUSE_CHILD},
    {"posix_spawnp", PAUSE_CHILD},
    {"select", PAUSE_DATA},
    {"pselect", PAUSE_DATA},
    {"poll", PAUSE_DATA},
    {"ppoll", PAUSE_DATA},
    {"epoll_wait", PAUSE_DATA},
    {"epoll_pwait", PAUSE_DATA},
    {"recv", PAUSE_DATA},
    {"recvfrom", PAUSE_DATA},
    {"recvmsg", PAUSE_DATA},
    {"accept", PAUSE_DATA},
    {"connect", PAUSE_DATA},
    {"pthread_mutex_lock", PAUSE_LOCK},
    {"pthread_rwlock_rdlock", PAUSE_LOCK},
    {"pthread_rwlock_wrlock", PAUSE_LOCK},
    {"pthread_cond_wait", PAUSE_LOCK},
    {"pthread_cond_timedwait", PAUSE_LOCK},
    {"sem_wait", PAUSE_LOCK},
    {"sem_timedwait", PAUSE_LOCK},
    {"semop", PAUSE_LOCK},
    {"flock", PAUSE_LOCK},
    {"lockf", PAUSE_LOCK},
    {"fcntl", PAUSE_LOCK}, /* nothing else that it does takes long */
};

/* "__GI___libc_write" is write, "pread64" pread. */
enum pause pause_of_routine(const char *routine)
{
    static const char *const prefixes[] = {"_", "GI_", "libc_", "new_"}, *const suffixes[] = {"_nocancel", "_2", "64"};
    char name[32];
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes;) {
        size_t n = strlen(prefixes[i]);
        bool has = !strncmp(routine, prefixes[i], n);
        routine += has ? n : 0;
        i = has ? 0 : i + 1;
    }
    if ((size_t)snprintf(name, sizeof name, "%s", routine) >= sizeof name)
        return PAUSE_UNKNOWN;
    name[strcspn(name, "@")] = '\0';
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]), all = strlen(name);
        if (all > n && !strcmp(name + all - n, suffixes[i]))
            name[all - n] = '\0';
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(name, calls[i].name))
            return calls[i].pause;
    /* They touch memory, and make no system call. */
    bool touches = !strncmp(name, "memset", 6) || !strncmp(name, "memcpy", 6) || !strncmp(name, "memmove", 7);
    return touches ? PAUSE_MEMORY : PAUSE_UNKNOWN;
}

/* By the innermost routine that tells, from the system call outwards to the program's own code. That makes none itself:
 * if the kernel runs there, it is for memory that is touched. */
static enum pause pause_of_frame(struct sites *sites, uint32_t frame, bool is_asleep)
{
    const struct trace *trace = sites->trace;
    bool is_own = true;
    trace_walk (trace, at, frame) {
        const struct trace_frame *here = &trace->frames[at];
        if (here->module == TRACE_NONE)
            return PAUSE_UNKNOWN;
        /* A script's own "read" or "wait" is none of the C library's. */
        const char *routine =
            code_module_is_script(sites->code, here->module)
                ? NULL
                : code_routine_name(sites->code, here->module, trace_code_address(here->address, here->is_return));
        enum pause pause = routine ? pause_of_routine(routine) : PAUSE_UNKNOWN;
        if (pause)
            return pause;
        if (sites_frame_place(sites, at) != CODE_NONE)
            return is_own && !is_asleep ? PAUSE_MEMORY : PAUSE_UNKNOWN;
        is_own = false;
    }
    return PAUSE_UNKNOWN;
}

/* Time asleep or in the kernel by place and rank, of each kind; and all time there. */
struct pauses {
    struct sites *sites;
    struct sparse ns[PAUSE_N], all;
};

static void take_entry(struct pauses *pauses, const struct survey_entry *entry)
{
    uint64_t seen_ns = entry->sampled_ns + entry->blocked_ns;
    uint32_t step = seen_ns ? sites_sample_step(pauses->sites, entry->frame) : TRACE_NONE;
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(pauses->sites->steps, step);
    if (!key || key->what != WHAT_PLACE)
        return;
    uint64_t at = key_pair(key->id, entry->rank);
    sparse_add(&pauses->all, at, (double)seen_ns);
    if (!entry->blocked_ns && !entry->kernel_ns)
        return;
    enum errand errand = errand_between(pauses->sites->trace, pauses->sites->code, entry->frame,
                                        sites_sample_frame(pauses->sites, entry->frame));
    bool is_locked = errand == ERRAND_INTERPRETER_LOCK;
    const uint64_t known_ns[PAUSE_N] = {[PAUSE_CHILD] = entry->pipe_ns,
                                        [PAUSE_NETWORK] = entry->network_ns,
                                        [PAUSE_SLEEP] = entry->timed_ns,
                                        [PAUSE_LOCK] = is_locked ? 0 : entry->sync_ns,
                                        [PAUSE_INTERPRETER] = is_locked ? entry->sync_ns : 0};
    uint64_t other_ns = entry->blocked_ns;
    for (int i = 0; i < PAUSE_N; i++)
        other_ns -= known_ns[i];
    for (int i = 0; i < PAUSE_N; i++)
        if (known_ns[i])
            sparse_add(&pauses->ns[i], at, (double)known_ns[i]);
    if (other_ns)
        sparse_add(&pauses->ns[pause_of_frame(pauses->sites, entry->frame, true)], at, (double)other_ns);
    if (entry->kernel_ns)
        sparse_add(&pauses->ns[pause_of_frame(pauses->sites, entry->frame, false)], at, (double)entry->kernel_ns);
}

/* Of what names it and of all that is inside, on the rank most to blame. Looks tell of each part what it is; how much
 * each has is known better. */
static enum pause pause_of_cause(const struct pauses *pauses, const struct analysis *analysis,
                                 const struct cause *cause)
{
    double ns[PAUSE_N] = {0}, all_ns = 0;
    for (uint32_t i = 0; i < cause->n_parts; i++) {
        const struct cause_part *part = &cause->parts[i];
        uint64_t at = key_pair(analysis->steps[part->step].place, cause->ranks[0].rank);
        double seen_ns = sparse_get(&pauses->all, at);
        for (int pause = 0; pause < PAUSE_N && seen_ns > 0; pause++)
            ns[pause] += part->own_ns * sparse_get(&pauses->ns[pause], at) / seen_ns;
    }
    for (int pause = 0; pause < PAUSE_N; pause++)
        all_ns += ns[pause];
    for (int pause = PAUSE_UNKNOWN + 1; pause < PAUSE_N; pause++)
        if (ns[pause] > MAJORITY * all_ns)
            return (enum pause)pause;
    return PAUSE_UNKNOWN;
}

/* Other threads of its process wait for a cause's sleep, and most of that time passes there. */
static const struct code_place *awaited_in(const struct analysis *analysis, const struct sites *sites,
                                           const struct sparse *awaited, const struct cause *cause)
{
    struct sparse by_place = {0};
    uint32_t place = analysis->steps[cause->step].place, most = CODE_NONE;
    double most_ns = 0;
    for (size_t i = 0; i < awaited->n && place != CODE_NONE; i++) {
        const struct step_key *slept = steps_key(sites->steps, key_high(awaited->at[i].key));
        const struct step_key *waited = steps_key(sites->steps, key_low(awaited->at[i].key));
        if (slept->what == WHAT_PLACE && slept->id == place && waited->what == WHAT_PLACE && waited->id != place)
            sparse_add(&by_place, waited->id, awaited->at[i].ns);
    }
    sparse_pack(&by_place);
    for (size_t i = 0; i < by_place.n; i++)
        if (by_place.at[i].ns > most_ns) {
            most_ns = by_place.at[i].ns;
            most = (uint32_t)by_place.at[i].key;
        }
    sparse_release(&by_place);
    return most == CODE_NONE ? NULL : code_place(analysis->code, most);
}

void pauses_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey,
                          struct sparse *awaited)
{
    struct pauses pauses = {.sites = sites};
    if (!sites->code)
        return;
    for (size_t i = 0; i < survey->entries.n; i++)
        take_entry(&pauses, &survey->entries.at[i]);
    sparse_pack(awaited);
    sparse_pack(&pauses.all);
    for (int i = 0; i < PAUSE_N; i++)
        sparse_pack(&pauses.ns[i]);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        if (!(cause->kind_ns[KIND_BLOCKED] > 0) || !cause->n_ranks)
            continue;
        cause->pause = pause_of_cause(&pauses, analysis, cause);
        cause->awaited_in = cause->kind == KIND_BLOCKED ? awaited_in(analysis, sites, awaited, cause) : NULL;
    }
    for (int i = 0; i < PAUSE_N; i++)
        sparse_release(&pauses.ns[i]);
    sparse_release(&pauses.all);
}
