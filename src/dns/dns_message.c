/* dns_message.c - see its header. */
#include "dns/dns_message.h"

#include <string.h>

#include "base/idiom.h"
#include "base/banned.h"

enum {
    HEAD_BYTES = 12,
    CLASS_IN = 1,
    TYPE_OPT = 41,
    LABEL_MAX = 63,
    POINTER = 0xc0,
    POINTERS_MAX = 32, /* in one name */
    FLAG_REPLY = 0x8000,
    FLAG_OPCODE = 0x7800,
    FLAG_OURS = 0x0400,
    FLAG_CUT = 0x0200,
    FLAG_WANTS_RECURSION = 0x0100,
    FLAG_RECURSES = 0x0080,
    FLAG_UNCHECKED = 0x0010,
    CODE_BITS = 0x000f,
};

/* ---- Reading ---- */

struct reader {
    struct str all;
    size_t at;
    bool failed;
};

static unsigned take_byte(struct reader *r)
{
    if (r->at >= r->all.n) {
        r->failed = true;
        return 0;
    }
    return (unsigned char)r->all.p[r->at++];
}

static unsigned take_u16(struct reader *r)
{
    unsigned high = take_byte(r);
    return high << 8 | take_byte(r);
}

static uint32_t take_u32(struct reader *r)
{
    uint32_t high = take_u16(r);
    return high << 16 | take_u16(r);
}

static void skip(struct reader *r, size_t n)
{
    if (n > r->all.n - r->at)
        r->failed = true;
    else
        r->at += n;
}

static struct str small_letters(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1, 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]);
    return (struct str){ p, s.n };
}

static struct dns_name name_new(struct arena *a, const struct str *labels, size_t n)
{
    struct str *copy = arena_array(a, struct str, n + 1);
    if (n)
        memcpy(copy, labels, n * sizeof(*labels));
    return (struct dns_name){ copy, n };
}

/* Follows pointers, which lead only back, and a bounded number of times. */
static bool take_name(struct reader *r, struct arena *a, struct dns_name *ret)
{
    struct str labels[DNS_LABELS_MAX];
    struct reader at = *r;
    size_t n = 0, bytes = 1;
    unsigned jumps = 0, length;
    bool has_jumped = false;
    while ((length = take_byte(&at)) != 0 && !at.failed) {
        if ((length & POINTER) == POINTER) {
            size_t to = (length & 0x3f) << 8 | take_byte(&at);
            if (!has_jumped)
                r->at = at.at;
            has_jumped = true;
            if (at.failed || to >= at.at - 2 || ++jumps > POINTERS_MAX)
                return false;
            at.at = to;
            continue;
        }
        bytes += length + 1;
        if (length > LABEL_MAX || length > at.all.n - at.at || bytes > DNS_NAME_BYTES ||
            n == DNS_LABELS_MAX)
            return false;
        labels[n++] = small_letters(a, (struct str){ at.all.p + at.at, length });
        at.at += length;
    }
    if (at.failed)
        return false;
    if (!has_jumped)
        r->at = at.at;
    *ret = name_new(a, labels, n);
    return true;
}

/* The record of EDNS among the additional ones; others are passed over. */
static int read_edns(struct reader *r, struct arena *a, unsigned n, struct dns_question *q)
{
    for (unsigned i = 0; i < n; i++) {
        struct dns_name name;
        if (!take_name(r, a, &name))
            return DNS_FORMAT_ERROR;
        unsigned type = take_u16(r), class = take_u16(r);
        uint32_t ttl = take_u32(r);
        skip(r, take_u16(r));
        if (r->failed || (type == TYPE_OPT && (q->has_edns || name.n)))
            return DNS_FORMAT_ERROR;
        if (type != TYPE_OPT)
            continue;
        q->has_edns = true;
        q->udp_bytes = class < DNS_UDP_BYTES       ? DNS_UDP_BYTES
                       : class > DNS_UDP_BYTES_MAX ? DNS_UDP_BYTES_MAX
                                                   : class;
        if ((ttl >> 16 & 0xff) != 0)
            return DNS_BAD_VERSION;
    }
    return DNS_OK;
}

