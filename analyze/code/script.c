/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/script.h"
#include "analyze/code/origin.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include "wrap/format.h"
#include "wrap/base/keys.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_SCRIPT = 16 << 20, TAB = 8, MOST_DEPTH = 200 };

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

bool script_is_standard(const char *path)
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
    if (script_is_standard(path) || is_added(path))
        return CODE_ROLE_INSTALLED;
    return *path == '<' && !script_is_built_in(path) ? CODE_ROLE_MADE : CODE_ROLE_NONE;
}

size_t script_package_bytes(const char *path)
{
    const char *name = is_added(path) ? path_below_packages(path) : NULL;
    if (script_role(path) == CODE_ROLE_MADE)
        return strlen(path);
    return name ? (size_t)(name - path) + strcspn(name, "/") : 0;
}

struct script_text {
    VEC(char) bytes;
    size_t n;
};

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
    return order_of(x->first, y->first) ?: order_of(y->last, x->last) ?: (int)x->kind - (int)y->kind;
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
    vec_sort(blocks, block_order);
    for (size_t i = 0; i < blocks->n; i++) {
        uint32_t parent = i > 0 ? (uint32_t)i - 1 : SCRIPT_NONE;
        while (parent != SCRIPT_NONE && blocks->at[parent].last < blocks->at[i].last)
            parent = blocks->at[parent].parent;
        blocks->at[i].parent = parent;
    }
}

static bool read_text(const char *path, struct script_text *text)
{
    struct stat status;
    int fd = path ? plain_open(path, O_NOFOLLOW) : -1;
    if (fd < 0)
        return false;
    FILE *file = fstat(fd, &status) == 0 && status.st_size <= LARGEST_SCRIPT ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return false;
    }
    vec_resize(&text->bytes, (size_t)status.st_size + 1);
    text->n = fread(text->bytes.at, 1, (size_t)status.st_size, file);
    fclose(file);
    return true;
}

void script_read(const char *path, script_blocks *blocks)
{
    struct script_text text = {.n = 0};
    if (read_text(path, &text))
        script_parse(text.bytes.at, text.n, blocks);
    vec_release(&text.bytes);
}

uint64_t script_hash(const char *path)
{
    struct script_text text = {.n = 0};
    uint64_t hash = read_text(path, &text) ? hash_bytes(text.bytes.at, text.n) : 0;
    vec_release(&text.bytes);
    return hash;
}

const char *script_text_at(struct arena *arena, const char *path, uint32_t line, uint32_t columns)
{
    struct script_text text = {.n = 0};
    const char *found = NULL;
    uint32_t first = columns >> WW_CODE_COLUMN_BITS, end = columns & (WW_CODE_COLUMNS - 1);
    if (read_text(path, &text)) {
        const char *at = text.bytes.at, *stop = at + text.n;
        for (uint32_t i = 1; i < line && at; i++) {
            at = memchr(at, '\n', (size_t)(stop - at));
            at += at ? 1 : 0;
        }
        const char *newline = at ? memchr(at, '\n', (size_t)(stop - at)) : NULL;
        size_t n = at ? (size_t)((newline ? newline : stop) - at) : 0;
        if (first < end && end <= n)
            found = arena_printf(arena, "%.*s", (int)(end - first), at + first);
    }
    vec_release(&text.bytes);
    return found;
}
