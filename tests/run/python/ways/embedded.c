/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program in C with an interpreter inside, for part of its life: embedded.py has a loop that is longer on rank 1. The
 * program calls MPI before the interpreter begins and after it has ended. Values of threads that look like an
 * interpreter's state then lead nowhere.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <mpi.h>
#include <pthread.h>

enum { N_ROUNDS = 40, N_OUTSIDE = 200, N_VALUES = 12, N_WORDS = 512 };

static void lay_traps(void)
{
    static uint64_t trap[N_WORDS];
    for (int i = 0; i < N_WORDS; i++)
        trap[i] = 0x5a5a5a5a5a58;
    for (int i = 0; i < N_VALUES; i++) {
        pthread_key_t key;
        if (pthread_key_create(&key, NULL) == 0)
            pthread_setspecific(key, trap);
    }
}

static void meet(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static double call_relax(const char *path, int n)
{
    double total = 0;
    FILE *file = fopen(path, "r");
    if (!file || PyRun_SimpleFileEx(file, path, 1) != 0)
        return 0;
    PyObject *relax = PyObject_GetAttrString(PyImport_AddModule("__main__"), "relax");
    for (int i = 0; i < N_ROUNDS; i++) {
        PyObject *result = PyObject_CallFunction(relax, "i", n);
        total += PyFloat_AsDouble(result);
        Py_XDECREF(result);
        meet(1);
    }
    Py_XDECREF(relax);
    return total;
}

int main(int argc, char **argv)
{
    int rank;
    lay_traps();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    meet(N_OUTSIDE);
    Py_Initialize();
    double total = call_relax(argv[1], rank == 1 ? 100000 : 10000);
    Py_FinalizeEx();
    lay_traps();
    meet(N_OUTSIDE);
    printf("rank %d has %g\n", rank, total);
    MPI_Finalize();
    return 0;
}
