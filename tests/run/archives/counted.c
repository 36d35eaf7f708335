/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what it does, for comparison with what other tools read in the archive: every rank writes "KIND N" lines to
 * the file RANK in the directory that is its argument. Ranks: an even number, at least 2.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum kind {
    SENDS,
    RECEIVES,
    CANCELLED,
    COLLECTIVES,
    NB_COLLECTIVES,
    PUTS,
    GETS,
    ATOMICS,
    COMMS_MADE,
    COMMS_FREED,
    N_KINDS
};
static const char *const names[] = {"sends", "receives", "cancelled", "collectives", "nb_collectives",
                                    "puts",  "gets",     "atomics",   "comms_made",  "comms_freed"};
static long counts[N_KINDS];
static int rank, size, partner;
#define WORLD MPI_COMM_WORLD
#define COUNT(kind, call) (counts[kind]++, (call))

static void messages(MPI_Comm comm, int peer)
{
    int out = rank, in = -1, more = -1;
    MPI_Request requests[3];
    for (int i = 0; i < 10; i++) {
        COUNT(RECEIVES, MPI_Irecv(&in, 1, MPI_INT, peer, 1, comm, &requests[0]));
        COUNT(RECEIVES, MPI_Irecv(&more, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &requests[1]));
        COUNT(SENDS, MPI_Isend(&out, 1, MPI_INT, peer, 1, comm, &requests[2]));
        COUNT(SENDS, MPI_Send(&out, 1, MPI_INT, peer, 2, comm));
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        counts[SENDS]++, counts[RECEIVES]++;
        MPI_Sendrecv(&out, 1, MPI_INT, peer, 3, &in, 1, MPI_INT, peer, 3, comm, MPI_STATUS_IGNORE);
        MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, comm); /* no message */
    }
    COUNT(CANCELLED, MPI_Irecv(&in, 1, MPI_INT, peer, 99, comm, &requests[0]));
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    int out = rank, in = -1;
    MPI_Request requests[2];
    MPI_Send_init(&out, 1, MPI_INT, partner, 7, WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, partner, 7, WORLD, &requests[1]);
    for (int i = 0; i < 5; i++) {
        counts[SENDS]++, counts[RECEIVES]++;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void collectives(void)
{
    int in = rank, out;
    MPI_Request request;
    for (int i = 0; i < 7; i++) {
        COUNT(COLLECTIVES, MPI_Barrier(WORLD));
        COUNT(COLLECTIVES, MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
        COUNT(COLLECTIVES, MPI_Bcast(&out, 1, MPI_INT, size - 1, WORLD));
        COUNT(COLLECTIVES, MPI_Barrier(MPI_COMM_SELF));
        COUNT(NB_COLLECTIVES, MPI_Ibarrier(WORLD, &request));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void communicators(void)
{
    MPI_Comm half, other, merged;
    COUNT(COMMS_MADE, MPI_Comm_split(WORLD, rank % 2, 0, &half));
    COUNT(COMMS_MADE, MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 5, &other));
    messages(other, rank / 2);
    int sum, one = 1;
    COUNT(COLLECTIVES, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other));
    COUNT(COMMS_MADE, MPI_Intercomm_merge(other, rank % 2, &merged));
    COUNT(COMMS_FREED, MPI_Comm_free(&merged));
    COUNT(COMMS_FREED, MPI_Comm_free(&other));
    COUNT(COMMS_FREED, MPI_Comm_free(&half));
}

static void windows(void)
{
    int *base, value = rank, got;
    MPI_Win win;
    MPI_Win_allocate(8 * sizeof *base, sizeof *base, MPI_INFO_NULL, WORLD, &base, &win);
    MPI_Win_fence(0, win);
    COUNT(PUTS, MPI_Put(&value, 1, MPI_INT, partner, 0, 1, MPI_INT, win));
    COUNT(GETS, MPI_Get(&got, 1, MPI_INT, partner, 1, 1, MPI_INT, win));
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, win);
        COUNT(ATOMICS, MPI_Accumulate(&value, 1, MPI_INT, partner, 2, 1, MPI_INT, MPI_SUM, win));
        MPI_Win_flush(partner, win);
        COUNT(PUTS, MPI_Put(&value, 1, MPI_INT, partner, 3, 1, MPI_INT, win));
        MPI_Win_unlock(partner, win);
    }
    MPI_Win_free(&win);
}

static void files(const char *dir)
{
    char path[4096];
    int value = rank, back = -1;
    MPI_File file;
    MPI_Request request;
    snprintf(path, sizeof path, "%s/data", dir);
    MPI_File_open(WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * (MPI_Offset)sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, rank * (MPI_Offset)sizeof value, &back, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void *in_thread(void *unused)
{
    messages(WORLD, partner);
    return unused;
}

static int write_counts(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", dir, rank);
    FILE *file = fopen(path, "w");
    if (!file)
        return 1;
    for (int i = 0; i < N_KINDS; i++)
        fprintf(file, "%s %ld\n", names[i], counts[i]);
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    partner = rank ^ 1;
    messages(WORLD, partner);
    persistent();
    collectives();
    communicators();
    windows();
    files(argv[1]);
    if (provided == MPI_THREAD_MULTIPLE && !pthread_create(&thread, NULL, in_thread, NULL))
        pthread_join(thread, NULL);
    int failed = write_counts(argv[1]);
    MPI_Finalize();
    return failed;
}
