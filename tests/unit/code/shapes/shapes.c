/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of every shape. "@name(" marks the first line of a loop, "@name)" its last; "@?name(": it may be optimised away. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    double value;
};

volatile int sink;

__attribute__((noinline)) double nested(double *x, int n, int reps)
{
    double s = 0;
    for (int r = 0; r < reps; r++)          /* @outer( */
        for (int i = 1; i < n - 1; i++) {   /* @inner( */
            x[i] = 0.5 * (x[i - 1] + x[i + 1]);
            s += x[i];                      /* @inner) @outer) */
        }
    return s;
}

__attribute__((noinline)) void matmul(int n, double a[n][n], double b[n][n], double c[n][n])
{
    for (int i = 0; i < n; i++)             /* @mm_i( */
        for (int j = 0; j < n; j++) {       /* @mm_j( */
            double sum = 0;
            for (int k = 0; k < n; k++)     /* @mm_k( */
                sum += a[i][k] * b[k][j];   /* @mm_k) */
            c[i][j] = sum;                  /* @mm_j) @mm_i) */
        }
}

__attribute__((noinline)) double list_sum(const struct node *node)
{
    double sum = 0;
    while (node != NULL) {                  /* @while( */
        sum += node->value;
        node = node->next;                  /* @while) */
    }
    return sum;
}

__attribute__((noinline)) int collatz(unsigned n)
{
    int steps = 0;
    do {                                    /* @do( */
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    } while (n != 1);                       /* @do) */
    return steps;
}

__attribute__((noinline)) int break_in_the_middle(const int *x, int n)
{
    int i = 0, sum = 0;
    while (1) {                             /* @middle( */
        sum += x[i];
        sink = sum;
        if (++i == n)
            break;
        sum ^= x[i];
        sink = i;                           /* @middle) */
    }
    return sum;
}

__attribute__((noinline)) int with_continue(const int *x, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) {           /* @continue( */
        if (x[i] < 0)
            continue;
        if (x[i] == 7)
            count += 3;
        sink = count;                       /* @continue) */
    }
    return count;
}

__attribute__((noinline)) int with_goto(int n)
{
    int i = 0;
again:
    sink = i;                               /* @goto( */
    i += 2;
    if (i < n)
        goto again;                         /* @goto) */
    return i;
}

__attribute__((noinline)) int interpreter(const int *op, int n)
{
    int acc = 0;
    for (int i = 0; i < n; i++) {           /* @switch( */
        switch (op[i]) {
        case 0:
            acc += 3;
            break;
        case 1:
            acc *= 5;
            break;
        case 2:
            acc -= op[i + 1];
            break;
        case 3:
            for (int k = 0; k < acc; k++)   /* @in_case( */
                sink = k;                   /* @in_case) */
            break;
        case 4:
            acc = -acc;
            break;
        case 5:
            printf("%d\n", acc);
            break;
        case 6:
            acc ^= i;
            break;
        default:
            acc++;                          /* @switch) */
        }
    }
    return acc;
}

__attribute__((noinline)) double one_line(double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i];  /* @one( @one) */
    return s;
}

__attribute__((noinline)) void vectorised(float *restrict y, const float *restrict x, float a, int n)
{
    for (int i = 0; i < n; i++)             /* @axpy( */
        y[i] += a * x[i];                   /* @axpy) */
}

__attribute__((noinline)) void several_lines(double *x, int n)
{
    for (int i = 0;
         i < n;                             /* @several( */
         i++) {
        double t = x[i];
        t = t * t +
            3 * t +
            1;
        x[i] = sqrt(t);                     /* @several) */
    }
}

__attribute__((noinline)) void unswitched(double *x, int n, int flag)
{
    for (int i = 0; i < n; i++) {           /* @unswitched( */
        x[i] *= 1.5;
        if (flag)
            x[i] += 2;
        else
            x[i] -= sin(x[i]);              /* @unswitched) */
    }
}

static inline double kernel(const double *x, int n)
{
    double best = x[0];
    for (int i = 1; i < n; i++)             /* @inlined( */
        if (x[i] > best)
            best = x[i];                    /* @inlined) */
    return best;
}

__attribute__((noinline)) double calls_twice(double *x, int n)
{
    double a = kernel(x, n);
    x[0] = 0;
    return a + kernel(x + 1, n - 1);
}

