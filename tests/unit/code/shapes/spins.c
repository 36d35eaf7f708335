/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that only look at memory until another thread changes it (spin_*), and loops that look much like them but work
 * (work_*). Each routine has one loop, or one around another one of the same sort.
 */
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

struct link {
    struct link *next;
    volatile int *flag;
    long value;
};

#if defined __x86_64__
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif

int spin_flag(const volatile int *flag, int until)
{
    while (*flag < until)
        ;
    return *flag;
}

void spin_mask(const volatile unsigned char *flags, unsigned wanted)
{
    while (((*flags >> 2) & 3) != wanted)
        ;
}

void spin_real(const volatile double *value)
{
    while (*value < 1.5)
        ;
}

int spin_pauses(const atomic_int *sense, int mine)
{
    while (atomic_load_explicit(sense, memory_order_acquire) != mine)
        PAUSE();
    return mine;
}

void spin_yields(const volatile int *flag)
{
    while (!*flag)
        sched_yield();
}

void spin_sleeps(const volatile int *flag)
{
    while (!*flag)
        usleep(100);
}

/* The flag lies behind two pointers, which are read anew each time. */
void spin_behind(struct link *volatile *list)
{
    while (!*(*list)->next->flag)
        ;
}

/* How often it has looked decides nothing. */
long spin_counts(const volatile int *flag, volatile long *n_looks)
{
    long n = 0;
    while (!*flag) {
        n++;
        ++*n_looks;
    }
    return n;
}

void spin_exchanges(volatile int *lock)
{
    while (__sync_val_compare_and_swap(lock, 0, 1))
        ;
}

#if defined __x86_64__
/* Pauses longer each time. */
void spin_backs_off(const volatile int *flag)
{
    for (int n = 1; !*flag; n *= 2)
        for (int i = 0; i < n; i++)
            PAUSE();
}
#endif

long work_sum(const long *values, long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += values[i] & 7;
    return sum;
}

long work_search(const volatile long *values, long wanted)
{
    long i = 0;
    while (values[i] != wanted)
        i++;
    return i;
}

const struct link *work_list(const struct link *list, long wanted)
{
    while (list->value != wanted)
        list = list->next;
    return list;
}

/* It looks for so many times. */
int work_bounded(const volatile int *flag, long most)
{
    while (most-- > 0)
        if (*flag)
            return 1;
    return 0;
}

void work_in_memory(volatile long *at, long until)
{
    while (*at < until)
        *at = *at + 3;
}

void work_sleeps(int n)
{
    for (int i = 0; i < n; i++)
        usleep(100);
}

double work_real(double x, const volatile double *until)
{
    while (x < *until)
        x = x * 1.000001 + 1e-6;
    return x;
}

void work_calls(const volatile int *flag, void (*serve)(void))
{
    while (!*flag)
        serve();
}

unsigned long work_random(unsigned long x, unsigned long until)
{
    while ((x & 0xffffff) != until) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

int main(void)
{
    return 0;
}
