/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time passes in a template library that keeps blocks of many kilobytes on the stack, more than a sample copies as
 * a rule. It is the loop of the program that calls it which is named, not the library's header. With KNOWN_REDUCTION
 * that loop is in a reduction of the program's own, which MPI calls, so that other calls tell nothing of the way to it.
 *
 * ranks: 3
 * expect: loop=template_multiply rank=1 share=0.97 call=MPI_Allreduce|MPI_Barrier routine=multiply_often
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

static Matrix a, b, c;

static void multiply(void *in, void *in_out, int *, MPI_Datatype *)
{
    multiply_often(a, b, c);
    *static_cast<double *>(in_out) += *static_cast<double *>(in);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n = rank == 1 ? LARGE : SMALL;
    a = b = c = Matrix::Constant(n, n, 0.5);
    double sum;
    MPI_Op op;
    MPI_Op_create(multiply, 1, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
#if defined KNOWN_REDUCTION
        MPI_Reduce(c.data(), &sum, 1, MPI_DOUBLE, op, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
#else
        multiply_often(a, b, c);
        MPI_Allreduce(c.data(), &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
        known_sink = sum;
    }
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
