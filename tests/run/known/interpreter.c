/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter of interpreted.c: in its file's name it is one. */
enum { ADD, MULTIPLY, CALL, END };
struct method {
    const char *name;
    int (*call)(int);
    int flags;
    const char *doc;
};
double interpret(const int *program, const int *counts, const struct method *method);

__attribute__((noinline)) static double add(int n)
{
    double x = 0;
    for (int i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

__attribute__((noinline)) static double multiply(int n)
{
    double x = 1;
    for (int i = 0; i < n; i++)
        x = x * 0.999999 / 0.9999 + 1e-6;
    return x;
}

double interpret(const int *program, const int *counts, const struct method *method)
{
    double x = 0;
    for (;; program++) {
        if (*program == ADD)
            x += add(counts[ADD]);
        else if (*program == MULTIPLY)
            x += multiply(counts[MULTIPLY]);
        else if (*program == CALL)
            x += method->call(counts[CALL]);
        else
            return x;
    }
}
