/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/script.h"
#include "wrap/base/err.h"
#include "wrap/format.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BITS = 24, FIRST_LINE_AT = 32, LARGEST_SCRIPT = 16 << 20, TAB = 8, MOST_DEPTH = 200 };
static const uint64_t lines_mask = (1u << LINE_BITS) - 1;

/* "/home/u/.ssh/key", but not "/home/u/build/../app.py". */
static bool is_hidden(const char *path)
{
    for (const char *at = path; (at = strstr(at, "/."));) {
        at += 2;
        at += *at == '.';
        if (*at != '/')
            return true;
    }
    return false;
}

bool script_is_source(const char *path)
{
    char head[128];
    size_t n = strlen(path);
    if (*path != '/' || is_hidden(path))
        return false;
    if (n > 3 && !strcmp(path + n - 3, ".py"))
        return true;
    int fd = plain_open(path, 0);
    ssize_t got = fd >= 0 ? read(fd, head, sizeof head - 1) : -1;
    if (fd >= 0)
        close(fd);
    head[got > 0 ? got : 0] = '\0';
    head[strcspn(head, "\n")] = '\0';
    return head[0] == '#' && head[1] == '!' && strstr(head, "python") != NULL;
}

static bool begins(const char *path, const char *with)
{
    return !strncmp(path, with, strlen(with));
}

bool script_is_built_in(const char *path)
{
    return begins(path, "<frozen ") || !strcmp(path, WW_CODE_COLLECTOR);
}

static bool is_added(const char *path)
{
    return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/");
}

/* In the standard library, but not in a package that was added to it. */
static bool is_standard(const char *path)
{
    const char *library = strstr(path, "/lib/python3");
    return library && !is_added(library);
}

enum code_role script_role(const char *path)
{
    if (begins(path, "<frozen importlib"))
        return CODE_ROLE_IMPORTS;
    if (!strcmp(path, WW_CODE_COLLECTOR))
        return CODE_ROLE_COLLECTS;
    return is_standard(path) || is_added(path) ? CODE_ROLE_INSTALLED : CODE_ROLE_NONE;
}

/* Where the text is read, and what is open there. */
struct reader {
    const char *at, *end;
    uint32_t line, last_line; /* the present one; the last that had code */
    struct open_block {
        struct script_block block;
        uint32_t indent;
    } open[MOST_DEPTH];
    unsigned n_open;
    struct bracket {
        uint32_t line;
        bool has_loop;
    } bracket[MOST_DEPTH];
    unsigned n_brackets;
    uint32_t decorator; /* the first of those that the next routine has; 0 = none */
    script_blocks *blocks;
};

static void close_blocks(struct reader *r, uint32_t indent)
{
    while (r->n_open > 0 && r->open[r->n_open - 1].indent >= indent) {
        struct script_block block = r->open[--r->n_open].block;
        block.last = r->last_line > block.first ? r->last_line : block.first;
        *vec_push(r->blocks) = block;
    }
}

static bool is_word_at(const struct reader *r, const char *at, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(r->end - at) > n && !strncmp(at, word, n) && !isalnum((unsigned char)at[n]) && at[n] != '_';
}

/* A compound statement that is a routine or a loop. */
static void open_block(struct reader *r, uint32_t indent)
{
    const char *at = r->at;
    if (is_word_at(r, at, "async"))
        for (at += strlen("async"); at < r->end && *at == ' '; at++)
            ;
    bool is_routine = is_word_at(r, at, "def") || is_word_at(r, at, "class");
    bool is_loop = is_word_at(r, at, "for") || is_word_at(r, at, "while");
    uint32_t first = is_routine && r->decorator ? r->decorator : r->line;
    if (*r->at == '@')
        r->decorator = r->decorator ? r->decorator : r->line;
    else
        r->decorator = 0;
    if ((is_routine || is_loop) && r->n_open < MOST_DEPTH)
        r->open[r->n_open++] =
            (struct open_block){{.kind = is_routine ? SCRIPT_ROUTINE : SCRIPT_LOOP, .first = first}, indent};
}

