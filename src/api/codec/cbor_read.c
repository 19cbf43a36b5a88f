/* One pass and no recursion. A value that is complete goes to the innermost open container, which
 * may complete that one, and so on outward; when nothing is open any more it is the result. */
#include "api/codec/cbor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "api/codec/cbor_number.h"
#include "api/go/gofloat.h"
#include "api/go/gotime.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/banned.h"

enum {
    TAG_TIME_TEXT = 0,
    TAG_TIME_NUMBER = 1,
    TAG_BIGNUM = 2,
    TAG_NEGATIVE_BIGNUM = 3,
    TAG_BASE64URL = 21,
    TAG_BASE64 = 22,
    TAG_BASE16 = 23,
};
enum { INFO_INDEFINITE = 31, BREAK = 0xff, SMALL_MAP = 8 };

static const uint64_t until_break = UINT64_MAX;

struct head {
    enum cbor_major major;
    uint8_t info; /* the five low bits */
    uint64_t n;
};

/* What the tags before an item say of it. */
struct tags {
    uint32_t depth;
    uint8_t encoding; /* of byte strings: 0, or one of 21 to 23 */
    int8_t time;      /* TAG_TIME_TEXT, TAG_TIME_NUMBER, or -1 */
};

struct frame {
    struct value v;
    struct str key;
    bool has_key;
    uint8_t encoding;
    uint32_t depth;
    uint64_t left; /* items or pairs to come, or until_break */
};

struct reader {
    struct arena *arena;
    struct err *err;
    const unsigned char *p, *start, *end;
    struct frame *frames;
    size_t n, cap;
};

static const char *major_name(enum cbor_major major)
{
    static const char *const names[] = {
        [CBOR_POSITIVE] = "positive integer",
        [CBOR_NEGATIVE] = "negative integer",
        [CBOR_BYTES] = "byte string",
        [CBOR_TEXT] = "UTF-8 text string",
        [CBOR_ARRAY] = "array",
        [CBOR_MAP] = "map",
        [CBOR_TAG] = "tag",
        [CBOR_PRIMITIVE] = "primitives",
    };
    return names[major];
}

static size_t left(const struct reader *r)
{
    return (size_t)(r->end - r->p);
}

static int refuse(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_BAD_REQUEST, "%s", what);
}

static int refuse_end(struct reader *r)
{
    return refuse(r, r->start == r->end ? "EOF" : "unexpected EOF");
}

static int refuse_item(struct reader *r, enum cbor_major major, const char *what)
{
    return err_set(r->err, ERR_BAD_REQUEST,
                   "cbor: data item of cbor type %s is not accepted by protocol: %s",
                   major_name(major), what);
}

static int refuse_key(struct reader *r, enum cbor_major major)
{
    return err_set(r->err, ERR_BAD_REQUEST,
                   "cbor: cannot unmarshal %s into Go value of type string", major_name(major));
}

static int read_head(struct reader *r, struct head *ret)
{
    if (left(r) == 0)
        return refuse_end(r);
    unsigned char first = *r->p++;
    struct head h = { .major = first >> 5, .info = first & 0x1f, .n = first & 0x1f };
    if (h.info >= 24 && h.info <= 27) {
        size_t bytes = (size_t)1 << (h.info - 24);
        if (left(r) < bytes)
            return refuse_end(r);
        h.n = 0;
        for (size_t i = 0; i < bytes; i++)
            h.n = h.n << 8 | *r->p++;
    } else if (first == BREAK) {
        return refuse(r, "cbor: unexpected \"break\" code");
    } else if (h.info > 27 && (h.info != INFO_INDEFINITE || h.major < CBOR_BYTES ||
                               h.major == CBOR_TAG || h.major == CBOR_PRIMITIVE)) {
        return err_set(r->err, ERR_BAD_REQUEST,
                       "cbor: invalid additional information %d for type %s", h.info,
                       major_name(h.major));
    }
    *ret = h;
    return 0;
}

static bool at_break(const struct reader *r)
{
    return left(r) && *r->p == BREAK;
}

static int read_definite(struct reader *r, const struct head *h, struct str *ret)
{
    if (h->n > left(r))
        return refuse_end(r);
    *ret = (struct str){ (const char *)r->p, (size_t)h->n };
    r->p += h->n;
    if (h->major == CBOR_TEXT && !utf8_valid(*ret))
        return refuse(r, "cbor: invalid UTF-8 string");
    return 0;
}

