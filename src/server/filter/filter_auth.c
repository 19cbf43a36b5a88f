/* filter_auth.c - who asks, and whether that is allowed.
 *
 * A client certificate of our authority gives a name, and allows everything. Requests without one
 * may read health and version only. */
#include "base/err.h"
#include "base/idiom.h"
#include "server/filter/filter.h"
#include "server/http/reply.h"
#include "base/banned.h"

static const struct str anonymous_groups[] = { STR("system:unauthenticated") };
static const struct user anonymous = {
    .name = STR("system:anonymous"),
    .groups = anonymous_groups,
    .n_groups = ARRAY_LEN(anonymous_groups),
};

static const struct user *owner_of(struct arena *a, const struct tls_peer *cert)
{
    struct user *user = arena_new(a, struct user);
    struct str *groups = arena_array(a, struct str, cert->n_organizations + 1);
    for (size_t i = 0; i < cert->n_organizations; i++)
        groups[i] = cert->organizations[i];
    groups[cert->n_organizations] = STR("system:authenticated");
    *user = (struct user){
        .name = cert->common_name,
        .uid = cert->uid,
        .groups = groups,
        .n_groups = cert->n_organizations + 1,
    };
    return user;
}

bool filter_authenticate(struct filter_request *r)
{
    const struct tls_peer *cert = &r->http->peer->cert;
    r->user = cert->verified ? owner_of(http_arena(r->x), cert) : &anonymous;
    return true;
}

bool filter_wants_body(const struct http_request *http)
{
    return http->peer->cert.verified;
}

/* Upstream's system:public-info-viewer. */
static bool is_public(struct str path)
{
    static const struct {
        struct str path;
        bool below; /* with what stands below it */
    } paths[] = {
        { STR("/healthz"), true },
        { STR("/livez"), true },
        { STR("/readyz"), true },
        { STR("/version"), false },
    };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct str rest = str_skip(path, paths[i].path.n);
        if (str_starts(path, paths[i].path) &&
            (!rest.n || str_eq(rest, STR("/")) || (paths[i].below && rest.p[0] == '/')))
            return true;
    }
    return false;
}

bool filter_authorize(struct filter_request *r)
{
    if (r->user != &anonymous || is_public(r->http->path))
        return true;
    struct err err = ERR_INIT(http_arena(r->x));
    bool reads = str_eq(r->http->method, STR("GET")) || str_eq(r->http->method, STR("HEAD"));
    (void)err_set(&err, ERR_FORBIDDEN,
                  "forbidden: User \"" STR_FMT "\" cannot %s path \"" STR_FMT "\"",
                  STR_ARG(r->user->name), reads ? "get" : "write", STR_ARG(r->http->path));
    reply_error(r->x, &err);
    return false;
}
