/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole sampling path without MPI: a thread that computes in one function, sleeps in another, and spends time
 * "inside MPI"; then the file it left is read. Skipped where samples are refused, except that the refusal must be told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "tests/unit/record/spool_reader.h"
#include "wrap/record/life/helper.h"
#include "wrap/record/record.h"
#include "wrap/record/sample/sampled.h"
#include "wrap/record/sample/sampler.h"
#include "wrap/record/sample/timer.h"
#include "wrap/record/threads.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* So that an address belongs to one function only. */
enum { APART_BYTES = 512 };
#define APART __attribute__((noinline, aligned(512)))

static __thread volatile double sink;

static uint64_t read_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static APART void compute(uint64_t ns)
{
    for (uint64_t end = cpu_ns() + ns; cpu_ns() < end;)
        for (int i = 0; i < 10000; i++)
            sink += i;
}

static APART void compute_in_call(uint64_t ns)
{
    for (uint64_t end = cpu_ns() + ns; cpu_ns() < end;)
        for (int i = 0; i < 10000; i++)
            sink += 2 * i;
}

static APART void rest(unsigned ms)
{
    usleep(ms * 1000);
    sink++;
}

/* It sleeps before anybody samples it. */
static APART void rest_early(unsigned ms)
{
    usleep(ms * 1000);
    sink++;
}

/* Far shorter than the time between two looks. */
static APART void rest_briefly(void)
{
    usleep(1000);
    sink++;
}

/* Off the CPU so often that samples become rarer and weigh more. */
static APART void compute_in_storm(uint64_t ns)
{
    const struct timespec short_time = {.tv_nsec = 1};
    for (uint64_t end = cpu_ns() + ns; cpu_ns() < end; nanosleep(&short_time, NULL))
        for (int i = 0; i < 30000; i++)
            sink += 3 * i;
}

/* As in libraries of assembly: no frame information, and a block on the stack whose middle nobody writes to. */
void kernel_with_hole(long times);
__asm__(".text\n"
        "kernel_with_hole:\n"
        "    push %rbp\n"
        "    mov $0x3ff0000000000000, %rbp\n"
        "    sub $49152, %rsp\n"
        "    movq $1, (%rsp)\n"
        "1:  dec %rdi\n"
        "    jnz 1b\n"
        "    add $49152, %rsp\n"
        "    pop %rbp\n"
        "    ret\n");

static APART void compute_in_kernel(uint64_t ns)
{
    for (uint64_t end = cpu_ns() + ns; cpu_ns() < end; sink++)
        kernel_with_hole(1000000);
}

static bool is_by_timer(void)
{
    return strcmp(recorder.options.sampler, "timer") == 0;
}

/* What is known of compute_first: how long it took, and how much of that must be in samples. */
static struct {
    uint64_t took_ns, sampled_ns;
} first;

/* A timer's signal comes with a tick of the kernel at which the thread has the CPU: where many want it, that may be
 * after far more than its period. */
static __attribute__((noinline)) bool first_is_sampled(void)
{
    struct timer_ring *timer = recorder_self->sampler ? recorder_self->sampler->timer : NULL;
    struct sample oldest = {.weight_ns = 0};
    bool has_fired = timer && timer_peek(timer, &oldest);
    first.sampled_ns = timer ? oldest.weight_ns : first.took_ns / 4;
    return has_fired || !timer;
}

/* When MPI_Init is about to return, and the helper has not run yet. */
static APART void compute_first(void)
{
    uint64_t began_ns = cpu_ns();
    do {
        for (int i = 0; i < 10000; i++)
            sink += 5 * i;
        first.took_ns = cpu_ns() - began_ns;
    } while (first.took_ns < 40000000 || !first_is_sampled());
}

/* No system call, and no fresh page. */
static APART void compute_beside(uint64_t ns)
{
    for (uint64_t end = cpu_ns() + ns; cpu_ns() < end;)
        for (int i = 0; i < 20000000; i++)
            sink += 7 * i;
}

/* Two functions take turns, each for half of a step, on and on: as much time in one as in the other. */
static APART void compute_first_half(uint64_t until_ns)
{
    while (cpu_ns() < until_ns)
        for (int i = 0; i < 1000; i++)
            sink += 11 * i;
}

