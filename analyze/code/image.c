/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a file through libdwfl, which finds separate debug files (build id, debug link), dwz files and the symbol
 * tables in them. Each file has a libdwfl session of its own, based at address 0, so that its addresses are the
 * link-time ones.
 */
#include "analyze/code/image.h"
#include "analyze/code/expansion.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <elf.h>
#include <errno.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_section(struct image *image, Elf_Scn *scn, const GElf_Shdr *header, size_t names)
{
    if (!(header->sh_flags & SHF_ALLOC) || (header->sh_flags & SHF_TLS) || header->sh_size == 0 ||
        header->sh_addr + header->sh_size < header->sh_addr)
        return;
    Elf_Data *data = header->sh_type == SHT_NOBITS ? NULL : elf_rawdata(scn, NULL);
    if (header->sh_type != SHT_NOBITS && (data == NULL || data->d_buf == NULL || data->d_size < header->sh_size))
        return;
    const char *name = elf_strptr(image->elf, names, header->sh_name);
    *vec_push(&image->sections) = (struct image_section){
        .lo = header->sh_addr,
        .hi = header->sh_addr + header->sh_size,
        .bytes = data != NULL ? data->d_buf : NULL,
        .is_code = (header->sh_flags & SHF_EXECINSTR) && data != NULL,
        .is_stub = name != NULL && strncmp(name, ".plt", 4) == 0,
    };
}

static void read_sections(struct image *image)
{
    size_t names = 0;
    if (elf_getshdrstrndx(image->elf, &names) != 0)
        return;
    for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn != NULL; scn = elf_nextscn(image->elf, scn)) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) != NULL)
            add_section(image, scn, &header, names);
    }
    /* Overlapping sections (damaged files) are cut, so that an address lies in one at most. */
    if (image->sections.n == 0)
        return;
    vec_sort(&image->sections, key_order_u64);
    size_t kept = 1;
    for (size_t i = 1; i < image->sections.n; i++)
        if (image->sections.at[i].lo >= image->sections.at[kept - 1].hi)
            image->sections.at[kept++] = image->sections.at[i];
    image->sections.n = kept;
}

/* The dynamic relocations say which symbol each slot of the global offset table will hold. */
static void read_relocations(struct image *image, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *relocations = elf_getdata(scn, NULL);
    Elf_Scn *symbols_scn = elf_getscn(image->elf, header->sh_link);
    GElf_Shdr symbols_header;
    if (relocations == NULL || symbols_scn == NULL || gelf_getshdr(symbols_scn, &symbols_header) == NULL ||
        symbols_header.sh_type != SHT_DYNSYM)
        return;
    Elf_Data *symbols = elf_getdata(symbols_scn, NULL);
    size_t n = header->sh_entsize > 0 ? relocations->d_size / header->sh_entsize : 0;
    for (size_t i = 0; symbols != NULL && i < n; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (gelf_getrela(relocations, (int)i, &rela) == NULL || GELF_R_SYM(rela.r_info) == 0 ||
            gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol) == NULL)
            continue;
        const char *name = elf_strptr(image->elf, symbols_header.sh_link, symbol.st_name);
        if (name != NULL && name[0] != 0)
            *map_put(&image->slots, rela.r_offset, NULL) = (uint64_t)(uintptr_t)name;
    }
}

void image_read_pointers(const struct image *image, image_pointers *pointers)
{
    const unsigned relative = image->machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
    for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn != NULL; scn = elf_nextscn(image->elf, scn)) {
        GElf_Shdr header;
        bool is_rela = gelf_getshdr(scn, &header) != NULL && header.sh_type == SHT_RELA && header.sh_entsize > 0;
        Elf_Data *relocations = is_rela ? elf_getdata(scn, NULL) : NULL;
        size_t n = relocations != NULL ? relocations->d_size / header.sh_entsize : 0;
        for (size_t i = 0; i < n; i++) {
            GElf_Rela rela;
            if (gelf_getrela(relocations, (int)i, &rela) != NULL && GELF_R_TYPE(rela.r_info) == relative)
                *vec_push(pointers) = (struct image_pointer){.at = rela.r_offset, .to = (uint64_t)rela.r_addend};
        }
    }
    vec_sort(pointers, key_order_u64);
}

/* Not there or no plain file, which is not opened (plain.h), or one that can be read without harm. */
static bool is_safe_or_missing(const char *path)
{
    int fd = plain_open(path, 0);
    bool is_safe = fd < 0 || expansion_is_plausible(fd);
    if (fd >= 0)
        close(fd);
    return is_safe;
}

