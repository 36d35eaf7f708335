/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The function that deletes an attribute has more to do on rank 1. MPI calls it in MPI_Comm_free, with KNOWN_WINDOW in
 * MPI_Win_free, with KNOWN_TYPE in MPI_Type_free. It is work of the program, which no message would shorten.
 *
 * ranks: 2
 * expect: loop=forgetting rank=1 share=0.9 call=MPI_Barrier|MPI_Comm_dup|MPI_Comm_free|MPI_Win_create|MPI_Win_free
 *         counted_kind=more-work transfer=0.05
 */
#include "known.h"

static int rank;

/* The first argument is an object of some kind. */
static void gone(void)
{
    double x = known_sink;
    long links = rank == 1 ? 4000000 : 500000;
    /* begin forgetting */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end forgetting */
    known_sink = x;
}

#if defined KNOWN_WINDOW
static int forget(MPI_Win object, int key, void *value, void *extra)
#elif defined KNOWN_TYPE
static int forget(MPI_Datatype object, int key, void *value, void *extra)
#else
static int forget(MPI_Comm object, int key, void *value, void *extra)
#endif
{
    (void)object, (void)key, (void)value, (void)extra;
    gone();
    return MPI_SUCCESS;
}

static void use_once(int key)
{
    static int mark;
#if defined KNOWN_WINDOW
    MPI_Win window;
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_attr(window, key, &mark);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
#elif defined KNOWN_TYPE
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &mark);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&type);
#else
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, &mark);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
#endif
}

int main(int argc, char **argv)
{
    int key;
    rank = known_start(&argc, &argv);
#if defined KNOWN_WINDOW
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &key, NULL);
#elif defined KNOWN_TYPE
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &key, NULL);
#else
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
#endif
    for (int step = 0; step < 40; step++)
        use_once(key);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
