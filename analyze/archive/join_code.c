/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/join_code.h"
#include "analyze/archive/archive.h"
#include "analyze/archive/spool.h"
#include <string.h>

enum { LINE_BITS = 24, FIRST_LINE_AT = 32, MOST_PER_LINE = 255 };

struct code_key {
    uint32_t module, first_line;
    char name[];
};
struct place_key {
    uint64_t module, base;
};

static uint32_t module_of(struct join *join, const char *path, uint32_t bytes)
{
    VEC(char) key = {0};
    size_t length = spool_text_length(path, bytes);
    vec_resize(&key, length + 1); /* no module that is a program begins with a zero */
    memcpy(key.at + 1, path, length);
    uint32_t module = intern_put(&join->modules, key.at, key.n);
    vec_release(&key);
    if (module == join->module_infos.n)
        *vec_push(&join->module_infos) =
            (struct join_module_info){.path = join_plain_name(join, path, bytes), .is_script = true};
    return module;
}

/* "main.<locals>.relax" is written "main.relax". */
static const char *readable(struct join *join, const char *name)
{
    static const char inside[] = ".<locals>";
    char *text = arena_strdup(&join->arena, name);
    for (char *at; (at = strstr(text, inside));)
        memmove(at, at + strlen(inside), strlen(at + strlen(inside)) + 1);
    return text;
}

/* Of "relax.<listcomp>" the length of "relax"; 0 = it is no part of an expression in a routine. */
static size_t length_around(const char *name)
{
    static const char *const parts[] = {".<listcomp>", ".<setcomp>", ".<dictcomp>", ".<genexpr>"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (n > strlen(parts[i]) && !strcmp(name + n - strlen(parts[i]), parts[i]))
            return n - strlen(parts[i]);
    return 0;
}

/* "<listcomp>" alone is the name in the outermost code, and in versions whose names tell no routine around. */
static bool is_within(const char *inner, const char *outer)
{
    size_t n = length_around(inner);
    bool is_alone = !strcmp(inner, "<listcomp>") || !strcmp(inner, "<setcomp>") || !strcmp(inner, "<dictcomp>");
    bool is_of_module = !strcmp(inner, "<genexpr>") && !strcmp(outer, "<module>");
    return is_alone || is_of_module || (n > 0 && n == strlen(outer) && !strncmp(inner, outer, n));
}

uint32_t join_take_code(struct join *join, const struct ww_code *record)
{
    uint32_t module = module_of(join, record->text, record->path_bytes), n_here;
    const char *name = readable(join, join_plain_name(join, record->text + record->path_bytes + 1, record->name_bytes));
    VEC(char) key = {0};
    struct code_key fixed = {module, record->first_line & WW_CODE_LINE};
    vec_resize(&key, sizeof fixed + strlen(name));
    memcpy(key.at, &fixed, sizeof fixed);
    memcpy(key.at + sizeof fixed, name, strlen(name));
    uint32_t code = intern_put(&join->codes, key.at, key.n);
    vec_release(&key);
    if (code < join->code_infos.n)
        return code;
    uint64_t *n_begin = map_put(&join->codes_on_line, (uint64_t)module << 32 | fixed.first_line, NULL);
    n_here = (uint32_t)((*n_begin)++);
    struct join_code_info info = {.module = module, .name = name};
    info.base = (uint64_t)fixed.first_line << FIRST_LINE_AT |
                (uint64_t)(n_here < MOST_PER_LINE ? n_here : MOST_PER_LINE) << LINE_BITS;
    struct place_key place = {module, info.base};
    *vec_push(&join->code_infos) = info;
    size_t n_known = join->code_places.n;
    uint32_t at = intern_put(&join->code_places, &place, sizeof place);
    if (at == n_known)
        *vec_push(&join->code_at_place) = code;
    return code;
}

const struct join_code_info *join_code_at(const struct join *join, uint32_t module, uint64_t address)
{
    struct place_key place = {module, address & ~(uint64_t)WW_CODE_LINE};
    uint32_t at = intern_find(&join->code_places, &place, sizeof place);
    return at == INTERN_NONE ? NULL : &join->code_infos.at[join->code_at_place.at[at]];
}

struct join_frame join_code_frame(const struct join *join, uint32_t parent, uint32_t code, uint32_t line,
                                  bool is_return)
{
    const struct join_code_info *info = &join->code_infos.at[code];
    struct join_frame around = {.module = JOIN_NONE};
    if (parent != JOIN_NONE)
        memcpy(&around, join->frames.items[parent].bytes, sizeof around);
    const struct join_code_info *outer =
        around.module == info->module
            ? join_code_at(join, around.module, around.address - !!(around.flags & ARCHIVE_FRAME_RETURN))
            : NULL;
    bool is_inner = outer && is_within(info->name, outer->name);
    return (struct join_frame){.parent = is_inner ? around.parent : parent,
                               .module = info->module,
                               .address = (is_inner ? outer->base : info->base) + line + is_return,
                               .flags = (is_return ? ARCHIVE_FRAME_RETURN : 0) |
                                        (is_inner ? around.flags & ARCHIVE_FRAME_CUT : 0)};
}

uint32_t join_code_expression(struct join *join, uint32_t context, uint32_t columns)
{
    struct join_frame frame;
    if (context == JOIN_NONE)
        return context;
    memcpy(&frame, join->frames.items[context].bytes, sizeof frame);
    frame.flags |= columns << ARCHIVE_FRAME_COLUMNS_AT;
    return intern_put(&join->frames, &frame, sizeof frame);
}
