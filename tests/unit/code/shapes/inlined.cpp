// SPDX-License-Identifier: BSD-3-Clause
// Loops of routines that are inlined whole; marks as in shapes.c.
#include <cstdio>

// Into itself, level by level, each level split behind its test.
struct Cell {
    double m, x;
    Cell *kid[4];
    void pull(double at, double near, double &sum) const
    {
        double d = x - at;
        if (d * d > near) {
            sum += m / (d * d);
            return;
        }
        for (Cell *k : kid)                                // @recursion(
            if (k)
                k->pull(at, near, sum);                    // @recursion)
    }
};

struct Body {
    double x, v;
    int kind;
};
static Body bodies[4096];
static __attribute__((noinline)) void kick(Body *b, double dt)
{
    b->v += dt * b->x;
}
static __attribute__((noinline)) void drift(Body *b, double dt)
{
    b->x -= dt * b->v;
}
static __attribute__((noinline)) int is_alive(const Body *b)
{
    return b->kind != 9;
}

// Nothing but the loop is left of it, and that may be laid out with its end first.
static void step(int n, double dt)
{
    for (int i = 0; i < n; i++)                            // @step(
        if (is_alive(&bodies[i])) {
            kick(&bodies[i], dt);
            drift(&bodies[i], dt);                         // @step)
        }
}

int main(int argc, char **)
{
    Cell leaf{1, 2, {}}, root{1, 1, {&leaf, nullptr, &leaf}};
    double pulled = 0;
    for (int i = 0; i < argc; i++) {                       // @turns(
        root.pull(i, argc, pulled);
        step(pulled > i ? 3000 : 1000, 1e-4);
        std::printf("%g\n", pulled + bodies[7].x);            // @turns)
    }
    return 0;
}
