/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/stack/python_code.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    CODES = 4096, /* a power of 2; half of them are used */
    TABLES_BYTES = 4 << 20,
    LONGEST_TABLE = 64 << 10,
    LONGEST_PATH = 2048,
    LONGEST_NAME = 512,
    SIZE_AT = 16, /* of a string and of bytes: how long they are */
    STATE_AT = 32,
    BYTES_AT = 32,
};

struct code {
    uint64_t object, mark;
    uint32_t id, first_line; /* id 0 = no code */
    uint32_t table, table_bytes;
};

struct python_codes {
    uint32_t last_id, n, used;
    uint32_t collector; /* its id; 0 = not written yet */
    struct code at[CODES];
    unsigned char tables[TABLES_BYTES];
};

/* Numbers of six bits, the last of which has no bit 0x40. */
static uint32_t read_number(const unsigned char *table, uint32_t n, uint32_t *at)
{
    uint32_t number = 0;
    for (unsigned shift = 0; *at < n && shift < 30; shift += 6) {
        unsigned char byte = table[(*at)++];
        number |= (uint32_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40))
            break;
    }
    return number;
}

enum { KIND_NONE = 15, KIND_LONG = 14, KIND_NO_COLUMNS = 13, KIND_NEXT_LINES = 10 };

/* Of an entry whose number for the line is read. */
static struct python_columns read_columns(unsigned kind, const unsigned char *table, uint32_t n, uint32_t i)
{
    enum { SHORT_BITS = 3, LENGTH_BITS = 4 };
    struct python_columns none = {0, 0};
    if (kind == KIND_LONG) {
        uint32_t n_lines = read_number(table, n, &i), first = read_number(table, n, &i),
                 end = read_number(table, n, &i);
        return n_lines || !first || !end ? none : (struct python_columns){first - 1, end - 1};
    }
    if (kind >= KIND_NO_COLUMNS || i + (kind >= KIND_NEXT_LINES) >= n)
        return none;
    if (kind >= KIND_NEXT_LINES)
        return (struct python_columns){table[i], table[i + 1]};
    uint32_t first = kind << SHORT_BITS | table[i] >> LENGTH_BITS;
    return (struct python_columns){first, first + (table[i] & ((1u << LENGTH_BITS) - 1))};
}

/* An entry begins with a byte that has bit 0x80: its kind, and how many units of two bytes it holds for. `columns` may
 * be NULL. */
static uint32_t line_by_locations(const unsigned char *table, uint32_t n, uint32_t first_line, uint32_t at,
                                  struct python_columns *columns)
{
    uint32_t line = first_line, known = first_line, end = 0;
    for (uint32_t i = 0; i < n && end <= at;) {
        unsigned char head = table[i++];
        unsigned kind = head >> 3 & 15;
        end += 2u * ((head & 7u) + 1);
        if (kind == KIND_LONG || kind == KIND_NO_COLUMNS) {
            uint32_t number = read_number(table, n, &i);
            line += number & 1 ? 0u - (number >> 1) : number >> 1;
        } else if (kind >= KIND_NEXT_LINES && kind < KIND_NO_COLUMNS)
            line += kind - KIND_NEXT_LINES;
        known = kind == KIND_NONE ? known : line;
        if (columns && end > at)
            *columns = read_columns(kind, table, n, i);
        while (i < n && !(table[i] & 0x80))
            i++;
    }
    return known;
}

/* Pairs: so many bytes hold for a line that is so many behind the last one; -128 = for none. */
static uint32_t line_by_deltas(const unsigned char *table, uint32_t n, uint32_t first_line, uint32_t at)
{
    uint32_t line = first_line, known = first_line, end = 0;
    for (uint32_t i = 0; i + 1 < n && end <= at; i += 2) {
        int8_t delta = (int8_t)table[i + 1];
        end += table[i];
        if (delta == INT8_MIN)
            continue;
        line += (uint32_t)delta;
        if (table[i] > 0)
            known = line;
    }
    return known;
}

/* Pairs: after so many bytes the line is so many behind. */
static uint32_t line_by_lnotab(const unsigned char *table, uint32_t n, uint32_t first_line, uint32_t at)
{
    uint32_t line = first_line, address = 0;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        address += table[i];
        if (address > at)
            break;
        line += (uint32_t)(int8_t)table[i + 1];
    }
    return line;
}

uint32_t python_line(const struct python_layout *layout, const unsigned char *table, uint32_t n, uint32_t first_line,
                     uint32_t at)
{
    if (at == PYTHON_BEGIN)
        return first_line;
    switch (layout->lines) {
    case PYTHON_LNOTAB:
        return line_by_lnotab(table, n, first_line, at);
    case PYTHON_LINE_DELTAS:
        return line_by_deltas(table, n, first_line, at);
    default:
        return line_by_locations(table, n, first_line, at, NULL);
    }
}