static APART void compute_second_half(uint64_t until_ns)
{
    while (cpu_ns() < until_ns)
        for (int i = 0; i < 1000; i++)
            sink += 13 * i;
}

/* By the thread's own clock, so that steps stay in phase with what else goes by it. */
static APART void compute_in_step(uint64_t step_ns, uint64_t ns)
{
    uint64_t at_ns = cpu_ns();
    for (uint64_t end_ns = at_ns + ns; at_ns < end_ns; at_ns += step_ns) {
        compute_first_half(at_ns + step_ns / 2);
        compute_second_half(at_ns + step_ns);
    }
}

/* Processes that share one CPU with the calling thread, and give the kernel pages to clear up in its interrupts. */
enum { N_BESIDE = 4 };
static void begin_beside(pid_t processes[N_BESIDE])
{
    cpu_set_t all, one;
    int cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < N_BESIDE; i++) {
        processes[i] = fork();
        while (processes[i] == 0) {
            enum { BYTES = 1 << 20 };
            char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (size_t k = 0; at != MAP_FAILED && k < BYTES; k += 4096)
                at[k] = 1;
            munmap(at, BYTES);
        }
    }
}

static void end_beside(const pid_t processes[N_BESIDE])
{
    for (int i = 0; i < N_BESIDE; i++) {
        kill(processes[i], SIGKILL);
        waitpid(processes[i], NULL, 0);
    }
}

/* Woken while others have the CPU, who come first. */
static APART void rest_beside(void)
{
    setpriority(PRIO_PROCESS, 0, 19); /* of this thread */
    for (int i = 0; i < 20; i++)
        usleep(20000);
    sink++;
}

/* Sets how much CPU time it took. */
static APART void *worker(void *took_ns)
{
    uint64_t began_ns = cpu_ns();
    compute(300000000);
    *(uint64_t *)took_ns = cpu_ns() - began_ns;
    return NULL;
}

struct found {
    uint64_t most_ns; /* of a sample on the CPU */
    uint64_t first_ns, kernel_ns, computing_ns, stormy_ns, in_call_ns, asleep_ns, early_asleep_ns, briefly_asleep_ns,
        off_ns;
    uint64_t beside_ns, beside_asked_ns; /* in compute_beside; of these, on its behalf in the kernel */
    uint64_t half_ns[2];                 /* of the steps */
    uint64_t heaviest_ns;                /* of the samples in compute_in_storm */
    uint64_t all_asleep_ns;              /* in whatever function */
    uint64_t called_off_ns;              /* off the CPU in functions that MPI called */
    uint64_t ready_ns;                   /* told as runnable without a CPU in rest_beside */
};

static bool lies_in(uint64_t address, const void *function)
{
    return address - (uint64_t)(uintptr_t)function < APART_BYTES;
}

static bool stack_has(const struct ww_stack *stack, const void *function)
{
    for (uint32_t i = 0; i < stack->n; i++)
        if (lies_in(stack->address[i], function))
            return true;
    return false;
}

static struct {
    uint64_t from_ns, until_ns;
} called;

/* A function of the program that MPI calls naps, many times before the helper comes by. Returns how long it took. */
static uint64_t nap_in_callbacks(void)
{
    uint64_t napped_ns = 0;
    called.from_ns = read_clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 400; i++) {
        struct ww_call *call = record_enter(1, RECORD_HERE);
        record_callback_begin();
        uint64_t began_ns = read_clock_ns(CLOCK_MONOTONIC);
        usleep(500);
        napped_ns += read_clock_ns(CLOCK_MONOTONIC) - began_ns;
        record_callback_end();
        record_leave(call, 0);
    }
    called.until_ns = read_clock_ns(CLOCK_MONOTONIC);
    return napped_ns;
}

/* When rest_beside began and ended. */
static uint64_t rest_beside_ns[2];

static uint64_t in_rest_ns(uint64_t from_ns, uint64_t until_ns)
{
    from_ns = from_ns > rest_beside_ns[0] ? from_ns : rest_beside_ns[0];
    until_ns = until_ns < rest_beside_ns[1] ? until_ns : rest_beside_ns[1];
    return until_ns > from_ns ? until_ns - from_ns : 0;
}

