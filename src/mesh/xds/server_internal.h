/* server_internal.h - what server.c and stream.c share. */
#pragma once

#include <sys/queue.h>

#include "mesh/xds/server.h"
#include "net/grpc/grpc.h"

enum {
    XDS_STREAMS_MAX = 8192,
    XDS_NAMES_MAX = 20000,         /* that a stream may ask for of one type */
    XDS_NAME_BYTES_MAX = 1024,     /* of one name */
    XDS_NAMES_BYTES_MAX = 4 << 20, /* of all names of one type of a stream */
    XDS_REQUEST_MEMORY = 32 << 20, /* of a request while it is read */
    XDS_CLASSES_MIN = 64,          /* that are kept though nobody may be left of them */
};

/* What a stream was sent of a name, or wants. */
struct sent {
    uint64_t hash; /* 0: nothing yet */
    size_t n;
    char name[];
};

struct subscription {
    bool is_active;   /* it was asked for */
    bool is_wild;     /* everything */
    bool must_answer; /* even if nothing has changed */
    struct map names; /* name -> struct sent */
    size_t name_bytes;
    uint64_t nonce, acked_nonce, refused_nonce;
    uint64_t n_sent, n_acked, n_refused;
    char refusal[256];
};

struct stream {
    LIST_ENTRY(stream) link;
    struct xds_server *server;
    struct grpc_call *call;
    struct arena arena; /* of the proxy */
    struct mesh_proxy proxy;
    bool has_node, is_delta, is_gone;
    unsigned waiting; /* types that wait for room */
    struct subscription of[XDS_TYPES];
};

struct xds_server {
    struct solo solo;
    struct xds_options opt;
    struct arena arena;
    struct str address;
    struct snapshot *snapshot;
    struct map classes; /* key -> struct class_entry */
    LIST_HEAD(streams, stream) streams;
    size_t n_streams;
    uint64_t next_nonce;
};

void xds__stream_start(struct xds_server *s, struct grpc_call *call, bool is_delta);
void xds__stream_push(struct stream *st, unsigned mask);
void xds__stream_end(struct stream *st, enum grpc_status status, const char *why);
/* The class of a proxy in the present realm. */
struct class *xds__class_of(struct xds_server *s, const struct mesh_proxy *p);
