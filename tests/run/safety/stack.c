/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes of stack calls of MPI take: each on a stack that was painted before, as a thread's first call and as a
 * later one. MPI_Finalize, and what ends a program, on a stack of the main thread's.
 *
 *     stack FILE ENDING     ending: finalize, abort, exit
 *
 * Prints a line for each call, "NAME first|later BYTES". The stack of the ending lies in FILE, which outlives the
 * process: what of it still has its paint, from the start on, was not used.
 */
#include <mpi.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_BYTES = 256 << 10, RED_ZONE = 256, PAINT = 0xa5 };
static double out = 1, in;
static int rank, flag;

void mpi_comm_rank_(int *comm, int *rank, int *error);

static void local(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void fortran(void)
{
    int comm = (int)MPI_Comm_c2f(MPI_COMM_WORLD), error;
    mpi_comm_rank_(&comm, &rank, &error);
}

static void exchange(void)
{
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 4, &in, 1, MPI_DOUBLE, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void nonblocking(void)
{
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(&in, 1, MPI_DOUBLE, 0, 6, MPI_COMM_SELF, &requests[0]);
    MPI_Send_init(&out, 1, MPI_DOUBLE, 0, 6, MPI_COMM_SELF, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void polling(void)
{
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, &request);
    for (int i = 0; i < 10; i++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Iprobe(0, 8, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collective(void)
{
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_SELF);
}

static void vector(void)
{
    int counts[1] = {1}, displacements[1] = {0};
    MPI_Alltoallv(&out, counts, displacements, MPI_DOUBLE, &in, counts, displacements, MPI_DOUBLE, MPI_COMM_SELF);
}

static void communicators(void)
{
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &made);
    MPI_Comm_free(&made);
}

static void windows(void)
{
    MPI_Win win;
    void *memory;
    MPI_Win_allocate(sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&out, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {{"local", local},
             {"fortran", fortran},
             {"exchange", exchange},
             {"nonblocking", nonblocking},
             {"persistent", persistent},
             {"polling", polling},
             {"collective", collective},
             {"vector", vector},
             {"communicators", communicators},
             {"windows", windows}};
enum { N_CALLS = sizeof calls / sizeof *calls };

struct thread {
    unsigned call;
    uint8_t *stack;
    long bytes[2];
};

/* Of what lies below this frame. */
static __attribute__((noinline)) long use(struct thread *thread)
{
    uint8_t *top = (uint8_t *)__builtin_frame_address(0) - RED_ZONE;
    for (volatile uint8_t *at = thread->stack; at < top; at++)
        *at = PAINT;
    calls[thread->call].call();
    const volatile uint8_t *deepest = thread->stack;
    while (deepest < top && *deepest == PAINT)
        deepest++;
    return top - deepest;
}

static void *run(void *argument)
{
    struct thread *thread = argument;
    for (int i = 0; i < 2; i++)
        thread->bytes[i] = use(thread);
    return NULL;
}

static void measure(unsigned call)
{
    struct thread thread = {.call = call};
    pthread_attr_t attributes;
    pthread_t id;
    thread.stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, thread.stack, STACK_BYTES);
    if (thread.stack == MAP_FAILED || pthread_create(&id, &attributes, run, &thread))
        exit(3);
    pthread_join(id, NULL);
    pthread_attr_destroy(&attributes);
    munmap(thread.stack, STACK_BYTES);
    printf("%s first %ld\n%s later %ld\n", calls[call].name, thread.bytes[0], calls[call].name, thread.bytes[1]);
}

static ucontext_t before, apart;
static const char *ending;

static void end(void)
{
    if (!strcmp(ending, "finalize"))
        MPI_Finalize();
    else if (!strcmp(ending, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 9);
    else
        exit(9);
}

int main(int argc, char **argv)
{
    int provided, fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, STACK_BYTES))
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    ending = argv[2];
    for (unsigned call = 0; call < N_CALLS; call++)
        measure(call);
    fflush(stdout);
    uint8_t *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memset(stack, PAINT, STACK_BYTES);
    getcontext(&apart);
    apart.uc_stack.ss_sp = stack;
    apart.uc_stack.ss_size = STACK_BYTES;
    apart.uc_link = &before;
    makecontext(&apart, end, 0);
    swapcontext(&before, &apart);
    return 0;
}
