#include "server/bootstrap_authentication.h"

#include "base/buf.h"
#include "base/json.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "base/banned.h"

/* An update that sets the data. */
struct new_data {
    struct arena *arena;
    const struct value *data;
};

static int set_data(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                    struct err *err)
{
    const struct new_data *n = u->arg;
    (void)err;
    *ret = value_borrow(&now->obj);
    value_put(n->arena, ret, STR("data"), value_borrow(n->data));
    return 0;
}

static int create(struct call *c, const char *name, const struct value *data, struct err *err)
{
    struct value obj = value_object(), meta = value_object();
    value_put(c->arena, &meta, STR("name"), value_string(str_of(name)));
    value_put(c->arena, &meta, STR("namespace"), value_string(c->req.ns));
    value_put(c->arena, &obj, STR("metadata"), meta);
    value_put(c->arena, &obj, STR("data"), value_borrow(data));
    managers_update(c, managers_own_request(c, STR("")), NULL, &obj);
    return registry_create(c, false, &obj, err);
}

/* `keeps`: one that is there stays as it is. */
static int ensure(struct api *api, struct arena *a, const char *name, const struct value *data,
                  bool keeps, struct err *err)
{
    struct call c = { .api = api, .arena = a };
    struct registry_entry there;
    struct value result;
    c.req.resource = c.stored = kind_stored_named(STR(""), STR("configmaps"));
    c.req.ns = STR("kube-system");
    int r = registry_find(&c, str_of(name), &there, err);
    if (r < 0)
        return r;
    if (r == 0)
        return create(&c, name, data, err);
    if (keeps || value_eq(value_get(&there.obj, STR("data")), data))
        return 0;
    struct new_data n = { a, data };
    struct registry_update u = { .change = set_data, .arg = &n, .tries_again = true };
    return registry_update(&c, str_of(name), &u, &result, err);
}

static void put_names(struct arena *a, struct value *data, const char *key,
                      const struct identity_names *names)
{
    struct value list = value_array();
    autobuf text = { 0 };
    for (size_t i = 0; i < names->n; i++)
        value_put_item(a, &list, value_string(names->items[i]));
    json_write(&text, &list);
    value_put(a, data, str_of(key), value_string(arena_str(a, buf_str(&text))));
}

static struct value authentication(struct arena *a, const struct identity_options *opt)
{
    struct value data = value_object();
    if (opt->client_ca.n)
        value_put(a, &data, STR("client-ca-file"), value_string(opt->client_ca));
    if (!opt->proxy.ca.n)
        return data;
    put_names(a, &data, "requestheader-allowed-names", &opt->proxy.allowed);
    value_put(a, &data, STR("requestheader-client-ca-file"), value_string(opt->proxy.ca));
    put_names(a, &data, "requestheader-extra-headers-prefix", &opt->proxy.extra_prefixes);
    put_names(a, &data, "requestheader-group-headers", &opt->proxy.group_headers);
    put_names(a, &data, "requestheader-uid-headers", &opt->proxy.uid_headers);
    put_names(a, &data, "requestheader-username-headers", &opt->proxy.user_headers);
    return data;
}

/* Since when the use of tokens in Secrets is noted: from the first start on. */
static struct value tracking(struct arena *a, const struct clock *clock)
{
    struct value data = value_object();
    char *text = arena_alloc(a, CLOCK_TEXT_BYTES, 1);
    struct str now = clock_format(clock_wall_ns(clock), false, text);
    value_put(a, &data, STR("since"), value_string(str_take(now, strlen("2026-01-01"))));
    return data;
}

static int ensure_both(struct api *api, struct arena *a, const struct identity_options *opt,
                       struct err *err)
{
    const struct value data = authentication(a, opt), since = tracking(a, api->clock);
    int r = ensure(api, a, "extension-apiserver-authentication", &data, false, err);
    if (r < 0)
        return r;
    return ensure(api, a, "kube-apiserver-legacy-service-account-token-tracking", &since, true,
                  err);
}

int bootstrap_authentication(struct api *api, const struct identity_options *opt, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = ensure_both(api, &a, opt, err);
    arena_done(&a);
    return r;
}
