/* policy.h - what validating and mutating policies have in common. Private to this folder.
 *
 * A policy does nothing until a binding names it. Both say which requests they are for. A policy
 * that has params is asked once with each object that the binding finds for it. All policies of one
 * sort are read, and their expressions compiled, when one of them has changed (memory.h); params
 * are read by each request. */
#pragma once

#include "admission/dynamic/conditions.h"
#include "admission/dynamic/match.h"
#include "admission/dynamic/scope.h"

/* Where the params of a binding are. */
struct policy_ref {
    struct str ns, name;
    const struct labels_selector *labels; /* NULL: none are given */
    bool must_be_there;
};

struct policy_binding {
    struct str name;
    const struct match *match;    /* NULL: whatever its policy is for */
    const struct policy_ref *ref; /* NULL: none */
    const struct value *spec;
};

struct policy {
    struct str name;
    const struct match *match;
    const struct conditions *conditions;
    struct str param_version, param_kind; /* a kind; empty: it has no params */
    bool ignores_failure;
    bool sees_namespace; /* its expressions look at it */
    const struct value *spec;
    const void *compiled; /* as its sort has it */
    struct policy_binding *bindings;
    size_t n_bindings;
};

struct policy_set {
    struct policy *at; /* those that have bindings, by name */
    size_t n;
};

/* A sort of policies. */
struct policy_sort {
    struct str policies, bindings;                      /* their resources */
    void (*compile)(struct arena *a, struct policy *p); /* sets `compiled`, `sees_namespace` */
};

/* For struct admission_memo: `*ret` is a struct policy_set, or NULL if nothing is bound. */
int policy_set_read(const struct policy_sort *sort, struct admission_request *req, struct arena *a,
                    const void **ret, struct err *err);

uint64_t policy_set_interest(const void *set); /* of that memo */

/* One policy that is to be asked about a request, or why it cannot be. */
struct policy_use {
    const struct policy *policy;
    const struct policy_binding *binding; /* NULL: the fault is the policy's */
    const struct kind_resource *as;       /* what is shown to it */
    const struct value *param;            /* NULL: null */
    struct str fault;                     /* empty: none */
};

struct policy_uses {
    struct policy_use *at;
    size_t n, cap;
};

/* Match conditions are not looked at yet. In the request's arena. */
void policy_find(const struct policy_set *set, struct admission_request *req,
                 const struct value *obj, struct policy_uses *ret);

/* The variable namespaceObject: `*ret` is NULL if the object is in none, or none of the policies
 * looks at it. */
int policy_namespace(struct admission_request *req, const struct policy_uses *uses,
                     const struct value **ret, struct err *err);
