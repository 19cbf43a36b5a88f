/* remote.h - the store engine `etcd`: a mirror (store/mirror.h) of what an etcd cluster has.
 *
 * Keys that begin with /registry lie in etcd below the prefix instead, as kube-apiserver has them.
 * All others are Sampan's own and lie below PREFIX/sampan.dev/own/, which it never lists.
 *
 * A write is one transaction of etcd. It is answered when etcd has answered and the mirror has that
 * revision. Where it is not known whether etcd has done it, the answer is an error that says so;
 * nothing is sent twice unless it surely was not run. The mirror is filled from a list at one
 * revision and then follows one watch; if etcd has dropped what it needs next, it lists anew, and
 * watches expire. */
#pragma once

#include "store/store.h"

struct remote_options {
    const struct str *servers; /* "http://127.0.0.1:2379"; https with TLS */
    size_t n_servers;
    struct str ca_pem, cert_pem, key_pem; /* of https; empty: the system's authorities, none */
    struct str user, password;            /* empty: none */
    struct str prefix;                    /* "/registry" */
    struct store_codec *codec; /* as store_set_codec() would get it; outlives the store */
    /* What the mirror keeps of a value that etcd has: 1 and `out`, or 0: as it is. Threads of the
     * engine. NULL: all as they are. */
    int (*keep)(struct store_codec *c, struct str key, struct str value, struct buf *out);
    int64_t tick_ms;           /* how long the mirror waits for a revision before it asks; 0: 20 */
    int64_t compact_ms;        /* how often etcd is compacted; 0: every five minutes */
    const struct clock *clock; /* as in store_options, and the two that follow */
    uint64_t history_bytes;
    int64_t history_ns;
};

/* Blocks until the mirror has what etcd has. ERR_UNAVAILABLE if no server answers in time;
 * ERR_INVALID for what cannot be an address or a certificate. The store is closed by store_close().
 */
int remote_open(const struct remote_options *opt, struct store **ret, struct err *err);
