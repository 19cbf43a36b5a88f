#include "remote/remote_wire.h"

#include <stdio.h>

#include "base/wire.h"
#include "base/banned.h"

/* ---- Keys ---- */

void remote_key_write(struct buf *out, struct str prefix, struct str local)
{
    bool is_shared = str_starts(local, STR("/registry/"));
    buf_str_add(out, prefix);
    if (!is_shared)
        buf_str_add(out, REMOTE_OWN);
    buf_str_add(out, is_shared ? str_skip(local, REMOTE_LOCAL.n) : local);
}

bool remote_key_read(struct arena *a, struct str prefix, struct str key, struct str *ret)
{
    if (!str_starts(key, prefix))
        return false;
    struct str rest = str_skip(key, prefix.n);
    if (str_starts(rest, REMOTE_OWN)) {
        *ret = str_skip(rest, REMOTE_OWN.n);
        return ret->n > 0;
    }
    if (!str_starts(rest, STR("/")) || str_eq(rest, REMOTE_TICK))
        return false;
    char *p = arena_alloc(a, REMOTE_LOCAL.n + rest.n, 1); /* of any bytes, also of zeros */
    memcpy(p, REMOTE_LOCAL.p, REMOTE_LOCAL.n);
    memcpy(p + REMOTE_LOCAL.n, rest.p, rest.n);
    *ret = (struct str){ p, REMOTE_LOCAL.n + rest.n };
    return true;
}

void remote_key_end(struct buf *out, struct str key)
{
    while (key.n && (unsigned char)key.p[key.n - 1] == 0xff)
        key.n--;
    buf_str_add(out, key);
    if (key.n)
        out->p[out->n - 1]++;
    else
        buf_byte(out, '\0'); /* everything */
}

/* ---- Requests ---- */

void remote_range_write(struct buf *out, const struct remote_range *r)
{
    wire_bytes(out, 1, r->key);
    wire_bytes(out, 2, r->end);
    wire_int(out, 3, r->limit);
    wire_int(out, 4, r->revision);
    wire_int(out, 8, r->keys_only);
    wire_int(out, 9, r->count_only);
}

/* `inner` as the field `kind` of a RequestOp, which is the field `number`. */
static void write_op(struct buf *out, unsigned number, unsigned kind, struct str inner)
{
    wire_head(out, number, wire_bytes_size(kind, inner.n));
    wire_bytes(out, kind, inner);
}

static void write_compare(struct buf *out, struct str key, uint64_t mod_rev)
{
    enum { TARGET_MOD = 2 };
    wire_head(out, 1,
              wire_int_size(2, TARGET_MOD) + wire_bytes_size(3, key.n) +
                  (mod_rev ? wire_int_size(6, mod_rev) : 0));
    wire_int(out, 2, TARGET_MOD);
    wire_bytes(out, 3, key);
    wire_int(out, 6, mod_rev);
}

static void write_change(struct buf *out, const struct store_op *op, struct str key, uint64_t lease)
{
    autobuf inner = { 0 };
    wire_bytes(&inner, 1, key);
    if (op->type == STORE_PUT) {
        wire_bytes(&inner, 2, op->value);
        wire_int(&inner, 3, op->ttl_s ? lease : 0);
    }
    write_op(out, 2, op->type == STORE_PUT ? 2 : 3, buf_str(&inner));
}

static void write_changes(struct buf *out, struct str prefix, const struct store_txn *t,
                          uint64_t lease, bool first)
{
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct store_op *op = &t->ops[i];
        if (op->type == STORE_CHECK || op->goes_first != first)
            continue;
        autobuf key = { 0 };
        remote_key_write(&key, prefix, op->key);
        write_change(out, op, buf_str(&key), lease);
    }
}

void remote_txn_write(struct buf *out, struct str prefix, const struct store_txn *t, uint64_t lease)
{
    for (size_t i = 0; i < t->n_ops; i++) {
        if (t->ops[i].expect_rev == STORE_ANY)
            continue;
        autobuf key = { 0 };
        autobuf look = { 0 };
        remote_key_write(&key, prefix, t->ops[i].key);
        write_compare(out, buf_str(&key), t->ops[i].expect_rev);
        remote_range_write(&look,
                           &(struct remote_range){ .key = buf_str(&key), .keys_only = true });
        write_op(out, 3, 1, buf_str(&look));
    }
    write_changes(out, prefix, t, lease, true);
    write_changes(out, prefix, t, lease, false);
}

void remote_compact_txn_write(struct buf *out, uint64_t version, uint64_t revision)
{
    char text[24];
    autobuf put = { 0 };
    autobuf look = { 0 };
    autobuf compare = { 0 };
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)revision);
    wire_bytes(&compare, 3, REMOTE_COMPACT_KEY);
    wire_int(&compare, 4, version);
    wire_bytes(out, 1, buf_str(&compare));
    wire_bytes(&put, 1, REMOTE_COMPACT_KEY);
    wire_bytes(&put, 2, str_of(text));
    write_op(out, 2, 2, buf_str(&put));
    remote_range_write(&look, &(struct remote_range){ .key = REMOTE_COMPACT_KEY });
    write_op(out, 3, 1, buf_str(&look));
}