int dns_question_read(struct arena *a, struct str packet, struct dns_question *ret)
{
    struct reader r = { .all = packet };
    *ret = (struct dns_question){ .udp_bytes = DNS_UDP_BYTES };
    ret->id = (uint16_t)take_u16(&r);
    unsigned flags = take_u16(&r), n_questions = take_u16(&r), n_answers = take_u16(&r);
    unsigned n_authority = take_u16(&r), n_additional = take_u16(&r);
    if (r.failed || flags & FLAG_REPLY)
        return -1;
    ret->recursion_desired = flags & FLAG_WANTS_RECURSION;
    ret->checking_disabled = flags & FLAG_UNCHECKED;
    if (flags & FLAG_OPCODE)
        return DNS_NOT_IMPLEMENTED;
    if (n_questions != 1 || n_answers || n_authority)
        return DNS_FORMAT_ERROR;
    const size_t begin = r.at;
    struct dns_name name;
    if (!take_name(&r, a, &name))
        return DNS_FORMAT_ERROR;
    unsigned type = take_u16(&r), class = take_u16(&r);
    if (r.failed)
        return DNS_FORMAT_ERROR;
    ret->name = name;
    ret->type = (uint16_t)type;
    ret->class = (uint16_t) class;
    ret->asked = (struct str){ packet.p + begin, r.at - begin };
    return read_edns(&r, a, n_additional, ret);
}

/* ---- Names ---- */

bool dns_name_parse(struct arena *a, struct str text, struct dns_name *ret)
{
    struct str labels[DNS_LABELS_MAX];
    size_t n = 0, bytes = 1;
    if (str_ends(text, STR(".")))
        text.n--;
    while (text.n || (n && text.p)) {
        struct str label = str_cut(&text, '.');
        bytes += label.n + 1;
        if (!label.n || label.n > LABEL_MAX || bytes > DNS_NAME_BYTES || n == DNS_LABELS_MAX)
            return false;
        labels[n++] = small_letters(a, label);
    }
    *ret = name_new(a, labels, n);
    return true;
}

struct str dns_name_text(struct arena *a, struct dns_name name)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < name.n; i++) {
        buf_str_add(&text, name.labels[i]);
        buf_byte(&text, '.');
    }
    return arena_str(a, buf_str(&text));
}

bool dns_name_eq(struct dns_name a, struct dns_name b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (!str_eq(a.labels[i], b.labels[i]))
            return false;
    return true;
}

bool dns_name_below(struct dns_name name, struct dns_name zone, struct dns_name *ret)
{
    if (name.n < zone.n)
        return false;
    const struct dns_name tail = { name.labels + (name.n - zone.n), zone.n };
    *ret = (struct dns_name){ name.labels, name.n - zone.n };
    return dns_name_eq(tail, zone);
}

/* ---- Writing ---- */

void dns_records_add(struct arena *a, struct dns_records *all, const struct dns_record *r)
{
    if (all->n == DNS_RECORDS_MAX)
        return;
    if (all->n == all->room) {
        size_t room = all->room ? 2 * all->room : 8;
        struct dns_record *list = arena_array(a, struct dns_record, room);
        if (all->n)
            memcpy(list, all->list, all->n * sizeof(*list));
        all->list = list;
        all->room = room;
    }
    all->list[all->n++] = *r;
}

enum { KNOWN_MAX = 64, POINTER_REACH = 0x3fff };

/* Where names stand already; other names end with a pointer to them. */
struct writer {
    struct buf *out;
    size_t start; /* of the message */
    struct {
        struct dns_name name;
        size_t at;
    } known[KNOWN_MAX];
    size_t n_known;
};

static void put_u16(struct writer *w, unsigned n)
{
    buf_byte(w->out, (char)(n >> 8));
    buf_byte(w->out, (char)n);
}

static void put_u32(struct writer *w, uint32_t n)
{
    put_u16(w, n >> 16);
    put_u16(w, n & 0xffff);
}

