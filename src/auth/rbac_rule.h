/* rbac_rule.h - the rules of a role, read once so that they can be asked often.
 *
 * The rules of one role are one block, text included: whoever holds the block frees all of it with
 * free(). They keep the order and the words of the object. */
#pragma once

#include "auth/access.h"
#include "base/value.h"

struct rbac_words {
    const struct str *items;
    size_t n;
};

struct rbac_rule {
    struct rbac_words verbs, groups, resources, names, urls;
};

struct rbac_rules {
    size_t n;
    const struct rbac_rule *items;
};

/* `rules` of a Role or ClusterRole; absent: none. A block of its own. */
struct rbac_rules *rbac_rules_new(const struct value *rules);

bool rbac_rule_allows(const struct rbac_rule *rule, const struct access *q);

bool rbac_words_have(struct rbac_words words, struct str word);
/* Whether a URL of a rule, which may end with *, stands for the path. */
bool rbac_url_covers(struct str rule, struct str path);
