/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program with `use mpi_f08` is to the linker: it calls mpi_allreduce_f08ts_, which takes descriptors of
 * buffers, and in Open MPI 6 mpi_allreduce_c_f08ts_ for large counts. The library stands for the binding, and goes on
 * to PMPI. */
#include <mpi.h>

struct descriptor {
    void *base; /* the rest is of no use here */
};

#define ENTRY(name, count)                                                                                             \
    void name(struct descriptor *from, struct descriptor *to, count *n, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm,  \
              MPI_Fint *err)

#ifdef LIBRARY
#define DEFINE(name, count)                                                                                            \
    ENTRY(name, count)                                                                                                 \
    {                                                                                                                  \
        *err =                                                                                                         \
            PMPI_Allreduce(from->base, to->base, (int)*n, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));  \
    }
DEFINE(mpi_allreduce_f08ts_, int)
DEFINE(mpi_allreduce_c_f08ts_, MPI_Count)
#else
ENTRY(mpi_allreduce_f08ts_, int);
ENTRY(mpi_allreduce_c_f08ts_, MPI_Count);

int main(int argc, char **argv)
{
    double one = 1, sum = 0;
    struct descriptor from = {&one}, to = {&sum};
    MPI_Count large = 1;
    int n = 1;
    MPI_Init(&argc, &argv);
    MPI_Fint err, type = MPI_Type_c2f(MPI_DOUBLE), op = MPI_Op_c2f(MPI_SUM), comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    for (int i = 0; i < 40; i++) {
        mpi_allreduce_f08ts_(&from, &to, &n, &type, &op, &comm, &err);
        mpi_allreduce_c_f08ts_(&from, &to, &large, &type, &op, &comm, &err);
    }
    MPI_Finalize();
    return sum == 2 ? 0 : 1;
}
#endif
