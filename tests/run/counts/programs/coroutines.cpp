// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=c++20 -fcoroutines
// Coroutines: frames that leave and come back, on the heap; ranges and lambdas of C++20 beside them.
#include "tests/run/counts/sync.h"
#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <ranges>
#include <vector>

struct generator {
    struct promise_type {
        int current = 0;
        generator get_return_object()
        {
            return generator{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(int value)
        {
            current = value;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
    std::coroutine_handle<promise_type> handle;
    explicit generator(std::coroutine_handle<promise_type> h) : handle(h)
    {
    }
    generator(const generator &) = delete;
    ~generator()
    {
        handle.destroy();
    }
    bool next()
    {
        handle.resume();
        return !handle.done();
    }
};

static generator squares(int n)
{
    for (int i = 0; i < n; i++) {
        if (i % 10 == 3)
            counts_sync();
        if (i % 3)
            co_yield i *i;
    }
}

int main()
{
    long sum = 0;
    for (int round = 0; round < 5; round++) {
        generator numbers = squares(20 + round);
        while (numbers.next())
            sum += numbers.handle.promise().current;
        generator broken_off = squares(10);
        broken_off.next();
    }
    std::vector<int> values(100);
    std::generate(values.begin(), values.end(), [n = 0]() mutable { return n += 3; });
    for (int value : values | std::views::filter([](int v) { return v % 2; }) | std::views::take(20))
        sum += value;
    counts_sync();
    std::printf("%ld\n", sum);
    return 0;
}
