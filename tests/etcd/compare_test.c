/* The same requests to a real etcd and to ours, one after the other: the answers are the same, but
 * for who gives them. usage: etcd_compare_test ETCD_ADDRESS OUR_ADDRESS SEED COUNT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/wire.h"
#include "net/grpc/grpc.h"

enum { KEYS = 12, TIMEOUT_MS = 60000 };

static uint64_t state;
static uint64_t pick(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

static struct {
    struct grpc_client *client;
    const char *name;
} peers[2];

/* How far both are: etcd counts one revision fewer for each lease that is granted, so none is. */
static uint64_t rev = 1;

/* ---- Requests ---- */

static void add_key(struct buf *out, unsigned number)
{
    char key[16];
    int n = snprintf(key, sizeof(key), "/k/%c%d", (char)('a' + (int)pick(2)), (int)pick(KEYS / 2));
    wire_bytes(out, number, (struct str){ key, (size_t)n });
}

static void add_message(struct buf *out, unsigned number, struct buf *message)
{
    wire_head(out, number, message->n);
    buf_str_add(out, buf_str(message));
    buf_done(message);
}

/* One key, a prefix, everything, or from one key to another. In a transaction nothing is deleted
 * without an end, and in one inside of another nothing at all: etcd does not notice then that a key
 * which is put is deleted, too, and does both; ours refuses it. */
static void add_span(struct buf *out, unsigned end, bool has_end)
{
    switch (pick(5) * (1 + has_end)) {
    case 0:
        wire_bytes(out, 1, STR("/k/"));
        wire_bytes(out, end, STR("/k0"));
        break;
    case 1:
        wire_bytes(out, 1, STR("\0"));
        wire_bytes(out, end, STR("\0"));
        break;
    case 2:
        wire_bytes(out, 1, STR("/k/a2"));
        wire_bytes(out, end, STR("/k/b3"));
        break;
    default:
        add_key(out, 1);
    }
}

static void make_range(struct buf *out, bool may_be_old)
{
    add_span(out, 2, false);
    if (pick(3) == 0)
        wire_int(out, 3, 1 + pick(4));
    if (may_be_old && pick(4) == 0)
        wire_int(out, 4, 1 + pick(rev + 2));
    if (pick(3) == 0) {
        wire_int(out, 5, pick(3));
        wire_int(out, 6, pick(5));
    }
    wire_int(out, 8, pick(5) == 0);
    wire_int(out, 9, pick(8) == 0);
    if (pick(6) == 0)
        wire_int(out, 10 + (unsigned)pick(4), 1 + pick(rev));
}

static void make_put(struct buf *out)
{
    char value[64];
    int n = snprintf(value, sizeof(value), "value %" PRIu64, pick(5));
    const bool keeps_value = pick(10) == 0;
    add_key(out, 1);
    if (!keeps_value || pick(4) == 0)
        wire_bytes(out, 2, (struct str){ value, (size_t)n });
    wire_int(out, 4, pick(2));
    wire_int(out, 5, keeps_value);
    wire_int(out, 6, pick(10) == 0);
    if (pick(30) == 0)
        wire_int(out, 3, 12345); /* a lease that nobody has */
}

static void make_delete(struct buf *out, bool has_end)
{
    if (pick(3) == 0)
        add_span(out, 2, has_end);
    else
        add_key(out, 1);
    wire_int(out, 3, pick(2));
}

static void make_compare(struct buf *out)
{
    const uint64_t target = pick(5);
    static const unsigned fields[] = { 4, 5, 6, 7, 8 };
    wire_int(out, 1, pick(4));
    wire_int(out, 2, target);
    add_key(out, 3);
    if (target == 3)
        wire_bytes(out, 7, STR("value 1"));
    else
        wire_int(out, fields[target], target == 0 ? pick(4) : target == 4 ? 0 : pick(rev + 1));
    if (pick(8) == 0)
        wire_bytes(out, 64, STR("/k/b9"));
}

static void make_txn(struct buf *out, int depth);

static void make_op(struct buf *out, int depth)
{
    struct buf body = { 0 };
    static const uint64_t inner[] = { 1, 2, 1, 4 };
    const uint64_t type = depth ? inner[pick(depth > 1 ? 3 : 4)] : 1 + pick(4);
    if (type == 1)
        make_range(&body, true);
    else if (type == 2)
        make_put(&body);
    else if (type == 3)
        make_delete(&body, true);
    else
        make_txn(&body, depth + 1);
    add_message(out, (unsigned)type, &body);
}

