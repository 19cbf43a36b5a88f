#include "server/guard/identity_proxy.h"

#include "base/percent.h"
#include "base/banned.h"

static bool has_name(const struct identity_names *names, struct str name)
{
    for (size_t k = 0; k < names->n; k++)
        if (str_eq(names->items[k], name))
            return true;
    return false;
}

/* The first of these headers that says something. */
static struct str first_header(const struct http_request *http, const struct identity_names *names)
{
    for (size_t k = 0; k < names->n; k++) {
        struct str value = http_header_get(http, names->items[k]);
        if (value.n)
            return value;
    }
    return STR("");
}

/* In the order of the names, as upstream; what says nothing is no group. */
static void take_groups(const struct identity_proxy *p, struct arena *a,
                        const struct http_request *http, struct user *user)
{
    struct str *groups = arena_array(a, struct str, p->group_headers.n * http->n_headers);
    for (size_t i = 0; i < p->group_headers.n; i++)
        for (size_t k = 0; k < http->n_headers; k++)
            if (str_eq(p->group_headers.items[i], http->headers[k].name) &&
                http->headers[k].value.n)
                groups[user->n_groups++] = http->headers[k].value;
    user->groups = groups;
}

static struct str decoded_key(struct arena *a, struct str key)
{
    struct str decoded;
    return percent_decode(a, key, false, &decoded) ? decoded : key;
}

static void add_extra(struct arena *a, struct user_extra *all, size_t room, struct str key,
                      struct str value, struct user *user)
{
    size_t at = 0;
    while (at < user->n_extra && !str_eq(all[at].key, key))
        at++;
    if (at == user->n_extra) {
        all[at].key = key;
        all[at].values = arena_array(a, struct str, room);
        user->n_extra++;
    }
    ((struct str *)all[at].values)[all[at].n_values++] = value;
}

/* As upstream, a key may be empty. */
static void take_extra(const struct identity_proxy *p, struct arena *a,
                       const struct http_request *http, struct user *user)
{
    size_t room = p->extra_prefixes.n * http->n_headers;
    struct user_extra *all = arena_array(a, struct user_extra, room);
    for (size_t i = 0; i < p->extra_prefixes.n; i++) {
        struct str prefix = p->extra_prefixes.items[i];
        for (size_t k = 0; k < http->n_headers; k++) {
            const struct http_header *h = &http->headers[k];
            if (str_starts(h->name, prefix))
                add_extra(a, all, room, decoded_key(a, str_skip(h->name, prefix.n)), h->value,
                          user);
        }
    }
    user->extra = all;
}

int identity_proxied(const struct identity_proxy *p, struct arena *a,
                     const struct http_request *http, const struct user **ret, struct err *err)
{
    const struct tls_peer *cert = &http->peer->cert;
    struct str name = first_header(http, &p->user_headers);
    if (p->allowed.n && !has_name(&p->allowed, cert->common_name))
        return err_set(err, ERR_UNAUTHORIZED, "the front proxy \"" STR_FMT "\" is not allowed",
                       STR_ARG(cert->common_name));
    if (!name.n)
        return 0;
    struct user *user = arena_new(a, struct user);
    user->name = name;
    user->uid = first_header(http, &p->uid_headers);
    take_groups(p, a, http, user);
    take_extra(p, a, http, user);
    user_add_authenticated(a, user);
    *ret = user;
    return 1;
}
