/* gen_network.h - made by `sampan generate`, not to be edited.
 *
 * sampan/typed.h says how to read the structs. */
#pragma once

#include <sampan/api/meta_v1.h>
#include <sampan/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

struct network_list {
    struct network *items;
    size_t n;
};

struct network_route_list {
    struct network_route *items;
    size_t n;
};

struct network_route {
    struct spn_text destination;
    struct spn_text via;
    struct spn_text origin;
    struct spn_value *rest;
};
SPN_TYPED(network_route)

struct network_spec {
    struct spn_text cidr;    /* The addresses, which cannot be changed later. */
    struct spn_text gateway; /* The way out. */
    struct spn_bool nat;
    struct spn_int mtu;
    struct network_route_list routes;
    struct spn_value *rest;
};
SPN_TYPED(network_spec)

struct network_status {
    struct spn_int observed_generation;
    struct meta_v1_condition_list conditions;
    struct spn_value *rest;
};
SPN_TYPED(network_status)

/* Network is a range of addresses with a way out. */
struct network {
    struct spn_text api_version;
    struct spn_text kind;
    struct meta_v1_object_meta *metadata;
    struct network_spec *spec;
    struct network_status *status;
    struct spn_value *rest;
};
SPN_TYPED(network)

/* ---- Network (samplecrd.k8s.io/v1) ---- */

/* Calls, as in sampan/client.h. Of those that write, `ret` may be NULL. */
int network_get(struct spn_client *client, struct spn_text ns, struct spn_text name,
                const struct spn_call *how, struct spn_arena *a, struct network **ret,
                struct spn_err *err);
int network_list(struct spn_client *client, struct spn_text ns, const struct spn_select *which,
                 const struct spn_call *how, struct spn_arena *a, struct network_list *ret,
                 struct spn_page *ret_page, struct spn_err *err);
int network_create(struct spn_client *client, const struct network *obj, const struct spn_call *how,
                   struct spn_arena *a, struct network **ret, struct spn_err *err);
int network_update(struct spn_client *client, const struct network *obj, const struct spn_call *how,
                   struct spn_arena *a, struct network **ret, struct spn_err *err);
int network_update_status(struct spn_client *client, const struct network *obj,
                          const struct spn_call *how, struct spn_arena *a, struct network **ret,
                          struct spn_err *err);
int network_apply(struct spn_client *client, const struct network *obj, const struct spn_call *how,
                  struct spn_arena *a, struct network **ret, struct spn_err *err);
int network_apply_status(struct spn_client *client, const struct network *obj,
                         const struct spn_call *how, struct spn_arena *a, struct network **ret,
                         struct spn_err *err);
int network_patch(struct spn_client *client, struct spn_text ns, struct spn_text name,
                  enum spn_patch_kind kind, struct spn_text patch, const struct spn_call *how,
                  struct spn_arena *a, struct network **ret, struct spn_err *err);
int network_delete(struct spn_client *client, struct spn_text ns, struct spn_text name,
                   const struct spn_delete *what, const struct spn_call *how, struct spn_err *err);

/* The shared informer, what its handlers see, and what lies in its cache. In a lister,
 * SPN_NOT_FOUND means that the cache has none; `labels` is a selector or NULL. */
struct spn_informer *network_informer(struct spn_informers *all, struct spn_text ns);
int network_of(const struct spn_object *o, struct spn_arena *a, struct network **ret,
               struct spn_err *err);
int network_lister_get(struct spn_cache *cache, struct spn_text ns, struct spn_text name,
                       struct spn_arena *a, struct network **ret, struct spn_err *err);
int network_lister_list(struct spn_cache *cache, struct spn_text ns, const char *labels,
                        struct spn_arena *a, struct network_list *ret, struct spn_err *err);

/* One with an arena of its own: empty, or a deep copy if `from` is not NULL. */
struct network *network_new(const struct network *from);
struct spn_arena *network_arena(struct network *obj);
struct network *network_free(struct network *obj);

#ifdef __cplusplus
}
#endif
