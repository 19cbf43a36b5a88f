/* The escapes follow strconv.Quote; what counts as printable is a short list of ranges instead of
 * Unicode's full tables, since these texts only ever end up in error messages. */
#include "api/go/quote.h"

#include "base/idiom.h"
#include "base/utf8.h"
#include "base/banned.h"

static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x7f, 0xa0 },     { 0xad, 0xad },       { 0x600, 0x605 },     { 0x61c, 0x61c },
    { 0x6dd, 0x6dd },   { 0x70f, 0x70f },     { 0x1680, 0x1680 },   { 0x180e, 0x180e },
    { 0x2000, 0x200f }, { 0x2028, 0x202f },   { 0x205f, 0x206f },   { 0x3000, 0x3000 },
    { 0xe000, 0xf8ff }, { 0xfdd0, 0xfdef },   { 0xfeff, 0xfeff },   { 0xfff0, 0xfffb },
    { 0xfffe, 0xffff }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe00ff }, { 0xe01f0, 0x10ffff },
};

bool quote_is_printable(uint32_t code)
{
    if (code < 0x20)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

static void quote_hidden(struct buf *out, uint32_t code)
{
    static const char letters[] = "abtnvfr"; /* for 7 to 13 */
    if (code >= 7 && code <= 13)
        buf_printf(out, "\\%c", letters[code - 7]);
    else if (code < 0x80)
        buf_printf(out, "\\x%02x", code);
    else
        buf_printf(out, code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
}

void quote_go(struct buf *out, struct str s)
{
    buf_byte(out, '"');
    while (s.n) {
        size_t n = utf8_step(s.p, s.n);
        uint32_t code = n ? utf8_decode(s.p, n) : 0;
        if (n == 0)
            buf_printf(out, "\\x%02x", (unsigned char)s.p[0]);
        else if (!quote_is_printable(code))
            quote_hidden(out, code);
        else {
            if (code == '"' || code == '\\')
                buf_byte(out, '\\');
            buf_add(out, s.p, n);
        }
        s = str_skip(s, n ? n : 1);
    }
    buf_byte(out, '"');
}
