#include "api/go/gofloat.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/value.h"
#include "base/banned.h"

enum { DIGITS_MAX = 17 };

/* What printf made of a number: 0.DIGITS times ten to the power of `point`. */
struct decimal {
    char digits[DIGITS_MAX + 1];
    int n, point;
};

/* Only digits and the exponent are taken over; the point is the locale's. */
static void split(const char *text, struct decimal *ret)
{
    ret->n = 0;
    for (; *text != 'e'; text++)
        if (*text >= '0' && *text <= '9')
            ret->digits[ret->n++] = *text;
    int64_t exponent = 0;
    (void)str_to_i64(str_of(text[1] == '+' ? text + 2 : text + 1), &exponent);
    ret->point = (int)exponent + 1;
}

static bool reads_back(const struct decimal *dec, double d)
{
    char text[DIGITS_MAX + 16];
    int n = snprintf(text, sizeof(text), "%.*se%d", dec->n, dec->digits, dec->point - dec->n);
    struct value v = { .type = VALUE_NUMBER, .n = (uint32_t)n, .text = text };
    double back;
    return value_to_double(&v, &back) && back == d;
}

/* The next decimal of as many digits. */
static void increment(struct decimal *dec)
{
    int i = dec->n;
    while (i > 0 && dec->digits[i - 1] == '9')
        dec->digits[--i] = '0';
    if (i > 0) {
        dec->digits[i - 1]++;
        return;
    }
    dec->digits[0] = '1';
    dec->point++;
}

/* printf rounds to the nearest decimal. Below a power of two doubles lie closer together than above
 * it, so there the nearest may belong to the neighbour below while the next one still reads back.
 */
static struct decimal shortest(double d)
{
    struct decimal dec;
    char text[40];
    for (int n = 1;; n++) {
        (void)snprintf(text, sizeof(text), "%.*e", n - 1, d);
        split(text, &dec);
        if (n == DIGITS_MAX || reads_back(&dec, d))
            break;
        increment(&dec);
        if (reads_back(&dec, d))
            break;
    }
    while (dec.n > 1 && dec.digits[dec.n - 1] == '0')
        dec.n--;
    return dec;
}

static void write_plain(struct buf *out, const struct decimal *dec)
{
    if (dec->point <= 0) {
        buf_str_add(out, STR("0."));
        for (int i = dec->point; i < 0; i++)
            buf_byte(out, '0');
        buf_add(out, dec->digits, (size_t)dec->n);
        return;
    }
    for (int i = 0; i < dec->n || i < dec->point; i++) {
        if (i == dec->point)
            buf_byte(out, '.');
        buf_byte(out, i < dec->n ? dec->digits[i] : '0');
    }
}

struct str gofloat_text(struct arena *a, double d)
{
    autobuf out = { 0 };
    if (signbit(d))
        buf_byte(&out, '-');
    if (d == 0) {
        buf_byte(&out, '0');
        return arena_str(a, buf_str(&out));
    }
    struct decimal dec = shortest(fabs(d));
    if (dec.point > -6 && dec.point <= 21)
        write_plain(&out, &dec);
    else
        buf_printf(&out, "%c%s%.*se%+d", dec.digits[0], dec.n > 1 ? "." : "", dec.n - 1,
                   dec.digits + 1, dec.point - 1);
    return arena_str(a, buf_str(&out));
}
