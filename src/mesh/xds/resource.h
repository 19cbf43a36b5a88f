/* resource.h - what is sent: encoded resources, made once for all proxies that get the same.
 *
 * A class is a realm as proxies of one kind see it: those that are equal in all that configuration
 * depends on. Resources are made when they are first asked for, and shared. One thread. */
#pragma once

#include "mesh/model/proxy.h"

enum xds_type { XDS_CLUSTER, XDS_ENDPOINT, XDS_LISTENER, XDS_ROUTE, XDS_SECRET, XDS_TYPES };

/* "type.googleapis.com/envoy.config.cluster.v3.Cluster" */
struct str xds_type_url(enum xds_type t);
bool xds_type_find(struct str url, enum xds_type *ret);

struct resource {
    unsigned refs;
    uint64_t hash;
    struct str name, bytes; /* behind it */
};
struct resource *resource_ref(struct resource *r);
struct resource *resource_unref(struct resource *r);

struct resource_list {
    struct resource **items;
    size_t n;
};

/* A realm with its arena, counted. */
struct snapshot {
    unsigned refs;
    struct arena arena;
    struct realm *realm;
};
struct snapshot *snapshot_new(uint64_t number);
struct snapshot *snapshot_ref(struct snapshot *s);
struct snapshot *snapshot_unref(struct snapshot *s);

struct class;

/* The class of a proxy in a realm; takes a reference to the snapshot. */
struct class *class_new(struct snapshot *s, const struct mesh_proxy *p);
struct class *class_free(struct class *c);
/* All clusters or listeners. */
const struct resource_list *class_all(struct class *c, enum xds_type t);
/* One of any type, lent until the next is asked for; NULL: there is none of that name. Some have
 * one for any name, so no more than so many are kept. */
enum { CLASS_KEPT_MAX = 20000 };
struct resource *class_one(struct class *c, enum xds_type t, struct str name);
size_t class_kept(const struct class *c, enum xds_type t);
/* The tree behind it, in the arena, for people; null: none. */
struct value class_tree(struct class *c, struct arena *a, enum xds_type t, struct str name);
/* Of which class a proxy is: equal texts, equal configuration. */
struct str class_key(struct arena *a, const struct realm *w, const struct mesh_proxy *p);
