/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The demangler of the C++ run-time library refuses names above 1,024 characters, which templates over lists of types
 * exceed. libiberty parses names of any length into a tree. It prints a tree of a thousand levels at most, and an
 * argument of a list is a level: so lists are cut before. A name may say in a few characters that it is longer than the
 * memory, by naming parts of it again and again: what is printed is bounded as well.
 */
#include "analyze/code/demangle.h"
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANGLED_MOST = 1 << 16,  /* characters: hostile ones take a hundred bytes of stack each */
    ARGUMENTS_MOST = 128,    /* of a list: more than anybody reads, and few of the levels that can be printed */
    TEXT_MOST = MANGLED_MOST /* characters printed */
};

enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT };

typedef VEC(struct demangle_component *) components;

static bool is_list(const struct demangle_component *at)
{
    return at->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST || at->type == DEMANGLE_COMPONENT_ARGLIST;
}

/* Whether two more components are below; of others, nothing that is long. */
static bool is_fork(const struct demangle_component *at)
{
    switch (at->type) {
    case DEMANGLE_COMPONENT_QUAL_NAME:
    case DEMANGLE_COMPONENT_LOCAL_NAME:
    case DEMANGLE_COMPONENT_TYPED_NAME:
    case DEMANGLE_COMPONENT_TEMPLATE:
    case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
    case DEMANGLE_COMPONENT_ARGLIST:
    case DEMANGLE_COMPONENT_FUNCTION_TYPE:
    case DEMANGLE_COMPONENT_PTRMEM_TYPE:
    case DEMANGLE_COMPONENT_POINTER:
    case DEMANGLE_COMPONENT_REFERENCE:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
    case DEMANGLE_COMPONENT_CONST:
    case DEMANGLE_COMPONENT_CONST_THIS:
        return true;
    default:
        return false;
    }
}

/* Ends a list behind its first arguments. An argument itself may stand elsewhere in the name as well. */
static void cut_list(struct demangle_component *list, struct demangle_component *dots)
{
    for (int n = 1; list != NULL && is_list(list); n++, list = list->u.s_binary.right)
        if (n == ARGUMENTS_MOST && list->u.s_binary.right != NULL) {
            list->u.s_binary.left = dots;
            list->u.s_binary.right = NULL;
        }
}

static void cut_lists(struct demangle_component *root, struct demangle_component *dots)
{
    components open = {0};
    struct map seen = {0};
    *vec_push(&open) = root;
    while (open.n > 0) {
        struct demangle_component *at = open.at[--open.n];
        bool is_new = false;
        if (at == NULL || !is_fork(at))
            continue;
        map_put(&seen, (uintptr_t)at, &is_new);
        if (!is_new)
            continue;
        if (is_list(at))
            cut_list(at, dots);
        *vec_push(&open) = at->u.s_binary.right;
        *vec_push(&open) = at->u.s_binary.left;
    }
    vec_release(&open);
    map_release(&seen);
}

struct printed {
    VEC(char) text;
    jmp_buf is_full;
};

static void take_text(const char *text, size_t n, void *to)
{
    struct printed *printed = to;
    if (printed->text.n + n > TEXT_MOST)
        longjmp(printed->is_full, 1);
    for (size_t i = 0; i < n; i++)
        *vec_push(&printed->text) = text[i];
}

/* False where the tree cannot be printed. Its own buffers lie on the stack. */
static bool print(struct demangle_component *root, struct printed *printed)
{
    return setjmp(printed->is_full) == 0 && cplus_demangle_print_callback(OPTIONS, root, take_text, printed) != 0;
}

const char *demangle(struct arena *arena, const char *mangled)
{
    void *memory = NULL;
    struct demangle_component dots, *root = NULL;
    struct printed printed = {0};
    const char *text = NULL;
    if (strncmp(mangled, "_Z", 2) == 0 && strlen(mangled) < MANGLED_MOST)
        root = cplus_demangle_v3_components(mangled, OPTIONS, &memory);
    if (root != NULL && cplus_demangle_fill_name(&dots, "...", (int)strlen("...")) != 0)
        cut_lists(root, &dots);
    if (root != NULL && print(root, &printed))
        text = arena_printf(arena, "%.*s", (int)printed.text.n, printed.text.at);
    vec_release(&printed.text);
    free(memory);
    return text;
}
