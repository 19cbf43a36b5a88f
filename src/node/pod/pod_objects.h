/* pod_objects.h - where the agent gets what pods refer to: config maps, secrets, claims, tokens.
 *
 * Rules and volumes ask through this, so that their tests need no server. All functions may block,
 * and any thread may call them. Trees lie in the caller's arena. Errors carry the server's message
 * (`configmap "x" not found`), which statuses and events quote; ERR_NOT_FOUND where it is not
 * there. */
#pragma once

#include "base/err.h"
#include "base/value.h"

struct pod_objects {
    void *arg;
    /* `plural`: "configmaps", "secrets", "persistentvolumeclaims", "persistentvolumes" (no
     * namespace). May be some seconds old, but not older than the pod. */
    int (*get)(void *arg, const char *plural, struct str ns, struct str name, struct arena *a,
               struct value *ret, struct err *err);
    /* All Services of a namespace, an array of objects, for variables that name them.
     * ERR_UNAVAILABLE: they are not known yet. */
    int (*services)(void *arg, struct str ns, struct arena *a, struct value *ret, struct err *err);
    /* A token of the pod's service account; `request` is a TokenRequest's spec. The answer is its
     * status. Renewed when 80% of its time is over, or a day; the same text until then. */
    int (*token)(void *arg, const struct value *pod, const struct value *request, struct arena *a,
                 struct value *ret, struct err *err);
};
