/* What program.c calls in a shared library. */
#define _GNU_SOURCE
#include <math.h>
#include <poll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
static volatile double sink = 1;
static volatile unsigned long bits = 88172645463325252UL;
static double row[1024];

