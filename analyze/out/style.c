/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/style.h"
#include <math.h>

/* Parameters of the terminal's "select graphic rendition"; the basic ones, which look well on dark and on light. */
static const char *const codes[STYLE_N] = {
    [STYLE_PLAIN] = "",          [STYLE_HEADING] = "\033[1m",  [STYLE_CAUSE] = "\033[1;31m", [STYLE_NUMBER] = "\033[1m",
    [STYLE_ADVICE] = "\033[32m", [STYLE_WARNING] = "\033[33m", [STYLE_QUIET] = "\033[2m"};

const char *style_begin(const struct look *look, enum style style)
{
    return look->has_colour ? codes[style] : "";
}

const char *style_end(const struct look *look, enum style style)
{
    return look->has_colour && style != STYLE_PLAIN ? "\033[0m" : "";
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
        int height = most > 0 ? (int)(8 * values[i] / most + 0.5) : 0;
        height = values[i] > 0 && height < 1 ? 1 : height;
        text = arena_printf(arena, "%s%s", text, look->drawing == DRAW_ASCII ? ascii[height] : blocks[height]);
    }
    return text;
}
