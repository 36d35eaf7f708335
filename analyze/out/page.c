/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { GAP = 2, PIECE_GAP = 3, WRAP_HANG = 4 };

static char *page_format(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_alloc(arena, (size_t)size + 1);
    vsnprintf(text, (size_t)size + 1, format, args);
    return text_escape(arena, text);
}

/* Parameters of the terminal's "select graphic rendition"; the basic ones, which look well on dark and on light. */
static const char *const codes[STYLE_N] = {
    [STYLE_PLAIN] = "",         [STYLE_HEADING] = "\033[1m", [STYLE_CAUSE] = "\033[1;31m",
    [STYLE_NUMBER] = "\033[1m", [STYLE_ADVICE] = "\033[32m", [STYLE_WARNING] = "\033[33m",
    [STYLE_LESS] = "\033[32m",  [STYLE_MORE] = "\033[31m",   [STYLE_QUIET] = "\033[2m"};

/* What switches a style on and off; "" without colour. */
static const char *style_begin(const struct look *look, enum style style)
{
    return look->has_colour ? codes[style] : "";
}

static const char *style_end(const struct look *look, enum style style)
{
    return look->has_colour && style != STYLE_PLAIN ? "\033[0m" : "";
}

static void page_write(struct page *page, const char *escaped)
{
    if (*escaped)
        fprintf(page->out, "%s%s%s", style_begin(&page->look, page->style), escaped,
                style_end(&page->look, page->style));
    page->column += text_columns(escaped);
    page->has_text |= *escaped != '\0';
}

void page_style(struct page *page, enum style style)
{
    page->style = style;
}

void page_put(struct page *page, const char *format, ...)
{
    struct arena scratch = {0};
    va_list args;
    va_start(args, format);
    page_write(page, page_format(&scratch, format, args));
    va_end(args);
    arena_release(&scratch);
}

void page_tab(struct page *page, size_t column)
{
    for (; page->column < column; page->column++)
        fputc(' ', page->out);
}

void page_right(struct page *page, size_t end, const char *text)
{
    size_t columns = text_columns(text);
    size_t start = end > columns ? end - columns : 0;
    if (columns)
        page_tab(page, page->column && start <= page->column ? page->column + 1 : start);
    page_put(page, "%s", text);
}

void page_end(struct page *page)
{
    fputc('\n', page->out);
    page->column = 0;
    page->has_text = false;
}

void page_line(struct page *page, const char *format, ...)
{
    struct arena scratch = {0};
    va_list args;
    va_start(args, format);
    page_write(page, page_format(&scratch, format, args));
    va_end(args);
    page_end(page);
    arena_release(&scratch);
}

/* With a number goes its unit: "920 ms", "99 %". `rest` follows the word; NULL. */
static size_t columns_together(const char *word, const char *rest)
{
    bool is_number = *word && word[strspn(word, "0123456789.,+-")] == '\0';
    return text_columns(word) + (is_number && rest ? 1 + strcspn(rest, " ") : 0);
}

/* Takes the text, which is escaped, to pieces. */
static void write_words(struct page *page, size_t hang, char *escaped)
{
    bool is_first = true;
    for (char *word; (word = strsep(&escaped, " ")); is_first = false) {
        if (!is_first && page->column + 1 + columns_together(word, escaped) > page->width) {
            page_end(page);
            page_tab(page, hang);
        } else if (!is_first) {
            page_tab(page, page->column + 1);
        }
        page_write(page, word);
    }
}

void page_words(struct page *page, size_t hang, const char *text)
{
    struct arena scratch = {0};
    write_words(page, hang, text_escape(&scratch, text));
    arena_release(&scratch);
}

void page_piece(struct page *page, size_t hang, const char *format, ...)
{
    struct arena scratch = {0};
    va_list args;
    va_start(args, format);
    char *piece = page_format(&scratch, format, args);
    va_end(args);
    if (page->has_text) {
        if (page->column + PIECE_GAP + text_columns(piece) <= page->width)
            page_tab(page, page->column + PIECE_GAP);
        else
            page_end(page);
    }
    page_tab(page, hang);
    write_words(page, hang, piece);
    arena_release(&scratch);
}

