#include "net/http/http1_parse.h"

#include "base/banned.h"

enum {
    HEADER_OVERHEAD = 32,
    CHUNK_LINE_BYTES = 512, /* size and extension */
    CHUNK_EXCESS_BYTES = 16 << 10,
};

/* ---- Characters ---- */

/* tchar of RFC 9110, as lower case; 0 for every other byte. */
static const char TOKEN[256] = {
    ['!'] = '!', ['#'] = '#', ['$'] = '$', ['%'] = '%', ['&'] = '&', ['\''] = '\'', ['*'] = '*',
    ['+'] = '+', ['-'] = '-', ['.'] = '.', ['^'] = '^', ['_'] = '_', ['`'] = '`',   ['|'] = '|',
    ['~'] = '~', ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',   ['5'] = '5',
    ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9', ['A'] = 'a', ['B'] = 'b',   ['C'] = 'c',
    ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i',   ['J'] = 'j',
    ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p',   ['Q'] = 'q',
    ['R'] = 'r', ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w',   ['X'] = 'x',
    ['Y'] = 'y', ['Z'] = 'z', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd',   ['e'] = 'e',
    ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k',   ['l'] = 'l',
    ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r',   ['s'] = 's',
    ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y',   ['z'] = 'z',
};

static bool is_value_byte(unsigned char b)
{
    return (b >= 0x20 && b != 0x7f) || b == '\t';
}

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!TOKEN[(unsigned char)s.p[i]])
            return false;
    return s.n > 0;
}

/* ---- The end of a head ---- */

/* A line that is complete ends before `end`, which holds its LF. */
static int check_line(const struct http1_scan *s, struct str bytes, size_t end,
                      const struct http_limits *limits)
{
    if (end == s->line_start || bytes.p[end - 1] != '\r')
        return 400;
    if (s->lines == 0 && end - 1 - s->line_start > limits->request_line_bytes)
        return 414;
    return s->lines > limits->header_count + 1 ? 431 : 0;
}

static size_t head_bytes(const struct http_limits *limits)
{
    return limits->request_line_bytes + limits->header_bytes;
}

ptrdiff_t http1_scan(struct http1_scan *s, struct str bytes, const struct http_limits *limits)
{
    while (s->seen < bytes.n) {
        const char *lf = memchr(bytes.p + s->seen, '\n', bytes.n - s->seen);
        if (!lf)
            break;
        size_t end = (size_t)(lf - bytes.p);
        int status = check_line(s, bytes, end, limits);
        if (status)
            return -status;
        bool empty = end - s->line_start == 1;
        if (empty && s->lines > 0)
            return end < head_bytes(limits) ? (ptrdiff_t)end + 1 : -431;
        if (empty && s->line_start > 0)
            return -400; /* one empty line before a request is tolerated, as RFC 9112 2.2 asks */
        s->lines += !empty;
        s->line_start = s->seen = end + 1;
    }
    s->seen = bytes.n;
    if (s->lines == 0 && bytes.n - s->line_start > limits->request_line_bytes + 1) /* and its CR */
        return -414;
    return bytes.n > head_bytes(limits) ? -431 : 0;
}

/* ---- Parsing a head ---- */