static inline double weigh(double v)
{
    double w = v * v;
    w += sqrt(fabs(w));
    w *= 0.5 + w;
    w -= 1 / (1 + w);
    w = w > 3 ? w - 3 : w + 1;
    return w / 2;
}

__attribute__((noinline)) double inlined_body(const double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)             /* @inlined_body( */
        s += weigh(x[i]);                   /* @inlined_body) */
    return s;
}

static inline double settled(double x, int n) { for (int i = 0; i < n; i++) x = x * 0.99 + 0.5; return x; } /* @in_one_line( @in_one_line) */

__attribute__((noinline)) double inlined_line(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)             /* @inlined_line( */
        s += settled(i, n);                 /* @inlined_line) */
    return s;
}

static inline int is_done(const double *x, int i)
{
    return x[i] > 1e6 || x[i] < -1e6 || x[i] != x[i] || fabs(x[i]) == 17;
}

__attribute__((noinline)) int inlined_condition(const double *x)
{
    int i = 0;
    while (!is_done(x, i))                  /* @inlined_condition( */
        i++;                                /* @inlined_condition) */
    return i;
}

__attribute__((noinline)) void stops(const int *x, int n)
{
    for (int i = 0; i < n; i++) {           /* @stops( */
        if (x[i] == 99)
            exit(3);
        if (x[i] == 98)
            abort();
        sink = x[i];                        /* @stops) */
    }
}

__attribute__((noinline)) double constants(double *x, int n)
{
    double h = 1.0 / 3.7, k = h * 11.3;

    double big = 1e300;

    for (int i = 0; i < n; i++) {           /* @constants( */
        x[i] = x[i] * h + k;
        if (x[i] > big)
            x[i] = sin(x[i]) + cos(h) + h * k;  /* @constants) */
    }
    return h;
}

/* Statements of the loop have rows where the routine is entered. */
__attribute__((noinline)) double branches(const unsigned char *flag, const double *v)
{
    double sum = 1;
    for (int i = 0; i < 400000; i++) {      /* @branches( */
        if (flag[i])
            sum += 3.0 / (v[i] + 0.7) + 2.0 / (v[i] + 0.3) + 5.0 / (v[i] + 1.3);
        else
            sum = sum * 0.75 + 1.25;        /* @branches) */
    }
    return sum;
}

__attribute__((noinline)) void deep(int *x, int n)
{
    for (int a = 0; a < n; a++) {           /* @deep_a( */
        sink = a;
        for (int b = 0; b < n; b++) {       /* @deep_b( */
            for (int c = 0; c < b; c++)     /* @deep_c( */
                sink = c * x[c];            /* @deep_c) */
            int d = b;
            while (d > a) {                 /* @deep_d( */
                d -= x[d];
                sink = d;                   /* @deep_d) @deep_b) */
            }
        }
        for (int e = 0; e < n; e++)         /* @deep_e( */
            sink = x[e] + a;                /* @deep_e) @deep_a) */
    }
}

__attribute__((noinline)) int string_length(const char *text)
{
    int n = 0;
    while (*text++)                         /* @strlen( */
        sink = n++;                         /* @strlen) */
    return n;
}

struct run {
    int rank, n_steps;
};

__attribute__((noinline)) void may_change(struct run *run)
{
    __asm__ volatile("" : : "r"(run) : "memory");
}

static void time_steps(struct run *run)
{
    for (int step = 0; step < run->n_steps; step++) {    /* @steps( */
        sink = run->rank > 0 ? run->rank - 1 : -2;
        may_change(run);                                 /* @steps) */
    }
}

/* What is loaded behind the loop is loaded on its way back instead, where the next step needs it as well. */
__attribute__((noinline)) int inlined_steps(struct run *run)
{
    for (int i = 0; i < run->n_steps; i++)               /* @before_steps( */
        sink = run->rank == 0;                           /* @before_steps) */
    time_steps(run);
    if (run->rank == 0)
        sink = 1;
    return sink;
}

static int calls_library(char *text, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++) {                        /* @library( */
        char *end = text;
        text[i] ^= i;
        total += strtol(text, &end, 10);                 /* @library) */
    }
    return total;
}

/* An inlined loop that begins where its routine is entered. Built to count, it has a counter on its way back. */
__attribute__((noinline)) void inlined_library(char *text, int n_rounds)
{
    for (int round = 0; round < n_rounds; round++) {     /* @rounds( */
        calls_library(text, 4);
        puts(text);                                      /* @rounds) */
    }
}

