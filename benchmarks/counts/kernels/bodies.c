/* SPDX-License-Identifier: BSD-3-Clause */
/* Forces between all pairs of bodies: floating-point work with a square root. */
#include <math.h>
#include <stdio.h>

enum { N = 900, ROUNDS = 200 };
static double px[N], py[N], pz[N], vx[N], vy[N], vz[N];

static void step(double dt)
{
    for (int i = 0; i < N; i++) {
        double ax = 0, ay = 0, az = 0;
        for (int j = 0; j < N; j++) {
            double dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
            double d2 = dx * dx + dy * dy + dz * dz + 0.01;
            double f = 1 / (d2 * sqrt(d2));
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
        vx[i] += dt * ax;
        vy[i] += dt * ay;
        vz[i] += dt * az;
    }
    for (int i = 0; i < N; i++) {
        px[i] += dt * vx[i];
        py[i] += dt * vy[i];
        pz[i] += dt * vz[i];
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        px[i] = i * 7 % 101;
        py[i] = i * 13 % 103;
        pz[i] = i * 17 % 107;
    }
    for (int round = 0; round < ROUNDS; round++)
        step(0.01);
    printf("%.9f\n", px[5]);
    return 0;
}
