/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions whose calls their callers can count, where exceptions pass, and in threads, templates and constructors. */
#include "tests/run/counts/sync.h"
#include <cstdio>
#include <pthread.h>
#include <stdexcept>

extern "C" void counts_thread(int number);

#define KEPT __attribute__((noinline, noclone))

namespace
{

thread_local int n_moves;

KEPT void move(int i)
{
    n_moves += i;
}
KEPT void choose(int i)
{
    if (i % 3 == 1 || n_moves % 5 == 2)
        n_moves++;
}
KEPT void may_throw(int i)
{
    choose(i);
    if (i % 4 == 2)
        counts_sync();
    if (i % 5 == 3)
        throw std::runtime_error("thrown");
    if (i % 7 == 4)
        throw i;
    move(i);
}

struct watch {
    int i;
    KEPT explicit watch(int n) : i(n)
    {
        move(n);
        may_throw(n + 1);
        choose(n);
    }
    KEPT ~watch()
    {
        choose(i);
    }
};

/* Past it, too. */
KEPT void passes(int i)
{
    move(i);
    may_throw(i);
    move(i);
    choose(i + 1);
}
KEPT void cleans_up(int i)
{
    watch first(i);
    passes(i);
    watch second(i + 2);
    move(i);
}
KEPT void catches_some(int i)
{
    try {
        choose(i);
        cleans_up(i);
        choose(i);
    } catch (int) {
        move(i);
    }
    choose(i);
}

template <typename T> __attribute__((noinline)) T in_template(T x)
{
    choose((int)x);
    if (x > 3)
        move((int)x);
    return x + 1;
}

struct shape {
    virtual ~shape() = default;
    virtual void turn(int i) = 0;
};
struct square final : shape {
    KEPT void turn(int i) override
    {
        choose(i);
    }
};

const struct at_start {
    at_start()
    {
        move(2);
        choose(4);
    }
} started;

KEPT void in_thread(int n)
{
    for (int i = 0; i < n; i++)
        try {
            move(i);
            catches_some(i);
        } catch (const std::exception &) {
            choose(i);
        }
    counts_sync();
}
void *run(void *n)
{
    counts_thread(1);
    in_thread(*(int *)n);
    counts_sync();
    return nullptr;
}

} // namespace

/* In a section that other units may have as well. */
inline __attribute__((noinline)) int shared(int i)
{
    choose(i);
    return i > 7 ? in_template(i) : (int)in_template((long)i);
}

int main()
{
    square made;
    shape *one = &made;
    for (int n = 3; n < 25; n += 7) {
        in_thread(n);
        one->turn(shared(n));
        pthread_t thread;
        if (pthread_create(&thread, nullptr, run, &n) == 0)
            pthread_join(thread, nullptr);
        auto act = [&](int i) __attribute__((noinline)) { choose(i + n); };
        for (int i = 0; i < n; i++)
            act(i);
        counts_sync();
    }
    std::printf("%d\n", n_moves);
}