/* The vectoriser multiplies instead of dividing, and what it makes up for that has a line but no routine. */
static int keys[4096];
static long remainders_above(int limit)
{
    long n = 0;
    for (int round = 0; round < 4; round++)              /* @above_rounds( */
        for (int i = 0; i < 4096; i++)                   /* @above( */
            n += (keys[i] * 2654435761u >> 20) % 97 > (unsigned)(limit + round); /* @above) @above_rounds) */
    return n;
}
static long remainders_below(int limit);

__attribute__((noinline)) long vectorised_remainders(int n_steps)
{
    long n = 0;
    for (int step = 0; step < n_steps; step++) {         /* @remainders( */
        keys[step] += (int)n;
        n += remainders_above(step % 50);
        sink = (int)n;
        n += remainders_below(step % 60);
        puts("");                                        /* @remainders) */
    }
    return n;
}

static long remainders_below(int limit)
{
    long n = 0;
    for (int round = 0; round < 4; round++)              /* @below_rounds( */
        for (int i = 0; i < 4096; i++)                   /* @below( */
            n += (keys[i] * 2654435761u >> 21) % 89 < (unsigned)(limit + round); /* @below) @below_rounds) */
    return n;
}

/* Whether to go through a row is asked where the row before ends. */
__attribute__((noinline)) void rows(const int *size, double *to, double *sums, const double *from, int sweep)
{
    int j_min = size[0], j_max = size[1], i_min = size[2], i_max = size[3];
    if (sweep == 1) {
        for (int j = j_min; j <= j_max; j++)             /* @rows_up( */
            for (int i = i_min; i <= i_max; i++) {       /* @row_up( */
                to[i + i_max * j] = from[i + i_max * j] + from[i + 1 + i_max * j] - from[i];
                sums[i + i_max * j] = to[i + i_max * j] + from[i + 1]; /* @row_up) @rows_up) */
            }
    } else if (sweep == 3) {
        for (int j = j_min; j <= j_max; j++)             /* @rows_down( */
            for (int i = i_min; i <= i_max; i++) {       /* @row_down( */
                to[i + i_max * j] = from[i + i_max * j];
                sums[i + i_max * j] = to[i + i_max * j] + from[i + i_max * (j + 1)]; /* @row_down) @rows_down) */
            }
    }
}

__attribute__((noinline)) static void work(long n)
{
    sink = (int)n;
}

/* The way past the step that is another one may go back on its own. */
__attribute__((noinline)) static void one_odd_step(int rank)
{
    for (int step = 0; step < 300; step++) {             /* @odd_step( */
        work(rank == 1 && step == 100 ? 50 : 10);
        double mine = sink, all = 0;
        modf(mine, &all);                                /* @odd_step) */
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 16;
    double *x = malloc((size_t)n * sizeof *x);
    int *ints = malloc((size_t)(n + 1) * sizeof *ints);
    float *f = malloc((size_t)n * sizeof *f), *g = malloc((size_t)n * sizeof *g);
    struct node last = {NULL, 1}, first = {&last, 2};
    for (int i = 0; i < n; i++) {           /* @fill( */
        x[i] = i * 0.25;
        ints[i] = i % 8;
        f[i] = g[i] = (float)i;             /* @fill) */
    }
    double s = nested(x, n, 3) + list_sum(&first) + one_line(x, n) + calls_twice(x, n) + inlined_body(x, n);
    s += collatz((unsigned)n) + break_in_the_middle(ints, n) + with_continue(ints, n) + with_goto(n);
    s += inlined_line(n) + interpreter(ints, n) + constants(x, n) + string_length(argv[0]) +
         branches((const unsigned char *)argv[0], x);
    vectorised(f, g, 2, n);
    several_lines(x, n);
    unswitched(x, n, argc);
    stops(ints, n);
    deep(ints, 3);
    inlined_steps(&(struct run){argc, n});
    inlined_library(argv[0], argc);
    s += (double)vectorised_remainders(argc);
    rows((const int[]){0, 1, 0, argc}, x, x, x, argc);
    one_odd_step(argc);
    x[n - 1] = 1e7;
    printf("%g %d\n", s, inlined_condition(x));
    return 0;
}