void page_paragraph(struct page *page, size_t indent, size_t hang, const char *text)
{
    page_tab(page, indent);
    page_words(page, hang, text);
    page_end(page);
}

void page_cell(struct page_table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *vec_push(&table->cells) = page_format(&table->arena, format, args);
    va_end(args);
}

/* Of the columns, 0 for those that are left out. */
static void table_measure(struct page_table *table, size_t room)
{
    size_t *widths = table->widths = arena_array(&table->arena, size_t, table->n_columns), total = 0;
    unsigned widest = 0;
    for (unsigned c = 0; c < table->n_columns; c++) {
        for (size_t i = c; i < table->cells.n; i += table->n_columns) {
            size_t columns = text_columns(table->cells.at[i]);
            widths[c] = columns > widths[c] ? columns : widths[c];
        }
        if (!widths[c] && table->cells.n)
            continue;
        size_t title = text_columns(table->columns[c].title);
        widths[c] = title > widths[c] ? title : widths[c];
        total += widths[c] + GAP;
    }
    total -= GAP;
    for (unsigned c = 0; c < table->n_columns; c++) {
        bool is_drawn = table->columns[c].align == PAGE_DRAWN, is_text = table->columns[c].align != PAGE_RIGHT;
        if (is_drawn && widths[c] && total > room) {
            total -= widths[c] + GAP;
            widths[c] = 0;
        } else if (is_text && (table->columns[widest].align == PAGE_RIGHT || widths[c] > widths[widest])) {
            widest = c;
        }
    }
    size_t excess = total > room ? total - room : 0, least = 12;
    if (excess && widths[widest] > least)
        widths[widest] = widths[widest] > excess + least ? widths[widest] - excess : least;
}

/* A line, and more below it as long as some cell that wraps has a rest. Blanks that a cell begins with are its depth:
 * all of its lines are that deep, as far as that leaves them half of the column. */
static void table_row(struct page *page, const struct page_table *table, const char **cells, bool is_title)
{
    struct arena scratch = {0};
    size_t *depths = arena_array(&scratch, size_t, table->n_columns);
    for (unsigned c = 0; c < table->n_columns; c++) {
        size_t blanks = table->columns[c].align == PAGE_WRAP ? strspn(cells[c], " ") : 0;
        depths[c] = blanks < table->widths[c] / 2 ? blanks : table->widths[c] / 2;
        cells[c] += blanks;
    }
    bool has_rest = true;
    for (size_t hang = 0; has_rest; hang = WRAP_HANG) {
        size_t start = table->indent;
        has_rest = false;
        for (unsigned c = 0; c < table->n_columns; c++) {
            const struct page_column *column = &table->columns[c];
            size_t width = table->widths[c], before = depths[c] + hang, room = width > before ? width - before : 1;
            bool wraps = column->align == PAGE_WRAP;
            const char *cell = wraps ? text_first_line(&scratch, &cells[c], room) : text_cut(&scratch, cells[c], width);
            size_t pad = wraps ? before : column->align == PAGE_RIGHT ? width - text_columns(cell) : 0;
            cells[c] = wraps ? cells[c] : "";
            has_rest |= *cells[c] != '\0';
            if (*cell && width) {
                page_tab(page, start + pad);
                enum style style = table->styles ? table->styles[c] : column->style;
                page_style(page, is_title ? STYLE_HEADING : style);
                page_write(page, cell);
            }
            start += width ? width + GAP : 0;
        }
        page_style(page, STYLE_PLAIN);
        page_end(page);
    }
    arena_release(&scratch);
}

void page_table_begin(struct page *page, struct page_table *table)
{
    table_measure(table, page->width > table->indent ? page->width - table->indent : 1);
    const char **titles = arena_array(&table->arena, const char *, table->n_columns);
    for (unsigned c = 0; c < table->n_columns; c++)
        titles[c] = table->columns[c].title;
    table_row(page, table, titles, true);
}