static int read_chunks(struct reader *r, enum cbor_major major, struct str *ret)
{
    autobuf whole = { 0 };
    while (!at_break(r)) {
        struct head h = { 0 };
        struct str chunk = { 0 };
        int e = read_head(r, &h);
        if (e < 0)
            return e;
        if (h.major != major)
            return err_set(r->err, ERR_BAD_REQUEST,
                           "cbor: wrong element type %s for indefinite-length %s",
                           major_name(h.major), major_name(major));
        if (h.info == INFO_INDEFINITE)
            return err_set(r->err, ERR_BAD_REQUEST,
                           "cbor: indefinite-length %s chunk is not definite-length",
                           major_name(major));
        e = read_definite(r, &h, &chunk);
        if (e < 0)
            return e;
        buf_str_add(&whole, chunk);
    }
    r->p++;
    *ret = arena_str(r->arena, buf_str(&whole));
    return 0;
}

static struct str encode(struct reader *r, uint8_t encoding, struct str bytes)
{
    autobuf text = { 0 };
    if (encoding == TAG_BASE64)
        base64_encode(&text, bytes);
    else if (encoding == TAG_BASE64URL)
        base64url_encode(&text, bytes);
    else
        for (size_t i = 0; i < bytes.n; i++)
            buf_printf(&text, "%02x", (unsigned char)bytes.p[i]);
    return arena_str(r->arena, buf_str(&text));
}

static int read_string(struct reader *r, const struct head *h, const struct tags *t,
                       struct value *ret)
{
    struct str s = { 0 };
    int e = h->info == INFO_INDEFINITE ? read_chunks(r, h->major, &s) : read_definite(r, h, &s);
    if (e < 0)
        return e;
    if (t->time == TAG_TIME_TEXT) {
        struct gotime ignored;
        if (gotime_parse(s, false, &ignored, r->err) < 0)
            return err_wrap(r->err, "cbor: cannot set " STR_FMT " for time.Time", STR_ARG(s));
    }
    if (h->major == CBOR_BYTES && t->encoding)
        s = encode(r, t->encoding, s);
    else if (h->major == CBOR_BYTES && !utf8_valid(s))
        return refuse(r, "cbor: invalid UTF-8 string");
    *ret = value_string(s);
    return 0;
}

/* Seconds since 1970 as RFC 3339 text, with as much of a fraction as there is. */
static int time_text(struct reader *r, int64_t sec, int64_t nanos, struct value *ret)
{
    if (nanos < 0) {
        sec--;
        nanos += 1000000000;
    }
    if (sec < INT64_C(-62167219200) || sec > INT64_C(253402300799))
        return refuse(r,
                      "cbor: decoded time cannot be represented in RFC3339 format with sub-second "
                      "precision: Time.MarshalText: year outside of range [0,9999]");
    struct str text = gotime_format(r->arena, (struct gotime){ .sec = sec }, false);
    if (nanos) {
        int digits = 9;
        for (; nanos % 10 == 0; nanos /= 10)
            digits--;
        text = arena_printf(r->arena, STR_FMT ".%0*" PRId64 "Z",
                            STR_ARG(str_take(text, text.n - 1)), digits, nanos);
    }
    *ret = value_string(text);
    return 0;
}

static int read_integer(struct reader *r, const struct head *h, const struct tags *t,
                        struct value *ret)
{
    bool negative = h->major == CBOR_NEGATIVE;
    if (h->n > INT64_MAX) {
        /* -1 - n, where n + 1 may need a 65th bit. */
        uint64_t n = h->n + (negative ? 1 : 0);
        struct str digits = n ? arena_printf(r->arena, "%" PRIu64, n) : STR("18446744073709551616");
        return err_set(r->err, ERR_BAD_REQUEST,
                       "cbor: cannot unmarshal %s into Go value of type %s (%s" STR_FMT
                       " overflows Go's int64)",
                       major_name(h->major), t->time < 0 ? "int64" : "time.Time",
                       negative ? "-" : "", STR_ARG(digits));
    }
    int64_t i = negative ? -1 - (int64_t)h->n : (int64_t)h->n;
    if (t->time == TAG_TIME_NUMBER)
        return time_text(r, i, 0, ret);
    *ret = value_int(i);
    return 0;
}

static double float_of(const struct head *h)
{
    if (h->info == 25)
        return cbor_half((uint16_t)h->n);
    if (h->info == 26) {
        uint32_t bits = (uint32_t)h->n;
        float f;
        memcpy(&f, &bits, sizeof(f));
        return (double)f;
    }
    double d;
    memcpy(&d, &h->n, sizeof(d));
    return d;
}

