/* SPDX-License-Identifier: BSD-3-Clause */
/* C++: virtual calls, std::sort, std::unordered_map, strings. */
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{
struct shape {
    virtual ~shape() = default;
    virtual double area(double scale) const = 0;
};
struct square : shape {
    double side;
    explicit square(double s) : side(s)
    {
    }
    double area(double scale) const override
    {
        return side * side * scale;
    }
};
struct circle : shape {
    double radius;
    explicit circle(double r) : radius(r)
    {
    }
    double area(double scale) const override
    {
        return 3.14159 * radius * radius * scale;
    }
};
} // namespace

int main()
{
    std::vector<std::unique_ptr<shape>> shapes;
    for (int i = 0; i < 1000; i++)
        if (i % 3)
            shapes.push_back(std::make_unique<square>(i % 11));
        else
            shapes.push_back(std::make_unique<circle>(i % 7));
    double sum = 0;
    for (int round = 0; round < 60000; round++)
        for (const auto &each : shapes)
            sum += each->area(round & 3);
    std::vector<unsigned> values(1000000);
    std::unordered_map<std::string, int> counts;
    for (int round = 0; round < 4; round++) {
        unsigned state = 7;
        for (unsigned &each : values)
            each = state = state * 1664525u + 1013904223u;
        std::sort(values.begin(), values.end());
        for (int i = 0; i < 300000; i++)
            counts["key" + std::to_string(values[(size_t)i] % 5000)]++;
    }
    std::printf("%g %zu %u\n", sum, counts.size(), values[500]);
}