/* The next line without its CR LF; http1_scan() has seen that every line has them. */
static struct str next_line(struct str *text)
{
    struct str line = str_cut(text, '\n');
    return (struct str){ line.p, line.n - 1 };
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int parse_version(struct str s, enum http_version *ret)
{
    if (s.n != 8 || !str_starts(s, STR("HTTP/")) || !is_digit(s.p[5]) || s.p[6] != '.' ||
        !is_digit(s.p[7]))
        return 400;
    if (s.p[5] != '1' || s.p[7] > '1')
        return 505;
    *ret = s.p[7] == '1' ? HTTP_1_1 : HTTP_1_0;
    return 0;
}

static int parse_request_line(struct str line, struct http1_head *h)
{
    struct str rest = line;
    h->method = str_cut(&rest, ' ');
    h->target = str_cut(&rest, ' ');
    if (!is_token(h->method) || !h->target.n || !rest.p)
        return 400;
    for (size_t i = 0; i < h->target.n; i++) {
        unsigned char b = (unsigned char)h->target.p[i];
        if (b <= 0x20 || b >= 0x7f || b == '#')
            return 400;
    }
    return parse_version(rest, &h->version);
}

static int parse_header_line(struct str line, struct http_header *ret)
{
    char *p = (char *)line.p;
    size_t n = 0;
    for (char c; n < line.n && (c = TOKEN[(unsigned char)p[n]]); n++)
        p[n] = c;
    if (n == 0 || n == line.n || p[n] != ':')
        return 400;
    struct str value = str_skip(line, n + 1);
    for (size_t i = 0; i < value.n; i++)
        if (!is_value_byte((unsigned char)value.p[i]))
            return 400;
    ret->name = (struct str){ p, n };
    ret->value = str_trim(value);
    return 0;
}

static int set_length(struct http1_head *h, struct str value)
{
    uint64_t n;
    if (h->content_length >= 0 || !str_to_u64(value, &n) || n > INT64_MAX)
        return 400;
    h->content_length = (int64_t)n;
    return 0;
}

static int set_coding(struct http1_head *h, struct str value)
{
    if (h->chunked || h->version == HTTP_1_0)
        return 400;
    if (!str_eq_nocase(value, STR("chunked")))
        return 501;
    h->chunked = true;
    return 0;
}

static bool is_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '[' || c == ']' || c == '%' || c == '~';
}

static int set_host(struct http1_head *h, struct str value, bool *has_host)
{
    if (*has_host)
        return 400;
    *has_host = true;
    for (size_t i = 0; i < value.n; i++)
        if (!is_host_byte(value.p[i]))
            return 400;
    h->authority = value;
    return 0;
}

static int set_connection(struct http1_head *h, struct str value)
{
    while (value.n) {
        struct str item = str_trim(str_cut(&value, ','));
        if (str_eq_nocase(item, STR("close")))
            h->close = true;
        else if (str_eq_nocase(item, STR("keep-alive")) && h->version == HTTP_1_0)
            h->close = false;
    }
    return 0;
}

static int set_expect(struct http1_head *h, struct str value)
{
    if (!str_eq_nocase(value, STR("100-continue")))
        return 417;
    h->expects_continue = h->version == HTTP_1_1;
    return 0;
}

/* The headers that this layer acts upon. */
static int apply_header(struct http1_head *h, const struct http_header *header, bool *has_host)
{
    switch (header->name.n) {
    case 4:
        return str_eq(header->name, STR("host")) ? set_host(h, header->value, has_host) : 0;
    case 6:
        return str_eq(header->name, STR("expect")) ? set_expect(h, header->value) : 0;
    case 10:
        return str_eq(header->name, STR("connection")) ? set_connection(h, header->value) : 0;
    case 14:
        return str_eq(header->name, STR("content-length")) ? set_length(h, header->value) : 0;
    case 17:
        return str_eq(header->name, STR("transfer-encoding")) ? set_coding(h, header->value) : 0;
    default:
        return 0;
    }
}

/* "http://host/path" is what a proxy would get; the host must be the Host all the same. */
static int split_target(struct http1_head *h)
{
    struct str t = h->target;
    if (t.p[0] == '/' || (str_eq(t, STR("*")) && str_eq(h->method, STR("OPTIONS"))))
        return 0;
    size_t scheme = str_eq_nocase(str_take(t, 7), STR("http://"))    ? 7
                    : str_eq_nocase(str_take(t, 8), STR("https://")) ? 8
                                                                     : 0;
    if (!scheme)
        return 400;
    t = str_skip(t, scheme);
    size_t host = 0;
    while (host < t.n && t.p[host] != '/' && t.p[host] != '?')
        host++;
    if (!host || !str_eq_nocase(str_take(t, host), h->authority))
        return 400;
    h->target = str_skip(t, host);
    if (!h->target.n)
        h->target = STR("/");
    return h->target.p[0] == '/' ? 0 : 400;
}

