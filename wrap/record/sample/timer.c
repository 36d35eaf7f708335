/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules of the handler: it touches its ring, makes the calls clock_gettime, process_vm_readv and those that read
 * /proc, asks an interpreter for the thread's own state, nothing else, keeps errno, and never waits. A full ring drops
 * the sample. The stack is read by process_vm_readv because its end is not known here. If that is refused, only the
 * page that the stack pointer is in.
 */
#include "wrap/record/sample/timer.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/threads.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { N_SLOTS = 16, WINDOW_BYTES = 60 << 10, USUAL_BYTES = 4096, PAGE = 4096, LOWEST_SPARE_SIGNALS = 4 };

struct slot {
    uint64_t time_ns, weight_ns, cpu_ns, ready_ns;
    struct unwind_frame frame;
    size_t n;
    unsigned char bytes[WINDOW_BYTES];
    struct python_walk python;
};

struct timer_ring {
    _Atomic unsigned head, tail;
    int timer;
    uint64_t cpu_ns; /* of the thread at the last sample */
    struct python_scratch scratch;
    struct slot slot[N_SLOTS];
};

static int chosen_signal;
/* A ring reaches the handler through the kernel. Earlier writes to it are there when this was read. */
static _Atomic unsigned n_attached;

static void copy_stack(struct slot *slot)
{
    uint64_t sp = slot->frame.reg[UNWIND_SP];
    /* To the frames that are known from the thread's last MPI call, as far as there is room. */
    uint64_t end = recorder_self ? stacks_last_slot(&recorder_self->stacks) : 0;
    uint64_t bytes = end > sp ? end + sizeof end - sp : 0;
    size_t wanted = bytes < USUAL_BYTES ? USUAL_BYTES : bytes < WINDOW_BYTES ? bytes : WINDOW_BYTES;
    struct iovec to = {slot->bytes, wanted}, from = {(void *)(uintptr_t)sp, wanted};
    ssize_t n = process_vm_readv(recorder.pid, &to, 1, &from, 1, 0);
    if (n <= 0 && (errno == ENOSYS || errno == EPERM)) {
        n = (ssize_t)(PAGE - sp % PAGE);
        memcpy(slot->bytes, (const void *)(uintptr_t)sp, (size_t)n);
    }
    slot->n = n > 0 ? (size_t)n : 0;
}

/* Not inside an MPI call, whose record tells. */
static void copy_python(struct timer_ring *ring, struct slot *slot)
{
    struct recorder_thread *thread = recorder_self;
    slot->python.n = 0;
    if (!python_is_there() || (thread && atomic_load_explicit(&thread->open_ns, memory_order_relaxed) &&
                               !atomic_load_explicit(&thread->has_callbacks, memory_order_relaxed)))
        return;
    python_walk_running(&slot->python, &ring->scratch, python_thread_state());
    if (!thread)
        return;
    atomic_store_explicit(&thread->stacks.python_state, slot->python.state, memory_order_relaxed);
    if (slot->python.inner)
        atomic_store_explicit(&thread->stacks.python_inner, slot->python.inner, memory_order_relaxed);
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    int saved = errno;
    struct timer_ring *ring = info->si_value.sival_ptr;
    if (info->si_code != SI_TIMER || !ring || !atomic_load(&recorder.recording) || !atomic_load(&n_attached))
        return;
    unsigned head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    uint64_t cpu_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) < N_SLOTS) {
        struct slot *slot = &ring->slot[head % N_SLOTS];
        slot->time_ns = recorder_now_ns();
        slot->weight_ns = cpu_ns - ring->cpu_ns;
        slot->cpu_ns = cpu_ns;
        slot->ready_ns = machine_ready_ns();
        unwind_from_signal(&slot->frame, context);
        copy_stack(slot);
        copy_python(ring, slot);
        ring->cpu_ns = cpu_ns;
        atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    }
    errno = saved;
}

bool timer_choose(void)
{
    for (int candidate = SIGRTMAX - LOWEST_SPARE_SIGNALS; candidate > SIGRTMIN; candidate--) {
        struct sigaction before, ours = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        if (sigaction(candidate, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) || before.sa_handler != SIG_DFL)
            continue;
        sigfillset(&ours.sa_mask);
        chosen_signal = candidate;
        return sigaction(candidate, &ours, NULL) == 0;
    }
    errno = EBUSY;
    return false;
}

static bool start_timer(struct timer_ring *ring, int32_t tid, uint64_t period_ns)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = chosen_signal;
    event.sigev_value.sival_ptr = ring;
    event._sigev_un._tid = tid;
    if (syscall(SYS_timer_create, machine_thread_clock(tid), &event, &ring->timer) != 0)
        return false;
    struct timespec period = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)};
    struct itimerspec every = {period, period};
    if (syscall(SYS_timer_settime, ring->timer, 0, &every, NULL) == 0)
        return true;
    syscall(SYS_timer_delete, ring->timer);
    return false;
}

struct timer_ring *timer_attach(int32_t tid, uint64_t period_ns)
{
    void *at = mmap(NULL, sizeof(struct timer_ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    struct timer_ring *ring = at;
    struct timespec cpu;
    if (clock_gettime(machine_thread_clock(tid), &cpu) == 0)
        ring->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    atomic_fetch_add(&n_attached, 1);
    if (start_timer(ring, tid, period_ns))
        return ring;
    int why = errno;
    munmap(at, sizeof(struct timer_ring));
    errno = why;
    return NULL;
}

/* The ring stays mapped: a last signal may be under way. */
void timer_detach(struct timer_ring *ring)
{
    syscall(SYS_timer_delete, ring->timer);
}

bool timer_peek(struct timer_ring *ring, struct sample *sample)
{
    unsigned tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
        return false;
    const struct slot *slot = &ring->slot[tail % N_SLOTS];
    *sample = (struct sample){
        .time_ns = slot->time_ns, .weight_ns = slot->weight_ns, .cpu_ns = slot->cpu_ns, .ready_ns = slot->ready_ns};
    sample->frame = slot->frame;
    uint64_t sp = slot->frame.reg[UNWIND_SP];
    sample->window = (struct unwind_stack){.low = sp, .high = sp + slot->n, .bytes = slot->bytes};
    sample->python = &slot->python;
    return true;
}

void timer_pop(struct timer_ring *ring)
{
    atomic_fetch_add_explicit(&ring->tail, 1, memory_order_release);
}