struct python_columns python_columns(const struct python_layout *layout, const unsigned char *table, uint32_t n,
                                     uint32_t at)
{
    struct python_columns columns = {0, 0};
    if (layout->lines == PYTHON_LOCATIONS && at != PYTHON_BEGIN)
        line_by_locations(table, n, 0, at, &columns);
    return columns;
}

static uint32_t put_character(char *text, uint32_t c)
{
    if (c < 0x80) {
        text[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        text[0] = (char)(0xc0 | c >> 6);
        text[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        text[0] = (char)(0xe0 | c >> 12);
        text[1] = (char)(0x80 | (c >> 6 & 0x3f));
        text[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    text[0] = (char)(0xf0 | (c >> 18 & 7));
    text[1] = (char)(0x80 | (c >> 12 & 0x3f));
    text[2] = (char)(0x80 | (c >> 6 & 0x3f));
    text[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

uint32_t python_text(const struct python_layout *layout, uint64_t string, char *text, uint32_t room)
{
    enum { COMPACT = 1 << 5, ASCII = 1 << 6, CHUNK = 64, LONGEST_CHARACTER = 4 };
    uint64_t length;
    uint32_t state, n = 0;
    unsigned char chunk[CHUNK * LONGEST_CHARACTER];
    if (!python_read(string + SIZE_AT, &length, sizeof length) ||
        !python_read(string + STATE_AT, &state, sizeof state) || !(state & COMPACT) || length == 0 || length > room)
        return 0;
    unsigned width = state & ASCII ? 1 : state >> 2 & 7;
    uint64_t from = string + (state & ASCII ? layout->ascii_bytes : layout->compact_bytes);
    if (width != 1 && width != 2 && width != 4)
        return 0;
    for (uint64_t done = 0; done < length; done += CHUNK) {
        unsigned some = length - done < CHUNK ? (unsigned)(length - done) : CHUNK;
        if (!python_read(from + done * width, chunk, some * width))
            return 0;
        for (unsigned i = 0; i < some; i++) {
            uint32_t c = 0;
            memcpy(&c, chunk + (size_t)i * width, width);
            if (n + LONGEST_CHARACTER >= room || c == 0)
                return 0;
            n += put_character(text + n, c);
        }
    }
    return n;
}

/* A file as the interpreter was told it, made absolute: "<string>" and its kin are none. */
static uint32_t absolute(char *path, uint32_t n, uint32_t room)
{
    char folder[LONGEST_PATH];
    if (n > 2 && path[0] == '.' && path[1] == '/')
        memmove(path, path + 2, n -= 2);
    if (path[0] == '/' || path[0] == '<' || !getcwd(folder, sizeof folder))
        return n;
    uint32_t length = (uint32_t)strnlen(folder, sizeof folder - 1);
    if (n + length + 1 >= room)
        return n;
    folder[length++] = '/';
    memmove(path + length, path, n);
    memcpy(path, folder, length);
    return n + length;
}

struct names {
    char path[LONGEST_PATH], name[LONGEST_NAME];
    uint32_t path_bytes, name_bytes;
};

static bool write_code(struct spool *spool, const struct code *code, const struct names *names)
{
    size_t bytes = sizeof(struct ww_code) + names->path_bytes + names->name_bytes + 2;
    unsigned units = (unsigned)((bytes + WW_UNIT - 1) / WW_UNIT);
    struct ww_code *record = spool_take_definition(spool, units);
    if (!record)
        return false;
    record->id = code->id;
    record->first_line = code->first_line;
    record->path_bytes = names->path_bytes;
    record->name_bytes = names->name_bytes;
    memcpy(record->text, names->path, names->path_bytes);
    memcpy(record->text + names->path_bytes + 1, names->name, names->name_bytes);
    spool_commit(record, WW_CODE, (uint16_t)units);
    return true;
}

static bool read_table(struct python_codes *codes, struct code *code, uint64_t bytes)
{
    uint64_t n;
    if (!python_read(bytes + SIZE_AT, &n, sizeof n) || n > INT32_MAX)
        return false;
    n = n < LONGEST_TABLE ? n : LONGEST_TABLE;
    code->table = codes->used;
    code->table_bytes = (uint32_t)n;
    return python_read(bytes + BYTES_AT, codes->tables + codes->used, n);
}

static uint64_t pointer_at(const unsigned char *head, uint16_t offset)
{
    uint64_t pointer;
    memcpy(&pointer, head + offset, sizeof pointer);
    return pointer;
}

/* Everything about an object that has still this mark afterwards. */
static bool read_object(struct python_codes *codes, const struct python_layout *layout, struct code *code,
                        struct names *names)
{
    unsigned char head[PYTHON_CODE_BYTES];
    uint64_t n = python_code_bytes(layout);
    if (!python_read(code->object, head, n) || python_mark(layout, head) != code->mark)
        return false;
    memcpy(&code->first_line, head + layout->code_first_line, sizeof code->first_line);
    names->path_bytes = python_text(layout, pointer_at(head, layout->code_file), names->path, sizeof names->path);
    names->name_bytes = python_text(layout, pointer_at(head, layout->code_name), names->name, sizeof names->name);
    if (!names->path_bytes || !names->name_bytes || !read_table(codes, code, pointer_at(head, layout->code_lines)) ||
        !python_read(code->object, head, n) || python_mark(layout, head) != code->mark)
        return false;
    names->path_bytes = absolute(names->path, names->path_bytes, sizeof names->path);
    return true;
}

static struct code *slot_of(struct python_codes *codes, uint64_t object, uint64_t mark)
{
    uint64_t hash = (object ^ mark) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
        struct code *code = &codes->at[i % CODES];
        if (code->id == 0 || (code->object == object && code->mark == mark))
            return code;
    }
}

static struct code *find(struct python_codes *codes, struct spool *spool, const struct python_layout *layout,
                         const struct python_frame *frame)
{
    struct code *slot = slot_of(codes, frame->code, frame->mark);
    struct names names;
    if (slot->id != 0)
        return slot;
    if (codes->n == CODES / 2 || codes->used > TABLES_BYTES - LONGEST_TABLE) {
        memset(codes->at, 0, sizeof codes->at);
        codes->n = codes->used = 0;
        slot = slot_of(codes, frame->code, frame->mark);
    }
    struct code code = {.object = frame->code, .mark = frame->mark, .id = codes->last_id + 1};
    if (!read_object(codes, layout, &code, &names) || !write_code(spool, &code, &names))
        return NULL;
    codes->last_id++;
    codes->n++;
    codes->used += code.table_bytes;
    *slot = code;
    return slot;
}

static bool make_codes(struct python_codes **codes)
{
    void *at = *codes ? *codes : mmap(NULL, sizeof **codes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    *codes = at;
    return true;
}

uint64_t python_codes_collector(struct python_codes **codes, struct spool *spool)
{
    static const char name[] = "(garbage collector)";
    struct names names = {.path_bytes = sizeof WW_CODE_COLLECTOR - 1, .name_bytes = sizeof name - 1};
    if (!make_codes(codes))
        return 0;
    memcpy(names.path, WW_CODE_COLLECTOR, sizeof WW_CODE_COLLECTOR);
    memcpy(names.name, name, sizeof name);
    struct code code = {.id = (*codes)->last_id + 1, .first_line = 1};
    if (!(*codes)->collector && write_code(spool, &code, &names))
        (*codes)->collector = ++(*codes)->last_id;
    return (*codes)->collector ? WW_CODE_ADDRESS((*codes)->collector, 1) : 0;
}

uint64_t python_codes_address(struct python_codes **codes, struct spool *spool, const struct python_frame *frame)
{
    const struct python_layout *layout = atomic_load_explicit(&python_process.layout, memory_order_acquire);
    if (!make_codes(codes))
        return 0;
    const struct code *code = layout ? find(*codes, spool, layout, frame) : NULL;
    if (!code)
        return 0;
    uint32_t line = python_line(layout, (*codes)->tables + code->table, code->table_bytes, code->first_line, frame->at);
    return WW_CODE_ADDRESS(code->id, line);
}

uint64_t python_codes_expression(struct python_codes *codes, const struct python_frame *frame)
{
    const struct python_layout *layout = atomic_load_explicit(&python_process.layout, memory_order_acquire);
    const struct code *code = codes && layout ? slot_of(codes, frame->code, frame->mark) : NULL;
    if (!code || !code->id)
        return 0;
    struct python_columns at = python_columns(layout, codes->tables + code->table, code->table_bytes, frame->at);
    bool is_known = at.first < at.end && at.end < WW_CODE_COLUMNS;
    return is_known ? WW_CODE_ADDRESS(WW_CODE_EXPRESSION, at.first << WW_CODE_COLUMN_BITS | at.end) : 0;
}

void python_codes_release(struct python_codes **codes)
{
    if (*codes)
        munmap(*codes, sizeof **codes);
    *codes = NULL;
}
