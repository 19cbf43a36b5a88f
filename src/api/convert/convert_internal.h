/* convert_internal.h - kinds whose versions differ in more than the apiVersion. Private to this
 * folder.
 *
 * One pair of functions for each row of convert.c, in convert_*.c by area. `_in` changes an object
 * of the old version so that it reads as one of the hub, `_out` the reverse. Fields that the other
 * one does not have may be left: they are dropped afterwards, when the object is read by its table,
 * which puts the fields in order too. Objects are as typed_read() leaves them, so what is there has
 * the type that its field says, but anything may be missing or null. */
#pragma once

#include "api/convert/convert.h"

#define CONVERT_ROW(name)                                                          \
    int convert__##name##_in(struct arena *a, struct value *obj, struct err *err); \
    int convert__##name##_out(struct arena *a, struct value *obj, struct err *err)

CONVERT_ROW(access_review);    /* convert_access.c: group or groups of a user */
CONVERT_ROW(role_binding);     /* convert_access.c: rbac v1alpha1 */
CONVERT_ROW(deployment);       /* convert_apps.c: with rollbackTo */
CONVERT_ROW(daemon_set);       /* convert_apps.c: extensions/v1beta1 */
CONVERT_ROW(scale);            /* convert_apps.c: with a map for a selector */
CONVERT_ROW(definition);       /* convert_definition.c */
CONVERT_ROW(resource_claim);   /* convert_devices.c: v1beta1 */
CONVERT_ROW(claim_template);   /* convert_devices.c: v1beta1 */
CONVERT_ROW(resource_slice);   /* convert_devices.c: v1beta1 */
CONVERT_ROW(event);            /* convert_event.c */
CONVERT_ROW(priority_level);   /* convert_flowcontrol.c: v1beta1, v1beta2 */
CONVERT_ROW(priority_level_3); /* convert_flowcontrol.c: v1beta3 */
CONVERT_ROW(autoscaler_v1);    /* convert_hpa.c */
CONVERT_ROW(autoscaler_beta1); /* convert_hpa.c: v2beta1 */
CONVERT_ROW(autoscaler_beta2); /* convert_hpa.c: v2beta2 */
CONVERT_ROW(ingress);          /* convert_network.c */
CONVERT_ROW(endpoint_slice);   /* convert_network.c */
CONVERT_ROW(disruption);       /* convert_policy.c: PodDisruptionBudget */
CONVERT_ROW(runtime_class);    /* convert_policy.c: v1alpha1 */

/* Hubs that upstream sees through its inner form even if nobody asks for another version. */
int convert__autoscaler_settle(struct arena *a, struct value *obj, struct err *err);
int convert__daemon_set_settle(struct arena *a, struct value *obj, struct err *err);
int convert__deployment_settle(struct arena *a, struct value *obj, struct err *err);

/* ---- What they share (convert_parts.c) ---- */

/* NULL for what is null, too. */
const struct value *convert__given(const struct value *v);
/* The struct at `key` for editing, or NULL. `obj` may be NULL. */
struct value *convert__edit(struct arena *a, struct value *obj, struct str key);
/* Calls `change` with each struct of the list at `key`. `obj` may be NULL. */
void convert__each(struct arena *a, struct value *obj, struct str key,
                   void (*change)(struct arena *a, struct value *item));
/* Borrows what is given; `from` and `to` may be the same object. */
void convert__copy(struct arena *a, struct value *to, struct str to_key, const struct value *from,
                   struct str from_key);
void convert__rename(struct arena *a, struct value *obj, struct str from, struct str to);

/* Annotations. An object that has none left has no map of them either. */
const struct value *convert__note(const struct value *obj, struct str key); /* NULL: none */
void convert__note_set(struct arena *a, struct value *obj, struct str key, struct str text);
void convert__note_drop(struct arena *a, struct value *obj, struct str key);