static struct found read_file(int thread)
{
    static const struct ww_stack *stacks[10000];
    char path[SPOOL_PATH_BYTES + 64];
    struct found found = {0};
    uint64_t out_ns = 0, last_ns = 0;
    bool is_ready = false;
    snprintf(path, sizeof path, "%s/spool/0-%d.sm", recorder.run_dir, thread);
    struct spool_file file = spool_file_load(path);
    for (const struct ww_head *r = file.bytes ? spool_file_next(&file, NULL) : NULL; r; r = spool_file_next(&file, r)) {
        if (r->type == WW_STACK)
            stacks[((const struct ww_stack *)(const void *)r)->id % 10000] = (const void *)r;
        if (r->type == WW_SWITCH) {
            const struct ww_switch *s = (const void *)r;
            assert_true(s->time_ns >= last_ns);
            last_ns = s->time_ns;
            found.ready_ns += is_ready ? in_rest_ns(out_ns, s->time_ns) : 0;
            is_ready = s->flags & WW_SW_PREEMPTED;
            if (s->flags & WW_SW_OUT)
                out_ns = s->time_ns;
            else if (out_ns)
                found.off_ns += s->time_ns - out_ns;
            if (!(s->flags & WW_SW_OUT) && out_ns >= called.from_ns && out_ns < called.until_ns)
                found.called_off_ns += s->time_ns - out_ns;
        }
        if (r->type == WW_GAP) {
            const struct ww_gap *gap = (const void *)r;
            double off = 1 - (double)gap->cpu_ns / (double)(gap->until_ns - gap->from_ns);
            if (gap->flags & WW_SW_PREEMPTED)
                found.ready_ns += (uint64_t)((double)in_rest_ns(gap->from_ns, gap->until_ns) * off);
        }
        if (r->type != WW_SAMPLE)
            continue;
        const struct ww_sample *s = (const void *)r;
        const struct ww_stack *stack = stacks[s->stack];
        assert_non_null(stack);
        assert_true(s->time_ns >= last_ns);
        last_ns = s->time_ns;
        if (!(s->flags & WW_S_BLOCKED) && s->weight_ns > found.most_ns)
            found.most_ns = s->weight_ns;
        found.first_ns += stack_has(stack, compute_first) ? s->weight_ns : 0;
        found.kernel_ns += stack_has(stack, compute_in_kernel) ? s->weight_ns : 0;
        found.computing_ns += stack_has(stack, compute) ? s->weight_ns : 0;
        found.half_ns[0] += stack_has(stack, compute_first_half) ? s->weight_ns : 0;
        found.half_ns[1] += stack_has(stack, compute_second_half) ? s->weight_ns : 0;
        if (!(s->flags & WW_S_BLOCKED) && stack_has(stack, compute_in_storm) && s->weight_ns > found.heaviest_ns)
            found.heaviest_ns = s->weight_ns;
        found.stormy_ns += !(s->flags & WW_S_BLOCKED) && stack_has(stack, compute_in_storm) ? s->weight_ns : 0;
        uint64_t beside_ns = !(s->flags & WW_S_BLOCKED) && stack_has(stack, compute_beside) ? s->weight_ns : 0;
        found.beside_ns += beside_ns;
        found.beside_asked_ns += s->flags & WW_S_KERNEL ? beside_ns : 0;
        found.in_call_ns += stack_has(stack, compute_in_call) ? s->weight_ns : 0;
        found.all_asleep_ns += s->flags & WW_S_BLOCKED ? s->weight_ns : 0;
        found.briefly_asleep_ns += (s->flags & WW_S_BLOCKED) && stack_has(stack, rest_briefly) ? s->weight_ns : 0;
        found.early_asleep_ns += (s->flags & WW_S_BLOCKED) && stack_has(stack, rest_early) ? s->weight_ns : 0;
        found.asleep_ns += (s->flags & WW_S_BLOCKED) && stack_has(stack, rest) ? s->weight_ns : 0;
    }
    free(file.bytes);
    return found;
}

