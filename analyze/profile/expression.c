/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass over the text finds the operators outside of all brackets and the last pair of brackets. The operator that
 * binds least is applied last; of equal ones it is the last, or of those that go from right to left the first. A text
 * with a word or sign of which that is not true has no name.
 */
#include "analyze/profile/expression.h"
#include "wrap/base/containers.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST_TOLD = 40, NOT_SURE = -1, COMPARES = 1, UNARY = 8, NO_OPERATOR = 10 };

/* Longer ones first. By how tight they bind; COMPARES may form chains, which are applied one after the other. */
static const struct operator_sign {
    const char *sign;
    int tight;
} operators[] = {
    {"**=", 0}, {"//=", 0}, {"<<=", 0}, {">>=", 0}, {"+=", 0}, {"-=", 0}, {"*=", 0},        {"/=", 0},
    {"%=", 0},  {"@=", 0},  {"&=", 0},  {"|=", 0},  {"^=", 0}, {"<=", 1}, {">=", 1},        {"==", 1},
    {"!=", 1},  {"**", 9},  {"//", 7},  {"<<", 5},  {">>", 5}, {"<", 1},  {">", 1},         {"|", 2},
    {"^", 3},   {"&", 4},   {"+", 6},   {"-", 6},   {"*", 7},  {"/", 7},  {"%", 7},         {"@", 7},
    {"~", 8},   {":=", -1}, {"=", -1},  {",", -1},  {":", -1}, {";", -1}, {"\\", NOT_SURE}, {"!", NOT_SURE},
};

struct scan {
    const char *text;
    size_t n, at;
    unsigned depth;
    size_t open, close; /* of the last pair outside of others: its first, and behind its last */
    bool is_behind_value;
    const struct operator_sign *last; /* applied last; NULL = none */
    int tight;
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* False when it does not end. */
static bool skip_string(struct scan *scan)
{
    char quote = scan->text[scan->at++];
    for (; scan->at < scan->n; scan->at++) {
        if (scan->text[scan->at] == quote) {
            scan->at++;
            return true;
        }
        scan->at += scan->text[scan->at] == '\\';
    }
    return false;
}

/* A name, with those that follow behind dots, or a number. False for words that are operators. */
static bool skip_word(struct scan *scan)
{
    static const char *const words[] = {"and",  "or",     "not", "in",    "is",    "if",
                                        "else", "lambda", "for", "await", "yield", "from"};
    size_t begin = scan->at;
    bool is_number = isdigit((unsigned char)scan->text[begin]);
    for (; scan->at < scan->n; scan->at++) {
        char c = scan->text[scan->at], before = scan->at > begin ? scan->text[scan->at - 1] : '0';
        bool is_exponent = is_number && (c == '+' || c == '-') && (before == 'e' || before == 'E');
        if (!is_name(c) && c != '.' && !is_exponent)
            break;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == scan->at - begin && !strncmp(scan->text + begin, words[i], scan->at - begin))
            return false;
    return true;
}

static void skip_bracket(struct scan *scan)
{
    bool is_open = strchr("([{", scan->text[scan->at]) != NULL;
    if (is_open && scan->depth++ == 0)
        scan->open = scan->at;
    scan->at++;
    if (!is_open && scan->depth > 0 && --scan->depth == 0)
        scan->close = scan->at;
}

/* False for signs that are none, and for chains of comparisons. */
static bool take_operator(struct scan *scan)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const struct operator_sign *sign = &operators[i];
        size_t n = strlen(sign->sign);
        if (scan->n - scan->at < n || strncmp(scan->text + scan->at, sign->sign, n) != 0)
            continue;
        int tight = sign->tight >= 0 && !scan->is_behind_value ? UNARY : sign->tight;
        if (tight < 0 || (tight == COMPARES && scan->tight == COMPARES))
            return false;
        bool is_from_right = tight >= UNARY, is_first = tight != UNARY || !scan->last; /* of x ** -y it is the ** */
        if (is_first && (tight < scan->tight || (tight == scan->tight && !is_from_right))) {
            scan->last = sign;
            scan->tight = tight;
        }
        scan->at += n;
        return true;
    }
    return false;
}

/* False where the text has something that is not understood. */
static bool take_piece(struct scan *scan)
{
    char c = scan->text[scan->at];
    bool is_known = true;
    if (c == ' ' || c == '\t') {
        scan->at++;
        return true;
    }
    bool is_value = c == '"' || c == '\'' || is_name(c) || c == '.' || strchr("([{)]}", c);
    if (c == '"' || c == '\'')
        is_known = skip_string(scan);
    else if (is_name(c) || c == '.')
        is_known = skip_word(scan) || scan->depth > 0;
    else if (strchr("([{)]}", c))
        skip_bracket(scan);
    else if (scan->depth > 0)
        scan->at++;
    else
        is_known = take_operator(scan);
    scan->is_behind_value = is_value;
    return is_known;
}

/* "np.sqrt()": what stands before the last brackets, or the end of that. NULL = that is no name. */
static const char *call_name(struct arena *arena, const struct scan *scan)
{
    size_t n = scan->open, begin = n;
    while (begin > 0 && (is_name(scan->text[begin - 1]) || scan->text[begin - 1] == '.'))
        begin--;
    begin += scan->text[begin] == '.';
    return begin < n && n - begin <= LONGEST_TOLD ? arena_printf(arena, "%.*s()", (int)(n - begin), scan->text + begin)
                                                  : NULL;
}

const char *expression_name(struct arena *arena, const char *text, size_t bytes)
{
    struct scan scan = {.text = text, .n = bytes, .tight = NO_OPERATOR};
    bool is_short = bytes <= LONGEST_TOLD;
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < ' ')
            return NULL;
    while (scan.at < bytes)
        if (!take_piece(&scan))
            return NULL;
    if (scan.depth > 0 || bytes == 0)
        return NULL;
    if (scan.last && is_short)
        return arena_printf(arena, "the %s of %.*s", scan.last->sign, (int)bytes, text);
    if (scan.last)
        return arena_printf(arena, "an operator %s", scan.last->sign);
    if (scan.close == bytes && text[scan.open] == '(' && scan.open > 0)
        return call_name(arena, &scan);
    size_t n_name = 0;
    while (n_name < bytes && is_name(text[n_name]))
        n_name++;
    if (n_name == bytes)
        return NULL;
    return is_short ? arena_printf(arena, "%.*s", (int)bytes, text) : NULL;
}
