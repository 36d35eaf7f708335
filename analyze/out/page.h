/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of text for a terminal of a given width. Everything put on a page is escaped (text_escape). Only page_end
 * begins a new line.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The look of text on a terminal: styles are words for what a text means, and this is the one place that knows what
 * they look like. Without colour a style does nothing; without a terminal there are no bars either, so that files and
 * pipes always get the same bytes.
 */

enum style {
    STYLE_PLAIN,
    STYLE_HEADING,
    STYLE_CAUSE,   /* the name of what makes others wait */
    STYLE_NUMBER,  /* how much */
    STYLE_ADVICE,  /* what to do about it */
    STYLE_WARNING, /* what limits the trust in all this, or is urgent */
    STYLE_LESS,    /* of what costs time, less than before */
    STYLE_MORE,
    STYLE_QUIET, /* what is there for those who look for it */
    STYLE_N
};

enum drawing { DRAW_NOTHING, DRAW_ASCII, DRAW_UTF8 };
struct look {
    bool has_colour;
    enum drawing drawing; /* bars and the like: no terminal, or what its locale can show */
};

/* Codes that empty a terminal before the same is printed anew; "" if it is none. */
const char *style_clear(const struct look *look);
/* A bar for a share in [0, 1] of so many columns; "" where nothing is drawn. */
const char *style_bar(struct arena *arena, const struct look *look, double share, size_t columns);
/* Values over time, one character each: blocks of their heights; in ASCII from " " to "@". */
const char *style_sparkline(struct arena *arena, const struct look *look, const double *values, size_t n);

struct page {
    FILE *out;
    size_t width;  /* of a line, in columns */
    size_t column; /* where the next character goes */
    bool has_text; /* something but indentation stands on the line */
    struct look look;
    enum style style; /* of what is put from now on */
};

void page_style(struct page *page, enum style style);

void page_put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Blanks up to `column`; none when the line is already there. */
void page_tab(struct page *page, size_t column);
/* The text, so that it ends before the column `end`. */
void page_right(struct page *page, size_t end, const char *text);
void page_end(struct page *page);
/* A whole line. */
void page_line(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts a piece that stays together: after three blanks, or on a new line indented by `hang` when it does not fit. One
 * that is longer than a line is broken at blanks. */
void page_piece(struct page *page, size_t hang, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Words, broken at blanks, on lines indented by `hang` but for the one that is begun already. */
void page_words(struct page *page, size_t hang, const char *text);
/* A paragraph, broken at blanks, its first line indented by `indent`, the others by `hang`. Ends the line. */
void page_paragraph(struct page *page, size_t indent, size_t hang, const char *text);

/*
 * A table: columns are data, and whoever prints it puts the cells in first, row by row, because all of them decide the
 * widths. If the table would be wider than the page, drawn columns are left out (PAGE_DRAWN). Then the widest column
 * of text gives way. It is cut, or goes on below the row (PAGE_WRAP). A column in which no cell says anything is left
 * out.
 *     struct page_table table = {.columns = columns, .n_columns = 2};
 *     for (...) { page_cell(&table, "%s", name); page_cell(&table, "%u", n); }
 *     page_table(&page, &table);
 */
struct page_column {
    const char *title;
    enum { PAGE_LEFT, PAGE_WRAP, PAGE_RIGHT, PAGE_DRAWN } align;
    enum style style;
};
struct page_table {
    const struct page_column *columns;
    size_t indent;
    struct arena arena;
    VEC(const char *) cells;  /* escaped, [row * n_columns + column] */
    size_t *widths;           /* from page_table_begin on; 0 = left out */
    const enum style *styles; /* of the next rows, by column; NULL = those of the columns */
    unsigned n_columns;
};
void page_cell(struct page_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints all of it, and lets go of the cells. */
void page_table(struct page *page, struct page_table *table);
/* The same in steps, where lines of another kind stand between the rows: titles, each row once, the end. */
void page_table_begin(struct page *page, struct page_table *table);
void page_table_row(struct page *page, struct page_table *table, size_t row);
void page_table_end(struct page_table *table);

/* Text from a recorded program (names, paths, arguments) made fit for a terminal. */

/* The text with everything that could steer a terminal or hide what follows written as \xNN: control characters, bytes
 * that are no UTF-8, and the characters that change the direction of writing. */
char *text_escape(struct arena *arena, const char *text);
/* Columns that an escaped text takes (one a character). */
size_t text_columns(const char *escaped);
/* The part of *escaped that goes on a line of that many columns, broken at a blank, or behind a comma or "::", or
 * anywhere; *escaped moves on to what is left. */
const char *text_first_line(struct arena *arena, const char **escaped, size_t columns);
/* An escaped text cut to that many columns, the cut marked by "...". The text itself when it fits. */
const char *text_cut(struct arena *arena, const char *escaped, size_t columns);
/* The same, cut in its middle: of a call path both ends tell most, and it is cut between calls if possible. */
const char *text_cut_middle(struct arena *arena, const char *escaped, size_t columns);
/* The same; where that would make it one with the other text, with the words in which the two first part. */
const char *text_cut_apart(struct arena *arena, const char *escaped, const char *other, size_t columns);
/* One of n call paths ("a() <- b() <- c()"), cut between calls: the first is shown, and those with which it parts from
 * the others, also where they take more columns; of the rest what there is room for, from both ends, on a line
 * more if there is none for any caller. The wrapper (", through w()") is left out where a call would not fit beside it.
 * NULL where one of these calls alone is too long. */
const char *text_cut_path(struct arena *arena, const char *const *escaped, size_t n, size_t which, size_t columns);
