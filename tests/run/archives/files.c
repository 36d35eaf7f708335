/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what it does to files, for comparison with what other tools read in the archive: every rank writes "KIND N"
 * lines to the file RANK in the directory that is its argument. Bytes moved are those that MPI's statuses tell.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum kind { OPENS, CLOSES, READS, WRITES, FLUSHES, ISSUED, COLLECTIVE, SEEKS, DELETES, N_KINDS };
static const char *const names[] = {"io_opens",  "io_closes",     "io_reads", "io_writes", "io_flushes",
                                    "io_issued", "io_collective", "io_seeks", "io_deletes"};
enum place { DATA, OWN, N_PLACES };
static long counts[N_KINDS], asked[N_PLACES], moved[N_PLACES];
static int rank, size, buffer[64], more[64];
static char paths[N_PLACES][4096];
static MPI_Status status;
static MPI_Request request[2];
#define WORLD MPI_COMM_WORLD
#define COUNT(kind, call) (counts[kind]++, (call))
#define COLL(call) COUNT(COLLECTIVE, call)
#define ISSUE(call) COUNT(ISSUED, call)

static void asks(enum place place, int n)
{
    asked[place] += n * (long)sizeof(int);
}

/* The bytes of the last status. */
static void moves(enum place place)
{
    int n = 0;
    MPI_Get_count(&status, MPI_BYTE, &n);
    moved[place] += n;
}

static void wait_for(enum place place, MPI_Request *one)
{
    MPI_Wait(one, &status);
    moves(place);
}

static void blocking(MPI_File file)
{
    MPI_Offset at = rank * 4 * (MPI_Offset)sizeof(int);
    asks(DATA, 12);
    COUNT(WRITES, MPI_File_write_at(file, at, buffer, 4, MPI_INT, &status));
    moves(DATA);
    COLL(COUNT(WRITES, MPI_File_write_at_all(file, at, buffer, 4, MPI_INT, &status)));
    moves(DATA);
    COLL(COUNT(FLUSHES, MPI_File_sync(file)));
    MPI_Barrier(WORLD);
    COUNT(READS, MPI_File_read_at(file, at, more, 4, MPI_INT, MPI_STATUS_IGNORE));
    moved[DATA] += 4 * (long)sizeof(int);
    asks(DATA, 8); /* of which the file has 2 */
    COUNT(READS, MPI_File_read_at(file, (4 * size - 2) * (MPI_Offset)sizeof(int), more, 8, MPI_INT, &status));
    moves(DATA);
}

