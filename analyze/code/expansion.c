/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdw expands compressed sections as far as they go, and libdwfl the small symbol table of stripped programs
 * (MiniDebugInfo: a whole ELF file, by xz, in .gnu_debugdata).
 *
 * A compressed section states its size. Compilers' debug information becomes a third to a fifth by compression: what
 * would take more than a file of MOST_TIMES the length is no debug information. Data of xz states nothing that binds
 * it, so it is expanded here first, up to a limit. What comes out has no compressed sections: it was compressed itself.
 */
#include "analyze/code/expansion.h"
#include <elf.h>
#include <gelf.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_TIMES = 64,
    MOST_SYMBOL_BYTES = 128 << 20, /* two million symbols with names of 40 characters */
    MOST_XZ_BYTES = 80 << 20,      /* of memory: `xz -9` needs 65 MB */
};

/* The size to which a section says that it expands; 0 = it is not compressed. */
static uint64_t expanded_bytes(Elf *elf, Elf_Scn *scn, size_t names)
{
    enum { OLD_HEADER_BYTES = 12 }; /* "ZLIB", then the size, its highest byte first */
    GElf_Shdr header;
    GElf_Chdr compressed;
    uint64_t n_bytes = 0;
    if (gelf_getshdr(scn, &header) == NULL)
        return 0;
    if (header.sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(scn, &compressed) != NULL ? compressed.ch_size : UINT64_MAX;
    const char *name = elf_strptr(elf, names, header.sh_name);
    Elf_Data *data = name != NULL && strncmp(name, ".zdebug", 7) == 0 ? elf_rawdata(scn, NULL) : NULL;
    for (size_t i = 4; data != NULL && data->d_buf != NULL && data->d_size >= OLD_HEADER_BYTES && i < OLD_HEADER_BYTES;
         i++)
        n_bytes = n_bytes << 8 | ((const uint8_t *)data->d_buf)[i];
    return n_bytes;
}

/* Expanded data of xz, in `bytes` (to be freed). False when it is damaged or too much: libdwfl stops at damage too, but
 * keeps what came before. */
static bool expand_xz(const Elf_Data *data, uint64_t most_bytes, uint8_t **bytes, uint64_t *n_bytes)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    uint64_t room = 0;
    lzma_ret status = lzma_auto_decoder(&stream, MOST_XZ_BYTES, 0);
    stream.next_in = data->d_buf;
    stream.avail_in = data->d_size;
    while (status == LZMA_OK && stream.total_out < most_bytes) {
        room = room == 0 ? 1 << 16 : 2 * room < most_bytes ? 2 * room : most_bytes;
        uint8_t *larger = realloc(*bytes, room);
        if (larger == NULL)
            break;
        *bytes = larger;
        stream.next_out = larger + stream.total_out;
        stream.avail_out = room - stream.total_out;
        status = lzma_code(&stream, LZMA_FINISH);
    }
    *n_bytes = stream.total_out;
    lzma_end(&stream);
    return status == LZMA_STREAM_END;
}

static bool has_compressed_section(Elf *elf)
{
    size_t names = 0;
    for (Elf_Scn *scn = NULL; elf_getshdrstrndx(elf, &names) == 0 && (scn = elf_nextscn(elf, scn)) != NULL;)
        if (expanded_bytes(elf, scn, names) > 0)
            return true;
    return false;
}

/* The section's ELF file, expanded. */
static bool symbols_are_plausible(Elf_Scn *scn)
{
    Elf_Data *data = elf_rawdata(scn, NULL);
    uint8_t *bytes = NULL;
    uint64_t n_bytes = 0, most_bytes = data != NULL ? (uint64_t)data->d_size * MOST_TIMES : 0;
    if (data == NULL || data->d_buf == NULL)
        return true; /* there is nothing to expand */
    most_bytes = most_bytes < MOST_SYMBOL_BYTES ? most_bytes : MOST_SYMBOL_BYTES;
    bool is_plausible = expand_xz(data, most_bytes, &bytes, &n_bytes);
    Elf *elf = is_plausible && n_bytes > 0 ? elf_memory((char *)bytes, n_bytes) : NULL;
    is_plausible = is_plausible && (elf == NULL || !has_compressed_section(elf));
    elf_end(elf);
    free(bytes);
    return is_plausible;
}

static bool sections_are_plausible(Elf *elf, uint64_t file_bytes)
{
    uint64_t left = file_bytes * MOST_TIMES;
    size_t names = 0;
    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return true; /* there are no sections */
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn != NULL; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;
        uint64_t n_bytes = expanded_bytes(elf, scn, names);
        if (n_bytes > left || (name != NULL && strcmp(name, ".gnu_debugdata") == 0 && !symbols_are_plausible(scn)))
            return false;
        left -= n_bytes;
    }
    return true;
}

/* libdwfl would also expand a file that is compressed as a whole. */
bool expansion_is_plausible(int fd)
{
    char magic[SELFMAG];
    struct stat status;
    if (pread(fd, magic, sizeof magic, 0) != SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0 || fstat(fd, &status) != 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool is_plausible = sections_are_plausible(elf, (uint64_t)status.st_size);
    elf_end(elf);
    return is_plausible;
}
