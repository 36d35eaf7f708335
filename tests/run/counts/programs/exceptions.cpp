/* SPDX-License-Identifier: BSD-3-Clause */
/* Exceptions: caught here, caught by a caller after frames with and without destructors vanished, rethrown, unmatched.
 */
#include "tests/run/counts/sync.h"
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
int n_destroyed;

struct guard {
    int n;
    explicit guard(int value) : n(value)
    {
    }
    ~guard()
    {
        if (n % 2)
            n_destroyed++;
        if (n == 5)
            counts_sync();
    }
};

[[gnu::noinline]] int thrower(int n)
{
    for (int i = 0; i < n; i++)
        if (i * 7 % 11 == 6)
            throw std::runtime_error("six");
        else if (n == 4 && i == 3)
            throw n;
    if (n % 3 == 0)
        counts_sync();
    return n;
}

/* No landing pad: the frame just disappears. */
[[gnu::noinline]] int bystander(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += thrower(i % 6);
        sum ^= i;
    }
    sum += thrower(n);
    return sum * 2;
}

[[gnu::noinline]] int with_guard(int n)
{
    guard first(n);
    int sum = bystander(n);
    guard second(sum);
    return sum + thrower(n / 2);
}

[[gnu::noinline]] int catcher(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        try {
            sum += i % 2 ? with_guard(i) : bystander(i);
        } catch (const std::runtime_error &error) {
            sum += error.what()[0];
            if (i == 9)
                counts_sync();
            if (i > 18)
                throw;
        }
    }
    return sum;
}

[[gnu::noinline]] int sentinel(int n)
{
    try {
        return catcher(n);
    } catch (int) {
        return catcher(n % 4) + 1;
    } catch (...) {
        counts_sync();
        return -1;
    }
}
} // namespace

int main()
{
    int sum = 0;
    for (int i = 0; i < 25; i += 2)
        sum += sentinel(i);
    std::vector<std::string> names;
    for (int i = 0; i < 10; i++)
        names.push_back(std::to_string(i * i));
    try {
        sum += (int)names.at(20).size();
    } catch (const std::out_of_range &) {
        sum++;
    }
    counts_sync();
    std::printf("%d %d\n", sum, n_destroyed);
}
