/* etcd_member.c - what a member says of itself: status, members, alarms, health. */
#include "base/wire.h"
#include "etcd/etcd_internal.h"
#include "base/banned.h"

static uint64_t rev_now(const struct etcd_home *h)
{
    return store_rev(h->etcd->store);
}

static void add_message(struct buf *out, unsigned number, const struct buf *message)
{
    wire_head(out, number, message->n);
    buf_str_add(out, buf_str(message));
}

void etcd__status(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct store_stats stats;
    autobuf body = { 0 };
    (void)message;
    store_stats(h->etcd->store, &stats);
    const uint64_t bytes = stats.view_bytes + stats.log_bytes;
    wire_bytes(&body, 2, STR(ETCD_API_VERSION));
    wire_int(&body, 3, bytes);
    wire_int(&body, 4, h->etcd->member_id);
    wire_int(&body, 5, stats.rev);
    wire_int(&body, 6, 1);
    wire_int(&body, 7, stats.rev);
    if (stats.is_tight)
        wire_bytes(&body, 8, STR("etcdserver: mvcc: database space exceeded"));
    wire_int(&body, 9, stats.view_bytes);
    wire_bytes(&body, 11, STR("3.6.0"));
    etcd__answer(h, call, stats.rev, buf_str(&body));
}

void etcd__member_list(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    autobuf body = { 0 }, member = { 0 };
    (void)message;
    wire_int(&member, 1, h->etcd->member_id);
    wire_bytes(&member, 2, h->etcd->name);
    wire_bytes(&member, 4, h->etcd->client_url);
    add_message(&body, 2, &member);
    etcd__answer(h, call, rev_now(h), buf_str(&body));
}

/* There is one: the disk is nearly full. It ends by itself. */
void etcd__alarm(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct store_stats stats;
    autobuf body = { 0 }, alarm = { 0 };
    (void)message;
    store_stats(h->etcd->store, &stats);
    wire_int(&alarm, 1, h->etcd->member_id);
    wire_int(&alarm, 2, 1);
    if (stats.is_tight)
        add_message(&body, 2, &alarm);
    etcd__answer(h, call, stats.rev, buf_str(&body));
}

/* The store tidies up by itself. */
void etcd__defragment(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    (void)message;
    etcd__answer(h, call, rev_now(h), STR(""));
}

/* grpc.health.v1: SERVING. */
void etcd__health(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    autobuf reply = { 0 };
    (void)h;
    (void)message;
    wire_int(&reply, 1, 1);
    grpc_call_send(call, buf_str(&reply));
    grpc_call_end(call, GRPC_OK, STR(""));
}
