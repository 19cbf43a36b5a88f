/* grpc_wire.c - message framing and the small texts around it. */
#include "net/grpc/grpc_wire.h"

#include "base/clock.h"
#include "base/idiom.h"
#include "base/banned.h"

enum {
    HEAD_BYTES = 5,        /* the compressed flag and the length, big-endian */
    KEPT_BYTES = 64 << 10, /* a buffer larger than this is given back after its message */
    TIMEOUT_DIGITS = 8,
};

/* ---- Framing ---- */

void grpc_frame(struct buf *out, struct str message)
{
    size_t n = message.n;
    const char head[HEAD_BYTES] = { 0, (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };
    buf_reserve(out, HEAD_BYTES + n);
    buf_add(out, head, HEAD_BYTES);
    buf_str_add(out, message);
}

static size_t head_length(const char *head)
{
    const unsigned char *h = (const unsigned char *)head;
    return (size_t)h[1] << 24 | (size_t)h[2] << 16 | (size_t)h[3] << 8 | h[4];
}

static int check_head(const struct grpc_reader *r, const char *head, struct err *err)
{
    size_t max = r->max ? r->max : LIMIT_GRPC_MESSAGE_BYTES;
    if (head[0] == 1)
        return err_set(err, ERR_BAD_REQUEST, "compressed message");
    if (head[0])
        return err_set(err, ERR_BAD_REQUEST, "malformed message frame");
    if (head_length(head) > max)
        return err_set(err, ERR_TOO_LARGE, "message of %zu bytes, at most %zu are taken",
                       head_length(head), max);
    return 0;
}

/* Takes the next message straight from the input. 1, or 0 if it is not all there. */
static int feed_whole(struct grpc_reader *r, struct str *bytes,
                      int (*on_message)(void *arg, struct str message), void *arg, struct err *err)
{
    if (bytes->n < HEAD_BYTES)
        return 0;
    int e = check_head(r, bytes->p, err);
    if (e < 0)
        return e;
    size_t n = head_length(bytes->p);
    if (bytes->n - HEAD_BYTES < n)
        return 0;
    struct str message = { bytes->p + HEAD_BYTES, n };
    *bytes = str_skip(*bytes, HEAD_BYTES + n);
    e = on_message(arg, message);
    return e < 0 ? e : 1;
}

/* Moves towards the end of the partial message. */
static int feed_partial(struct grpc_reader *r, struct str *bytes,
                        int (*on_message)(void *arg, struct str message), void *arg,
                        struct err *err)
{
    bool had_head = r->partial.n >= HEAD_BYTES;
    size_t want = HEAD_BYTES + (had_head ? head_length(r->partial.p) : 0);
    struct str piece = str_take(*bytes, want - r->partial.n);
    buf_str_add(&r->partial, piece);
    *bytes = str_skip(*bytes, piece.n);
    if (r->partial.n < HEAD_BYTES)
        return 0;
    int e = had_head ? 0 : check_head(r, r->partial.p, err);
    if (e < 0 || r->partial.n - HEAD_BYTES < head_length(r->partial.p))
        return e;
    e = on_message(arg, str_skip(buf_str(&r->partial), HEAD_BYTES));
    if (r->partial.cap > KEPT_BYTES)
        buf_done(&r->partial);
    buf_reset(&r->partial);
    return e;
}

int grpc_reader_feed(struct grpc_reader *r, struct str bytes,
                     int (*on_message)(void *arg, struct str message), void *arg, struct err *err)
{
    while (bytes.n) {
        int e = r->partial.n ? 0 : feed_whole(r, &bytes, on_message, arg, err);
        if (e < 0)
            return e;
        if (e > 0)
            continue;
        e = feed_partial(r, &bytes, on_message, arg, err);
        if (e < 0)
            return e;
    }
    return 0;
}

void grpc_reader_done(struct grpc_reader *r)
{
    buf_done(&r->partial);
}

/* ---- Texts ---- */

static const char hex_digits[] = "0123456789ABCDEF";

void grpc_message_encode(struct buf *out, struct str message)
{
    for (size_t i = 0; i < message.n; i++) {
        unsigned char c = (unsigned char)message.p[i];
        if (c >= 0x20 && c < 0x7f && c != '%') {
            buf_byte(out, (char)c);
        } else {
            buf_byte(out, '%');
            buf_byte(out, hex_digits[c >> 4]);
            buf_byte(out, hex_digits[c & 15]);
        }
    }
}

void grpc_message_decode(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        bool escape = text.p[i] == '%' && text.n - i > 2 && str_hex_digit(text.p[i + 1]) >= 0 &&
                      str_hex_digit(text.p[i + 2]) >= 0;
        if (escape) {
            buf_byte(out, (char)(str_hex_digit(text.p[i + 1]) << 4 | str_hex_digit(text.p[i + 2])));
            i += 2;
        } else {
            buf_byte(out, text.p[i]);
        }
    }
}