static void pointers(MPI_File file)
{
    COUNT(SEEKS, MPI_File_seek(file, 4 * rank * (MPI_Offset)sizeof(int), MPI_SEEK_SET));
    asks(DATA, 9);
    COUNT(READS, MPI_File_read(file, more, 2, MPI_INT, &status));
    moves(DATA);
    COUNT(SEEKS, MPI_File_seek(file, -2 * (MPI_Offset)sizeof(int), MPI_SEEK_CUR));
    COLL(COUNT(WRITES, MPI_File_write_all(file, buffer, 2, MPI_INT, &status)));
    moves(DATA);
    COUNT(SEEKS, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    COUNT(WRITES, MPI_File_write_shared(file, buffer, 1, MPI_INT, &status));
    moves(DATA);
    COLL(COUNT(WRITES, MPI_File_write_ordered(file, buffer, 3, MPI_INT, &status)));
    moves(DATA);
    ISSUE(COUNT(WRITES, MPI_File_iwrite_shared(file, buffer, 1, MPI_INT, request)));
    wait_for(DATA, request);
}

static void non_blocking(MPI_File file)
{
    MPI_Offset at = rank * 8 * (MPI_Offset)sizeof(int);
    MPI_Status both[2];
    int done = 0;
    asks(DATA, 16);
    ISSUE(COUNT(WRITES, MPI_File_iwrite_at(file, at, buffer, 4, MPI_INT, &request[0])));
    ISSUE(COUNT(WRITES, MPI_File_iwrite_at(file, at + 4 * (MPI_Offset)sizeof(int), buffer, 4, MPI_INT, &request[1])));
    MPI_Waitall(2, request, both);
    for (int i = 0; i < 2; i++) {
        status = both[i];
        moves(DATA);
    }
    for (int i = 0; i < 2; i++) /* nothing to be done */
        ISSUE(COUNT(WRITES, MPI_File_iwrite_at(file, at, buffer, 0, MPI_INT, &request[i])));
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    ISSUE(COUNT(READS, MPI_File_iread_at(file, at, more, 4, MPI_INT, request)));
    while (!done)
        MPI_Test(request, &done, &status);
    moves(DATA);
    ISSUE(COLL(COUNT(WRITES, MPI_File_iwrite_at_all(file, at, buffer, 4, MPI_INT, request))));
    wait_for(DATA, request);
}

static void split(MPI_File file)
{
    MPI_Offset at = rank * 4 * (MPI_Offset)sizeof(int);
    asks(DATA, 15);
    ISSUE(COLL(COUNT(WRITES, MPI_File_write_at_all_begin(file, at, buffer, 4, MPI_INT))));
    COUNT(SEEKS, MPI_File_seek(file, 0, MPI_SEEK_SET));
    MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE);
    moved[DATA] += 4 * (long)sizeof(int);
    ISSUE(COLL(COUNT(READS, MPI_File_read_all_begin(file, more, 4, MPI_INT))));
    MPI_File_read_all_end(file, more, &status);
    moves(DATA);
    COUNT(SEEKS, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    ISSUE(COLL(COUNT(WRITES, MPI_File_write_ordered_begin(file, buffer, 4, MPI_INT))));
    MPI_File_write_ordered_end(file, buffer, &status);
    moves(DATA);
    COUNT(SEEKS, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    ISSUE(COLL(COUNT(READS, MPI_File_read_ordered_begin(file, more, 3, MPI_INT))));
    MPI_File_read_ordered_end(file, more, &status);
    moves(DATA);
}

/* With counts that may be larger than an int. */
static void large(MPI_File file)
{
#if MPI_VERSION >= 4
    asks(DATA, 12);
    COUNT(WRITES, MPI_File_write_at_c(file, 0, buffer, 4, MPI_INT, &status));
    moves(DATA);
    ISSUE(COLL(COUNT(READS, MPI_File_iread_at_all_c(file, 0, more, 4, MPI_INT, request))));
    wait_for(DATA, request);
    ISSUE(COLL(COUNT(WRITES, MPI_File_write_at_all_begin_c(file, 0, buffer, 4, MPI_INT))));
    MPI_File_write_at_all_end(file, buffer, &status);
    moves(DATA);
#else
    (void)file;
#endif
}

/* Of each process alone; gone when it is closed. Its name is no UTF-8. */
static void own(void)
{
    MPI_File file;
    for (int i = 0; i < 3; i++) {
        int how = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;
        COUNT(OPENS, MPI_File_open(MPI_COMM_SELF, paths[OWN], how, MPI_INFO_NULL, &file));
        asks(OWN, 32);
        COUNT(WRITES, MPI_File_write(file, buffer, 32, MPI_INT, &status));
        moves(OWN);
        COUNT(CLOSES, COUNT(DELETES, MPI_File_close(&file)));
    }
}

/* What fails leaves nothing but the call. */
static void failing(MPI_File file)
{
    MPI_File none;
    MPI_File_open(MPI_COMM_SELF, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &none);
    MPI_File_write(file, buffer, -1, MPI_INT, &status);
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
    fprintf(file, "asked:data %ld\nmoved:data %ld\n", asked[DATA], moved[DATA]);
    fprintf(file, "asked:own\\xff-%d %ld\nmoved:own\\xff-%d %ld\n", rank, asked[OWN], rank, moved[OWN]);
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    snprintf(paths[DATA], sizeof paths[DATA], "%s/data", argv[1]);
    snprintf(paths[OWN], sizeof paths[OWN], "%s/own\xff-%d", argv[1], rank);
    COUNT(OPENS, MPI_File_open(WORLD, paths[DATA], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    blocking(file);
    pointers(file);
    non_blocking(file);
    split(file);
    large(file);
    failing(file);
    COUNT(CLOSES, MPI_File_close(&file));
    COUNT(OPENS, MPI_File_open(WORLD, paths[DATA], MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    split(file);
    COUNT(CLOSES, MPI_File_close(&file));
    own();
    if (!rank)
        COUNT(DELETES, MPI_File_delete(paths[DATA], MPI_INFO_NULL));
    int failed = write_counts(argv[1]);
    MPI_Finalize();
    return failed;
}
