/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a spool file back as a reader must: record after record until the first zero word. */
#pragma once
#include "wrap/format.h"
#include <stdio.h>
#include <stdlib.h>

struct spool_file {
    char *bytes;
    size_t n;
    struct ww_header *header;
};

static inline struct spool_file spool_file_load(const char *path)
{
    struct spool_file file = {0};
    FILE *in = fopen(path, "rb");
    if (!in)
        return file;
    fseek(in, 0, SEEK_END);
    file.n = (size_t)ftell(in);
    rewind(in);
    file.bytes = malloc(file.n + 1);
    if (fread(file.bytes, 1, file.n, in) != file.n)
        file.n = 0;
    fclose(in);
    file.header = (struct ww_header *)file.bytes;
    return file;
}

/* The record after `record`, or the first one; NULL at the end. Fillers are passed over. */
static inline const struct ww_head *spool_file_next(const struct spool_file *file, const struct ww_head *record)
{
    const char *at = record ? (const char *)record + (size_t)record->units * WW_UNIT : file->bytes + WW_HEADER_BYTES;
    for (; at + WW_UNIT <= file->bytes + file->n;
         at += (size_t)((const struct ww_head *)(const void *)at)->units * WW_UNIT) {
        const struct ww_head *head = (const void *)at;
        if (head->type == 0)
            return NULL;
        if (head->type != WW_PAD)
            return head;
    }
    return NULL;
}

static inline size_t spool_file_count(const struct spool_file *file, unsigned type)
{
    size_t n = 0;
    for (const struct ww_head *r = spool_file_next(file, NULL); r; r = spool_file_next(file, r))
        n += r->type == type;
    return n;
}
