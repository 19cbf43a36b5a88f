/* node_restriction_internal.h - the parts of the plugin NodeRestriction. */
#pragma once

#include "admission/plugins.h"

/* A request of a node, on its way through the plugin. */
struct restricted {
    struct admission_request *req;
    struct str node;
    const struct value *obj; /* NULL: a DELETE */
    struct err *err;
};

typedef int restricted_check(const struct restricted *r);

/* Pods, their status and evictions. */
restricted_check restricted__pod;
/* Tokens of service accounts, and requests for certificates of pods. */
restricted_check restricted__token;
restricted_check restricted__pod_certificate;

int restricted__forbid(const struct restricted *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* In quotes, as Go has them. */
const char *restricted__quoted(const struct restricted *r, struct str text);
/* "CREATE" and so on. */
const char *restricted__operation(const struct restricted *r);

/* What a lookup of an object says where there is none. */
struct restricted_lookup {
    struct str group, plural, kind; /* `kind`: what upstream calls it */
    struct str ns, name;
};
/* 0, or ERR_NOT_FOUND in upstream's words. */
int restricted__read(const struct restricted *r, const struct restricted_lookup *what,
                     struct value *ret, struct err *err);

/* Whether two fields are the same; absent is the same as empty. */
bool restricted__same(const struct value *a, const struct value *b);
