/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that do what recorders trip over: one case an argument. Every case prints the same with and without a
 * recorder, and the number of MPI calls that each rank made, which the spool must hold.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static atomic_long n_calls;

static void calls(long n)
{
    int rank;
    for (long i = 0; i < n; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_calls += n;
}

static int rank_of_this(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_calls++;
    return rank;
}

/* Children that call MPI functions of their parent, exit through its handlers, or become other programs. */
static void case_fork(void)
{
    for (int i = 0; i < 5; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            int flag;
            MPI_Initialized(&flag);
            exit(3 + i);
        }
        if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3 + i)
            printf("child %d: status %x\n", i, status);
    }
    if (system("exit 9") != 9 << 8)
        printf("system failed\n");
    calls(50000);
}

static void on_child(int signal)
{
    static const char text[] = "SIGCHLD\n";
    (void)signal;
    if (write(1, text, sizeof text - 1) < 0)
        _exit(99);
}

static void case_sigchld(void)
{
    signal(SIGCHLD, on_child);
}

static void case_sigign(void)
{
    signal(SIGCHLD, SIG_IGN);
}

/* Everything that a library of this name may have opened, and then a file of one's own under the same number. */
static void case_closes(void)
{
    char name[64], target[256], temporary[] = "/tmp/whywait-beside-XXXXXX";
    int own = mkstemp(temporary);
    unlink(temporary);
    for (int fd = 3; fd < 1024; fd++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strstr(target, "whywait/"))
            dup2(own, fd);
    }
    calls(200000);
    printf("own file %ld bytes\n", (long)lseek(own, 0, SEEK_END));
}

static void case_chdir(void)
{
    if (chdir("/") != 0)
        printf("chdir failed\n");
    calls(100000);
}

static void case_privileges(void)
{
    if (getuid() == 0 && setuid(65534) != 0)
        printf("setuid failed\n");
    calls(100000);
}

static void case_files(void)
{
    struct rlimit limit = {24, 24};
    setrlimit(RLIMIT_NOFILE, &limit);
    calls(100000);
}

static void *thread_body(void *unused)
{
    calls(10);
    return unused;
}

static void case_threads(void)
{
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, thread_body, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

static jmp_buf before_send;

static void jump(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    longjmp(before_send, 1);
}

static void jump_at_errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    n_calls += 2;
}

/* An error handler that never returns to MPI. */
static void case_longjmp(void)
{
    int value = 0;
    jump_at_errors();
    for (volatile int i = 0; i < 5; i++) {
        n_calls++;
        if (!setjmp(before_send))
            MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    calls(1000);
}

typedef void fortran_send(void *, const int *, const int *, const int *, const int *, const int *, int *);

/* Likewise out of a call in Fortran. What Fortran's bindings do in C is not recorded as the program's, but it has left
 * them: the communicators that it makes then are its own. */
static void case_longjmp_fortran(void)
{
    enum { N_COMMS = 3 };
    const int count = -1, type = MPI_Type_c2f(MPI_INT), zero = 0, world = MPI_Comm_c2f(MPI_COMM_WORLD);
    int value = 0, error, rank = rank_of_this();
    void *bindings = dlopen("libmpi_mpifh.so.40", RTLD_NOW | RTLD_GLOBAL);
    fortran_send *send = (fortran_send *)(uintptr_t)(bindings ? dlsym(RTLD_DEFAULT, "mpi_send_") : NULL);
    jump_at_errors();
    if (send && !setjmp(before_send))
        send(&value, &count, &type, &zero, &zero, &world, &error);
    n_calls += send != NULL;
    for (int i = 0; i < N_COMMS; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
        n_calls += 2;
    }
    printf("comms %d %d\n", rank, 2 + N_COMMS);
}

static volatile long n_signals;

static void on_alarm(int signal)
{
    int rank;
    (void)signal;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_signals++;
}

/* Signals that call MPI, in the middle of MPI calls: whether they count depends on where they hit, so the number is not
 * printed. */
static void case_signals(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerspec often = {{0, 200000}, {0, 200000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    sigaction(SIGALRM, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    calls(500000);
    timer_delete(timer);
    n_calls = -1;
}

static ucontext_t main_context, fibre;
static char fibre_stack[256 << 10];

static void fibre_body(void)
{
    for (;;) {
        calls(1);
        swapcontext(&fibre, &main_context);
    }
}

static void case_fibres(void)
{
    getcontext(&fibre);
    fibre.uc_stack.ss_sp = fibre_stack;
    fibre.uc_stack.ss_size = sizeof fibre_stack;
    makecontext(&fibre, fibre_body, 0);
    for (int i = 0; i < 1000; i++)
        swapcontext(&main_context, &fibre);
}

static void case_dlopen(void)
{
    for (int i = 0; i < 300; i++) {
        void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
        calls(100);
        if (library)
            dlclose(library);
    }
}

static void case_names(void)
{
    void *library = dlopen(NAMES_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *(*table)(int) = library ? (void *(*)(int))dlsym(library, "names_table") : NULL;
    for (int i = 0; i < 2; i++)
        printf("%d\n", table ? ((int (*)(int))table(i))(40) : -1);
}

static void case_exit(void)
{
    calls(1000);
    int rank = rank_of_this();
    printf("calls %d %ld\n", rank, (long)n_calls);
    fflush(stdout);
    exit(0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"fork", case_fork},       {"sigchld", case_sigchld}, {"sigign", case_sigign},
    {"closes", case_closes},   {"chdir", case_chdir},     {"privileges", case_privileges},
    {"files", case_files},     {"threads", case_threads}, {"longjmp", case_longjmp},
    {"signals", case_signals}, {"fibres", case_fibres},   {"dlopen", case_dlopen},
    {"names", case_names},     {"exit", case_exit},       {"longjmp_fortran", case_longjmp_fortran},
};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    n_calls = 1;
    int rank = rank_of_this();
    for (unsigned i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name))
            cases[i].run();
    n_calls += n_calls > 0; /* MPI_Finalize */
    MPI_Finalize();
    printf("calls %d %ld\n", rank, (long)n_calls);
    return 0;
}