static void make_txn(struct buf *out, int depth)
{
    struct buf part = { 0 };
    for (uint64_t i = pick(3); i; i--) {
        make_compare(&part);
        add_message(out, 1, &part);
    }
    for (unsigned branch = 2; branch <= 3; branch++)
        for (uint64_t i = pick(3); i; i--) {
            make_op(&part, depth);
            add_message(out, branch, &part);
        }
}

/* ---- Answers ---- */

struct answer {
    struct arena arena;
    struct grpc_result result;
    struct buf body; /* with a header that has a revision alone */
    uint64_t rev;
};

/* Who answers, and in which term, is left out. */
static void clean_header(struct str header, struct buf *out, uint64_t *ret_rev)
{
    struct wire_field f;
    autobuf kept = { 0 };
    *ret_rev = 0;
    while (wire_next(&header, &f) == 1)
        if (f.number == 3)
            *ret_rev = f.n;
    wire_int(&kept, 3, *ret_rev);
    wire_head(out, 1, kept.n);
    buf_str_add(out, buf_str(&kept));
}

static void ask(size_t peer, const char *path, struct str request, struct answer *ret)
{
    struct str reply, rest;
    struct wire_field f;
    *ret = (struct answer){ 0 };
    arena_init(&ret->arena);
    struct err err = ERR_INIT(&ret->arena);
    (void)grpc_call_unary(peers[peer].client, str_of(path), request, NULL, 0, TIMEOUT_MS,
                          &ret->arena, &reply, &ret->result, &err);
    if (ret->result.status != GRPC_OK)
        return;
    for (rest = reply; wire_next(&rest, &f) == 1;)
        if (f.number == 1)
            clean_header(f.bytes, &ret->body, &ret->rev);
        else
            buf_str_add(&ret->body, f.whole);
}

static void answer_done(struct answer *a)
{
    buf_done(&a->body);
    arena_done(&a->arena);
}

static bool is_same(const struct answer *a, const struct answer *b)
{
    return a->result.status == b->result.status && str_eq(a->result.message, b->result.message) &&
           str_eq(buf_str(&a->body), buf_str(&b->body));
}

static void print_hex(const char *what, struct str bytes)
{
    printf("  %s:", what);
    for (size_t i = 0; i < bytes.n && i < 150; i++)
        printf(bytes.p[i] >= ' ' && bytes.p[i] < 0x7f ? " %c" : " %02x", (unsigned char)bytes.p[i]);
    printf("\n");
}

static void print_answer(const char *who, const struct answer *a)
{
    printf("  %s: status %d '" STR_FMT "'\n", who, (int)a->result.status,
           STR_ARG(a->result.message));
    print_hex(who, buf_str(&a->body));
}

static bool compare(const char *path, struct str request)
{
    struct answer answers[2];
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        ask(i, path, request, &answers[i]);
    const bool same = is_same(&answers[0], &answers[1]);
    if (answers[0].rev > rev)
        rev = answers[0].rev;
    if (!same) {
        printf("%s\n", path);
        print_hex("request", request);
        for (size_t i = 0; i < ARRAY_LEN(peers); i++)
            print_answer(peers[i].name, &answers[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        answer_done(&answers[i]);
    return same;
}

static bool step(void)
{
    autobuf request = { 0 };
    const uint64_t sort = pick(20);
    if (sort < 5) {
        make_range(&request, true);
        return compare("/etcdserverpb.KV/Range", buf_str(&request));
    }
    if (sort < 9) {
        make_put(&request);
        return compare("/etcdserverpb.KV/Put", buf_str(&request));
    }
    if (sort < 11) {
        make_delete(&request, false);
        return compare("/etcdserverpb.KV/DeleteRange", buf_str(&request));
    }
    if (sort == 11 && pick(10) == 0) {
        wire_int(&request, 1, 1 + pick(rev + 2));
        wire_int(&request, 2, 1);
        return compare("/etcdserverpb.KV/Compact", buf_str(&request));
    }
    make_txn(&request, 0);
    return compare("/etcdserverpb.KV/Txn", buf_str(&request));
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
        peers[i].name = i ? "ours" : "etcd";
        peers[i].client =
            grpc_client_new(&(struct grpc_client_options){ .address = str_of(argv[1 + i]) });
    }
    state = strtoull(argv[3], NULL, 10);
    const long count = strtol(argv[4], NULL, 10);
    long wrong = 0;
    for (long i = 0; i < count && wrong < 5; i++)
        wrong += !step();
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        grpc_client_free(peers[i].client);
    printf("%ld requests, %ld answered otherwise, revision %" PRIu64 "\n", count, wrong, rev);
    return wrong ? 1 : 0;
}