/* At the first character of a line that begins a statement, or has none. */
static void begin_line(struct reader *r)
{
    uint32_t indent = 0;
    for (; r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\f'); r->at++)
        indent = *r->at == '\t' ? (indent / TAB + 1) * TAB : indent + 1;
    if (r->at == r->end || *r->at == '\n' || *r->at == '\r' || *r->at == '#')
        return;
    close_blocks(r, indent);
    open_block(r, indent);
}

static void skip_string(struct reader *r)
{
    char quote = *r->at;
    bool is_long = r->end - r->at > 2 && r->at[1] == quote && r->at[2] == quote;
    for (r->at += is_long ? 3 : 1; r->at < r->end; r->at++) {
        if (*r->at == '\\' && r->at + 1 < r->end)
            r->at++;
        else if (*r->at == quote && (!is_long || (r->end - r->at > 2 && r->at[1] == quote && r->at[2] == quote))) {
            r->at += is_long ? 3 : 1;
            return;
        } else if (*r->at == '\n' && !is_long)
            return;
        r->line += *r->at == '\n';
    }
}

static void close_bracket(struct reader *r)
{
    if (r->n_brackets == 0)
        return;
    const struct bracket *bracket = &r->bracket[--r->n_brackets];
    if (bracket->has_loop)
        *vec_push(r->blocks) =
            (struct script_block){.kind = SCRIPT_COMPREHENSION, .first = bracket->line, .last = r->line};
}

static void skip_word(struct reader *r)
{
    if (r->n_brackets > 0 && is_word_at(r, r->at, "for"))
        r->bracket[r->n_brackets - 1].has_loop = true;
    while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_' || (unsigned char)*r->at >= 0x80))
        r->at++;
}

/* One piece of a statement. True at its end. */
static bool read_piece(struct reader *r)
{
    char c = *r->at;
    if (c == '"' || c == '\'')
        skip_string(r);
    else if (isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80)
        skip_word(r);
    else if (c == '#')
        while (r->at < r->end && *r->at != '\n')
            r->at++;
    else if (c == '\\' && r->end - r->at > 1 && r->at[1] == '\n') {
        r->at += 2;
        r->line++;
    } else {
        r->at++;
        if (strchr("([{", c) && r->n_brackets < MOST_DEPTH)
            r->bracket[r->n_brackets++] = (struct bracket){.line = r->line};
        if (strchr(")]}", c))
            close_bracket(r);
        if (c == '\n')
            r->line++;
        return c == '\n' && r->n_brackets == 0;
    }
    return false;
}

static int block_order(const void *a, const void *b)
{
    const struct script_block *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->last != y->last)
        return x->last > y->last ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

void script_parse(const char *text, size_t bytes, script_blocks *blocks)
{
    struct reader r = {.at = text, .end = text + bytes, .line = 1, .blocks = blocks};
    while (r.at < r.end) {
        const char *begin = r.at;
        begin_line(&r);
        bool has_code = r.at < r.end && *r.at != '\n' && *r.at != '\r' && *r.at != '#';
        uint32_t line = r.line;
        while (r.at < r.end && !read_piece(&r))
            line = r.line;
        r.last_line = has_code ? line : r.last_line;
        if (r.at == begin)
            r.at++;
    }
    close_blocks(&r, 0);
    if (blocks->n > 0)
        qsort(blocks->at, blocks->n, sizeof *blocks->at, block_order);
    for (size_t i = 0; i < blocks->n; i++) {
        uint32_t parent = i > 0 ? (uint32_t)i - 1 : SCRIPT_NONE;
        while (parent != SCRIPT_NONE && blocks->at[parent].last < blocks->at[i].last)
            parent = blocks->at[parent].parent;
        blocks->at[i].parent = parent;
    }
}

static void read_source(struct module *module)
{
    struct stat status;
    int fd = module->file ? plain_open(module->file, O_NOFOLLOW) : -1;
    if (fd < 0)
        return;
    FILE *file = fstat(fd, &status) == 0 && status.st_size <= LARGEST_SCRIPT ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return;
    }
    VEC(char) text = {0};
    vec_resize(&text, (size_t)status.st_size + 1);
    script_parse(text.at, fread(text.at, 1, (size_t)status.st_size, file), &module->blocks);
    vec_release(&text);
    fclose(file);
}

