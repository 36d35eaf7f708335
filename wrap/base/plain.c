/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/plain.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int plain_open(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
    struct stat status;
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

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

size_t plain_text(char *to, const char *text)
{
    const unsigned char *from = (const unsigned char *)text;
    char *end = to;
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
    *end = '\0';
    return (size_t)(end - to);
}

void plain_hex(char *to, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
    to[2 * n] = '\0';
}