static int read_float(struct reader *r, const struct head *h, const struct tags *t,
                      struct value *ret)
{
    double d = float_of(h);
    if (isnan(d))
        return refuse_item(r, CBOR_PRIMITIVE, "floating-point NaN");
    if (isinf(d))
        return refuse_item(r, CBOR_PRIMITIVE, "floating-point infinity");
    if (t->time == TAG_TIME_NUMBER) {
        double whole, fraction = modf(d, &whole);
        if (fabs(whole) > 1e15) /* beyond the year 9999 by far, and safe to convert */
            whole = 1e15;
        return time_text(r, (int64_t)whole, (int64_t)(fraction * 1e9), ret);
    }
    *ret = value_number(gofloat_text(r->arena, d));
    return 0;
}

static int read_primitive(struct reader *r, const struct head *h, const struct tags *t,
                          struct value *ret)
{
    if (h->info >= 25)
        return read_float(r, h, t, ret);
    if (h->info == 24 && h->n < 32)
        return err_set(r->err, ERR_BAD_REQUEST, "cbor: invalid simple value %d for type primitives",
                       (int)h->n);
    if (h->n < 20 || h->n > 22)
        return refuse_item(
            r, CBOR_PRIMITIVE,
            str_cstr(r->arena,
                     arena_printf(r->arena, "simple value %d is not recognized", (int)h->n)));
    *ret = h->n == 22 ? value_null() : value_bool(h->n == 21);
    return 0;
}

/* The tags in front of an item, and the item's own head. */
static int read_tags(struct reader *r, struct tags *t, struct head *ret)
{
    for (size_t n = 0;; n++) {
        int e = read_head(r, ret);
        if (e < 0)
            return e;
        bool number = ret->major <= CBOR_NEGATIVE ||
                      (ret->major == CBOR_PRIMITIVE && ret->info >= 25 && ret->info <= 27);
        if (t->time == TAG_TIME_TEXT ? ret->major != CBOR_TEXT : t->time >= 0 && !number)
            return err_set(r->err, ERR_BAD_REQUEST,
                           "cbor: tag number %d must be followed by %s, got %s", t->time,
                           t->time ? "integer or floating-point number" : "text string",
                           major_name(ret->major));
        if (ret->major != CBOR_TAG)
            return 0;
        if (n && ++t->depth > LIMIT_JSON_DEPTH)
            return err_set(r->err, ERR_BAD_REQUEST, "cbor: exceeded max nested level %u",
                           LIMIT_JSON_DEPTH);
        if (ret->n == TAG_BIGNUM || ret->n == TAG_NEGATIVE_BIGNUM)
            return refuse_item(r, CBOR_TAG, "bignum");
        if (ret->n == TAG_TIME_TEXT || ret->n == TAG_TIME_NUMBER)
            t->time = (int8_t)ret->n;
        if (ret->n >= TAG_BASE64URL && ret->n <= TAG_BASE16)
            t->encoding = (uint8_t)ret->n;
    }
}

static int open_container(struct reader *r, const struct head *h, const struct tags *t)
{
    if (t->depth + 1 > LIMIT_JSON_DEPTH)
        return err_set(r->err, ERR_BAD_REQUEST, "cbor: exceeded max nested level %u",
                       LIMIT_JSON_DEPTH);
    bool map = h->major == CBOR_MAP;
    bool endless = h->info == INFO_INDEFINITE;
    if (!endless && h->n > left(r) / (map ? 2 : 1)) /* an item takes a byte at least */
        return refuse_end(r);
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16;
        r->frames = mem_resize(r->frames, r->cap, sizeof(*r->frames));
    }
    r->frames[r->n++] = (struct frame){
        .v = map ? value_object() : value_array(),
        .encoding = t->encoding,
        .depth = t->depth + 1,
        .left = endless ? until_break : h->n,
    };
    return 0;
}

/* Reads one item, or the head of a container, which is then open. */
static int read_item(struct reader *r, struct value *ret, bool *ret_opened)
{
    struct frame *top = r->n ? &r->frames[r->n - 1] : NULL;
    struct tags t = { .depth = top ? top->depth : 0,
                      .encoding = top ? top->encoding : 0,
                      .time = -1 };
    struct head h = { 0 };
    int e = read_tags(r, &t, &h);
    if (e < 0)
        return e;
    bool is_key = top && top->v.type == VALUE_OBJECT && !top->has_key;
    if (is_key && h.major != CBOR_BYTES && h.major != CBOR_TEXT)
        return refuse_key(r, h.major);
    *ret_opened = h.major == CBOR_ARRAY || h.major == CBOR_MAP;
    switch (h.major) {
    case CBOR_POSITIVE:
    case CBOR_NEGATIVE:
        return read_integer(r, &h, &t, ret);
    case CBOR_BYTES:
    case CBOR_TEXT:
        return read_string(r, &h, &t, ret);
    case CBOR_ARRAY:
    case CBOR_MAP:
        return open_container(r, &h, &t);
    case CBOR_PRIMITIVE:
        return read_primitive(r, &h, &t, ret);
    case CBOR_TAG:
        break;
    }
    return refuse(r, "cbor: a tag without an item");
}

