/* sampan/informer.h - a cache that follows a resource, and tells what changes.
 *
 *     reflector  ->  delta FIFO  ->  cache  ->  handlers
 *     lists and      what happened   objects    on_add, on_update,
 *     watches        to each key     by key     on_delete
 *
 * The reflector gets all objects, by a stream where the server can (WatchList) or page by page, and
 * then watches from there. A watch that ends or breaks goes on where it was; if that is too long
 * ago, everything is listed again, and what vanished meanwhile is reported with the last state that
 * was known of it. Handlers are called one after another, so they see every object's changes in
 * order. If they are slow, changes of one object that pile up are reported together. They should be
 * quick all the same, because all informers of a client share a few threads: a handler adds a key
 * to a queue and returns. An informer that only watches has no thread of its own. */
#pragma once

#include <sampan/cache.h>
#include <sampan/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_informer;

/* Objects are lent during the call. Each function may be NULL. */
struct spn_handler {
    void *arg;
    /* `is_initial`: it was there when this handler began to listen. */
    void (*on_add)(void *arg, const struct spn_object *o, bool is_initial);
    /* Both may be the same object: nothing has changed, it is only seen again. */
    void (*on_update)(void *arg, const struct spn_object *old_o, const struct spn_object *new_o);
    /* `is_last_known`: it was deleted while nobody watched; it may have changed before. */
    void (*on_delete)(void *arg, const struct spn_object *o, bool is_last_known);
};

struct spn_informer_options {
    struct spn_target what; /* group, version, plural; ns: empty for all; name: only this one */
    const char *labels, *fields; /* selectors */
    bool metadata_only;
    int64_t resync_ms; /* handlers see every object again so often; 0: never */
    int64_t page;      /* objects of a page; 0: 500 */
    /* Keeps metadata.managedFields, which is often half of an object. An update without it is no
     * change of it, so most programs can do without. */
    bool keep_managers;
    int64_t max_pause_ms; /* between attempts after errors, which start at 100; 0: 30 s */
    bool no_stream;       /* page by page, even if the server could stream */
    /* Changes an object before it is kept, to drop what nobody needs. One call at a time. */
    void (*transform)(void *arg, struct spn_arena *a, struct spn_value *obj);
    void *transform_arg;
};

/* Texts of the options are copied. The client must outlive it. */
SPN_API struct spn_informer *spn_informer_new(struct spn_client *c,
                                              const struct spn_informer_options *opt);
/* Stops it first, if need be. */
SPN_API struct spn_informer *spn_informer_free(struct spn_informer *i);

/* At any time. A handler that comes late is told of everything that is there already, before this
 * returns. Not from inside a handler. */
SPN_API void spn_informer_handle(struct spn_informer *i, const struct spn_handler *h);
SPN_API struct spn_cache *spn_informer_cache(struct spn_informer *i);

/* Starts it, once. SPN_UNAVAILABLE: the system has no thread left. */
SPN_API int spn_informer_start(struct spn_informer *i, struct spn_err *err);
/* Ends it and waits for that. No handler is called after it. Not from inside a handler. */
SPN_API void spn_informer_stop(struct spn_informer *i);

/* True once everything that was there at the start is in the cache and the handlers know it. */
SPN_API bool spn_informer_has_synced(struct spn_informer *i);
/* Waits for that. False: `stop` was set first (NULL: never), or the time is over (-1: it is not).
 */
SPN_API bool spn_informer_wait(struct spn_informer *i, struct spn_stop *stop, int64_t ms);

struct spn_informer_stats {
    uint64_t lists, watches, events, errors; /* so far */
    size_t objects, queued;                  /* now */
    size_t bytes;                            /* of the cache */
    char resource_version[64];               /* up to which it has seen everything */
    char last_error[256];                    /* empty: the last attempt went well */
};
SPN_API void spn_informer_stats(struct spn_informer *i, struct spn_informer_stats *ret);

/* ---- Shared between controllers ---- */

struct spn_informers;

SPN_API struct spn_informers *spn_informers_new(struct spn_client *c);
SPN_API struct spn_informers *spn_informers_free(struct spn_informers *all); /* and all of them */
/* The informer with these options; made if there is none. One with a transform is shared by whoever
 * gives the same function and argument. */
SPN_API struct spn_informer *spn_informers_get(struct spn_informers *all,
                                               const struct spn_informer_options *opt);
/* One that has all objects of a resource, whole; NULL: nobody has asked for it yet. Who needs only
 * metadata may go by it. */
SPN_API struct spn_informer *spn_informers_find(struct spn_informers *all,
                                                const struct spn_target *what);
/* Those that have not been started yet. */
SPN_API int spn_informers_start(struct spn_informers *all, struct spn_err *err);
/* Until they have synced. A resource that the server does not serve is not waited for: there are no
 * objects of it, and if it comes later, they are told then. */
SPN_API bool spn_informers_wait(struct spn_informers *all, struct spn_stop *stop, int64_t ms);
SPN_API void spn_informers_stop(struct spn_informers *all);

#ifdef __cplusplus
}
#endif