static int check_whole(struct http1_head *h, bool has_host)
{
    if (h->version == HTTP_1_1 && !has_host)
        return 400;
    if (h->chunked && h->content_length >= 0)
        return 400;
    return split_target(h);
}

static size_t count_lines(struct str text)
{
    size_t n = 0;
    for (const char *p = text.p; (p = memchr(p, '\n', (size_t)(text.p + text.n - p))); p++)
        n++;
    return n;
}

static int parse_headers(struct arena *a, struct str text, const struct http_limits *limits,
                         struct http1_head *h)
{
    size_t most = count_lines(text) - 1; /* without the empty line */
    if (most > limits->header_count)
        return 431;
    h->headers = arena_array(a, struct http_header, most);
    bool has_host = false;
    while (h->n_headers < most) {
        struct http_header *header = &h->headers[h->n_headers++];
        int status = parse_header_line(next_line(&text), header);
        if (status)
            return status;
        status = apply_header(h, header, &has_host);
        if (status)
            return status;
        h->header_list += header->name.n + header->value.n + HEADER_OVERHEAD;
    }
    if (h->header_list > limits->header_bytes)
        return 431;
    return check_whole(h, has_host);
}

int http1_head_parse(struct arena *a, char *text, size_t n, const struct http_limits *limits,
                     struct http1_head *ret)
{
    struct str rest = { text, n };
    *ret = (struct http1_head){ .content_length = -1, .version = HTTP_1_1 };
    if (str_starts(rest, STR("\r\n")))
        rest = str_skip(rest, 2);
    int status = parse_request_line(next_line(&rest), ret);
    if (status)
        return status;
    ret->close = ret->version == HTTP_1_0;
    return parse_headers(a, rest, limits, ret);
}

/* ---- Answers ---- */

/* "HTTP/1.1 200 OK"; the words may be missing. */
static int parse_status_line(struct str line, struct http1_answer *ret)
{
    struct str rest = line, version = str_cut(&rest, ' '), code = str_cut(&rest, ' ');
    uint64_t status;
    if (parse_version(version, &ret->version) || code.n != 3 || !str_to_u64(code, &status) ||
        status < 100)
        return 400;
    ret->status = (int)status;
    return 0;
}

/* What says where the body ends. An answer may say it twice, if it says the same. */
static int apply_answer_header(struct http1_answer *h, const struct http_header *header)
{
    uint64_t n;
    if (str_eq(header->name, STR("transfer-encoding"))) {
        h->chunked = true;
        return str_eq_nocase(header->value, STR("chunked")) ? 0 : 400;
    }
    if (!str_eq(header->name, STR("content-length")))
        return 0;
    if (!str_to_u64(header->value, &n) || n > INT64_MAX ||
        (h->content_length >= 0 && h->content_length != (int64_t)n))
        return 400;
    h->content_length = (int64_t)n;
    return 0;
}

int http1_answer_parse(struct arena *a, char *text, size_t n, const struct http_limits *limits,
                       struct http1_answer *ret)
{
    struct str rest = { text, n };
    *ret = (struct http1_answer){ .content_length = -1 };
    if (parse_status_line(next_line(&rest), ret))
        return 400;
    const size_t most = count_lines(rest) - 1;
    if (most > limits->header_count)
        return 400;
    ret->headers = arena_array(a, struct http_header, most);
    while (ret->n_headers < most) {
        struct http_header *header = &ret->headers[ret->n_headers++];
        if (parse_header_line(next_line(&rest), header) || apply_answer_header(ret, header))
            return 400;
    }
    if (ret->chunked)
        ret->content_length = -1;
    return 0;
}

/* ---- Chunks ---- */

enum {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_BYTES,
    CHUNK_CR, /* after the bytes */
    CHUNK_LF,
    CHUNK_TRAILER,      /* at the start of a line */
    CHUNK_TRAILER_LINE, /* inside one */
    CHUNK_TRAILER_LF,
    CHUNK_END_LF,
};

