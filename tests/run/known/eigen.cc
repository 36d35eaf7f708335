/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time passes in a template library that keeps blocks of many kilobytes on the stack, more than a sample copies as
 * a rule. It is the loop of the program that calls it which is named, not the library's header.
 *
 * ranks: 3
 * expect: loop=template_multiply rank=1 share=0.8 call=MPI_Allreduce routine=multiply_often
 */
#include "known.h"
#include <Eigen/Dense>

typedef Eigen::MatrixXd Matrix;
enum { SMALL = 25, LARGE = 100, STEPS = 60, TIMES = 40 };

/* begin template_multiply */
static __attribute__((noinline)) void multiply_often(const Matrix &a, const Matrix &b, Matrix &c)
{
    for (int i = 0; i < TIMES; i++)
        c.noalias() += a * b;
}
/* end template_multiply */

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n = rank == 1 ? LARGE : SMALL;
    Matrix a = Matrix::Constant(n, n, 0.5), b = a, c = a;
    double sum;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        multiply_often(a, b, c);
        MPI_Allreduce(c.data(), &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink = sum;
    }
    MPI_Finalize();
    return 0;
}
