/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing: the two sections of the file, through libelf. Their bytes are kept with the table. */
#include "analyze/counts/table.h"
#include "wrap/base/err.h"
#include "wrap/base/plain.h"
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bytes {
    const unsigned char *at;
    size_t n;
};

/* A copy of the section's contents, ended by a zero byte. */
static struct bytes section(struct counts *counts, Elf *elf, const char *name)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return (struct bytes){0};
    for (Elf_Scn *each = NULL; (each = elf_nextscn(elf, each));) {
        GElf_Shdr header;
        if (!gelf_getshdr(each, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *text = elf_strptr(elf, names, header.sh_name);
        if (!text || strcmp(text, name) != 0)
            continue;
        if (header.sh_flags & SHF_COMPRESSED)
            elf_compress(each, 0, 0);
        Elf_Data *data = elf_rawdata(each, NULL);
        if (!data || !data->d_buf)
            continue;
        unsigned char *copy = arena_alloc(&counts->arena, data->d_size + 1);
        memcpy(copy, data->d_buf, data->d_size);
        return (struct bytes){copy, data->d_size};
    }
    return (struct bytes){0};
}

int counts_open(const char *path, struct counts **opened)
{
    *opened = NULL;
    elf_version(EV_CURRENT);
    int fd = plain_open(path, 0);
    if (fd < 0)
        return error("cannot read %s: %s", path, strerror(errno));
    struct counts *counts = calloc(1, sizeof *counts);
    if (!counts)
        err_out_of_memory(sizeof *counts);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    struct bytes points = {0}, strings = {0};
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        points = section(counts, elf, POINTS_SECTION);
        strings = section(counts, elf, POINTS_STRINGS);
    }
    elf_end(elf);
    close(fd);
    if (points.n)
        table_read(counts, points.at, points.n, (const char *)strings.at, strings.n);
    if (counts->n_functions)
        *opened = counts;
    else
        counts_close(counts);
    return 0;
}

void counts_close(struct counts *counts)
{
    if (!counts)
        return;
    for (uint32_t f = 0; f < counts->n_functions; f++)
        cfg_release(&counts->functions[f].cfg);
    arena_release(&counts->arena);
    free(counts);
}

uint32_t counts_n_functions(const struct counts *counts)
{
    return counts->n_functions;
}

const struct counts_function *counts_function(const struct counts *counts, uint32_t function)
{
    return &counts->functions[function];
}

uint32_t counts_n_points(const struct counts *counts)
{
    return counts->n_points;
}