static int routine_order(const void *a, const void *b)
{
    const struct routine *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Frames name a routine many times. */
void script_open(struct code *code, struct module *module)
{
    uint32_t n = 0;
    struct routine *at = module->named.at;
    module->state = CODE_FULL;
    read_source(module);
    if (module->named.n > 0)
        qsort(at, module->named.n, sizeof *at, routine_order);
    for (size_t i = 0; i < module->named.n; i++)
        if (n == 0 || at[n - 1].lo != at[i].lo)
            at[n++] = at[i];
    module->routines.at = arena_array(&code->arena, struct routine, n + 1);
    module->routines.n = n;
    if (n > 0)
        memcpy(module->routines.at, at, n * sizeof *at);
    vec_release(&module->named);
}

void code_name_routine(struct code *code, uint32_t module, uint64_t address, const char *name)
{
    struct module *m = code->modules.at[module];
    uint64_t lo = address & ~lines_mask;
    if (m->is_script && !m->is_open)
        *vec_push(&m->named) = (struct routine){.lo = lo, .hi = lo + lines_mask + 1, .name = name};
}

/* The block that is the routine; SCRIPT_NONE = the file is, or there is none. A lambda or a generator expression has
 * the comprehension around its first line. */
static uint32_t block_of_routine(const struct module *module, const struct routine *routine)
{
    uint32_t first_line = (uint32_t)(routine->lo >> FIRST_LINE_AT), around = SCRIPT_NONE;
    for (uint32_t i = 0; i < module->blocks.n; i++) {
        const struct script_block *block = &module->blocks.at[i];
        if (block->kind == SCRIPT_ROUTINE && block->first == first_line)
            return i;
        if (block->kind == SCRIPT_COMPREHENSION && block->first <= first_line && first_line <= block->last)
            around = i;
    }
    return around;
}

/* The routine's own block that encloses one: not another routine's. */
static bool is_loop_of(const struct module *module, uint32_t loop, uint32_t routine)
{
    const struct script_block *at = &module->blocks.at[loop];
    if (at->kind == SCRIPT_ROUTINE)
        return false;
    for (uint32_t i = loop; i != routine; i = at->parent) {
        if (i == SCRIPT_NONE)
            return false;
        at = &module->blocks.at[i];
        if (at->kind == SCRIPT_ROUTINE)
            return false;
    }
    return true;
}

static struct code_place *place_of(struct code *code, uint32_t module, const struct routine *routine)
{
    struct code_place *place = place_new(code);
    place->module = module;
    place->parent = CODE_NONE;
    place->file = code->modules.at[module]->path;
    place->is_system = is_standard(place->file);
    place->routine = place->host_routine = routine->name;
    place->routine_address = place->address = routine->lo;
    place->line_first = place->line_last = (uint32_t)(routine->lo >> FIRST_LINE_AT);
    return place;
}

struct found_loop {
    uint32_t block;
    struct model_loop loop;
};
typedef VEC(struct found_loop) found_loops;

static uint32_t loop_of_block(const found_loops *loops, const struct module *module, uint32_t block)
{
    for (; block != SCRIPT_NONE; block = module->blocks.at[block].parent)
        for (size_t i = 0; i < loops->n; i++)
            if (loops->at[i].block == block)
                return (uint32_t)i;
    return CODE_NONE;
}

static void find_loops(struct code *code, uint32_t module_id, const struct model *model, uint32_t routine_block,
                       found_loops *loops)
{
    const struct module *module = code->modules.at[module_id];
    const struct routine *routine = &module->routines.at[model->routine];
    for (uint32_t i = 0; i < module->blocks.n; i++) {
        const struct script_block *block = &module->blocks.at[i];
        if (!is_loop_of(module, i, routine_block) && !(i == routine_block && block->kind != SCRIPT_ROUTINE))
            continue;
        uint32_t parent = loop_of_block(loops, module, block->parent);
        const struct model_loop *around = parent == CODE_NONE ? NULL : &loops->at[parent].loop;
        struct code_place *place = place_of(code, module_id, routine);
        place->is_loop = true;
        place->parent = around ? around->place : model->place;
        place->depth = around ? around->depth + 1 : 1;
        place->line_first = block->first;
        place->line_last = block->last;
        place->address = routine->lo + block->first;
        *vec_push(loops) = (struct found_loop){i, {.place = place->id, .parent = parent, .depth = place->depth}};
    }
}

static int line_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The lines between two at which a loop begins or ends are a block. */
static void cut_blocks(struct code *code, const struct module *module, struct model *model, const found_loops *loops)
{
    VEC(uint64_t) cuts = {0};
    *vec_push(&cuts) = 0;
    *vec_push(&cuts) = lines_mask + 1;
    for (size_t i = 0; i < loops->n; i++) {
        *vec_push(&cuts) = module->blocks.at[loops->at[i].block].first;
        *vec_push(&cuts) = (uint64_t)module->blocks.at[loops->at[i].block].last + 1;
    }
    qsort(cuts.at, cuts.n, sizeof *cuts.at, line_order);
    model->blocks = arena_array(&code->arena, struct model_block, cuts.n);
    uint64_t lo = module->routines.at[model->routine].lo;
    for (size_t i = 0; i + 1 < cuts.n; i++) {
        if (cuts.at[i] == cuts.at[i + 1])
            continue;
        struct model_block block = {
            .lo = lo + cuts.at[i], .hi = lo + cuts.at[i + 1], .place = model->place, .loop = CODE_NONE};
        for (uint32_t k = 0; k < loops->n; k++) /* inner ones last */
            if (module->blocks.at[loops->at[k].block].first <= cuts.at[i] &&
                cuts.at[i] <= module->blocks.at[loops->at[k].block].last) {
                block.place = loops->at[k].loop.place;
                block.depth = loops->at[k].loop.depth;
                block.loop = k;
            }
        model->blocks[model->n_blocks++] = block;
    }
    vec_release(&cuts);
}

struct model *script_build(struct code *code, uint32_t module_id, uint32_t routine)
{
    struct module *module = code->modules.at[module_id];
    struct model *model = arena_new(&code->arena, struct model);
    struct code_place *place = place_of(code, module_id, &module->routines.at[routine]);
    bool is_file = !strcmp(place->routine, "<module>");
    uint32_t block = is_file ? SCRIPT_NONE : block_of_routine(module, &module->routines.at[routine]);
    found_loops loops = {0};
    model->routine = routine;
    model->place = place->id;
    if (block != SCRIPT_NONE) {
        place->line_first = module->blocks.at[block].first;
        place->line_last = module->blocks.at[block].last;
    }
    if (is_file || block != SCRIPT_NONE)
        find_loops(code, module_id, model, block, &loops);
    model->loops = arena_array(&code->arena, struct model_loop, loops.n + 1);
    for (size_t i = 0; i < loops.n; i++)
        model->loops[i] = loops.at[i].loop;
    cut_blocks(code, module, model, &loops);
    vec_release(&loops);
    return module->models[routine] = model;
}

struct code_spot script_spot(struct code *code, uint32_t module_id, uint64_t address)
{
    struct code_spot spot = {0};
    const struct model *model = model_at(code, module_id, address);
    const struct module *module = code->modules.at[module_id];
    if (model == NULL)
        return spot;
    const struct model_block *block = model_block_at(model, address);
    spot.block = block != NULL ? block->lo : 0;
    spot.file = spot.call_file = module->path;
    spot.line = spot.call_line = (uint32_t)(address & lines_mask);
    spot.routine = spot.host_routine = module->routines.at[model->routine].name;
    spot.routine_address = module->routines.at[model->routine].lo;
    return spot;
}

uint32_t script_call_make(struct code *code, uint32_t module_id, uint64_t address, bool is_loop)
{
    uint32_t around = code_place_at(code, module_id, address);
    if (around == CODE_NONE)
        return CODE_NONE;
    struct code_place *place = place_new_within(code, around, address);
    place->is_loop = is_loop;
    place->depth++;
    place->line_first = place->line_last = (uint32_t)(address & lines_mask);
    return place->id;
}
