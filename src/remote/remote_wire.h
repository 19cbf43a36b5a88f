/* remote_wire.h - the messages of etcd that the engine sends and reads, and its keys.
 *
 * Bytes in, structs out; no I/O. Texts point into the message that they were read from. A message
 * that cannot be read is refused whole. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"

/* ---- Keys ---- */

#define REMOTE_LOCAL STR("/registry")        /* what the server's keys begin with */
#define REMOTE_OWN   STR("/sampan.dev/own/") /* below the prefix: all other keys */
#define REMOTE_TICK  STR("/sampan.dev/tick") /* below the prefix: written to see it come back */

/* The key in etcd, added to `out`. */
void remote_key_write(struct buf *out, struct str prefix, struct str local);
/* Back again, into the arena. False: it is none of ours, like the tick. */
bool remote_key_read(struct arena *a, struct str prefix, struct str key, struct str *ret);
/* Where the keys that start with `key` end. */
void remote_key_end(struct buf *out, struct str key);

/* ---- Requests ---- */

struct remote_range {
    struct str key, end;
    uint64_t limit, revision;
    bool keys_only, count_only;
};
void remote_range_write(struct buf *out, const struct remote_range *r);

/* The operations as one TxnRequest, what goes first before all else; `lease` is for those that
 * have a time to live. */
void remote_txn_write(struct buf *out, struct str prefix, const struct store_txn *t,
                      uint64_t lease);
/* compact_rev_key := revision, if its version is still `version`. */
#define REMOTE_COMPACT_KEY STR("compact_rev_key")
void remote_compact_txn_write(struct buf *out, uint64_t version, uint64_t revision);
void remote_watch_write(struct buf *out, struct str key, struct str end, uint64_t start_rev);

/* ---- Answers ---- */

struct remote_kv {
    struct str key, value;
    uint64_t create_rev, mod_rev, version;
};

struct remote_list {
    uint64_t rev; /* of the header */
    struct remote_kv *kvs;
    size_t n_kvs;
    bool more;
};
bool remote_list_read(struct arena *a, struct str message, struct remote_list *ret);

struct remote_outcome {
    uint64_t rev;
    bool succeeded;
    struct remote_kv *found; /* after a failure: what each compared key has; mod_rev 0: absent */
    size_t n_found;
};
bool remote_outcome_read(struct arena *a, struct str message, struct remote_outcome *ret);

struct remote_event {
    bool is_delete;
    struct remote_kv kv;
};

struct remote_news {
    uint64_t rev, compact_rev;
    int64_t watch_id;
    bool created, canceled, fragment;
    struct str reason;
    struct remote_event *events;
    size_t n_events;
};
bool remote_news_read(struct arena *a, struct str message, struct remote_news *ret);

/* The revision in the header of any answer; 0 if there is none. */
uint64_t remote_header_rev(struct str message);
/* A field of bytes or text; empty if it is not there. */
struct str remote_text(struct str message, unsigned number);
uint64_t remote_number(struct str message, unsigned number);
