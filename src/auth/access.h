/* access.h - what is asked of an authorizer: may this user do that? */
#pragma once

#include "auth/user.h"
#include "select/fields.h"
#include "select/labels.h"

struct access {
    const struct user *user;
    struct str verb;
    bool is_resource; /* else it is about a path */
    struct str group, version, resource, sub, ns, name;
    struct str path;
    struct fields_selector fields; /* what a list or watch is narrowed to; none: all zero */
    struct labels_selector labels;
};

/* An authorizer that has no opinion leaves the word to the next one; if none has an opinion, the
 * answer is no. */
enum access_opinion { ACCESS_NO_OPINION, ACCESS_ALLOWED, ACCESS_DENIED };

/* A copy with all that it names. */
struct access access_copy(struct arena *a, const struct access *q);

/* `User "u" cannot get resource "pods" in API group "" in the namespace "n"`, or the like of a
 * path. */
struct str access_refusal(struct arena *a, const struct access *q);