/* ThreadSanitizer marks each byte that is read from a sample's copy of the stack. Where pages of its own are slow to
 * come by, a sample of 60 KB takes it 30 ms: the kernel's buffer is full before the next look, and only some samples
 * come. */
#ifdef __SANITIZE_THREAD__
#define LEAST_NS(ns) 1
#else
#define LEAST_NS(ns) ns
#endif

/* Sanitizers touch fresh pages of their own wherever the program computes. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FAULTS_NS UINT64_MAX
#else
#define FAULTS_NS 10000000 /* of half a second: a page may be taken away by the kernel itself */
#endif

/* The sleeps are long beside the time that the helper waits for a CPU on a busy machine. */
static uint64_t tick_ns(void)
{
    struct timespec tick = {0, 0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return (uint64_t)tick.tv_nsec;
}

/* What the thread itself knows of what it did. */
struct done {
    uint64_t wall_ns, most_off_ns;               /* in all; the most that it can have been off the CPU */
    uint64_t napped_ns;                          /* in functions that MPI called */
    uint64_t computed_ns, stormed_ns, worked_ns; /* of CPU time in compute, compute_in_storm and the worker's compute */
    uint64_t beside_ns;                          /* likewise in compute_beside */
    uint64_t ready_ns;                           /* without a CPU in rest_beside */
};

static APART void do_beside(struct done *done)
{
    pid_t beside[N_BESIDE];
    begin_beside(beside);
    for (uint64_t end_ns = cpu_ns() + 50000000; cpu_ns() < end_ns; sink++)
        ; /* what is written to is copied now */
    done->beside_ns = cpu_ns();
    compute_beside(500000000);
    done->beside_ns = cpu_ns() - done->beside_ns;
    record_leave(record_enter(1, RECORD_HERE), 0); /* what is before and behind it is told apart */
    done->ready_ns = machine_ready_ns();
    rest_beside_ns[0] = recorder_now_ns();
    rest_beside();
    record_leave(record_enter(1, RECORD_HERE), 0);
    rest_beside_ns[1] = recorder_now_ns();
    done->ready_ns = machine_ready_ns() - done->ready_ns;
    end_beside(beside);
}

enum { N_STEPS = 400 };
static APART struct done do_all(void)
{
    uint64_t began_ns = read_clock_ns(CLOCK_MONOTONIC), began_cpu_ns = cpu_ns();
    struct done done = {0};
    pthread_t thread;
    rest_early(2000);
    pthread_create(&thread, NULL, worker, &done.worked_ns);
    done.computed_ns = cpu_ns();
    compute(400000000);
    done.stormed_ns = cpu_ns();
    compute_in_storm(400000000);
    done.computed_ns = done.stormed_ns - done.computed_ns;
    done.stormed_ns = cpu_ns() - done.stormed_ns;
    compute_in_step(recorder.sample_period_ns, N_STEPS * recorder.sample_period_ns);
    compute_in_kernel(400000000);
    struct ww_call *call = record_enter(1, RECORD_HERE);
    compute_in_call(200000000);
    record_leave(call, 0);
    rest(1000);
    for (int i = 0; i < 300; i++)
        rest_briefly();
    done.napped_ns = nap_in_callbacks();
    pthread_join(thread, NULL);
    do_beside(&done);
    helper_stop();
    done.wall_ns = read_clock_ns(CLOCK_MONOTONIC) - began_ns;
    /* The way from and to a CPU counts as both, some us each time. */
    done.most_off_ns = done.wall_ns - (cpu_ns() - began_cpu_ns) / 2;
    threads_close_samples(WW_END_FINALIZE, 0, recorder_now_ns());
    threads_close_events(WW_END_FINALIZE, 0, recorder_now_ns());
    return done;
}

static APART void test_samples(void **state)
{
    (void)state;
    bool by_timer = is_by_timer();
    struct done done = do_all();
    if (recorder.sample_period_ns == 0)
        skip();
    struct found mine = read_file(0), other = read_file(1);
    /* What is computed is counted in CPU time, whatever else runs. */
    assert_in_range(mine.first_ns, LEAST_NS(first.sampled_ns), first.took_ns / 2 * 3);
    if (!by_timer) {
        assert_in_range(mine.kernel_ns, LEAST_NS(150000000), 500000000);
        uint64_t rarest_ns = 8 * tick_ns();
        if (rarest_ns < 5 * recorder.sample_period_ns / 2) /* where samples cost much */
            rarest_ns = 5 * recorder.sample_period_ns / 2;
        assert_in_range(mine.heaviest_ns, 1000000, rarest_ns);
        /* Steps as long as the period: samples do not keep to one half. */
        uint64_t tenth_ns = N_STEPS * recorder.sample_period_ns / 10;
        assert_in_range(mine.half_ns[0], LEAST_NS(3 * tenth_ns), 7 * tenth_ns);
        assert_in_range(mine.half_ns[1], LEAST_NS(3 * tenth_ns), 7 * tenth_ns);
    }
    assert_in_range(mine.computing_ns, LEAST_NS(done.computed_ns / 2), done.computed_ns / 8 * 11);
    assert_in_range(mine.stormy_ns, LEAST_NS(done.stormed_ns / 2), done.stormed_ns / 8 * 11);
    assert_int_equal(mine.in_call_ns, 0);
    /* However busy the kernel was with others. */
    uint64_t shifted_ns = by_timer ? mine.most_ns : 0; /* the first sample there stands for time before as well */
    assert_in_range(mine.beside_ns + shifted_ns, LEAST_NS(done.beside_ns / 10 * 7),
                    done.beside_ns / 10 * 11 + 2 * shifted_ns);
    assert_in_range(mine.beside_asked_ns, 0, FAULTS_NS);
    /* Others had the CPU, hence it was not asleep for all that time. */
    uint64_t open_ns = done.ready_ns / (by_timer ? 4 : 10) + 1000000; /* some 20 us of each sleep are not told */
    assert_in_range(mine.ready_ns + open_ns, done.ready_ns, done.ready_ns + 2 * open_ns);
    assert_in_range(other.computing_ns, LEAST_NS(done.worked_ns / 2), done.worked_ns / 8 * 11);
    /* A look that finds the thread asleep stands for all its sleep since the last one, wherever that was. So a busy
     * machine may shift sleep from one function to the next, but not make more of it than there was. Without switches
     * looks stand for all the time between them. */
    assert_in_range(mine.asleep_ns, 150000000, UINT64_MAX);
    assert_in_range(mine.early_asleep_ns, 150000000, UINT64_MAX);
    assert_in_range(mine.briefly_asleep_ns, 40000000, UINT64_MAX);
    assert_in_range(mine.all_asleep_ns, 0, by_timer ? done.wall_ns : done.most_off_ns);
    assert_true(by_timer || mine.called_off_ns >= done.napped_ns / 2);
    assert_true(by_timer || (mine.off_ns >= 1000000000 && mine.off_ns <= done.most_off_ns));
}

static int set_up(void **state)
{
    (void)state;
    char dir[] = "/tmp/whywait-test-XXXXXX", spool[64];
    if (!mkdtemp(dir))
        return -1;
    snprintf(spool, sizeof spool, "%s/spool", dir);
    mkdir(spool, 0700);
    strcpy(recorder.run_dir, dir);
    strcpy(recorder.spool_dir, spool);
    recorder.pid = getpid();
    recorder.budget.left_bytes = INT64_MAX;
    /* unit_record_sampler_timer is this program under another name. */
    strcpy(recorder.options.sampler, strstr(program_invocation_short_name, "timer") ? "timer" : "perf");
    recorder.options.rate_hz = RATE_CALIBRATED;
    stacks_learn_process();
    if (!unwind_init())
        return -1;
    recorder.recording = true;
    sampler_choose();
    if (!threads_enter())
        return -1;
    sampler_begin(recorder_self);
    compute_first();
    return helper_start() ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"0-0.ev", "0-0.sm", "0-1.sm", ""};
    char path[SPOOL_PATH_BYTES + 64];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/spool/%s", recorder.run_dir, names[i]);
        remove(path);
    }
    return rmdir(recorder.run_dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
