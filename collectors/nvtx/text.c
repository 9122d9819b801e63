/* See text.h. */

#include "text.h"

#include <string.h>

static unsigned utf8(char *to, uint32_t code)
{
    if (code < 0x20 || code == 0x7f)
        code = code == 0x7f ? 0x2421 : 0x2400 + code;
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    unsigned length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned place = length - 1; place; place--, code >>= 6)
        to[place] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(lead[length] | code);
    return length;
}

unsigned copy_bytes(char *to, const char *from)
{
    unsigned length = 0;
    for (; from && *from && length <= MAX_NAME - 4; from++) {
        unsigned char byte = (unsigned char)*from;
        if (byte < 0x20 || byte == 0x7f)
            length += utf8(to + length, byte);
        else
            to[length++] = (char)byte;
    }
    if (from && (*from & 0xc0) == 0x80) /* The cut is inside a character, which goes as a whole. */
        while (length && (to[--length] & 0xc0) == 0x80)
            ;
    return length;
}

unsigned copy_wide(char *to, const wchar_t *from)
{
    unsigned length = 0;
    for (; from && *from && length <= MAX_NAME - 4; from++)
        length += utf8(to + length, (uint32_t)*from <= 0x10ffff ? (uint32_t)*from : 0xfffd);
    return length;
}

unsigned copy_number(char *to, uint64_t value)
{
    char digits[20];
    unsigned place = sizeof digits;
    do
        digits[--place] = (char)('0' + value % 10);
    while (value /= 10);
    memcpy(to, digits + place, sizeof digits - place);
    return sizeof digits - place;
}
