#include "auth/user.h"

#include "api/names.h"
#include "base/banned.h"

static const struct str *copy_texts(struct arena *a, const struct str *texts, size_t n)
{
    struct str *copy = arena_array(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_str(a, texts[i]);
    return copy;
}

struct user *user_copy(struct arena *a, const struct user *u)
{
    struct user *copy = arena_new(a, struct user);
    struct user_extra *extra = arena_array(a, struct user_extra, u->n_extra);
    for (size_t i = 0; i < u->n_extra; i++)
        extra[i] =
            (struct user_extra){ .key = arena_str(a, u->extra[i].key),
                                 .values = copy_texts(a, u->extra[i].values, u->extra[i].n_values),
                                 .n_values = u->extra[i].n_values };
    *copy = (struct user){ .name = arena_str(a, u->name),
                           .uid = arena_str(a, u->uid),
                           .groups = copy_texts(a, u->groups, u->n_groups),
                           .n_groups = u->n_groups,
                           .extra = extra,
                           .n_extra = u->n_extra };
    return copy;
}

bool user_is_in(const struct user *u, struct str group)
{
    for (size_t i = 0; i < u->n_groups; i++)
        if (str_eq(u->groups[i], group))
            return true;
    return false;
}

void user_add_authenticated(struct arena *a, struct user *user)
{
    if (str_eq(user->name, USER_ANONYMOUS) || user_is_in(user, USER_AUTHENTICATED) ||
        user_is_in(user, USER_UNAUTHENTICATED))
        return;
    struct str *groups = arena_array(a, struct str, user->n_groups + 1);
    if (user->n_groups)
        memcpy(groups, user->groups, user->n_groups * sizeof(*groups));
    groups[user->n_groups++] = USER_AUTHENTICATED;
    user->groups = groups;
}

static bool is_name(enum name_rule rule, struct str name)
{
    struct name_faults faults = { 0 };
    return name.n && name_check(rule, name, &faults);
}

bool user_is_node(struct str name, struct str *ret_node)
{
    if (!str_starts(name, USER_NODE))
        return false;
    *ret_node = str_skip(name, USER_NODE.n);
    return is_name(NAME_SUBDOMAIN, *ret_node);
}

bool user_service_account(struct str name, struct str *ret_ns, struct str *ret_name)
{
    if (!str_starts(name, USER_SERVICE_ACCOUNT))
        return false;
    struct str rest = str_skip(name, USER_SERVICE_ACCOUNT.n), ns = str_cut(&rest, ':');
    if (!is_name(NAME_LABEL, ns) || !is_name(NAME_SUBDOMAIN, rest))
        return false;
    *ret_ns = ns;
    *ret_name = rest;
    return true;
}

struct str user_service_account_name(struct arena *a, struct str ns, struct str name)
{
    return arena_printf(a, STR_FMT STR_FMT ":" STR_FMT, STR_ARG(USER_SERVICE_ACCOUNT), STR_ARG(ns),
                        STR_ARG(name));
}

size_t user_service_account_groups(struct arena *a, struct str ns, const struct str **ret)
{
    struct str *groups = arena_array(a, struct str, 2);
    groups[0] = STR("system:serviceaccounts");
    groups[1] = arena_printf(a, "system:serviceaccounts:" STR_FMT, STR_ARG(ns));
    *ret = groups;
    return 2;
}