bool image_split_is_safe(const struct image *image, const char *folder, const char *name)
{
    const char *file = NULL, *debug_file = NULL;
    struct arena scratch = {0};
    dwfl_module_info(image->dwfl_module, NULL, NULL, NULL, NULL, NULL, &file, &debug_file);
    char *real = realpath(debug_file != NULL ? debug_file : file != NULL ? file : "", NULL);
    const char *slash = real != NULL ? strrchr(real, '/') : NULL;
    const char *beside = slash != NULL ? arena_printf(&scratch, "%.*s", (int)(slash - real), real) : ".";
    bool is_safe = is_safe_or_missing(name);
    if (is_safe && name[0] != '/')
        is_safe = is_safe_or_missing(arena_printf(&scratch, "%s/%s", beside, name));
    if (is_safe && name[0] != '/' && folder != NULL)
        is_safe = is_safe_or_missing(arena_printf(&scratch, "%s/%s", folder, name)) &&
                  is_safe_or_missing(arena_printf(&scratch, "%s/%s/%s", beside, folder, name));
    free(real);
    arena_release(&scratch);
    return is_safe;
}

/* Lines and names both ask for it: what was not there is not searched for again, since a server may take long. */
static int find_debuginfo(Dwfl_Module *module, void **is_missing, const char *name, Dwarf_Addr base, const char *path,
                          const char *link, GElf_Word checksum, char **found)
{
    if (*is_missing != NULL)
        return -1;
    int fd = dwfl_standard_find_debuginfo(module, NULL, name, base, path, link, checksum, found);
    errno = 0;
    if (fd >= 0 && !expansion_is_plausible(fd)) {
        plain_note_fault(*found != NULL ? *found : path, errno);
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        *is_missing = module;
    return fd;
}

/* True when it is a program or a shared library. Takes the descriptor. */
static bool begin(struct image *image, const char *path, int fd)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debuginfo,
    };
    if (!expansion_is_plausible(fd)) {
        close(fd);
        return false;
    }
    image->dwfl = dwfl_begin(&callbacks);
    if (image->dwfl != NULL) {
        dwfl_report_begin(image->dwfl);
        image->dwfl_module = dwfl_report_elf(image->dwfl, path, path, fd, 0, true);
        dwfl_report_end(image->dwfl, NULL, NULL);
    }
    if (image->dwfl_module == NULL) {
        close(fd);
        return false;
    }
    GElf_Addr bias = 0;
    image->elf = dwfl_module_getelf(image->dwfl_module, &bias);
    GElf_Ehdr header;
    if (image->elf == NULL || gelf_getehdr(image->elf, &header) == NULL)
        return false;
    image->machine = header.e_machine;
    return header.e_type == ET_EXEC || header.e_type == ET_DYN;
}

enum image_status image_open(struct image *image, const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
    memset(image, 0, sizeof *image);
    int fd = plain_open(path, 0);
    if (fd < 0)
        return plain_is_fault(errno) ? IMAGE_UNREAD : IMAGE_MISSING;
    errno = 0;
    if (!begin(image, path, fd)) {
        int why = errno;
        image_close(image);
        errno = why;
        return plain_is_fault(why) ? IMAGE_UNREAD : IMAGE_MISSING;
    }
    const void *found = NULL;
    ssize_t n_found = dwelf_elf_gnu_build_id(image->elf, &found);
    if (build_id != NULL && build_id_bytes > 0 &&
        (n_found < 0 || (size_t)n_found != build_id_bytes || memcmp(found, build_id, build_id_bytes) != 0)) {
        image_close(image);
        return IMAGE_CHANGED;
    }
    read_sections(image);
    for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn != NULL; scn = elf_nextscn(image->elf, scn)) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) != NULL && header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC))
            read_relocations(image, scn, &header);
    }
    Dwarf_Addr bias = 0;
    image->dwarf = dwfl_module_getdwarf(image->dwfl_module, &bias);
    image->dwarf_bias = bias;
    return IMAGE_OPEN;
}

void image_close(struct image *image)
{
    if (image->dwfl != NULL)
        dwfl_end(image->dwfl);
    vec_release(&image->sections);
    map_release(&image->slots);
    memset(image, 0, sizeof *image);
}

const struct image_section *image_section_at(const struct image *image, uint64_t address)
{
    size_t lo = 0;
    bisect(lo, image->sections.n, image->sections.at[lo].hi <= address);
    return lo < image->sections.n && image->sections.at[lo].lo <= address ? &image->sections.at[lo] : NULL;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t n_bytes)
{
    const struct image_section *section = image_section_at(image, address);
    if (section == NULL || section->bytes == NULL || section->hi - address < n_bytes)
        return NULL;
    return section->bytes + (address - section->lo);
}