void remote_watch_write(struct buf *out, struct str key, struct str end, uint64_t start_rev)
{
    autobuf create = { 0 };
    wire_bytes(&create, 1, key);
    wire_bytes(&create, 2, end);
    wire_int(&create, 3, start_rev);
    wire_int(&create, 4, 1); /* progress_notify */
    wire_int(&create, 8, 1); /* fragment */
    wire_bytes(out, 1, buf_str(&create));
}

/* ---- Answers ---- */

uint64_t remote_number(struct str message, unsigned number)
{
    struct wire_field f;
    uint64_t n = 0;
    while (wire_next(&message, &f) == 1)
        if (f.number == number)
            n = f.n;
    return n;
}

struct str remote_text(struct str message, unsigned number)
{
    struct wire_field f;
    struct str text = STR("");
    while (wire_next(&message, &f) == 1)
        if (f.number == number)
            text = f.bytes;
    return text;
}

uint64_t remote_header_rev(struct str message)
{
    return remote_number(remote_text(message, 1), 3);
}

/* How many fields of that number there are; false if it is no message. */
static bool count_fields(struct str message, unsigned number, size_t *ret)
{
    struct wire_field f;
    int r;
    size_t n = 0;
    while ((r = wire_next(&message, &f)) == 1)
        n += f.number == number;
    *ret = n;
    return r == 0;
}

static bool read_kv(struct str message, struct remote_kv *ret)
{
    struct wire_field f;
    int r;
    *ret = (struct remote_kv){ 0 };
    while ((r = wire_next(&message, &f)) == 1) {
        switch (f.number) {
        case 1:
            ret->key = f.bytes;
            break;
        case 2:
            ret->create_rev = f.n;
            break;
        case 3:
            ret->mod_rev = f.n;
            break;
        case 4:
            ret->version = f.n;
            break;
        case 5:
            ret->value = f.bytes;
            break;
        default:
            break;
        }
    }
    return r == 0 && ret->key.n > 0;
}

bool remote_list_read(struct arena *a, struct str message, struct remote_list *ret)
{
    size_t n;
    if (!count_fields(message, 2, &n))
        return false;
    *ret = (struct remote_list){ .rev = remote_header_rev(message),
                                 .kvs = arena_array(a, struct remote_kv, n) };
    struct wire_field f;
    while (wire_next(&message, &f) == 1) {
        if (f.number == 2 && !read_kv(f.bytes, &ret->kvs[ret->n_kvs++]))
            return false;
        if (f.number == 3)
            ret->more = f.n;
    }
    return true;
}

/* A ResponseOp of a range: its first key. */
static bool read_found(struct arena *a, struct str message, struct remote_kv *ret)
{
    struct remote_list list;
    if (!remote_list_read(a, remote_text(message, 1), &list))
        return false;
    *ret = list.n_kvs ? list.kvs[0] : (struct remote_kv){ 0 };
    return true;
}

bool remote_outcome_read(struct arena *a, struct str message, struct remote_outcome *ret)
{
    size_t n;
    if (!count_fields(message, 3, &n))
        return false;
    *ret = (struct remote_outcome){ .rev = remote_header_rev(message),
                                    .succeeded = remote_number(message, 2),
                                    .found = arena_array(a, struct remote_kv, n) };
    struct wire_field f;
    while (!ret->succeeded && wire_next(&message, &f) == 1)
        if (f.number == 3 && !read_found(a, f.bytes, &ret->found[ret->n_found++]))
            return false;
    return ret->rev != 0;
}

static bool read_event(struct str message, struct remote_event *ret)
{
    ret->is_delete = remote_number(message, 1) == 1;
    return read_kv(remote_text(message, 2), &ret->kv) && ret->kv.mod_rev;
}

bool remote_news_read(struct arena *a, struct str message, struct remote_news *ret)
{
    size_t n;
    if (!count_fields(message, 11, &n))
        return false;
    *ret = (struct remote_news){ .rev = remote_header_rev(message),
                                 .watch_id = (int64_t)remote_number(message, 2),
                                 .created = remote_number(message, 3),
                                 .canceled = remote_number(message, 4),
                                 .compact_rev = remote_number(message, 5),
                                 .reason = remote_text(message, 6),
                                 .fragment = remote_number(message, 7),
                                 .events = arena_array(a, struct remote_event, n) };
    struct wire_field f;
    while (wire_next(&message, &f) == 1)
        if (f.number == 11 && !read_event(f.bytes, &ret->events[ret->n_events++]))
            return false;
    return true;
}
