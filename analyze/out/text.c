/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace holds whatever a program put into its names. Nothing of it reaches a terminal before it has come through
 * text_escape, which lets through printable ASCII and well-formed UTF-8 and shows the rest as \xNN, byte by byte.
 */
#include "analyze/out/text.h"
#include "wrap/base/plain.h"
#include <string.h>

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

/* Where to break a text of which `most` bytes fit: at a blank in the second half, else behind the last "::". */
static size_t break_of(const char *text, size_t most)
{
    size_t end = most;
    while (end > most / 2 && text[end] != ' ')
        end--;
    if (text[end] == ' ')
        return end;
    for (end = most; end > most / 4; end--)
        if (text[end - 1] == ':' && text[end] != ':')
            return end;
    return most;
}

const char *text_first_line(struct arena *arena, const char **escaped, size_t columns)
{
    const char *text = *escaped;
    size_t most = bytes_of(text, columns ? columns : 1);
    if (!text[most]) {
        *escaped = text + most;
        return text;
    }
    size_t end = break_of(text, most);
    *escaped = text + end + (text[end] == ' ');
    return arena_printf(arena, "%.*s", (int)end, text);
}
