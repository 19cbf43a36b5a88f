#include "client/calls/discover.h"

#include "base/idiom.h"
#include "base/json.h"
#include "client/calls/client.h"
#include "base/banned.h"

#define AGGREGATED(version) \
    "application/json;g=apidiscovery.k8s.io;v=" version ";as=APIGroupDiscoveryList,"
#define ACCEPT STR(AGGREGATED("v2") AGGREGATED("v2beta1") "application/json")

/* One question after another to one server. */
struct discovery_walk {
    struct spn_client *client;
    const struct spn_call *how;
    struct mapping *mapping;
};

static int fetch_document(struct discovery_walk *w, struct str path, struct str accept,
                          struct value *ret, struct spn_err *err)
{
    struct arena *a = mapping_arena(w->mapping);
    const struct client_request req = { .method = STR("GET"), .path = path, .accept = accept };
    struct err why = ERR_INIT(a);
    struct str text;
    int r = client_call(w->client, &req, w->how, a, &text, err);
    if (r < 0)
        return r;
    if (json_read(a, text, NULL, ret, &why) < 0)
        return err_out(err, &why, SPN_MALFORMED);
    return 0;
}

/* ---- Version by version ---- */

static bool ends_the_walk(int r)
{
    return r == -SPN_CANCELLED || r == -SPN_TIMEOUT || r == -SPN_UNAUTHORIZED;
}

/* What one version has. One that cannot be asked just now is missing. */
static int walk_version(struct discovery_walk *w, struct str group, struct str version,
                        struct spn_err *err)
{
    struct arena *a = mapping_arena(w->mapping);
    struct str path =
        group.n ? arena_printf(a, "/apis/" STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version))
                : arena_printf(a, "/api/" STR_FMT, STR_ARG(version));
    struct value doc;
    int r = fetch_document(w, path, STR("application/json"), &doc, err);
    if (ends_the_walk(r))
        return r;
    if (r < 0)
        mapping_add_missing(w->mapping, group, version);
    else
        mapping_add_version(w->mapping, group, version, &doc);
    return 0;
}

static int walk_core(struct discovery_walk *w, const struct value *doc, struct spn_err *err)
{
    value_each_item (version, value_get(doc, STR("versions"))) {
        int r = walk_version(w, STR(""), value_str(version), err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The preferred version comes first. */
static int walk_group(struct discovery_walk *w, const struct value *group, struct spn_err *err)
{
    struct str name = value_text(group, "name");
    struct str preferred = value_str(value_dig(group, "preferredVersion", "version"));
    int r = preferred.n ? walk_version(w, name, preferred, err) : 0;
    if (r < 0)
        return r;
    value_each_item (v, value_get(group, STR("versions"))) {
        struct str version = value_text(v, "version");
        if (str_eq(version, preferred))
            continue;
        r = walk_version(w, name, version, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int walk_groups(struct discovery_walk *w, const struct value *doc, struct spn_err *err)
{
    value_each_item (group, value_get(doc, STR("groups"))) {
        int r = walk_group(w, group, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- All of it ---- */

static int walk_root(struct discovery_walk *w, struct str path, struct spn_err *err)
{
    struct value doc;
    int r = fetch_document(w, path, ACCEPT, &doc, err);
    if (r < 0)
        return r;
    struct str kind = value_text(&doc, "kind");
    if (str_eq(kind, STR("APIGroupDiscoveryList"))) {
        mapping_add_aggregated(w->mapping, &doc);
        return 0;
    }
    return str_eq(path, STR("/api")) ? walk_core(w, &doc, err) : walk_groups(w, &doc, err);
}

/* A server need not have both roots: an aggregated one has no core. */
static int walk_roots(struct discovery_walk *w, struct spn_err *err)
{
    int core = walk_root(w, STR("/api"), err);
    if (core < 0 && core != -SPN_NOT_FOUND)
        return core;
    int r = walk_root(w, STR("/apis"), err);
    return r == -SPN_NOT_FOUND && core == 0 ? 0 : r;
}

int discover(struct spn_client *c, const struct spn_call *how, struct mapping **ret,
             struct spn_err *err)
{
    struct discovery_walk walk = { .client = c, .how = how, .mapping = mapping_new() };
    int r = walk_roots(&walk, err);
    if (r < 0) {
        if (err)
            err->status = NULL; /* it lies in the mapping's arena */
        mapping_unref(walk.mapping);
        return spn_err_wrap(err, "ask for the server's resources");
    }
    *ret = walk.mapping;
    return 0;
}
