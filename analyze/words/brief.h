/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of C++, which may be longer than a page, as short as they say what they have to. */
#pragma once
#include "wrap/base/containers.h"

/* "solve<...>": without template arguments that take more room than they are worth. In any text. */
const char *brief_text(struct arena *arena, const char *text);
/*
 * "solve<..., 2>": of a name that is brief as others are, with as many arguments as tell it apart from them. The
 * others' brief texts are the same.
 */
const char *brief_apart(struct arena *arena, const char *name, const char *const *others, size_t n_others);
/* "solve()", also where parentheses stand in an argument of a template only. */
bool brief_has_parentheses(const char *name);