void page_table_row(struct page *page, struct page_table *table, size_t row)
{
    table_row(page, table, &table->cells.at[row * table->n_columns], false);
}

void page_table_end(struct page_table *table)
{
    vec_release(&table->cells);
    arena_release(&table->arena);
}

void page_table(struct page *page, struct page_table *table)
{
    page_table_begin(page, table);
    for (size_t row = 0; row < table->cells.n / table->n_columns; row++)
        page_table_row(page, table, row);
    page_table_end(table);
}

/*
 * A trace holds whatever a program put into its names. Nothing of it reaches a terminal before it has come through
 * text_escape, which lets through printable ASCII and well-formed UTF-8 and shows the rest as \xNN, byte by byte.
 */

char *text_escape(struct arena *arena, const char *text)
{
    char *escaped = arena_alloc(arena, 4 * strlen(text) + 1);
    plain_text(escaped, text);
    return escaped;
}

size_t text_columns(const char *escaped)
{
    size_t columns = 0;
    for (; *escaped; escaped++)
        columns += ((unsigned char)*escaped & 0xc0) != 0x80;
    return columns;
}

const char *text_cut(struct arena *arena, const char *escaped, size_t columns)
{
    if (text_columns(escaped) <= columns)
        return escaped;
    size_t keep = columns > 3 ? columns - 3 : 0, bytes = 0;
    while (keep) {
        bytes++;
        keep -= ((unsigned char)escaped[bytes] & 0xc0) != 0x80;
    }
    return arena_printf(arena, "%.*s%.*s", (int)bytes, escaped, columns < 3 ? (int)columns : 3, "...");
}

/* Bytes of the first `columns` characters. */
static size_t bytes_of(const char *escaped, size_t columns)
{
    size_t bytes = 0;
    for (; escaped[bytes]; bytes++)
        if (((unsigned char)escaped[bytes] & 0xc0) != 0x80 && !columns--)
            break;
    return bytes;
}

/* The calls of a path. */
struct calls {
    struct call_text {
        const char *at;
        int n_bytes;
        bool is_gap; /* "(4 more)": left out before */
        bool is_kept;
    } *at;
    size_t n;
    const char *end; /* what follows them: ", through c()" */
};

static struct calls calls_of(struct arena *arena, const char *escaped)
{
    static const char arrow[] = " <- ", through[] = ", through ";
    enum { ARROW = sizeof arrow - 1 };
    struct calls calls = {.at = arena_array(arena, struct call_text, strlen(escaped) / ARROW + 1),
                          .end = strstr(escaped, through)};
    if (!calls.end)
        calls.end = escaped + strlen(escaped);
    for (const char *at = escaped, *next; at; at = next ? next + ARROW : NULL) {
        next = strstr(at, arrow);
        next = next && next < calls.end ? next : NULL;
        int n_bytes = (int)((next ? next : calls.end) - at);
        bool is_gap = *at == '(' && isdigit((unsigned char)at[1]);
        calls.at[calls.n++] = (struct call_text){.at = at, .n_bytes = n_bytes, .is_gap = is_gap};
    }
    return calls;
}

static const char *calls_text(struct arena *arena, const struct calls *calls)
{
    const char *text = "";
    bool is_left_out = false;
    for (size_t i = 0; i < calls->n; i++) {
        const struct call_text *call = &calls->at[i];
        bool is_amid = !is_left_out && i + 1 < calls->n && call[1].is_kept;
        bool is_shown = call->is_kept && (!call->is_gap || is_amid);
        if (is_shown)
            text = arena_printf(arena, "%s%s%.*s", text, i ? " <- " : "", call->n_bytes, call->at);
        else if (!is_left_out)
            text = arena_printf(arena, "%s <- ...", text);
        is_left_out = !is_shown;
    }
    return arena_printf(arena, "%s%s", text, calls->end);
}

