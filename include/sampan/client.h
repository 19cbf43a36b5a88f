/* sampan/client.h - every resource of an API server, by group, version and plural.
 *
 *     const struct spn_target web = SPN_AT("apps", "v1", "deployments", "shop", "web");
 *     struct spn_value *deployment;
 *     if (spn_client_get(client, &web, NULL, arena, &deployment, &err) < 0)
 *         fprintf(stderr, "%s\n", err.message);
 *
 * Calls wait for the answer on the caller's thread; any number of threads may call at once.
 * Requests share one connection of HTTP/2, if the server speaks it. Results lie in the caller's
 * arena. An error of the server carries its Status (sampan/err.h).
 *
 * What the server cannot have seen is sent again, and so is what it answers with 429 or 503 and
 * Retry-After, and a read whose connection broke; each with growing pauses, until the call's time
 * is over. A write that may have been done is not repeated. */
#pragma once

#include <sampan/stop.h>
#include <sampan/value.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_client;
struct spn_config;

/* The configuration (sampan/config.h) is not used after this. */
SPN_API int spn_client_new(const struct spn_config *config, struct spn_client **ret,
                           struct spn_err *err);
SPN_API struct spn_client *spn_client_free(struct spn_client *c); /* nobody uses it any more */
/* Whether lists and watches also have objects that initializers have yet to finish
 * (includeUninitialized), for programs that are one. Before others use the client. */
SPN_API void spn_client_show_uninitialized(struct spn_client *c, bool show);

/* What a call is about. An empty namespace: a resource of the cluster, or all namespaces. */
struct spn_target {
    struct spn_text group, version, plural; /* an empty group: the core ("v1") */
    struct spn_text ns, name;
    struct spn_text sub; /* "status", "scale", ...; empty: the object itself */
};
#define SPN_AT(group, version, plural, ns, name)                                            \
    {                                                                                       \
        SPN_TEXT(group), SPN_TEXT(version), SPN_TEXT(plural), SPN_TEXT(ns), SPN_TEXT(name), \
            SPN_TEXT("")                                                                    \
    }

/* How it is to be done. All zero, or a NULL pointer, is the usual. Where an option means nothing to
 * the verb it is not sent. */
struct spn_call {
    int64_t timeout_ms;           /* for all attempts together; 0: that of the client */
    struct spn_stop *stop;        /* ends the call with SPN_CANCELLED */
    const char *manager;          /* of the fields that are written; NULL: the client's name */
    const char *validation;       /* of unknown fields: "Strict", "Warn", "Ignore" */
    bool dry_run;                 /* nothing is stored */
    bool force;                   /* an apply takes what others own */
    const char *resource_version; /* of a get or list: not older than this; "0": any */
    bool metadata_only;           /* of a get or list: PartialObjectMetadata */
};

SPN_API int spn_client_get(struct spn_client *c, const struct spn_target *at,
                           const struct spn_call *how, struct spn_arena *a, struct spn_value **ret,
                           struct spn_err *err);
/* `ret` may be NULL in these. */
SPN_API int spn_client_create(struct spn_client *c, const struct spn_target *at,
                              const struct spn_value *obj, const struct spn_call *how,
                              struct spn_arena *a, struct spn_value **ret, struct spn_err *err);
SPN_API int spn_client_update(struct spn_client *c, const struct spn_target *at,
                              const struct spn_value *obj, const struct spn_call *how,
                              struct spn_arena *a, struct spn_value **ret, struct spn_err *err);

enum spn_patch_kind { SPN_JSON_PATCH, SPN_MERGE_PATCH, SPN_STRATEGIC_PATCH };
SPN_API int spn_client_patch(struct spn_client *c, const struct spn_target *at,
                             enum spn_patch_kind kind, struct spn_text patch,
                             const struct spn_call *how, struct spn_arena *a,
                             struct spn_value **ret, struct spn_err *err);
/* Server-side apply: `obj` has what the caller wants to own, and its apiVersion, kind
 * and name. */
SPN_API int spn_client_apply(struct spn_client *c, const struct spn_target *at,
                             const struct spn_value *obj, const struct spn_call *how,
                             struct spn_arena *a, struct spn_value **ret, struct spn_err *err);