bool grpc_timeout_parse(struct str text, int64_t *ret_ns)
{
    static const struct {
        char unit;
        int64_t ns;
    } units[] = {
        { 'H', 3600 * NS_PER_SEC },
        { 'M', 60 * NS_PER_SEC },
        { 'S', NS_PER_SEC },
        { 'm', NS_PER_MS },
        { 'u', 1000 },
        { 'n', 1 },
    };
    uint64_t count;
    if (text.n < 2 || text.n > TIMEOUT_DIGITS + 1 ||
        !str_to_u64(str_take(text, text.n - 1), &count))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (units[i].unit == text.p[text.n - 1]) {
            /* A hundred million hours are more than 64 bits of nanoseconds. */
            if (__builtin_mul_overflow((int64_t)count, units[i].ns, ret_ns))
                *ret_ns = INT64_MAX;
            return true;
        }
    }
    return false;
}

struct str grpc_timeout_format(struct arena *a, int64_t timeout_ms)
{
    if (timeout_ms < 100000000)
        return arena_printf(a, "%lldm", (long long)timeout_ms);
    int64_t seconds = timeout_ms / 1000 + 1;
    return arena_printf(a, "%lldS", (long long)(seconds < 100000000 ? seconds : 99999999));
}

bool grpc_content_type(struct str value)
{
    struct str type = str_trim(str_cut(&value, ';'));
    return str_eq_nocase(type, STR("application/grpc")) ||
           str_eq_nocase(type, STR("application/grpc+proto"));
}

/* ---- Statuses ---- */

enum grpc_status grpc_status_of_http(int http_status)
{
    switch (http_status) {
    case 400:
        return GRPC_INTERNAL;
    case 401:
        return GRPC_UNAUTHENTICATED;
    case 403:
        return GRPC_PERMISSION_DENIED;
    case 404:
        return GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return GRPC_UNAVAILABLE;
    default:
        return GRPC_UNKNOWN;
    }
}

static const struct {
    const char *name;
    enum err_code err;
} statuses[] = {
    [GRPC_OK] = { "OK", ERR_OK },
    [GRPC_CANCELLED] = { "CANCELLED", ERR_GONE },
    [GRPC_UNKNOWN] = { "UNKNOWN", ERR_INTERNAL },
    [GRPC_INVALID_ARGUMENT] = { "INVALID_ARGUMENT", ERR_BAD_REQUEST },
    [GRPC_DEADLINE_EXCEEDED] = { "DEADLINE_EXCEEDED", ERR_TIMEOUT },
    [GRPC_NOT_FOUND] = { "NOT_FOUND", ERR_NOT_FOUND },
    [GRPC_ALREADY_EXISTS] = { "ALREADY_EXISTS", ERR_EXISTS },
    [GRPC_PERMISSION_DENIED] = { "PERMISSION_DENIED", ERR_FORBIDDEN },
    [GRPC_RESOURCE_EXHAUSTED] = { "RESOURCE_EXHAUSTED", ERR_TOO_MANY_REQUESTS },
    [GRPC_FAILED_PRECONDITION] = { "FAILED_PRECONDITION", ERR_CONFLICT },
    [GRPC_ABORTED] = { "ABORTED", ERR_CONFLICT },
    [GRPC_OUT_OF_RANGE] = { "OUT_OF_RANGE", ERR_BAD_REQUEST },
    [GRPC_UNIMPLEMENTED] = { "UNIMPLEMENTED", ERR_UNIMPLEMENTED },
    [GRPC_INTERNAL] = { "INTERNAL", ERR_INTERNAL },
    [GRPC_UNAVAILABLE] = { "UNAVAILABLE", ERR_UNAVAILABLE },
    [GRPC_DATA_LOSS] = { "DATA_LOSS", ERR_DAMAGED },
    [GRPC_UNAUTHENTICATED] = { "UNAUTHENTICATED", ERR_UNAUTHORIZED },
};

enum grpc_status grpc_status_parse(struct str text)
{
    uint64_t n;
    if (!str_to_u64(text, &n) || n >= ARRAY_LEN(statuses))
        return GRPC_UNKNOWN;
    return (enum grpc_status)n;
}

struct str grpc_status_name(enum grpc_status status)
{
    return str_of(statuses[status].name);
}

enum err_code grpc_status_err(enum grpc_status status)
{
    return statuses[status].err;
}
