/* filter_authenticate.c - who asks.
 *
 * A client certificate of our authority gives a name; without one it is system:anonymous. */
#include "base/idiom.h"
#include "server/filter/filter.h"
#include "base/banned.h"

static const struct str anonymous_groups[] = { USER_UNAUTHENTICATED };
static const struct user anonymous = {
    .name = USER_ANONYMOUS,
    .groups = anonymous_groups,
    .n_groups = ARRAY_LEN(anonymous_groups),
};

static const struct user *owner_of(struct arena *a, const struct tls_peer *cert)
{
    struct user *user = arena_new(a, struct user);
    struct str *groups = arena_array(a, struct str, cert->n_organizations + 1);
    for (size_t i = 0; i < cert->n_organizations; i++)
        groups[i] = cert->organizations[i];
    groups[cert->n_organizations] = USER_AUTHENTICATED;
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
    /* As upstream, an anonymous HTTP/2 connection gets one request. */
    if (r->user == &anonymous && r->http->version == HTTP_2)
        http_close_after(r->x);
    return true;
}