/* All zero: as the server does it. */
struct spn_delete {
    const char *propagation;               /* "Background", "Foreground", "Orphan" */
    const int64_t *grace_seconds;          /* NULL: the object's own */
    struct spn_text uid, resource_version; /* only if it still has these */
};
SPN_API int spn_client_delete(struct spn_client *c, const struct spn_target *at,
                              const struct spn_delete *what, const struct spn_call *how,
                              struct spn_arena *a, struct spn_value **ret, struct spn_err *err);

/* Which objects. All zero: all of them. */
struct spn_select {
    const char *labels, *fields; /* selectors: "app=web,tier!=cache" */
    int64_t limit;               /* of a page; 0: none */
    struct spn_text resume;      /* metadata.continue of the page before */
};
/* One page of a list: an object with `items`. */
SPN_API int spn_client_list(struct spn_client *c, const struct spn_target *at,
                            const struct spn_select *which, const struct spn_call *how,
                            struct spn_arena *a, struct spn_value **ret, struct spn_err *err);
SPN_API int spn_client_delete_all(struct spn_client *c, const struct spn_target *at,
                                  const struct spn_select *which, const struct spn_delete *what,
                                  const struct spn_call *how, struct spn_arena *a,
                                  struct spn_err *err);

/* Anything else: a path with its query, and any body. The answer as it came, if its status is 2xx.
 */
SPN_API int spn_client_raw(struct spn_client *c, const char *method, struct spn_text path,
                           struct spn_text content_type, struct spn_text body,
                           const struct spn_call *how, struct spn_arena *a, struct spn_text *ret,
                           struct spn_err *err);

/* The path of a target: "/apis/apps/v1/namespaces/shop/deployments/web". SPN_BAD_REQUEST: a name
 * has what no name has. */
SPN_API int spn_target_path(const struct spn_target *at, struct spn_arena *a, struct spn_text *ret,
                            struct spn_err *err);

struct spn_request {
    const char *method;
    struct spn_text path; /* with its query */
    struct spn_text content_type, body;
    const struct spn_pair *headers; /* beside the usual ones */
    size_t n_headers;               /* at most 8 */
};
struct spn_answer {
    int status;
    struct spn_text body;
};
/* The same with headers, and with the answer whatever its status is; only what is asked to come
 * again later, and what was not authenticated, is sent again. */
SPN_API int spn_client_send(struct spn_client *c, const struct spn_request *req,
                            const struct spn_call *how, struct spn_arena *a, struct spn_answer *ret,
                            struct spn_err *err);

/* ---- Watching ---- */

struct spn_watch;

struct spn_watch_options {
    const char *labels, *fields;
    struct spn_text from; /* resourceVersion; empty: synthetic events of what is there come first */
    bool bookmarks;       /* events that only say how far it has come */
    bool initial_events;  /* all objects first, then a bookmark with the annotation
                             k8s.io/initial-events-end (WatchList) */
    int64_t timeout_sec;  /* after which the server ends it; 0: its own choice */
    bool metadata_only;
};

enum spn_event_type { SPN_EVENT_ADDED, SPN_EVENT_MODIFIED, SPN_EVENT_DELETED, SPN_EVENT_BOOKMARK };

struct spn_event {
    enum spn_event_type type;
    struct spn_value *object; /* in the arena */
};

SPN_API int spn_client_watch(struct spn_client *c, const struct spn_target *at,
                             const struct spn_watch_options *opt, struct spn_stop *stop,
                             struct spn_arena *a, struct spn_watch **ret, struct spn_err *err);
/* Waits for the next event, at most so long (-1: for ever). 1: there is one; 0: the server has
 * ended the watch; else an error, also one that came as an event: SPN_EXPIRED means that `from` is
 * too old. One thread. */
SPN_API int spn_watch_next(struct spn_watch *w, int64_t timeout_ms, struct spn_arena *a,
                           struct spn_event *ret, struct spn_err *err);
SPN_API struct spn_watch *spn_watch_free(struct spn_watch *w);

#ifdef __cplusplus
}
#endif
