/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a few instructions that are not inlined, called from loops. */
#include <stdio.h>

struct particle {
    float x, y, vx, vy;
};
enum { N = 4096, ROUNDS = 45000 };
static struct particle particles[N];

__attribute__((noinline)) static void move(struct particle *p, float dt)
{
    p->x += dt * p->vx;
    p->y += dt * p->vy;
}
__attribute__((noinline)) static void bounce(struct particle *p)
{
    if (p->x < 0 || p->x > 1)
        p->vx = -p->vx;
    if (p->y < 0 || p->y > 1)
        p->vy = -p->vy;
}

int main(void)
{
    float sum = 0;
    for (int i = 0; i < N; i++)
        particles[i] = (struct particle){i % 97 / 97.f, i % 89 / 89.f, (i % 7 - 3) / 100.f, (i % 5 - 2) / 100.f};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N; i++) {
            move(&particles[i], 0.01f);
            bounce(&particles[i]);
        }
    for (int i = 0; i < N; i++)
        sum += particles[i].x;
    printf("%f\n", sum);
    return 0;
}
