/* apiservice.h - APIServices: which groups and versions there are, and who serves those that are
 * not served here.
 *
 * An index of what is in the store, read anew after every change of an APIService, before the one
 * who changed it is answered. An entry is sealed and shared: who has a reference keeps it. What an
 * extension server told about its resources stands beside it, until it tells something else. Any
 * thread. */
#pragma once

#include <stdatomic.h>

#include "net/outgoing/fetch.h"
#include "net/tls.h"
#include "server/core/api.h"

/* Whether the server makes and removes it by itself; a label says so. */
enum apiservice_care {
    APISERVICE_GIVEN,    /* somebody else has made it */
    APISERVICE_ON_START, /* of what is built in */
    APISERVICE_KEPT,     /* of custom kinds: it goes with the last of the version */
};

struct apiservice {
    _Atomic(size_t) refs;
    struct arena arena;
    struct str name; /* VERSION.GROUP */
    struct str group, version;
    int64_t group_priority, version_priority;
    enum apiservice_care care;
    /* Who serves it; an empty name: this server. */
    struct str service_ns, service_name;
    int64_t service_port;
    bool is_available;       /* as its status says */
    struct str tls_name;     /* what its certificate must say; empty: nobody looks */
    struct tls_context *tls; /* for requests that are passed on; NULL: its CA cannot be read */
    struct fetcher *fetcher; /* for the server's own */
    uint64_t rev;
};

static inline bool apiservice_is_local(const struct apiservice *s)
{
    return !s->service_name.n;
}

struct apiservice *apiservice_ref(struct apiservice *s);
struct apiservice *apiservice_unref(struct apiservice *s); /* NULL */

/* As whom the server comes to extension servers: its front proxy's certificate. Empty: as nobody.
 */
struct apiservices_options {
    struct str cert_pem, key_pem;
};

struct apiservices;

struct apiservices *apiservices_new(struct store *store, const struct apiservices_options *opt);
struct apiservices *apiservices_free(struct apiservices *all);
/* The server stops: who is being asked is given up. */
void apiservices_stop(struct apiservices *all);
/* A new certificate, for the connections to come. */
int apiservices_set(struct apiservices *all, const struct apiservices_options *opt,
                    struct err *err);

/* The resource, as it is stored. */
const struct kind_resource *apiservices_resource(void);
/* All, when the server starts. */
int apiservices_load(struct apiservices *all, struct err *err);
/* One, after it was written or deleted. */
int apiservices_refresh(struct apiservices *all, struct str name, struct err *err);

/* Whether anybody else serves anything: one comparison. */
bool apiservices_has_foreign(const struct apiservices *all);
/* NULL: there is none. The caller has a reference. */
struct apiservice *apiservices_find(struct apiservices *all, struct str group, struct str version);
struct apiservice *apiservices_named(struct apiservices *all, struct str name);
/* All of them, by group and then by version as discovery has them; each with a reference. The array
 * is the caller's. */
struct apiservice **apiservices_list(struct apiservices *all, size_t *ret_n);

/* What its server says of the version. */
struct apiservice_told {
    bool is_current;        /* it has said so when it was last asked */
    struct str resources;   /* JSON, as aggregated discovery lists them; empty: it never told */
    struct str openapi_url; /* of its OpenAPI v3 document; empty: it has none */
    struct str swagger;     /* its OpenAPI v2 document, JSON; empty: none */
};
/* Copies. */
void apiservices_tell(struct apiservices *all, struct str name, const struct apiservice_told *told);
/* In the arena; false if nothing was told. */
bool apiservices_told(struct apiservices *all, struct arena *a, struct str name,
                      struct apiservice_told *ret);
