/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/brief.h"
#include <ctype.h>
#include <string.h>

enum {
    LONG_ARGUMENTS = 24,
    LONG_WORD = 80,  /* a line of text. No name that somebody wrote is as long */
    LEVELS_APART = 8 /* of arguments in arguments: what differs deeper is not looked for */
};
static const char left_out[] = "...";

/* Of an identifier, in UTF-8. */
static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (is_of_word(text[n]))
        n++;
    return n;
}

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* The two ends of a word that is as long as a name may be that no demangler reads. Returns the end of the copy. */
static char *word_copy(char *to, const char *word, size_t n)
{
    size_t head = n, tail = n;
    if (n > LONG_WORD) {
        head = LONG_WORD / 2;
        tail = n - LONG_WORD / 4;
    }
    while (head < n && !begins_character(word[head]))
        head--;
    while (tail < n && !begins_character(word[tail]))
        tail++;
    to = mempcpy(to, word, head);
    return tail < n ? mempcpy(stpcpy(to, left_out), word + tail, n - tail) : to;
}

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

static bool is_behind(const char *text, const char *at, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(at - text) >= n && strncmp(at - n, word, n) == 0;
}

/* Not an arrow between routines, nor the name of an operator. Returns the length of whole arguments, or 0. */
static size_t arguments_at(const char *text, const char *at)
{
    bool begins = *at == '<' && at > text && (is_of_word(at[-1]) || is_behind(text, at, "operator()")) &&
                  !is_behind(text, at, "operator");
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
    if (!strchr(text, '<') && strlen(text) <= LONG_WORD)
        return text;
    char *brief = arena_alloc(arena, strlen(text) + 1), *end = brief;
    for (const char *from = text; *from;) {
        size_t n = arguments_at(text, from), n_word = word_length(from), n_plain = n ? n : 1;
        if (n > LONG_ARGUMENTS)
            end = stpcpy(stpcpy(stpcpy(end, "<"), left_out), ">");
        else if (n_word)
            end = word_copy(end, from, n_word);
        else
            end = mempcpy(end, from, n_plain);
        from += n_word ? n_word : n_plain;
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
    unsigned levels; /* of arguments in which to look for what differs */
};

static const char *apart(struct alike alike, const char *name);

static const char *argument_text(struct arena *arena, const char *argument)
{
    return argument ? arena_printf(arena, "%.*s", (int)argument_length(argument), argument) : "";
}

/* As much of an argument as tells the name apart from some that have another one there. These are told apart then. */
static const char *argument_apart(struct alike *alike, const char *argument, unsigned list, unsigned number)
{
    const char *whole = argument_text(alike->arena, argument), *brief = brief_text(alike->arena, whole);
    struct alike inner = {alike->arena, arena_array(alike->arena, const char *, alike->n + 1), 0, alike->levels};
    size_t n_kept = 0;
    for (size_t i = 0; i < alike->n; i++) {
        const char *other = argument_text(alike->arena, argument_of(alike->names[i], list, number));
        if (!strcmp(whole, other))
            alike->names[n_kept++] = alike->names[i];
        else if (!strcmp(brief, brief_text(alike->arena, other)))
            inner.names[inner.n++] = other;
    }
    bool is_left_out = n_kept == alike->n;
    alike->n = n_kept;
    if (is_left_out)
        return left_out;
    return inner.n && inner.levels-- ? apart(inner, whole) : brief;
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

static const char *apart(struct alike alike, const char *name)
{
    const char *text = "";
    unsigned list = 0;
    for (const char *at = name; *at;) {
        size_t n = arguments_at(name, at), n_as_it_is = n ? n : strcspn(at + 1, "<") + 1;
        if (n > LONG_ARGUMENTS)
            text = arena_printf(alike.arena, "%s%s", text, arguments_apart(&alike, at, list));
        else
            text = arena_printf(alike.arena, "%s%.*s", text, (int)n_as_it_is, at);
        list += n > 0;
        at += n_as_it_is;
    }
    return text;
}

const char *brief_apart(struct arena *arena, const char *name, const char *const *others, size_t n_others)
{
    const char **names = arena_copy(arena, others, n_others * sizeof *others);
    return apart((struct alike){arena, names, n_others, LEVELS_APART}, name);
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
