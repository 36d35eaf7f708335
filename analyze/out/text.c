/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace holds whatever a program put into its names. Nothing of it reaches a terminal before it has come through
 * text_escape, which lets through printable ASCII and well-formed UTF-8 and shows the rest as \xNN, byte by byte.
 */
#include "analyze/out/text.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Length of the UTF-8 sequence at `text` and its code point; 0 when it is malformed (too long, surrogate, cut). */
static unsigned utf8_decode(const unsigned char *text, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned length = *text < 0x80           ? 1
                      : (*text >> 5) == 0x06 ? 2
                      : (*text >> 4) == 0x0e ? 3
                      : (*text >> 3) == 0x1e ? 4
                                             : 0;
    if (length <= 1) {
        *code = *text;
        return length;
    }
    *code = *text & (0x7fu >> length);
    for (unsigned i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    bool is_bad = *code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000);
    return is_bad ? 0 : length;
}

static bool is_harmless(uint32_t code)
{
    bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool turns_direction = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                           (code >= 0x2066 && code <= 0x2069);
    return !is_control && !turns_direction && code != 0xfeff;
}

char *text_escape(struct arena *arena, const char *text)
{
    char *escaped = arena_alloc(arena, 4 * strlen(text) + 1), *end = escaped;
    const unsigned char *from = (const unsigned char *)text;
    while (*from) {
        uint32_t code;
        unsigned length = utf8_decode(from, &code);
        if (length && is_harmless(code)) {
            memcpy(end, from, length);
            end += length;
        } else {
            length = length ? length : 1;
            for (unsigned i = 0; i < length; i++)
                end += sprintf(end, "\\x%02x", from[i]);
        }
        from += length;
    }
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
