/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a file through libdwfl, which finds separate debug files (build id, debug link), dwz files and the symbol
 * tables in them. Each file has a libdwfl session of its own, based at address 0, so that its addresses are the
 * link-time ones.
 */
#include "analyze/code/image.h"
#include "analyze/code/expansion.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <capstone/capstone.h>
#include <ctype.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    qsort(image->sections.at, image->sections.n, sizeof *image->sections.at, key_order_u64);
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

static int pointer_order(const void *a, const void *b)
{
    const struct image_pointer *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

void image_read_pointers(const struct image *image, image_pointers *pointers)
{
    for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn != NULL; scn = elf_nextscn(image->elf, scn)) {
        GElf_Shdr header;
        bool is_rela = gelf_getshdr(scn, &header) != NULL && header.sh_type == SHT_RELA && header.sh_entsize > 0;
        Elf_Data *relocations = is_rela ? elf_getdata(scn, NULL) : NULL;
        size_t n = relocations != NULL ? relocations->d_size / header.sh_entsize : 0;
        for (size_t i = 0; i < n; i++) {
            GElf_Rela rela;
            if (gelf_getrela(relocations, (int)i, &rela) != NULL && image->machine == EM_X86_64 &&
                GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
                *vec_push(pointers) = (struct image_pointer){.at = rela.r_offset, .to = (uint64_t)rela.r_addend};
        }
    }
    if (pointers->n > 0)
        qsort(pointers->at, pointers->n, sizeof *pointers->at, pointer_order);
}

static bool is_plain_or_missing(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* libdwfl opens what the file names as its debug file, and reads it to the end for its checksum: nothing that never
 * ends, or on which opening waits. */
static bool link_is_safe(const char *path, const char *link)
{
    static const char *const folders[] = {"%s/%s", "%s/.debug/%s", "/usr/lib/debug%s/%s"};
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    bool is_safe = is_plain_or_missing(link);
    struct arena scratch = {0};
    const char *folder = slash != NULL ? arena_printf(&scratch, "%.*s", (int)(slash - path), path) : ".";
    for (unsigned i = 0; is_safe && i < sizeof folders / sizeof *folders; i++)
        is_safe = is_plain_or_missing(arena_printf(&scratch, folders[i], folder, link));
    arena_release(&scratch);
    return is_safe;
}

/* Not there, or a file that can be read without harm. */
static bool is_safe_or_missing(const char *path)
{
    int fd = plain_open(path, 0);
    bool is_safe = fd >= 0 ? expansion_is_plausible(fd) : is_plain_or_missing(path);
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
    if (*is_missing != NULL || (link != NULL && !link_is_safe(path, link)))
        return -1;
    int fd = dwfl_standard_find_debuginfo(module, NULL, name, base, path, link, checksum, found);
    if (fd >= 0 && !expansion_is_plausible(fd)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        *is_missing = module;
    return fd;
}

/* True when it is a program or a shared library. */
static bool begin(struct image *image, const char *path)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debuginfo,
    };
    int fd = plain_open(path, 0);
    if (fd >= 0 && !expansion_is_plausible(fd)) {
        close(fd);
        return false;
    }
    image->dwfl = fd >= 0 ? dwfl_begin(&callbacks) : NULL;
    if (image->dwfl != NULL) {
        dwfl_report_begin(image->dwfl);
        image->dwfl_module = dwfl_report_elf(image->dwfl, path, path, fd, 0, true);
        dwfl_report_end(image->dwfl, NULL, NULL);
    }
    if (image->dwfl_module == NULL && fd >= 0)
        close(fd);
    if (image->dwfl_module == NULL)
        return false;
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
    if (!begin(image, path)) {
        image_close(image);
        return IMAGE_MISSING;
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
    size_t lo = 0, hi = image->sections.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct image_section *section = &image->sections.at[mid];
        if (address < section->lo)
            hi = mid;
        else if (address >= section->hi)
            lo = mid + 1;
        else
            return section;
    }
    return NULL;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t n_bytes)
{
    const struct image_section *section = image_section_at(image, address);
    if (section == NULL || section->bytes == NULL || section->hi - address < n_bytes)
        return NULL;
    return section->bytes + (address - section->lo);
}

/* Decodes through Capstone, the only user of which this file is. x86-64. */

enum { MAX_ROUTINE_BYTES = 1 << 26 };

struct decoder {
    csh handle;
    cs_insn *scratch;
};

struct decoder *decoder_open(int machine)
{
    if (machine != EM_X86_64)
        return NULL;
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    cs_err status = cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->handle);
    if (status == CS_ERR_OK) {
        cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
        decoder->scratch = cs_malloc(decoder->handle);
    }
    if (decoder->scratch == NULL) {
        decoder_close(decoder);
        return NULL;
    }
    return decoder;
}

