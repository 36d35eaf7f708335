/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler moves what complains out of line; walk() jumps to its beginning and to its middle, and both go back into
 * the loop. Without names, only jumps tell which of the two is the routine. */
void run(const double *x, int n);
void complain(int what);

volatile int n_complaints;
volatile double walked;

__attribute__((noinline, cold)) void complain(int what)
{
    n_complaints += what;
}

__attribute__((noinline)) static double walk(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (__builtin_expect(x[i] < 0, 0)) {
            complain(i);
            complain(2);
            sum *= 2;
            goto next;
        }
        sum += x[i];
        if (__builtin_expect(sum > 1e9, 0)) {
            complain(3);
            complain(9);
            sum = 0;
        }
    next:
        sum += 1;
    }
    return sum;
}

void run(const double *x, int n)
{
    walked = walk(x, n) + walk(x + 1, n - 1);
}