/* The index of the first field that repeats the name of an earlier one, or the number of fields. */
static size_t find_repeated(const struct value *obj)
{
    if (obj->n <= SMALL_MAP) {
        for (size_t i = 1; i < obj->n; i++)
            for (size_t j = 0; j < i; j++)
                if (str_eq(obj->fields[i].key, obj->fields[j].key))
                    return i;
        return obj->n;
    }
    struct map seen = { 0 };
    size_t i = 0;
    while (i < obj->n && !map_set(&seen, obj->fields[i].key, &obj->fields[i]))
        i++;
    map_done(&seen);
    return i;
}

static int close_container(struct reader *r, struct value *ret)
{
    const struct frame *f = &r->frames[--r->n];
    *ret = f->v;
    if (f->has_key)
        return refuse(r, "cbor: unexpected \"break\" code");
    size_t i = f->v.type == VALUE_OBJECT ? find_repeated(&f->v) : f->v.n;
    if (i == f->v.n)
        return 0;
    autobuf key = { 0 };
    json_write_string(&key, f->v.fields[i].key);
    return err_set(r->err, ERR_BAD_REQUEST,
                   "cbor: found duplicate map key " STR_FMT " at map element index %zu",
                   STR_ARG(buf_str(&key)), i);
}

/* True when nothing more belongs into the innermost container; eats a break. */
static bool is_full(struct reader *r, const struct frame *f)
{
    if (f->left != until_break)
        return f->left == 0 && !f->has_key;
    if (!at_break(r))
        return false;
    r->p++;
    return true;
}

static void put(struct reader *r, struct value v)
{
    struct frame *f = &r->frames[r->n - 1];
    if (f->v.type == VALUE_ARRAY) {
        value_put_item(r->arena, &f->v, v);
    } else if (!f->has_key) {
        f->key = value_str(&v);
        f->has_key = true;
        return;
    } else {
        value_put_new(r->arena, &f->v, f->key, v);
        f->has_key = false;
    }
    if (f->left != until_break)
        f->left--;
}

static int read_all(struct reader *r, struct value *ret)
{
    for (;;) {
        struct value v = value_null();
        bool opened = false;
        int e = read_item(r, &v, &opened);
        if (e < 0)
            return e;
        if (!opened && r->n == 0) {
            *ret = v;
            return 0;
        }
        if (!opened)
            put(r, v);
        while (is_full(r, &r->frames[r->n - 1])) {
            e = close_container(r, &v);
            if (e < 0)
                return e;
            if (r->n == 0) {
                *ret = v;
                return 0;
            }
            put(r, v);
        }
    }
}

int cbor_read_next(struct arena *a, struct str *bytes, struct value *ret, struct err *err)
{
    struct err unread = ERR_INIT(a);
    const unsigned char *p = (const unsigned char *)bytes->p;
    struct reader r = {
        .arena = a,
        .err = err ? err : &unread,
        .p = p,
        .start = p,
        .end = bytes->n ? p + bytes->n : p,
    };
    int e = bytes->n > UINT32_MAX ? err_set(r.err, ERR_TOO_LARGE, "cbor: more than 4 GiB")
                                  : read_all(&r, ret);
    free(r.frames);
    if (e < 0)
        return e;
    *bytes = str_skip(*bytes, (size_t)(r.p - p));
    return 0;
}

int cbor_read(struct arena *a, struct str bytes, struct value *ret, struct err *err)
{
    struct str rest = bytes;
    struct value v;
    int e = cbor_read_next(a, &rest, &v, err);
    if (e < 0)
        return e;
    if (rest.n)
        return err_set(err, ERR_BAD_REQUEST,
                       "cbor: %zu bytes of extraneous data starting at index %zu", rest.n,
                       bytes.n - rest.n);
    *ret = v;
    return 0;
}

bool cbor_is(struct str bytes)
{
    return str_starts(bytes, STR("\xd9\xd9\xf7"));
}