static int size_byte(struct http1_chunks *c, unsigned char b)
{
    int digit = str_hex_digit((char)b);
    if (digit >= 0) {
        if (c->left > UINT64_MAX >> 5)
            return 400;
        c->left = c->left << 4 | (unsigned)digit;
        c->has_digit = true;
        return 0;
    }
    if (!c->has_digit || (b != ';' && b != '\r'))
        return 400;
    c->state = b == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
    return 0;
}

/* What a sender may spend on framing grows with what it sends, so that endless tiny chunks with
 * long extensions end soon. */
static int size_done(struct http1_chunks *c)
{
    size_t usual = 16 + (c->left < CHUNK_EXCESS_BYTES ? 2 * (size_t)c->left : CHUNK_EXCESS_BYTES);
    c->excess += c->line_n;
    c->excess -= c->excess < usual ? c->excess : usual;
    c->state = c->left ? CHUNK_BYTES : CHUNK_TRAILER;
    c->line_n = 0;
    c->has_digit = false;
    return c->excess > CHUNK_EXCESS_BYTES ? 400 : 0;
}

static int size_line_byte(struct http1_chunks *c, unsigned char b)
{
    if (++c->line_n > CHUNK_LINE_BYTES)
        return 400;
    switch (c->state) {
    case CHUNK_SIZE:
        return size_byte(c, b);
    case CHUNK_EXTENSION:
        if (b == '\r')
            c->state = CHUNK_SIZE_LF;
        else if (!is_value_byte(b))
            return 400;
        return 0;
    default:
        return b == '\n' ? size_done(c) : 400;
    }
}

static int trailer_byte(struct http1_chunks *c, unsigned char b, const struct http_limits *limits)
{
    if (++c->trailer_bytes > limits->header_bytes)
        return 431;
    switch (c->state) {
    case CHUNK_TRAILER:
        if (b == '\r') {
            c->state = CHUNK_END_LF;
            return 0;
        }
        c->state = CHUNK_TRAILER_LINE;
        if (++c->trailer_lines > limits->header_count)
            return 431;
        return TOKEN[b] ? 0 : 400;
    case CHUNK_TRAILER_LINE:
        if (b == '\r')
            c->state = CHUNK_TRAILER_LF;
        else if (!is_value_byte(b))
            return 400;
        return 0;
    default: /* CHUNK_TRAILER_LF */
        c->state = CHUNK_TRAILER;
        return b == '\n' ? 0 : 400;
    }
}

static int framing_byte(struct http1_chunks *c, unsigned char b, const struct http_limits *limits)
{
    switch (c->state) {
    case CHUNK_CR:
        c->state = CHUNK_LF;
        return b == '\r' ? 0 : 400;
    case CHUNK_LF:
        c->state = CHUNK_SIZE;
        return b == '\n' ? 0 : 400;
    case CHUNK_SIZE:
    case CHUNK_EXTENSION:
    case CHUNK_SIZE_LF:
        return size_line_byte(c, b);
    default:
        return trailer_byte(c, b, limits);
    }
}

int http1_chunks_next(struct http1_chunks *c, struct str *in, struct str *ret_piece,
                      const struct http_limits *limits)
{
    while (in->n) {
        if (c->state == CHUNK_BYTES) {
            *ret_piece = c->left < in->n ? str_take(*in, (size_t)c->left) : *in;
            c->left -= ret_piece->n;
            if (!c->left)
                c->state = CHUNK_CR;
            *in = str_skip(*in, ret_piece->n);
            return HTTP1_PIECE;
        }
        unsigned char b = (unsigned char)in->p[0];
        *in = str_skip(*in, 1);
        if (c->state == CHUNK_END_LF)
            return b == '\n' ? HTTP1_END : -400;
        int status = framing_byte(c, b, limits);
        if (status)
            return -status;
    }
    return HTTP1_MORE;
}
