#include "store/record.h"

#include <assert.h>
#include <endian.h>

#include "base/crc32c.h"
#include "base/limits.h"
#include "base/banned.h"

static const char segment_magic[8] = "SPNLOG\r\n";

/* A record of the largest transaction, with room for its heads and padding. */
enum {
    RECORD_MAX_BYTES =
        LIMIT_STORE_TXN_BYTES + RECORD_HEAD_BYTES + LIMIT_STORE_REV_OPS * RECORD_OP_BYTES + 8,
    GOES_ON_AT = 36, /* in the head */
};

static void put32(char *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof(v));
}

static void put64(char *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return le32toh(v);
}

static uint64_t get64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

/* Segment header: magic 8, format 4, zero 4, store 8, seed 8, first 8, previous 8, made 8,
 * length 4, checksum 4. */
void record_segment_write(const struct record_segment *h, char ret[static RECORD_SEGMENT_BYTES])
{
    memset(ret, 0, RECORD_SEGMENT_BYTES);
    memcpy(ret, segment_magic, sizeof(segment_magic));
    put32(ret + 8, RECORD_FORMAT);
    put64(ret + 16, h->store_id);
    put64(ret + 24, h->seed);
    put64(ret + 32, h->first_rev);
    put64(ret + 40, h->prev_first_rev);
    put64(ret + 48, (uint64_t)h->made_ns);
    put32(ret + 56, h->made_bytes);
    put32(ret + 60, crc32c(0, ret, 60));
}

bool record_segment_read(struct str bytes, struct record_segment *ret)
{
    const char *p = bytes.p;
    if (bytes.n < RECORD_SEGMENT_BYTES || memcmp(p, segment_magic, sizeof(segment_magic)) != 0)
        return false;
    if (get32(p + 60) != crc32c(0, p, 60) || get32(p + 8) != RECORD_FORMAT)
        return false;
    ret->store_id = get64(p + 16);
    ret->seed = get64(p + 24);
    ret->first_rev = get64(p + 32);
    ret->prev_first_rev = get64(p + 40);
    ret->made_ns = (int64_t)get64(p + 48);
    ret->made_bytes = get32(p + 56);
    return true;
}

static uint32_t checksum(const char *record, size_t bytes, uint64_t seed)
{
    char text[8];
    put64(text, seed);
    return crc32c(crc32c(0, text, sizeof(text)), record + 4, bytes - 4);
}

/* Record head: checksum 4, length 4, revision 8, group 8, wall time 8, operations 4, whether it
 * goes on 1, zero 3. */
size_t record_begin(struct buf *b, uint64_t rev, uint64_t group_rev, int64_t wall_ns)
{
    size_t at = b->n;
    char head[RECORD_HEAD_BYTES] = { 0 };
    put64(head + 8, rev);
    put64(head + 16, group_rev);
    put64(head + 24, (uint64_t)wall_ns);
    buf_add(b, head, sizeof(head));
    return at;
}

/* Operation head: type 1, zero 1, key length 2, value length 4, created 8, previous 8. */
void record_add(struct buf *b, size_t at, const struct record_op *op)
{
    char head[RECORD_OP_BYTES] = { 0 };
    head[0] = (char)op->type;
    head[2] = (char)(op->key.n & 255);
    head[3] = (char)(op->key.n >> 8);
    put32(head + 4, (uint32_t)op->value.n);
    put64(head + 8, op->create_rev);
    put64(head + 16, op->prev_rev);
    buf_add(b, head, sizeof(head));
    buf_str_add(b, op->key);
    buf_str_add(b, op->value);
    put32(b->p + at + 32, get32(b->p + at + 32) + 1);
}

void record_go_on(struct buf *b, size_t at)
{
    b->p[at + GOES_ON_AT] = 1;
}

void record_end(struct buf *b, size_t at, uint64_t seed)
{
    static const char zeros[8];
    buf_add(b, zeros, -(b->n - at) & 7);
    size_t bytes = b->n - at;
    assert(bytes <= RECORD_MAX_BYTES);
    put32(b->p + at + 4, (uint32_t)bytes);
    put32(b->p + at, checksum(b->p + at, bytes, seed));
}

static bool op_take(struct str *ops, struct record_op *ret)
{
    if (ops->n < RECORD_OP_BYTES)
        return false;
    const unsigned char *head = (const unsigned char *)ops->p;
    size_t key_n = (size_t)head[2] | (size_t)head[3] << 8;
    size_t value_n = get32(ops->p + 4);
    size_t room = ops->n - RECORD_OP_BYTES;
    if (head[0] > STORE_DELETE || key_n == 0 || key_n > LIMIT_STORE_KEY_BYTES ||
        value_n > LIMIT_STORE_VALUE_BYTES || key_n > room || value_n > room - key_n)
        return false;
    ret->type = (enum store_op_type)head[0];
    ret->create_rev = get64(ops->p + 8);
    ret->prev_rev = get64(ops->p + 16);
    ret->key = (struct str){ ops->p + RECORD_OP_BYTES, key_n };
    ret->value = (struct str){ ret->key.p + key_n, value_n };
    *ops = str_skip(*ops, RECORD_OP_BYTES + key_n + value_n);
    return true;
}

/* Do exactly `n` operations and less than eight bytes of padding fill `ops`? */
static bool ops_are_whole(struct str *ops, uint32_t n)
{
    struct str rest = *ops;
    struct record_op op;
    for (uint32_t i = 0; i < n; i++)
        if (!op_take(&rest, &op))
            return false;
    if (rest.n >= 8)
        return false;
    ops->n -= rest.n;
    return true;
}

enum record_verdict record_read(struct str bytes, uint64_t seed, struct record *ret, size_t *need)
{
    if (bytes.n < RECORD_HEAD_BYTES) {
        *need = RECORD_HEAD_BYTES;
        return RECORD_MORE;
    }
    const char *p = bytes.p;
    uint32_t n_ops = get32(p + 32);
    size_t length = get32(p + 4);
    if (length < RECORD_HEAD_BYTES + RECORD_OP_BYTES || length > RECORD_MAX_BYTES || length % 8 ||
        n_ops == 0 || n_ops > LIMIT_STORE_REV_OPS)
        return RECORD_BAD;
    if (length > bytes.n) {
        *need = length;
        return RECORD_MORE;
    }
    if (get32(p) != checksum(p, length, seed))
        return RECORD_BAD;
    struct record rec = {
        .rev = get64(p + 8),
        .group_rev = get64(p + 16),
        .wall_ns = (int64_t)get64(p + 24),
        .goes_on = p[GOES_ON_AT],
        .n_ops = n_ops,
        .ops = { p + RECORD_HEAD_BYTES, length - RECORD_HEAD_BYTES },
        .bytes = length,
    };
    if (rec.group_rev > rec.rev || !ops_are_whole(&rec.ops, n_ops))
        return RECORD_BAD;
    *ret = rec;
    return RECORD_GOOD;
}

bool record_op_next(struct str *ops, struct record_op *ret)
{
    return op_take(ops, ret);
}
