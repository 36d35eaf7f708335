/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same as file_together.c with two ranks: where ranks spin while they wait, a third one takes a processor from the
 * others. (Two ranks of Open MPI do not wait for each other before they write.)
 *
 * ranks: 2
 * expect: loop=prepares_part rank=1 share=0.8 call=MPI_File_write_at_all wait="wait at collective I/O" waiters=0
 */
#include "file_together.c"
