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
