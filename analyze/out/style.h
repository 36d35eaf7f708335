/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How text looks on a terminal: styles are words for what a text means, and this is the one place that knows what they
 * look like. Without colour a style does nothing; without a terminal there are no bars either, so that files and pipes
 * always get the same bytes.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stddef.h>

enum style {
    STYLE_PLAIN,
    STYLE_HEADING,
    STYLE_CAUSE,   /* the name of what makes others wait */
    STYLE_NUMBER,  /* how much */
    STYLE_ADVICE,  /* what to do about it */
    STYLE_WARNING, /* what limits the trust in all this, or is urgent */
    STYLE_QUIET,   /* what is there for those who look for it */
    STYLE_N
};

enum drawing { DRAW_NOTHING, DRAW_ASCII, DRAW_UTF8 };
struct look {
    bool has_colour;
    enum drawing drawing; /* bars and the like: no terminal, or what its locale can show */
};

/* What switches a style on and off; "" without colour. */
const char *style_begin(const struct look *look, enum style style);
const char *style_end(const struct look *look, enum style style);
/* What empties a terminal before the same is printed anew; "" where it is none. */
const char *style_clear(const struct look *look);
/* A bar for a share in [0, 1] of so many columns; "" where nothing is drawn. */
const char *style_bar(struct arena *arena, const struct look *look, double share, size_t columns);
/* Values over time, one character each: blocks of their heights; in ASCII from " " to "@". */
const char *style_sparkline(struct arena *arena, const struct look *look, const double *values, size_t n);
