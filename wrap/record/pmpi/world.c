/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/pmpi/world.h"
#include "wrap/record/pmpi/next.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/process/say.h"
#include "wrap/record/recorder.h"
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_VALUES = 16, CLOCK_ROUNDS = 20, POLL_US = 100 };
/* After MPI_Init ranks come within milliseconds; who waits for so long waits for one without a recorder. */
static const uint64_t PATIENCE_NS = 10000000000u;

static MPI_Comm private_world;
static bool is_substitute; /* mpi_handles.comm_world is not MPI_COMM_WORLD */
static int my_rank;
static MPI_Request under_way; /* of world_send */

bool world_is_up(void)
{
    int is_initialized = 0, is_finalized = 1;
    if (is_substitute)
        return true;
    return PMPI(Initialized)(&is_initialized) == MPI_SUCCESS && PMPI(Finalized)(&is_finalized) == MPI_SUCCESS &&
           is_initialized && !is_finalized;
}

bool world_use(const void *all)
{
    if (next_load_handles() != 0)
        return false;
    mpi_handles.comm_world = *(const MPI_Comm *)all;
    mpi_handles.comm_self = mpi_handles.comm_null;
    return is_substitute = true;
}

/* A collective call with a rank that knows nothing of us never ends, and MPI takes none back. So the first one is one
 * that can be watched: whoever forgot a rank learns why nothing happens. A process alone has nobody to wait for, and
 * where all it has is a session of itself, MPICH 4.0 has no network that MPI_Test could look at: that crashes. */