void decoder_close(struct decoder *decoder)
{
    if (decoder == NULL)
        return;
    if (decoder->scratch != NULL)
        cs_free(decoder->scratch, 1);
    if (decoder->handle != 0)
        cs_close(&decoder->handle);
    free(decoder);
}

/* One number for all widths of a register. */
static uint8_t x86_register(unsigned reg)
{
    static const uint16_t names[][4] = {
        {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
        {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
        {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
        {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
        {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
        {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
        {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
        {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
        {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
        {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
        {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
        {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
        {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
        {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
        {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
        {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned width = 0; width < 4; width++)
            if (names[i][width] == reg)
                return (uint8_t)(i + 1);
    return 0;
}

/* ud0, ud1, ud2: Capstone 4 and 5 have other numbers for them. */
static bool is_undefined(const cs_insn *in)
{
    return !strncmp(in->mnemonic, "ud", 2) && isdigit((unsigned char)in->mnemonic[2]);
}

static enum insn_flow x86_flow(const cs_insn *in)
{
    bool is_direct = in->detail->x86.op_count > 0 && in->detail->x86.operands[0].type == X86_OP_IMM;
    switch (in->id) {
    case X86_INS_NOP:
        return FLOW_NOP;
    case X86_INS_JMP:
        return is_direct ? FLOW_JUMP : FLOW_INDIRECT_JUMP;
    case X86_INS_CALL:
        return is_direct ? FLOW_CALL : FLOW_INDIRECT_CALL;
    case X86_INS_RET:
    case X86_INS_RETF:
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ:
    case X86_INS_HLT:
    case X86_INS_INT3:
        return FLOW_END;
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
    case X86_INS_XBEGIN:
        return FLOW_BRANCH;
    default:
        if (is_undefined(in))
            return FLOW_END;
        return in->mnemonic[0] == 'j' && in->id != X86_INS_LJMP ? FLOW_BRANCH : FLOW_NEXT;
    }
}

static void x86_memory(const cs_insn *in, const cs_x86_op *op, struct insn *out)
{
    bool is_relative = op->mem.base == X86_REG_RIP;
    out->base = is_relative ? 0 : x86_register(op->mem.base);
    out->index = op->mem.index == X86_REG_INVALID ? 0 : x86_register(op->mem.index);
    out->scale = (uint8_t)op->mem.scale;
    out->value = (int64_t)((uint64_t)op->mem.disp + (is_relative ? in->address + in->size : 0));
    out->width = op->size;
}

static void x86_data(const cs_insn *in, struct insn *out)
{
    const cs_x86 *x86 = &in->detail->x86;
    if (x86->op_count != 2 || x86->operands[0].type != X86_OP_REG) {
        if (in->id == X86_INS_CMP && x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM) {
            out->data = DATA_COMPARE;
            out->value = x86->operands[1].imm;
        }
        return;
    }
    const cs_x86_op *source = &x86->operands[1];
    out->reg = x86_register(x86->operands[0].reg);
    if (in->id == X86_INS_CMP && source->type == X86_OP_IMM) {
        out->data = DATA_COMPARE;
        out->value = source->imm;
    } else if (in->id == X86_INS_AND && source->type == X86_OP_IMM) {
        out->data = DATA_MASK;
        out->value = source->imm;
    } else if (in->id == X86_INS_LEA && source->mem.base == X86_REG_RIP && source->mem.index == X86_REG_INVALID) {
        out->data = DATA_ADDRESS;
        out->value = (int64_t)(in->address + in->size + (uint64_t)source->mem.disp);
    } else if ((in->id == X86_INS_MOV || in->id == X86_INS_MOVABS) && source->type == X86_OP_IMM) {
        out->data = DATA_ADDRESS;
        out->value = source->imm;
    } else if ((in->id == X86_INS_MOV || in->id == X86_INS_MOVSXD) && source->type == X86_OP_MEM) {
        out->data = DATA_LOAD;
        out->is_signed = in->id == X86_INS_MOVSXD;
        x86_memory(in, source, out);
    } else if (in->id == X86_INS_ADD && source->type == X86_OP_REG) {
        out->data = DATA_ADD;
        out->base = x86_register(source->reg);
    }
}

static void x86_reduce(const cs_insn *in, struct insn *out)
{
    const cs_x86_op *op = &in->detail->x86.operands[0];
    out->flow = x86_flow(in);
    switch (out->flow) {
    case FLOW_BRANCH:
    case FLOW_JUMP:
    case FLOW_CALL:
        out->target = (uint64_t)op->imm;
        break;
    case FLOW_INDIRECT_JUMP:
    case FLOW_INDIRECT_CALL:
        out->data = op->type == X86_OP_MEM ? DATA_LOAD : DATA_OTHER;
        if (op->type == X86_OP_MEM)
            x86_memory(in, op, out);
        else if (op->type == X86_OP_REG)
            out->reg = x86_register(op->reg);
        if (out->data == DATA_LOAD && out->base == 0 && out->index == 0)
            out->target = (uint64_t)out->value;
        break;
    default:
        x86_data(in, out);
    }
}

/* Bytes of a ModRM operand: the byte itself, SIB and displacement. */
static size_t modrm_length(const uint8_t *at, size_t n)
{
    if (n == 0)
        return 0;
    unsigned mod = at[0] >> 6, rm = at[0] & 7;
    bool has_sib = mod != 3 && rm == 4;
    bool is_absolute = mod == 0 && (rm == 5 || (has_sib && n > 1 && (at[1] & 7) == 5));
    return 1 + has_sib + (mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0);
}

/*
 * Length of a vector instruction that Capstone does not know: new ones appear with every generation of processors, but
 * their form is fixed (VEX and EVEX prefixes), and none of them jumps. 0 = not one.
 */
static size_t vector_length(const uint8_t *at, size_t n)
{
    size_t prefix = n < 6 ? 0 : at[0] == 0x62 ? 4 : at[0] == 0xc4 ? 3 : at[0] == 0xc5 ? 2 : 0;
    if (prefix == 0)
        return 0;
    unsigned map = prefix == 2 ? 1 : at[1] & (prefix == 4 ? 7 : 31);
    uint8_t opcode = at[prefix];
    if (map == 1 && opcode == 0x77) /* vzeroupper: no operand */
        return prefix + 1;
    bool has_immediate =
        map == 3 ||
        (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6)));
    size_t length = prefix + 1 + modrm_length(at + prefix + 1, n - prefix - 1) + has_immediate;
    return length <= n ? length : 0;
}

void decoder_read(struct decoder *decoder, const struct image *image, uint64_t lo, uint64_t hi, insns *list)
{
    if (hi <= lo || hi - lo > MAX_ROUTINE_BYTES)
        return;
    size_t left = hi - lo;
    const uint8_t *at = image_bytes(image, lo, left);
    uint64_t address = lo;
    while (at != NULL && left > 0) {
        struct insn *out = vec_push(list);
        out->address = address;
        if (cs_disasm_iter(decoder->handle, &at, &left, &address, decoder->scratch)) {
            out->size = decoder->scratch->size;
            x86_reduce(decoder->scratch, out);
        } else {
            size_t length = vector_length(at, left);
            out->size = (uint16_t)(length > 0 ? length : 1);
            at += out->size;
            left -= out->size;
            address += out->size;
        }
    }
}

bool insn_falls_through(const struct insn *in)
{
    return in->flow == FLOW_NEXT || in->flow == FLOW_NOP || in->flow == FLOW_BRANCH || in->flow == FLOW_CALL ||
           in->flow == FLOW_INDIRECT_CALL;
}