static bool calls_keep(struct arena *arena, struct calls *calls, size_t call, size_t columns)
{
    bool was_kept = calls->at[call].is_kept;
    calls->at[call].is_kept = true;
    calls->at[call].is_kept = was_kept || text_columns(calls_text(arena, calls)) <= columns;
    return calls->at[call].is_kept;
}

/* "MPI_Send in routine 12+0x4 of libfoo.so": of a routine without a name. */
static bool call_is_numbered(const struct call_text *call)
{
    static const char word[] = "routine ";
    const char *at = strstr(call->at, word);
    return at && at < call->at + call->n_bytes && isdigit((unsigned char)at[sizeof word - 1]);
}

/* Beside those that are kept: the innermost that has a name, the last, and of the others as many from both ends as
 * there is room for. */
static const char *calls_cut(struct arena *arena, struct calls *calls, size_t columns)
{
    for (size_t i = 0, is_found = 0; i < calls->n && !is_found; i++) {
        is_found = !calls->at[i].is_gap && !call_is_numbered(&calls->at[i]);
        if (is_found)
            calls_keep(arena, calls, i, columns);
    }
    size_t low = 1, high = calls->n;
    for (bool has_room = true; has_room && low < high;) {
        bool comes_up = calls_keep(arena, calls, high - 1, columns), goes_on = calls_keep(arena, calls, low, columns);
        low += goes_on;
        high -= comes_up;
        has_room = goes_on || comes_up;
    }
    return calls_text(arena, calls);
}

/* The first call that the other path does not have there; gaps of different length say less. */
static size_t calls_part_at(const struct calls *calls, const struct calls *other)
{
    for (size_t i = 0, k = 0;; i++, k++) {
        while (i < calls->n && calls->at[i].is_gap)
            i++;
        while (k < other->n && other->at[k].is_gap)
            k++;
        if (i >= calls->n || k >= other->n || calls->at[i].n_bytes != other->at[k].n_bytes ||
            strncmp(calls->at[i].at, other->at[k].at, (size_t)calls->at[i].n_bytes) != 0)
            return i;
    }
}

static const char *path_cut(struct arena *arena, const char *const *escaped, size_t n, size_t which, size_t columns,
                            bool has_end)
{
    struct calls calls = calls_of(arena, escaped[which]);
    if (!has_end)
        calls.end = "";
    calls.at[0].is_kept = true;
    for (size_t i = 0; i < n; i++) {
        struct calls other = calls_of(arena, escaped[i]);
        size_t parted = calls_part_at(&calls, &other);
        if (parted < calls.n)
            calls.at[parted].is_kept = true;
    }
    for (size_t i = 0; i < calls.n; i++) {
        const char *call = arena_printf(arena, "%.*s%s", calls.at[i].n_bytes, calls.at[i].at, calls.end);
        if (calls.at[i].is_kept && text_columns(call) > columns)
            return NULL;
    }
    /* Where no caller fits beside the call, the path goes on in a line of its own. */
    const char *cut = calls_cut(arena, &calls, columns);
    bool has_caller = calls.n == 1;
    for (size_t i = 1; i < calls.n && !has_caller; i++)
        has_caller = calls.at[i].is_kept;
    return has_caller ? cut : calls_cut(arena, &calls, 2 * columns);
}

const char *text_cut_path(struct arena *arena, const char *const *escaped, size_t n, size_t which, size_t columns)
{
    const char *whole = path_cut(arena, escaped, n, which, columns, true);
    return whole ? whole : path_cut(arena, escaped, n, which, columns, false);
}

const char *text_cut_middle(struct arena *arena, const char *escaped, size_t columns)
{
    size_t n = text_columns(escaped), dots = 3, tail = columns > dots ? (columns - dots) / 3 : 0;
    if (n <= columns || !tail)
        return text_cut(arena, escaped, columns);
    struct calls calls = calls_of(arena, escaped);
    calls.at[0].is_kept = true;
    if (calls.n > 1 && text_columns(calls_text(arena, &calls)) <= columns)
        return calls_cut(arena, &calls, columns);
    return arena_printf(arena, "%.*s...%s", (int)bytes_of(escaped, columns - dots - tail), escaped,
                        escaped + bytes_of(escaped, n - tail));
}

