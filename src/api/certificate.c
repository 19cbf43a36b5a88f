#include "api/certificate.h"

#include "api/der.h"
#include "base/base64.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- PEM ---- */

static struct str find(struct str text, struct str what)
{
    const char *at = text.n ? memmem(text.p, text.n, what.p, what.n) : NULL;
    return at ? str_skip(text, (size_t)(at - text.p)) : (struct str){ 0 };
}

/* The last "-----BEGIN " there; it has to stand at the start of a line. */
static struct str find_begin(struct str text)
{
    struct str begin = STR("-----BEGIN "), last = { 0 };
    for (struct str at = find(text, begin); at.p; at = find(str_skip(at, begin.n), begin))
        last = at;
    bool starts_line = last.p && (last.p == text.p || last.p[-1] == '\n');
    return starts_line ? last : (struct str){ 0 };
}

/* Headers are lines with a colon in front of the base64. */
static bool skip_headers(struct str *body)
{
    bool found = false;
    for (;;) {
        struct str rest = *body, line = str_cut(&rest, '\n');
        if (!rest.p || str_find(line, ':') < 0)
            return found;
        found = true;
        *body = rest;
    }
}

static bool decode_body(struct str body, struct buf *ret)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < body.n; i++)
        if (!strchr("\n\r \t", body.p[i]))
            buf_byte(&text, body.p[i]);
    return base64_decode(ret, buf_str(&text));
}

/* A block from its "-----BEGIN " up to its "-----END ", and what follows that. */
static bool read_block(struct str block, struct str *after, struct pem_block *ret)
{
    struct str body = block, line = str_trim(str_cut(&body, '\n'));
    struct str type = str_skip(line, STR("-----BEGIN ").n), dashes = STR("-----");
    if (!body.p || !str_ends(type, dashes))
        return false;
    type = str_take(type, type.n - dashes.n);
    struct str rest = *after, last_line = str_trim(str_cut(&rest, '\n'));
    if (last_line.n != type.n + dashes.n || !str_starts(last_line, type) ||
        !str_ends(last_line, dashes))
        return false;
    ret->type = type;
    ret->has_headers = skip_headers(&body);
    buf_reset(&ret->bytes);
    if (!decode_body(body, &ret->bytes))
        return false;
    *after = rest;
    return true;
}

/* Each end is looked at once, with the beginning that is nearest in front of it: texts of many
 * beginnings cost no more than others. */
bool pem_next(struct str *text, struct pem_block *ret)
{
    struct str mark = STR("-----END "), rest = *text;
    for (struct str end = find(rest, mark); end.p; end = find(rest, mark)) {
        struct str before = str_take(rest, rest.n - end.n), begin = { 0 };
        bool starts_line = before.n && end.p[-1] == '\n';
        rest = str_skip(end, mark.n);
        begin = starts_line ? find_begin(before) : begin;
        if (begin.p && read_block(begin, &rest, ret)) {
            *text = rest;
            return true;
        }
    }
    return false;
}

void pem_block_done(struct pem_block *block)
{
    buf_done(&block->bytes);
}

/* ---- Keys ---- */

static const struct {
    struct str oid, name;
} curves[] = {
    { { "\x2a\x86\x48\xce\x3d\x03\x01\x07", 8 }, STR("P-256") },
    { { "\x2b\x81\x04\x00\x22", 5 }, STR("P-384") },
    { { "\x2b\x81\x04\x00\x23", 5 }, STR("P-521") },
    { { "\x2b\x81\x04\x00\x21", 5 }, STR("P-224") },
};

static bool read_rsa(struct str bits, struct certificate *ret)
{
    struct str pair, modulus;
    bits = str_skip(bits, 1); /* how many bits of the last byte are not used */
    if (!der_expect(&bits, DER_SEQUENCE, &pair) || !der_expect(&pair, DER_INTEGER, &modulus))
        return false;
    while (modulus.n && modulus.p[0] == 0)
        modulus = str_skip(modulus, 1);
    ret->key_type = KEY_RSA;
    ret->rsa_bits = (unsigned)modulus.n * 8;
    return true;
}

static bool read_key(struct str info, struct certificate *ret)
{
    static const struct str rsa = { "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01", 9 };
    static const struct str ec = { "\x2a\x86\x48\xce\x3d\x02\x01", 7 };
    static const struct str ed25519 = { "\x2b\x65\x70", 3 };
    struct str algorithm, oid, bits, curve = { 0 };
    ret->key = info;
    if (!der_expect(&info, DER_SEQUENCE, &algorithm) || !der_expect(&info, DER_BITS, &bits) ||
        !der_expect(&algorithm, DER_OID, &oid))
        return false;
    if (str_eq(oid, rsa))
        return read_rsa(bits, ret);
    if (str_eq(oid, ed25519))
        ret->key_type = KEY_ED25519;
    if (!str_eq(oid, ec))
        return true;
    if (!der_expect(&algorithm, DER_OID, &curve))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(curves); i++)
        if (str_eq(curves[i].oid, curve)) {
            ret->key_type = KEY_EC;
            ret->curve = curves[i].name;
            return true;
        }
    return false;
}