static void learn(struct writer *w, struct dns_name name, size_t at)
{
    if (w->n_known == KNOWN_MAX || at > POINTER_REACH)
        return;
    w->known[w->n_known].name = name;
    w->known[w->n_known++].at = at;
}

static bool put_known(struct writer *w, struct dns_name name)
{
    for (size_t i = 0; i < w->n_known; i++)
        if (dns_name_eq(w->known[i].name, name)) {
            put_u16(w, (unsigned)(POINTER << 8 | w->known[i].at));
            return true;
        }
    return false;
}

static void put_name(struct writer *w, struct dns_name name)
{
    for (; name.n; name.labels++, name.n--) {
        if (put_known(w, name))
            return;
        learn(w, name, w->out->n - w->start);
        buf_byte(w->out, (char)name.labels[0].n);
        buf_str_add(w->out, name.labels[0]);
    }
    buf_byte(w->out, 0);
}

static void put_start_of_authority(struct writer *w, const struct dns_record *r)
{
    enum { REFRESH_SEC = 7200, RETRY_SEC = 1800, EXPIRE_SEC = 86400 };
    const struct str host = STR("hostmaster");
    put_name(w, r->target);
    buf_byte(w->out, (char)host.n);
    buf_str_add(w->out, host);
    put_name(w, r->name);
    put_u32(w, r->serial);
    put_u32(w, REFRESH_SEC);
    put_u32(w, RETRY_SEC);
    put_u32(w, EXPIRE_SEC);
    put_u32(w, r->ttl);
}

static void put_content(struct writer *w, const struct dns_record *r)
{
    switch (r->type) {
    case DNS_A:
    case DNS_AAAA:
        buf_str_add(w->out, r->bytes);
        break;
    case DNS_TXT:
        buf_byte(w->out, (char)r->bytes.n);
        buf_str_add(w->out, r->bytes);
        break;
    case DNS_SRV: /* whose target is never shortened (RFC 2782) */
        put_u16(w, r->priority);
        put_u16(w, r->weight);
        put_u16(w, r->port);
        for (size_t i = 0; i < r->target.n; i++) {
            buf_byte(w->out, (char)r->target.labels[i].n);
            buf_str_add(w->out, r->target.labels[i]);
        }
        buf_byte(w->out, 0);
        break;
    case DNS_SOA:
        put_start_of_authority(w, r);
        break;
    default:
        put_name(w, r->target);
    }
}

static void put_record(struct writer *w, const struct dns_record *r)
{
    put_name(w, r->name);
    put_u16(w, r->type);
    put_u16(w, CLASS_IN);
    put_u32(w, r->ttl);
    const size_t at = w->out->n;
    put_u16(w, 0);
    put_content(w, r);
    const size_t n = w->out->n - at - 2;
    w->out->p[at] = (char)(n >> 8);
    w->out->p[at + 1] = (char)n;
}

/* As many as fit; how many. */
static size_t put_records(struct writer *w, const struct dns_records *all, size_t max)
{
    for (size_t i = 0; i < all->n; i++) {
        const size_t before = w->out->n, known = w->n_known;
        put_record(w, &all->list[i]);
        if (w->out->n - w->start > max) {
            w->out->n = before;
            w->n_known = known;
            return i;
        }
    }
    return all->n;
}

static void put_edns(struct writer *w, enum dns_code code)
{
    buf_byte(w->out, 0);
    put_u16(w, TYPE_OPT);
    put_u16(w, DNS_UDP_BYTES_MAX);
    put_u32(w, (uint32_t)code >> 4 << 24);
    put_u16(w, 0);
}

static void set_u16(struct writer *w, size_t at, size_t n)
{
    w->out->p[w->start + at] = (char)(n >> 8);
    w->out->p[w->start + at + 1] = (char)n;
}

