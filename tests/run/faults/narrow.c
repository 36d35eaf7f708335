/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls MPI from stacks that just suffice for it, writes results to what was the descriptor of standard error, and
 * takes that number again and again.
 *
 *     narrow thread | fibre | abort | exit | results | numbers | polls
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK_BYTES = 16 << 10, HANDLER_BYTES = 8 << 10, GUARD_BYTES = 64 << 10, N_FIBRES = 100, N_POLLS = 500 };

static const char *mode;
static ucontext_t outside, fibre;
static volatile int sink;

/* Memory whose lower end nobody oversteps unnoticed. */
static char *guarded(size_t n_bytes)
{
    char *at = mmap(NULL, n_bytes + GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at + GUARD_BYTES, n_bytes, PROT_READ | PROT_WRITE);
    return at + GUARD_BYTES;
}

static void call(void)
{
    int rank;
    double own = 1, other;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&own, 1, MPI_DOUBLE, 0, 4, &other, 1, MPI_DOUBLE, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_SELF);
}

static void *thread(void *unused)
{
    call();
    return unused;
}

static void in_thread(void)
{
    pthread_attr_t attributes;
    pthread_t id;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&id, &attributes, thread, NULL))
        abort();
    pthread_join(id, NULL);
}

static void in_fibres(void)
{
    char *stack = guarded(HANDLER_BYTES);
    for (int i = 0; i < N_FIBRES; i++) {
        getcontext(&fibre);
        fibre.uc_stack = (stack_t){.ss_sp = stack, .ss_size = HANDLER_BYTES};
        fibre.uc_link = &outside;
        makecontext(&fibre, call, 0);
        swapcontext(&outside, &fibre);
    }
}

static void on_overflow(int number)
{
    if (!strcmp(mode, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 9);
    exit(30 + number);
}

__attribute__((noinline)) static int overflow(int depth)
{
    volatile char room[4096];
    room[depth & 4095] = 1;
    sink += room[0];
    return overflow(depth + 1) + room[depth & 4095];
}

static void in_handler(void)
{
    const stack_t stack = {.ss_sp = guarded(HANDLER_BYTES), .ss_size = HANDLER_BYTES};
    struct sigaction action = {.sa_flags = SA_ONSTACK};
    action.sa_handler = on_overflow;
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sink = overflow(0);
}

static void write_results(void)
{
    static const double results[] = {1, 2, 3, 4};
    close(STDERR_FILENO);
    int fd = open("results", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (fd != STDERR_FILENO || write(fd, results, sizeof results) != sizeof results)
        abort();
}

static void take_numbers(void)
{
    for (int i = 0; i < 200000; i++) {
        close(STDIN_FILENO);
        for (int k = 0; k < 4000; k++) /* the number is free for most of the time */
            sink = k;
        if (open("/dev/null", O_RDONLY) != STDIN_FILENO)
            abort();
    }
}

static void poll_in_vain(void)
{
    MPI_Request request;
    double other, work = 0;
    int is_done;
    MPI_Irecv(&other, 1, MPI_DOUBLE, 0, 99, MPI_COMM_SELF, &request);
    for (int i = 0; i < N_POLLS; i++) {
        for (int k = 0; k < 40000; k++)
            work += k;
        sink = work > 0;
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int n_words, char **words)
{
    static const struct {
        const char *name;
        void (*work)(void);
    } modes[] = {{"thread", in_thread},      {"fibre", in_fibres},      {"abort", in_handler},  {"exit", in_handler},
                 {"results", write_results}, {"numbers", take_numbers}, {"polls", poll_in_vain}};
    int provided;
    MPI_Init_thread(&n_words, &words, MPI_THREAD_MULTIPLE, &provided);
    mode = words[1];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(mode, modes[i].name))
            modes[i].work();
    MPI_Finalize();
    return 6;
}
