/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of docs/tutorial.md: particles that attract each other, step by step. Each pair is computed once, for
 * both of its particles: row i holds the pairs of particle i with all particles before it. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { N = 2000, STEPS = 200 };

static const double step_length = 1e-3;

struct particle {
    double x, y, vx, vy;
};

static struct particle particles[N];
static double force[2 * N], total[2 * N];
static int rank, size;

static void place_particles(void)
{
    for (int i = 0; i < N; i++) {
        particles[i] = (struct particle){.x = cos(0.7 * i) * i, .y = sin(0.7 * i) * i};
        force[2 * i] = force[2 * i + 1] = 0.0;
    }
}

static void attract(int i, int j)
{
    double dx = particles[j].x - particles[i].x, dy = particles[j].y - particles[i].y;
    double square = dx * dx + dy * dy + 1.0, pull = 1.0 / (square * sqrt(square));
    force[2 * i] += pull * dx;
    force[2 * i + 1] += pull * dy;
    force[2 * j] -= pull * dx;
    force[2 * j + 1] -= pull * dy;
}

static void compute_forces(void)
{
    for (int i = rank * N / size; i < (rank + 1) * N / size; i++) {
        for (int j = 0; j < i; j++)
            attract(i, j);
    }
}

static void move_particles(void)
{
    for (int i = 0; i < N; i++) {
        particles[i].vx += step_length * total[2 * i];
        particles[i].vy += step_length * total[2 * i + 1];
        particles[i].x += step_length * particles[i].vx;
        particles[i].y += step_length * particles[i].vy;
        force[2 * i] = force[2 * i + 1] = 0.0;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    place_particles();
    for (int step = 0; step < STEPS; step++) {
        compute_forces();
        MPI_Allreduce(force, total, 2 * N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        move_particles();
    }
    if (rank == 0)
        printf("particle 0 is at %.3f %.3f\n", particles[0].x, particles[0].y);
    MPI_Finalize();
    return 0;
}
