/* etcd.h - the etcd v3 API on the embedded store, so that a kube-apiserver, or anybody else who
 * wants an etcd, can run on it: KV, transactions, watches, leases, maintenance.
 *
 * One member, and its own leader. Reads and watches are answered on the loops; writes are decided
 * there against a snapshot and committed on condition that nothing they looked at has changed. */
#pragma once

#include "net/tls.h"
#include "store/store.h"

struct etcd;

struct etcd_options {
    struct store_options store;
    struct str listen;       /* "127.0.0.1:2379" */
    struct tls_context *tls; /* NULL: cleartext, on loopback only */
    const char *name;        /* of the member */
    struct str client_url;   /* what clients are told; empty: where it listens */
    int64_t progress_ms; /* how often watches that ask for it hear of progress; 0: ten minutes */
    size_t n_loops;      /* 0: one per CPU, at most ETCD_LOOPS_MAX */
};

/* The version of etcd whose API this is. */
#define ETCD_API_VERSION "3.6.5"

enum { ETCD_LOOPS_MAX = 4 };

/* Serving when it returns 0. */
int etcd_start(const struct etcd_options *opt, struct etcd **ret, struct err *err);
struct str etcd_address(const struct etcd *e);
/* Ends calls and watches, closes the store. Blocks. */
struct etcd *etcd_stop(struct etcd *e);
