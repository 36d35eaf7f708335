/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jumps that come at any moment out of a signal handler, with a stack of its own or not, and jumps from one stack to
 * another with pages between them that nobody may read. Only that the program ends as it does alone is asked.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum { N_JUMPS = 1000, PAGE = 4096, STACK_PAGES = 16 };

static pthread_t main_thread;
static sigjmp_buf timed_out;
static jmp_buf back;
static volatile sig_atomic_t armed;
static volatile long sum;

static void on_alarm(int number)
{
    if (!pthread_equal(main_thread, pthread_self())) {
        pthread_kill(main_thread, number);
    } else if (armed) {
        armed = 0;
        siglongjmp(timed_out, 1);
    }
}

__attribute__((noinline)) static long deep(int n)
{
    volatile char frame[64];
    frame[0] = (char)n;
    for (volatile int i = 0; n == 0 && i < 2000; i++)
        sum += i;
    return n == 0 ? frame[0] : deep(n - 1) + frame[0];
}

static void on_other_stack(void)
{
    deep(5);
    longjmp(back, 1);
}

static void jump_between_stacks(void)
{
    size_t bytes = (size_t)STACK_PAGES * PAGE;
    char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucontext_t context;
    mprotect(stack, PAGE, PROT_NONE);
    mprotect(stack + bytes - PAGE, PAGE, PROT_NONE);
    getcontext(&context);
    context.uc_stack.ss_sp = stack + PAGE;
    context.uc_stack.ss_size = bytes - 2 * PAGE;
    context.uc_link = NULL;
    makecontext(&context, on_other_stack, 0);
    if (!setjmp(back))
        setcontext(&context);
    munmap(stack, bytes);
}

static void use_handler(int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
    sigaction(SIGALRM, &action, NULL);
}

int main(int argc, char **argv)
{
    const stack_t own = {.ss_sp = malloc(16 * PAGE), .ss_size = 16 * PAGE};
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    volatile int n = 0;
    main_thread = pthread_self();
    sigaltstack(&own, NULL);
    use_handler(0);
    MPI_Init(&argc, &argv);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; n < N_JUMPS; n++) {
        if (n == N_JUMPS / 2)
            use_handler(SA_ONSTACK);
        if (!sigsetjmp(timed_out, 1)) {
            armed = 1;
            for (;;)
                deep(rand() % 200);
        }
        if (n % 10 == 0)
            jump_between_stacks();
        if (n % 100 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d\n", n);
    MPI_Finalize();
    return 0;
}
