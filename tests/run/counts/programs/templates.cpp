/* SPDX-License-Identifier: BSD-3-Clause */
/* Templates, virtual calls, lambdas, containers and algorithms; constructors before main. */
#include "tests/run/counts/sync.h"
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace
{
struct shape {
    virtual ~shape() = default;
    virtual double area(int n) const = 0;
};
template <int sides> struct polygon : shape {
    double area(int n) const override
    {
        double sum = 0;
        for (int i = 0; i < sides * n; i++)
            sum += i % sides;
        if (n == 3)
            counts_sync();
        return sum;
    }
};
struct registry {
    std::map<std::string, int> counts;
    registry()
    {
        for (int i = 0; i < 12; i++)
            counts[std::string(i % 5 + 1, 'x')] += i;
    }
} early;

template <typename T, typename F> T fold(const std::vector<T> &values, T start, F f)
{
    for (const T &each : values)
        start = f(start, each);
    return start;
}
} // namespace

int main()
{
    std::vector<std::unique_ptr<shape>> shapes;
    for (int i = 0; i < 9; i++)
        if (i % 3 == 0)
            shapes.push_back(std::make_unique<polygon<3>>());
        else
            shapes.push_back(std::make_unique<polygon<7>>());
    double sum = 0;
    for (size_t i = 0; i < shapes.size(); i++)
        sum += shapes[i]->area((int)i % 5);
    counts_sync();
    std::vector<int> values(200);
    std::iota(values.begin(), values.end(), 1);
    std::sort(values.begin(), values.end(), [](int a, int b) { return a * 37 % 101 < b * 37 % 101; });
    std::function<int(int)> twice = [&](int n) { return n < 2 ? 1 : twice(n - 1) + (int)early.counts.size(); };
    sum += fold(values, 0, [](int a, int b) { return a * 3 % 1009 + b; }) + twice(20);
    for (auto &[name, count] : early.counts) {
        sum += count * (int)name.size();
        if (count % 2)
            counts_sync();
    }
    counts_sync();
    std::printf("%g\n", sum);
}