static bool wait_for_all(void)
{
    MPI_Request request;
    int rank, n_ranks, is_done = 0, claim = SAY_NOT_CLAIMED;
    uint64_t begin_ns = recorder_now_ns();
    if (PMPI(Comm_size)(mpi_handles.comm_world, &n_ranks) == MPI_SUCCESS && n_ranks == 1)
        return true;
    if (PMPI(Comm_rank)(mpi_handles.comm_world, &rank) != MPI_SUCCESS ||
        PMPI(Ibarrier)(mpi_handles.comm_world, &request) != MPI_SUCCESS)
        return false;
    while (PMPI(Test)(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done) {
        if (claim == SAY_NOT_CLAIMED && recorder_now_ns() - begin_ns > PATIENCE_NS && say_claim(&claim))
            say("rank %d has waited %d s for ranks that seem not to be recorded: start every rank with "
                "`whywait record`, and each program of `mpirun ... : ...`",
                rank, (int)(PATIENCE_NS / 1000000000u));
        usleep(POLL_US);
    }
    if (claim >= 0)
        close(claim);
    return is_done;
}

bool world_open(int32_t *rank, int32_t *n_ranks)
{
    int world_size = 0;
    if (next_load_handles() != 0 || !wait_for_all() ||
        PMPI(Comm_dup)(mpi_handles.comm_world, &private_world) != MPI_SUCCESS)
        return false;
    if (is_substitute)
        mpi_handles.comm_world = private_world;
    if (mpi_handles.errors_return)
        PMPI(Comm_set_errhandler)(private_world, mpi_handles.errors_return);
    PMPI(Comm_rank)(private_world, &my_rank);
    PMPI(Comm_size)(private_world, &world_size);
    *rank = my_rank;
    *n_ranks = world_size;
    return true;
}

bool world_broadcast(void *data, size_t size_bytes)
{
    return PMPI(Bcast)(data, (int)size_bytes, mpi_handles.byte, 0, private_world) == MPI_SUCCESS;
}

bool world_send(void *data, size_t size_bytes)
{
    return PMPI(Ibcast)(data, (int)size_bytes, mpi_handles.byte, 0, private_world, &under_way) == MPI_SUCCESS;
}

bool world_await(uint64_t patience_ns)
{
    int is_done = 0;
    uint64_t begin_ns = 0;
    while (PMPI(Test)(&under_way, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done) {
        uint64_t now_ns = recorder_now_ns();
        begin_ns = begin_ns ? begin_ns : now_ns;
        if (now_ns - begin_ns > patience_ns)
            break;
        sched_yield();
    }
    return is_done;
}

bool world_has_threads(void)
{
    int level = MPI_THREAD_MULTIPLE;
    return PMPI(Query_thread)(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
}

bool world_sum(uint64_t *values, unsigned n)
{
    uint64_t sums[MAX_VALUES] = {0};
    if (n > MAX_VALUES ||
        PMPI(Reduce)(values, sums, (int)n, mpi_handles.uint64, mpi_handles.sum, 0, private_world) != MPI_SUCCESS)
        return false;
    if (my_rank == 0)
        memcpy(values, sums, n * sizeof *values);
    return true;
}

bool world_barrier(void)
{
    return PMPI(Barrier)(private_world) == MPI_SUCCESS;
}

/* Agreed on one after the other, as the lowest that was not taken yet: mostly there is none, and then it is one call.
 */
void world_each(bool is_one, void (*take)(int32_t rank))
{
    for (;;) {
        uint64_t own = is_one ? (uint64_t)my_rank : UINT64_MAX, lowest = UINT64_MAX;
        if (PMPI(Allreduce)(&own, &lowest, 1, mpi_handles.uint64, mpi_handles.min, private_world) != MPI_SUCCESS ||
            lowest == UINT64_MAX)
            return;
        is_one = is_one && lowest != (uint64_t)my_rank;
        take((int32_t)lowest);
    }
}

void world_close(void)
{
    PMPI(Comm_free)(&private_world);
}

void world_library(char *text, size_t size_bytes)
{
    char full[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (PMPI(Get_library_version)(full, &length) != MPI_SUCCESS)
        full[0] = '\0';
    const char *version = full;
    while (*version && !isdigit((unsigned char)*version))
        version++;
    size_t n = strcspn(version, ", \t\n");
    snprintf(text, size_bytes, "%s %.*s", strstr(full, "Open MPI") ? "openmpi" : "mpich", (int)n, version);
}

/* Two processes share a clock when they run on one boot of one kernel in one time namespace. */
static uint64_t clock_domain(void)
{
    char id[128];
    struct stat namespace = {0};
    machine_read_text("/proc/sys/kernel/random/boot_id", id, sizeof id);
    stat("/proc/self/ns/time", &namespace);
    uint64_t hash = 1469598103934665603u ^ namespace.st_ino;
    for (const char *c = id; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

/* One round trip: what rank 0's clock showed between two readings of ours. False when MPI refuses. */
static bool ask_time(struct world_clock *best)
{
    uint64_t theirs = 0, before = recorder_now_ns();
    if (PMPI(Sendrecv)(&before, sizeof before, mpi_handles.byte, 0, 1, &theirs, sizeof theirs, mpi_handles.byte, 0, 2,
                       private_world, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    uint64_t half_ns = (recorder_now_ns() - before) / 2; /* seconds, where rank 0 has many to answer first */
    if (best->error_ns == 0 || half_ns < best->error_ns)
        *best =
            (struct world_clock){before + half_ns, theirs, half_ns < UINT32_MAX ? (uint32_t)half_ns + 1 : UINT32_MAX};
    return true;
}

static bool answer_time(int rank)
{
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        uint64_t theirs;
        if (PMPI(Recv)(&theirs, sizeof theirs, mpi_handles.byte, rank, 1, private_world, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return false;
        uint64_t mine = recorder_now_ns();
        if (PMPI(Send)(&mine, sizeof mine, mpi_handles.byte, rank, 2, private_world) != MPI_SUCCESS)
            return false;
    }
    return true;
}

bool world_compare_clocks(int32_t n_ranks, struct world_clock *own)
{
    uint64_t domain = clock_domain(), reference = domain;
    char *all = my_rank == 0 ? calloc((size_t)n_ranks, 1) : NULL, can = all != NULL;
    /* Without memory rank 0 cannot serve: everybody learns it. */
    bool ok = world_broadcast(&reference, sizeof reference) && world_broadcast(&can, 1) && can;
    char differs = domain != reference;
    *own = (struct world_clock){0};
    ok = ok && PMPI(Gather)(&differs, 1, mpi_handles.byte, all, 1, mpi_handles.byte, 0, private_world) == MPI_SUCCESS;
    for (int r = 1; ok && all && r < n_ranks; r++)
        ok = !all[r] || answer_time(r);
    for (int round = 0; ok && my_rank != 0 && differs && round < CLOCK_ROUNDS; round++)
        ok = ask_time(own);
    free(all);
    return ok && own->error_ns != 0;
}