const char *text_cut_apart(struct arena *arena, const char *escaped, const char *other, size_t columns)
{
    enum { DOTS = 3 };
    const char *cut = text_cut_middle(arena, escaped, columns);
    size_t quarter = columns > 2 * DOTS ? (columns - 2 * DOTS) / 4 : 0, n = text_columns(escaped), parted = 0;
    if (!strcmp(escaped, other) || strcmp(cut, text_cut_middle(arena, other, columns)) != 0 || quarter < DOTS)
        return cut;
    while (escaped[parted] == other[parted])
        parted++;
    /* From the begin of the word, unless that is so long that what differs would not be in the piece. */
    size_t at = parted;
    while (at && escaped[at - 1] != ' ')
        at--;
    while (parted - at > quarter / 2 || ((unsigned char)escaped[at] & 0xc0) == 0x80)
        at++;
    size_t head = columns - 2 * DOTS - 2 * quarter, tail = bytes_of(escaped, n - quarter);
    /* So near to the end they differ by how often something comes before it, which no piece shows. */
    if (at + bytes_of(escaped + at, quarter) >= tail)
        return escaped;
    return arena_printf(arena, "%.*s...%.*s...%s", (int)bytes_of(escaped, head), escaped,
                        (int)bytes_of(escaped + at, quarter), escaped + at, escaped + tail);
}

const char *text_first_line(struct arena *arena, const char **escaped, size_t columns)
{
    const char *text = *escaped;
    size_t most = bytes_of(text, columns ? columns : 1);
    if (!text[most]) {
        *escaped = text + most;
        return text;
    }
    /* At a blank in the second half, else behind the last comma or "::", else at any blank. */
    size_t blank = most, end = most;
    while (blank && text[blank] != ' ')
        blank--;
    if (blank && blank >= most / 2) {
        end = blank;
    } else {
        while (end > most / 4 + 1 && text[end - 1] != ',' && strncmp(&text[end - 2], "::", 2) != 0)
            end--;
        end = end > most / 4 + 1 ? end : blank ? blank : most;
    }
    *escaped = text + end + (text[end] == ' ');
    return arena_printf(arena, "%.*s", (int)end, text);
}

const char *style_clear(const struct look *look)
{
    return look->drawing == DRAW_NOTHING ? "" : "\033[H\033[2J\033[3J";
}

const char *style_bar(struct arena *arena, const struct look *look, double share, size_t columns)
{
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    const char *text = "";
    if (look->drawing == DRAW_NOTHING || !(share > 0))
        return text;
    size_t n = (size_t)lround(fmin(share, 1) * (double)columns * 8);
    size_t whole = look->drawing == DRAW_UTF8 ? n / 8 : (n + 7) / 8;
    for (size_t i = 0; i < whole; i++)
        text = arena_printf(arena, "%s%s", text, look->drawing == DRAW_UTF8 ? "\u2588" : "#");
    if (look->drawing == DRAW_UTF8)
        text = arena_printf(arena, "%s%s", text, n % 8 || whole ? eighths[n % 8] : eighths[1]);
    return text;
}

const char *style_sparkline(struct arena *arena, const struct look *look, const double *values, size_t n)
{
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    const char *text = "";
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(values[i], most);
    for (size_t i = 0; i < n; i++) {
        int height = values[i] > 0 ? (int)(8 * values[i] / most + 0.5) : 0; /* none below 0 */
        height = values[i] > 0 && height < 1 ? 1 : height;
        text = arena_printf(arena, "%s%s", text, look->drawing == DRAW_ASCII ? ascii[height] : blocks[height]);
    }
    return text;
}
