/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/brief.h"
#include <ctype.h>
#include <string.h>

enum { LONG_ARGUMENTS = 24 };
static const char left_out[] = "...";

/* Length of the template arguments that `text` begins with, brackets included; 0 when they are not whole. */
static size_t arguments_length(const char *text)
{
    size_t depth = 0;
    for (size_t n = 0; text[n]; n++) {
        depth += text[n] == '<';
        depth -= text[n] == '>' && text[n - 1] != '-';
        if (!depth)
            return n + 1;
    }
    return 0;
}

/* Not an arrow between routines, nor the name of an operator. Returns the length of whole arguments, or 0. */
static size_t arguments_at(const char *text, const char *at)
{
    static const char word[] = "operator";
    size_t n = strlen(word);
    bool begins = *at == '<' && at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_') &&
                  ((size_t)(at - text) < n || strncmp(at - n, word, n) != 0);
    return begins ? arguments_length(at) : 0;
}

/* Up to the comma or bracket behind it. */
static size_t argument_length(const char *text)
{
    size_t depth = 0, n = 0;
    for (; text[n] && (depth || (text[n] != ',' && text[n] != '>')); n++) {
        bool is_arrow = n && text[n] == '>' && text[n - 1] == '-';
        depth += strchr("<({[", text[n]) != NULL;
        depth -= depth && !is_arrow && strchr(">)}]", text[n]);
    }
    return n;
}

static const char *next_argument(const char *argument, size_t length)
{
    const char *end = argument + length;
    return *end == ',' ? end + 1 + strspn(end + 1, " ") : NULL;
}

const char *brief_text(struct arena *arena, const char *text)
{
    if (!strchr(text, '<'))
        return text;
    char *brief = arena_alloc(arena, strlen(text) + 1), *end = brief;
    for (const char *from = text; *from;) {
        size_t n = arguments_at(text, from);
        bool is_long = n > LONG_ARGUMENTS;
        if (is_long)
            end = stpcpy(stpcpy(stpcpy(end, "<"), left_out), ">");
        else {
            memcpy(end, from, n ? n : 1);
            end += n ? n : 1;
        }
        from += n ? n : 1;
    }
    return brief;
}

/* The n-th argument of the n-th template in a name; NULL. */
static const char *argument_of(const char *name, unsigned list, unsigned number)
{
    for (const char *at = name; *at;) {
        size_t n = arguments_at(name, at);
        if (n && list-- == 0) {
            for (at++; at && number; number--)
                at = next_argument(at, argument_length(at));
            return at;
        }
        at += n ? n : 1;
    }
    return NULL;
}

/* Names that have not been told apart from this one yet. */
struct alike {
    struct arena *arena;
    const char **names;
    size_t n;
};

static const char *argument_text(struct arena *arena, const char *argument)
{
    return argument ? arena_printf(arena, "%.*s", (int)argument_length(argument), argument) : "";
}

/* As much of an argument as tells the name apart from some that have another one there: these are told apart then. */
static const char *argument_apart(struct alike *alike, const char *argument, unsigned list, unsigned number)
{
    const char *whole = argument_text(alike->arena, argument), *brief = brief_text(alike->arena, whole);
    bool is_brief_enough = true;
    size_t n_kept = 0;
    for (size_t i = 0; i < alike->n; i++) {
        const char *other = argument_text(alike->arena, argument_of(alike->names[i], list, number));
        if (!strcmp(whole, other))
            alike->names[n_kept++] = alike->names[i];
        else
            is_brief_enough &= strcmp(brief, brief_text(alike->arena, other)) != 0;
    }
    bool is_left_out = n_kept == alike->n;
    alike->n = n_kept;
    return is_left_out ? left_out : is_brief_enough ? brief : whole;
}

/* "<..., 2>" */
static const char *arguments_apart(struct alike *alike, const char *arguments, unsigned list)
{
    const char *text = "<", *before = "";
    unsigned number = 0;
    for (const char *at = arguments + 1; at; at = next_argument(at, argument_length(at))) {
        const char *argument = argument_apart(alike, at, list, number);
        if (argument != left_out || before != left_out)
            text = arena_printf(alike->arena, "%s%s%s", text, number ? ", " : "", argument);
        before = argument;
        number++;
    }
    return arena_printf(alike->arena, "%s>", text);
}

const char *brief_apart(struct arena *arena, const char *name, const char *const *others, size_t n_others)
{
    struct alike alike = {arena, arena_copy(arena, others, n_others * sizeof *others), n_others};
    const char *text = "";
    unsigned list = 0;
    for (const char *at = name; *at;) {
        size_t n = arguments_at(name, at), n_as_it_is = n ? n : strcspn(at + 1, "<") + 1;
        if (n > LONG_ARGUMENTS)
            text = arena_printf(arena, "%s%s", text, arguments_apart(&alike, at, list));
        else
            text = arena_printf(arena, "%s%.*s", text, (int)n_as_it_is, at);
        list += n > 0;
        at += n_as_it_is;
    }
    return text;
}

bool brief_has_parentheses(const char *name)
{
    for (const char *at = name; *at;) {
        size_t n = arguments_at(name, at);
        if (!n && *at == '(')
            return true;
        at += n ? n : 1;
    }
    return false;
}
