/* rules.h - the rules of a built-in resource, taken from the kind tables, as the server does.
 */
#pragma once

#include "api/kind.h"
#include "select/fields.h"

static inline const struct kind_resource *rules_resource(struct str group, struct str version,
                                                         struct str plural)
{
    const struct kind_version *v = kind_version_find(group, version);
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, plural))
            return &v->resources[i];
    return NULL;
}

static inline struct fields_rules rules_of(const struct kind_resource *r)
{
    return (struct fields_rules){
        .group = r->group,
        .version = r->version,
        .kind = r->type->name,
        .selectors = r->selectors,
        .n_selectors = r->n_selectors,
        .aliases = r->aliases,
        .n_aliases = r->n_aliases,
    };
}
