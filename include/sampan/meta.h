/* sampan/meta.h - the parts of objects that controllers keep: finalizers, owners, conditions.
 *
 * Functions on trees change only the tree, in the arena; text that is given is copied there. Those
 * that take a client change the object on the server. */
#pragma once

#include <sampan/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Finalizers: names that keep an object from going until we have cleaned up ---- */

SPN_API bool spn_finalizer_has(const struct spn_value *obj, const char *name);

/* Adds or removes our name on the server, and nothing else: others who change the object, or its
 * finalizers, at the same time lose nothing. `obj` is the object as we know it; it gets the new
 * finalizers and resourceVersion. If the server has a newer one that is read first. Nothing is sent
 * if there is nothing to do. To add to an object that is being deleted is SPN_INVALID; to remove
 * from one that is gone is nothing to do. */
SPN_API int spn_finalizer_add(struct spn_client *c, const struct spn_target *at,
                              struct spn_value *obj, const char *name, const struct spn_call *how,
                              struct spn_arena *a, struct spn_err *err);
SPN_API int spn_finalizer_remove(struct spn_client *c, const struct spn_target *at,
                                 struct spn_value *obj, const char *name,
                                 const struct spn_call *how, struct spn_arena *a,
                                 struct spn_err *err);

/* ---- Owners ---- */

/* Makes `owner` the controller of `obj`: it goes when its owner goes, and spn_controller_owns()
 * finds its way back. The owner has apiVersion, kind, name and uid. An owner with a namespace owns
 * only what is in it. SPN_EXISTS: another one controls it. SPN_INVALID: it cannot own this. */
SPN_API int spn_set_controller(struct spn_arena *a, struct spn_value *obj,
                               const struct spn_value *owner, struct spn_err *err);

/* ---- Conditions ---- */

struct spn_condition {
    const char *type;            /* "Ready" */
    const char *status;          /* "True", "False", "Unknown" */
    const char *reason;          /* "AllReplicasUp": a word for programs */
    const char *message;         /* for people; NULL: "" */
    int64_t observed_generation; /* 0: none */
};

/* Sets it in status.conditions of `obj`. lastTransitionTime is now if the status has changed, and
 * stays as it is otherwise. True: something has changed, so a write is worth while. */
SPN_API bool spn_condition_set(struct spn_arena *a, struct spn_value *obj,
                               const struct spn_condition *cond);
/* NULL: it has none of that type. */
SPN_API const struct spn_value *spn_condition_get(const struct spn_value *obj, const char *type);

#ifdef __cplusplus
}
#endif
