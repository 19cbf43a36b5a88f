#include "server/registry/legacy_token.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "base/banned.h"

struct labelling {
    struct work work;
    struct api *api;
    struct arena arena; /* of what follows */
    struct str ns, name, uid, day;
};

/* Somebody else may have made a Secret of that name meanwhile. */
static int set_day(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                   struct err *err)
{
    struct call *c = u->arg;
    const struct labelling *l = container_of(c->arena, struct labelling, arena);
    (void)err;
    *ret = value_borrow(&now->obj);
    struct value meta = value_borrow(value_get(ret, STR("metadata")));
    if (!str_eq(value_text(&meta, "uid"), l->uid))
        return 0;
    struct value labels = value_object();
    if (value_get(&meta, STR("labels")))
        labels = value_borrow(value_get(&meta, STR("labels")));
    if (str_eq(value_str(value_get(&labels, ACCOUNT_LAST_USED_LABEL)), l->day))
        return 0;
    value_put(c->arena, &labels, ACCOUNT_LAST_USED_LABEL, value_string(l->day));
    value_put(c->arena, &meta, STR("labels"), labels);
    value_put(c->arena, ret, STR("metadata"), meta);
    managers_update(c, managers_own_request(c, STR("")), &now->obj, ret);
    return 0;
}

static void run(struct work *w)
{
    struct labelling *l = container_of(w, struct labelling, work);
    struct call c = { .api = l->api, .arena = &l->arena };
    struct registry_update u = { .change = set_day, .arg = &c, .tries_again = true };
    struct err err = ERR_INIT(&l->arena);
    struct value result;
    c.req.resource = c.stored = kind_stored_named(STR(""), STR("secrets"));
    c.req.ns = l->ns;
    if (registry_update(&c, l->name, &u, &result, &err) < 0)
        log_warn("the last use of a token was not noted", LOG_STR("namespace", l->ns),
                 LOG_STR("secret", l->name), LOG_ERR(&err));
    arena_done(&l->arena);
    free(l);
}

void legacy_token_used(struct api *api, const struct account_use *use)
{
    char text[ACCOUNT_DAY_BYTES];
    struct str day = account_use_day(use, clock_wall_ns(api->clock) / NS_PER_SEC, text);
    if (!day.n)
        return;
    struct labelling *l = mem_new(struct labelling);
    arena_init(&l->arena);
    l->work.run = run;
    l->api = api;
    l->ns = arena_str(&l->arena, use->secret_ns);
    l->name = arena_str(&l->arena, use->secret);
    l->uid = arena_str(&l->arena, use->secret_uid);
    l->day = arena_str(&l->arena, day);
    if (workers_submit(api->workers, &l->work))
        return;
    arena_done(&l->arena);
    free(l);
}
