/* custom.h - custom kinds: what CustomResourceDefinitions add to those that are built in.
 *
 * A definition that is established becomes a struct custom, with a struct kind_resource for each of
 * its versions, so that requests for its objects go the way of all others. Unlike a built-in one,
 * an object is treated in the version of the request, and becomes one of the storage version only
 * when it is written. It is immutable. A changed definition becomes a new struct; code that holds
 * the old one may use it until it drops its reference.
 * Schemas are compiled when they are first needed. What is in the store counts: a definition is
 * read from there again after every change of it. Any thread may call all of this. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "schema/schema_kind.h"
#include "store/store.h"

struct custom_kinds;
struct custom;
struct custom_webhook;

/* A version of a custom kind; kind_resource comes first. */
struct custom_version {
    struct kind_resource resource;
    struct kind_type type, list_type;
    struct schema_kind kind; /* type.custom points to its start */
    struct custom *of;
    bool served, storage;
    _Atomic(const struct schema *) schema; /* private; so are these */
    _Atomic(const struct schema_programs *) programs;
    atomic_bool has_programs; /* they were compiled, or there are none */
    bool has_schema;
};

struct custom {
    _Atomic(size_t) refs;
    struct custom_kinds *kinds;
    struct arena arena;
    pthread_mutex_t compiling; /* over the arena, once it is served */
    struct str name, group;    /* "networks.samplecrd.k8s.io", "samplecrd.k8s.io" */
    struct str uid;            /* of the definition */
    struct str plural, kind;
    uint64_t rev; /* of the definition */
    bool names_accepted, established, terminating;
    struct custom_webhook *webhook;  /* that converts its objects; NULL: none (custom_webhook.h) */
    struct custom_version *versions; /* by priority: the preferred one first */
    size_t n_versions;
};

struct custom_kinds *custom_kinds_new(struct store *store);
struct custom_kinds *custom_kinds_free(struct custom_kinds *k);

struct store *custom_kinds_store(const struct custom_kinds *k);

/* The server stops: webhooks that are being waited for are given up. */
void custom_kinds_stop(struct custom_kinds *k);
const atomic_bool *custom_kinds_cancel(const struct custom_kinds *k);

/* All definitions, when the server starts. */
int custom_kinds_load(struct custom_kinds *k, struct err *err);
/* One, after it was written or deleted. */
int custom_kinds_refresh(struct custom_kinds *k, struct str name, struct err *err);

/* NULL if there is none that is established. The caller has a reference. */
struct custom *custom_find(struct custom_kinds *k, struct str group, struct str plural);
/* What a definition has become; NULL if it is gone, or another of its name has come. The caller has
 * a reference. */
struct custom *custom_now(const struct custom *c);
struct custom *custom_ref(struct custom *c);
struct custom *custom_unref(struct custom *c); /* NULL */

/* Of a custom resource, the version; NULL if it is built in. */
const struct custom_version *custom_version_of(const struct kind_resource *r);
const struct custom_version *custom_version_of_type(const struct kind_type *t);
/* A version that is served, or NULL. */
const struct custom_version *custom_served(const struct custom *c, struct str version);
const struct custom_version *custom_storage(const struct custom *c);
/* Served or not; NULL if there is none of that name. */
const struct custom_version *custom_named(const struct custom *c, struct str version);
/* Objects of a version that is gone cannot be read: ERR_UNKNOWN. */
int custom_no_version(const struct custom *c, struct str version, struct err *err);

/* All that are established, by group and plural; each with a reference. The array is the
 * caller's. */
struct custom **custom_list(struct custom_kinds *k, size_t *ret_n);
/* The same with those that are not, or not yet; in no order. */
struct custom **custom_list_all(struct custom_kinds *k, size_t *ret_n);

/* Around changes of definitions that look at more than one of them. */
void custom_kinds_begin(struct custom_kinds *k);
void custom_kinds_end(struct custom_kinds *k);

/* Counts the changes of the table, so that data derived from it can be checked for being current.
 */
uint64_t custom_kinds_count(const struct custom_kinds *k);

/* The resource of definitions, as it is stored. */
const struct kind_resource *custom_definitions(void);
/* The definition itself, as it is in the store now: 1 and `*ret`, 0 if there is none. `*ret_rev` is
 * its revision, or that at which it was not there. */
int custom_read_definition(struct custom_kinds *k, struct arena *a, struct str name,
                           struct value *ret, uint64_t *ret_rev, struct err *err);
/* The schema of a version in it; NULL: none. */
const struct value *custom_find_schema(const struct value *definition, struct str version);

/* Whether an object that was written in `version` becomes one of `v` only by a webhook, for which
 * one has to wait. */
bool custom_needs_webhook(const struct custom_version *v, struct str version);

/* An object as it was written in `version`, perhaps by an older schema, as one of `type` is
 * now. ERR_UNKNOWN if there is no such version any more. Waits if it needs a webhook. */
int custom_fit(struct arena *a, const struct kind_type *type, struct str version, struct value *obj,
               struct value *ret, struct err *err);

/* Which of two versions clients should prefer: v2, v1, v1beta1, v1alpha1, others by name. As
 * qsort()'s. */
int custom_compare_versions(struct str a, struct str b);
