#include "base/percent.h"

#include "base/utf8.h"
#include "base/banned.h"

bool percent_decode(struct arena *a, struct str s, bool plus_is_space, struct str *ret)
{
    char *out = arena_alloc(a, s.n, 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '%') {
            int high = i + 2 < s.n ? str_hex_digit(s.p[i + 1]) : -1,
                low = high < 0 ? -1 : str_hex_digit(s.p[i + 2]);
            if (low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (!c)
            return false;
        out[n++] = c;
    }
    *ret = (struct str){ out, n };
    return utf8_valid(*ret);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void percent_encode(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (is_plain(s.p[i]))
            buf_byte(out, s.p[i]);
        else
            buf_printf(out, "%%%02X", (unsigned char)s.p[i]);
    }
}