bool certificate_key_read(struct str der, struct certificate *ret)
{
    struct str info;
    *ret = (struct certificate){ 0 };
    return der_expect(&der, DER_SEQUENCE, &info) && der.n == 0 && read_key(info, ret);
}

/* ---- Certificates ---- */

static bool read_digits(struct str *text, size_t n, int64_t *ret)
{
    uint64_t number;
    if (text->n < n || !str_to_u64(str_take(*text, n), &number))
        return false;
    *text = str_skip(*text, n);
    *ret = (int64_t)number;
    return true;
}

/* Days from 1970 to a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* YYMMDDhhmmssZ or YYYYMMDDhhmmssZ */
static bool read_time(struct str *in, int64_t *ret)
{
    struct str text;
    int64_t year, month, day, hour, minute, second;
    unsigned tag = der_next(in, &text);
    if (tag != DER_UTC_TIME && tag != DER_LONG_TIME)
        return false;
    if (!read_digits(&text, tag == DER_UTC_TIME ? 2 : 4, &year) || !read_digits(&text, 2, &month) ||
        !read_digits(&text, 2, &day) || !read_digits(&text, 2, &hour) ||
        !read_digits(&text, 2, &minute) || !read_digits(&text, 2, &second) ||
        !str_eq(text, STR("Z")) || month < 1 || month > 12)
        return false;
    if (tag == DER_UTC_TIME)
        year += year >= 50 ? 1900 : 2000;
    *ret = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    return true;
}

static void read_extension(struct str extension, struct certificate *ret)
{
    static const struct str basic_constraints = { "\x55\x1d\x13", 3 };
    struct str oid, critical, octets, sequence, ca;
    if (!der_expect(&extension, DER_OID, &oid) || !str_eq(oid, basic_constraints))
        return;
    (void)der_maybe(&extension, DER_BOOLEAN, &critical);
    if (der_expect(&extension, DER_OCTETS, &octets) &&
        der_expect(&octets, DER_SEQUENCE, &sequence) && der_expect(&sequence, DER_BOOLEAN, &ca))
        ret->is_ca = ca.n == 1 && ca.p[0] != 0;
}

/* The signed part, what it is signed with, and the signature; nothing behind them. */
static bool read_signed(struct str der, struct str *ret)
{
    struct str outer, algorithm, signature;
    return der_expect(&der, DER_SEQUENCE, &outer) && der.n == 0 &&
           der_expect(&outer, DER_SEQUENCE, ret) && der_expect(&outer, DER_SEQUENCE, &algorithm) &&
           der_expect(&outer, DER_BITS, &signature) && outer.n == 0;
}

bool certificate_read(struct str der, struct certificate *ret)
{
    struct str in, skipped, validity, key, wrapped, extensions, extension;
    *ret = (struct certificate){ 0 };
    if (!read_signed(der, &in))
        return false;
    (void)der_maybe(&in, DER_VERSION, &skipped);
    if (!der_expect(&in, DER_INTEGER, &skipped) || !der_expect(&in, DER_SEQUENCE, &skipped) ||
        !der_expect(&in, DER_SEQUENCE, &skipped) || !der_expect(&in, DER_SEQUENCE, &validity) ||
        !read_time(&validity, &ret->not_before) || !read_time(&validity, &ret->not_after) ||
        !der_expect(&in, DER_SEQUENCE, &skipped) || !der_expect(&in, DER_SEQUENCE, &key) ||
        !read_key(key, ret))
        return false;
    while (in.n) {
        unsigned tag = der_next(&in, &wrapped);
        if (tag == 0)
            return false;
        if (tag == DER_EXTENSIONS && der_expect(&wrapped, DER_SEQUENCE, &extensions))
            while (der_expect(&extensions, DER_SEQUENCE, &extension))
                read_extension(extension, ret);
    }
    return true;
}

bool certificate_request_read(struct str der, struct certificate *ret)
{
    struct str in, skipped, key;
    *ret = (struct certificate){ 0 };
    return read_signed(der, &in) && der_expect(&in, DER_INTEGER, &skipped) &&
           der_expect(&in, DER_SEQUENCE, &ret->subject) && der_expect(&in, DER_SEQUENCE, &key) &&
           read_key(key, ret);
}

static bool is_organization(struct str attribute, struct str organization)
{
    static const struct str oid_organization = { "\x55\x04\x0a", 3 };
    struct str oid, text;
    return der_expect(&attribute, DER_OID, &oid) && str_eq(oid, oid_organization) &&
           der_next(&attribute, &text) && str_eq(text, organization);
}

bool certificate_is_of(struct str subject, struct str organization)
{
    struct str set, attribute;
    while (der_expect(&subject, DER_SET, &set))
        while (der_expect(&set, DER_SEQUENCE, &attribute))
            if (is_organization(attribute, organization))
                return true;
    return false;
}

struct str certificate_name(struct str subject)
{
    static const struct str oid_name = { "\x55\x04\x03", 3 };
    struct str set, attribute, oid, text, name = STR("");
    while (der_expect(&subject, DER_SET, &set))
        while (der_expect(&set, DER_SEQUENCE, &attribute))
            if (der_expect(&attribute, DER_OID, &oid) && str_eq(oid, oid_name) &&
                der_next(&attribute, &text))
                name = text;
    return name;
}
