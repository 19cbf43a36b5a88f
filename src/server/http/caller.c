#include "server/http/caller.h"

#include "base/banned.h"

bool caller_find(struct call *c, struct strategy_user *ret)
{
    const struct tls_peer *cert = c->http && c->http->peer ? &c->http->peer->cert : NULL;
    if (!cert || !cert->verified)
        return false;
    struct str *groups = arena_array(c->arena, struct str, cert->n_organizations + 1);
    for (size_t i = 0; i < cert->n_organizations; i++)
        groups[i] = cert->organizations[i];
    groups[cert->n_organizations] = STR("system:authenticated");
    *ret = (struct strategy_user){
        .name = cert->common_name,
        .uid = cert->uid,
        .groups = groups,
        .n_groups = cert->n_organizations + 1,
    };
    return true;
}