static unsigned flags_of(const struct dns_question *q, const struct dns_reply *reply)
{
    unsigned flags = FLAG_REPLY | ((unsigned)reply->code & CODE_BITS);
    flags |= reply->is_ours ? FLAG_OURS : 0;
    flags |= reply->recurses ? FLAG_RECURSES : 0;
    flags |= q->recursion_desired ? FLAG_WANTS_RECURSION : 0;
    return flags | (q->checking_disabled ? FLAG_UNCHECKED : 0);
}

void dns_reply_write(const struct dns_question *q, const struct dns_reply *reply, size_t max,
                     struct buf *out)
{
    enum { EDNS_BYTES = 11 };
    struct writer w = { .out = out, .start = out->n };
    const size_t room = max - (q->has_edns ? EDNS_BYTES : 0);
    put_u16(&w, q->id);
    unsigned flags = flags_of(q, reply);
    for (int i = 0; i < 5; i++)
        put_u16(&w, 0);
    if (q->asked.n)
        learn(&w, q->name, HEAD_BYTES);
    buf_str_add(out, q->asked);
    const size_t n_answers = put_records(&w, &reply->answers, room);
    const size_t n_authority = put_records(&w, &reply->authority, room);
    size_t n_additional = put_records(&w, &reply->additional, room);
    if (n_answers < reply->answers.n || n_authority < reply->authority.n)
        flags |= FLAG_CUT;
    if (q->has_edns)
        put_edns(&w, reply->code);
    set_u16(&w, 2, flags);
    set_u16(&w, 4, q->asked.n ? 1 : 0);
    set_u16(&w, 6, n_answers);
    set_u16(&w, 8, n_authority);
    set_u16(&w, 10, n_additional + (q->has_edns ? 1 : 0));
}

/* ---- Replies of others ---- */

bool dns_reply_fits(struct str packet, uint16_t id, const struct dns_question *q)
{
    struct reader r = { .all = packet };
    unsigned its_id = take_u16(&r), flags = take_u16(&r), n_questions = take_u16(&r);
    if (r.failed || its_id != id || !(flags & FLAG_REPLY) || n_questions != 1)
        return false;
    const struct str rest = str_skip(packet, HEAD_BYTES);
    return str_eq_nocase(str_take(rest, q->asked.n), q->asked);
}

bool dns_reply_is_cut(struct str packet)
{
    return packet.n > 2 && (unsigned char)packet.p[2] & FLAG_CUT >> 8;
}

static bool read_record(struct reader *r, struct arena *a, struct dns_records *ret)
{
    struct dns_record rec = { 0 };
    if (!take_name(r, a, &rec.name))
        return false;
    rec.type = (uint16_t)take_u16(r);
    unsigned class = take_u16(r);
    rec.ttl = take_u32(r);
    const size_t n = take_u16(r), end = r->at + n;
    if (r->failed || n > r->all.n - r->at)
        return false;
    rec.bytes = arena_str(a, (struct str){ r->all.p + r->at, n });
    bool is_wanted =
        class == CLASS_IN && ((rec.type == DNS_A && n == 4) || (rec.type == DNS_AAAA && n == 16));
    if (class == CLASS_IN && rec.type == DNS_CNAME) {
        is_wanted = take_name(r, a, &rec.target);
        if (!is_wanted)
            return false;
    }
    r->at = end;
    if (is_wanted)
        dns_records_add(a, ret, &rec);
    return true;
}

bool dns_reply_read(struct arena *a, struct str packet, enum dns_code *ret_code,
                    struct dns_records *ret)
{
    struct reader r = { .all = packet };
    struct dns_name name;
    skip(&r, 2);
    unsigned flags = take_u16(&r), n_questions = take_u16(&r), n_answers = take_u16(&r);
    skip(&r, 4);
    *ret_code = (enum dns_code)(flags & CODE_BITS);
    for (unsigned i = 0; i < n_questions && !r.failed; i++) {
        if (!take_name(&r, a, &name))
            return false;
        skip(&r, 4);
    }
    for (unsigned i = 0; i < n_answers && !r.failed; i++)
        if (!read_record(&r, a, ret))
            return false;
    return !r.failed;
}
