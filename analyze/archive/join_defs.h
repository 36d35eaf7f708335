/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the global definitions of a join: what the files that do share. */
#pragma once
#include "analyze/archive/join.h"

struct def_writer {
    struct join *join;
    OTF2_GlobalDefWriter *writer;
    uint32_t n_groups;
    struct intern strings, hosts, regions, lines;
};

#define DEFINE(defs, record, ...)                                                                                      \
    ((defs)->join->failed |= OTF2_GlobalDefWriter_Write##record((defs)->writer, __VA_ARGS__) != OTF2_SUCCESS)

enum { DEFS_ROOT_NODE }; /* of the system tree */
/* Groups, communicators and windows. */
void join_define_comms(struct def_writer *defs);
/* The I/O paradigm, files and handles. */
void join_define_files(struct def_writer *defs);
