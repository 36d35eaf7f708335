// SPDX-License-Identifier: BSD-3-Clause
// Loops as C++ writes them; marks as in shapes.c.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <numeric>
#include <string>
#include <vector>

volatile int sink;

namespace grid {
template <class T> struct Field {
    std::vector<T> v;
    __attribute__((noinline)) T total() const
    {
        T s = 0;
        for (const auto &x : v)                            // @range_for(
            s += std::sqrt(x);                             // @range_for)
        return s;
    }
    void scale(T f)
    {
        for (auto it = v.begin(); it != v.end(); ++it)     // @iterators(
            *it *= f;                                      // @iterators)
    }
};
} // namespace grid

__attribute__((noinline)) double algorithms(std::vector<double> &a, std::vector<double> &b)
{
    std::transform(a.begin(), a.end(), b.begin(),          // @?transform(
                   [](double x) {
                       double y = x * x;
                       return y > 3 ? std::sin(y) : y;     // @?transform)
                   });
    std::for_each(a.begin(), a.end(), [](double &x) { x += 1; }); // @?for_each( @?for_each)
    return std::accumulate(b.begin(), b.end(), 0.0);       // @?accumulate( @?accumulate)
}

__attribute__((noinline)) int exceptions(const std::map<int, std::string> &m)
{
    int n = 0;
    for (auto &p : m) {                                    // @try(
        if (p.second.size() > 3)
            n += p.first;
        try {
            n += std::stoi(p.second);
        } catch (...) {
            n--;
            sink = n;                                      // @try)
        }
    }
    return n;
}

__attribute__((noinline)) double through_function(const std::function<double(double)> &f, int n)
{
    double s = 0;
    int i = 0;
    while (i < n) {                                        // @function(
        s += f(i);
        i++;                                               // @function)
    }
    return s;
}

__attribute__((noinline)) double lists(const std::list<double> &l)
{
    double s = 0;
    for (double x : l)                                     // @list(
        s += x;                                            // @list)
    return s;
}

__attribute__((noinline)) double lambda_loop(std::vector<double> &x, int n)
{
    double s = 0;
    auto body = [&](int m) {
        for (int i = 0; i < m; i++) {                      // @lambda(
            x[i] += i;
            s += x[i] * 0.5;                               // @lambda)
        }
    };
    body(n);
    return s;
}

struct Base {
    virtual double apply(double) const = 0;
    virtual ~Base() {}
};
struct Twice : Base {
    double apply(double x) const override { return 2 * x; }
};

__attribute__((noinline)) double virtual_calls(const std::vector<Base *> &shapes)
{
    double s = 1;
    for (size_t i = 0; i < shapes.size(); ++i)             // @virtual(
        s = shapes[i]->apply(s);                           // @virtual)
    return s;
}

__attribute__((noinline)) void pairs(std::vector<double> &v)
{
    for (size_t i = 0; i < v.size(); ++i)                  // @pairs_i(
        for (size_t j = i; j < v.size(); ++j)              // @pairs_j(
            if (v[i] > v[j])
                std::swap(v[i], v[j]);                     // @pairs_j) @pairs_i)
}

template <class F> static inline void for_every(double *x, int n, F f)
{
    for (int i = 0; i < n; i++)                            // @for_every(
        x[i] = f(x[i]) * 0.5 + x[n - 1 - i] / (i + 1);     // @for_every)
}

__attribute__((noinline)) void own_algorithm(double *x, int n)
{
    for_every(x, n, [](double y) { return y + 1; });
}

int main(int argc, char **)
{
    grid::Field<double> g;
    grid::Field<float> h;
    g.v.assign(argc * 100, 2.0);                           // @?assign1( @?assign1)
    h.v.assign(argc * 100, 2.0f);                          // @?assign2( @?assign2)
    g.scale(3);
    h.scale(2);
    std::vector<double> w(g.v.size());                     // @?w( @?w)
    std::map<int, std::string> m;
    for (int i = 0; i < argc * 10; i++)                    // @map(
        m[i] = std::string(i, 'x');                        // @map) @?map_find( @?map_find)
    std::list<double> l(w.begin(), w.end());               // @?copy( @?copy)
    Twice twice;
    std::vector<Base *> shapes(argc * 5, &twice);          // @?shapes( @?shapes)
    pairs(g.v);
    own_algorithm(w.data(), argc);
    double s = g.total() + h.total() + algorithms(g.v, w) + exceptions(m) + lists(l) + lambda_loop(w, argc);
    s += virtual_calls(shapes) + through_function([](double x) { return x * 2; }, argc);
    std::printf("%g\n", s);
    return 0;                                              // @?release( @?release)
}
