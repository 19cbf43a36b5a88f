#include "auth/node_rules.h"

#include "api/go/quote.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/banned.h"

#define LEASE_NAMESPACE STR("kube-node-lease")

bool node_rules_identify(const struct user *u, struct str *ret_node)
{
    if (!u || !str_starts(u->name, USER_NODE) || !user_is_in(u, USER_NODES))
        return false;
    *ret_node = str_skip(u->name, USER_NODE.n);
    return true;
}

/* A question of a node, on its way through the rules. */
struct asked {
    const struct node_graph *graph;
    struct arena *arena; /* NULL: nobody wants the reason */
    const struct access *q;
    struct str node;
    enum node_thing thing; /* of a resource that is divided */
    struct str reason;
};

#define VERB_IS(x, ...)                                           \
    words_have((x)->q->verb, (const struct str[]){ __VA_ARGS__ }, \
               sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

static bool no(struct asked *x, const char *why)
{
    x->reason = str_of(why);
    return false;
}

/* ---- By the graph ---- */

static bool check_related(struct asked *x)
{
    if (node_graph_leads(x->graph, x->thing, x->q->ns, x->q->name, x->node))
        return true;
    if (x->arena)
        x->reason = arena_printf(x->arena,
                                 "no relationship found between node '" STR_FMT "' and this object",
                                 STR_ARG(x->node));
    return false;
}

static bool check_named(struct asked *x)
{
    return x->q->name.n ? check_related(x) : no(x, "No Object name found");
}

static bool check_get(struct asked *x)
{
    if (!VERB_IS(x, STR("get")))
        return no(x, "can only get individual resources of this type");
    if (x->q->sub.n)
        return no(x, "cannot get subresource");
    return check_named(x);
}

static bool check_read(struct asked *x)
{
    if (!VERB_IS(x, STR("get"), STR("list"), STR("watch")))
        return no(x, "can only read resources of this type");
    if (x->q->sub.n)
        return no(x, "cannot read subresource");
    if (!x->q->ns.n)
        return no(x, "can only read namespaced object of this type");
    return check_named(x);
}

static bool check_claim(struct asked *x)
{
    if (!str_eq(x->q->sub, STR("status")))
        return check_get(x);
    if (!VERB_IS(x, STR("update"), STR("patch")))
        return no(x, "can only get/update/patch this type");
    return check_named(x);
}

static bool check_account(struct asked *x)
{
    if (VERB_IS(x, STR("get")) && !x->q->sub.n)
        return check_read(x);
    if (!VERB_IS(x, STR("create")) || !x->q->name.n)
        return no(x, "can only create tokens for individual service accounts");
    if (!str_eq(x->q->sub, STR("token")))
        return no(x, "can only create token subresource of serviceaccount");
    return check_related(x);
}

/* A list of what belongs to the node alone. */
static bool selects_own(const struct asked *x)
{
    const struct fields_selector *s = &x->q->fields;
    for (size_t i = 0; i < s->n; i++)
        if (!s->terms[i].negated && str_eq(s->terms[i].field, STR("spec.nodeName")) &&
            str_eq(s->terms[i].value, x->node))
            return true;
    return false;
}

static bool check_pod_itself(struct asked *x)
{
    if (VERB_IS(x, STR("get")))
        return check_get(x);
    if (VERB_IS(x, STR("create"), STR("delete")))
        return true; /* mirror pods of its own: NodeRestriction */
    if (!VERB_IS(x, STR("list"), STR("watch")))
        return false;
    if (selects_own(x))
        return true;
    return x->q->name.n ? check_related(x)
                        : no(x, "can only list/watch pods with spec.nodeName field selector");
}

static bool check_pod(struct asked *x)
{
    if (!x->q->sub.n)
        return check_pod_itself(x);
    if (str_eq(x->q->sub, STR("status")))
        return VERB_IS(x, STR("update"), STR("patch"));
    return str_eq(x->q->sub, STR("eviction")) && VERB_IS(x, STR("create"));
}

static bool check_slice(struct asked *x)
{
    if (x->q->sub.n)
        return no(x, "cannot authorize ResourceSlice subresources");
    if (VERB_IS(x, STR("create")))
        return true;
    if (VERB_IS(x, STR("get"), STR("update"), STR("patch"), STR("delete")))
        return check_named(x);
    if (!VERB_IS(x, STR("watch"), STR("list"), STR("deletecollection")))
        return no(x, "only the following verbs are allowed for a ResourceSlice: get, watch, list, "
                     "create, update, patch, delete, deletecollection");
    return selects_own(x) || no(x, "can only list/watch/deletecollection resourceslices with "
                                   "nodeName field selector");
}

static bool check_certificate_request(struct asked *x)
{
    if (x->q->sub.n)
        return no(x, "nodes may not access the status subresource of PodCertificateRequests");
    if (VERB_IS(x, STR("create")))
        return true;
    if (VERB_IS(x, STR("get")))
        return check_named(x);
    if (VERB_IS(x, STR("list"), STR("watch")))
        return selects_own(x) ||
               no(x, "can only list/watch podcertificaterequests with nodeName field selector");
    if (x->arena)
        x->reason = arena_printf(x->arena, "nodes may not " STR_FMT " podcertificaterequests",
                                 STR_ARG(x->q->verb));
    return false;
}

/* ---- By the name ---- */

/* The name of a new object is not known yet. */
static bool bears_name(const struct asked *x)
{
    return VERB_IS(x, STR("create")) || str_eq(x->q->name, x->node);
}

static bool check_lease(struct asked *x)
{
    if (!VERB_IS(x, STR("get"), STR("create"), STR("update"), STR("patch"), STR("delete")))
        return no(x, "can only get, create, update, patch, or delete a node lease");
    if (!str_eq(x->q->ns, LEASE_NAMESPACE))
        return no(x, "can only access leases in the \"kube-node-lease\" system namespace");
    return bears_name(x) ||
           no(x, "can only access node lease with the same name as the requesting node");
}

static bool check_storage_node(struct asked *x)
{
    if (str_eq(x->q->sub, STR("status")))
        return no(x, "CSINode status access requires CSIVolumeHealth feature");
    if (x->q->sub.n)
        return no(x, "cannot authorize CSINode subresources");
    if (!VERB_IS(x, STR("get"), STR("create"), STR("update"), STR("patch"), STR("delete")))
        return no(x, "can only get, create, update, patch, or delete a CSINode");
    return bears_name(x) ||
           no(x, "can only access CSINode with the same name as the requesting node");
}

static bool refuse_node_read(struct asked *x)
{
    if (!x->arena)
        return false;
    x->reason =
        x->q->name.n
            ? arena_printf(x->arena,
                           "node '" STR_FMT "' cannot read '" STR_FMT "', only its own Node object",
                           STR_ARG(x->node), STR_ARG(x->q->name))
            : arena_printf(x->arena,
                           "node '" STR_FMT "' cannot read all nodes, only its own Node object",
                           STR_ARG(x->node));
    return false;
}

/* By name, so that a node can look for its object before it makes it. */
static bool check_node(struct asked *x)
{
    if (str_eq(x->q->sub, STR("status")))
        return VERB_IS(x, STR("update"), STR("patch"));
    if (x->q->sub.n)
        return false;
    if (VERB_IS(x, STR("create"), STR("update"), STR("patch")))
        return true; /* of itself: NodeRestriction */
    if (!VERB_IS(x, STR("get"), STR("list"), STR("watch")))
        return false;
    return str_eq(x->q->name, x->node) || refuse_node_read(x);
}

/* ---- Resources that are divided ---- */

static const struct {
    struct str group, resource;
    enum node_thing thing;
    bool (*check)(struct asked *x);
} divided[] = {
    { STR(""), STR("secrets"), NODE_THING_SECRET, check_read },
    { STR(""), STR("configmaps"), NODE_THING_CONFIG_MAP, check_read },
    { STR(""), STR("persistentvolumeclaims"), NODE_THING_CLAIM, check_claim },
    { STR(""), STR("persistentvolumes"), NODE_THING_VOLUME, check_get },
    { STR("resource.k8s.io"), STR("resourceclaims"), NODE_THING_RESOURCE_CLAIM, check_get },
    { STR("storage.k8s.io"), STR("volumeattachments"), NODE_THING_ATTACHMENT, check_get },
    { STR(""), STR("serviceaccounts"), NODE_THING_ACCOUNT, check_account },
    { STR("coordination.k8s.io"), STR("leases"), NODE_THING_NODE, check_lease },
    { STR("storage.k8s.io"), STR("csinodes"), NODE_THING_NODE, check_storage_node },
    { STR("resource.k8s.io"), STR("resourceslices"), NODE_THING_SLICE, check_slice },
    { STR(""), STR("nodes"), NODE_THING_NODE, check_node },
    { STR(""), STR("pods"), NODE_THING_POD, check_pod },
    { STR("certificates.k8s.io"), STR("podcertificaterequests"), NODE_THING_CERTIFICATE_REQUEST,
      check_certificate_request },
};

/* ---- All others ---- */

enum { VERBS_MAX = 4 };

static const struct {
    struct str group, resource;
    struct str verbs[VERBS_MAX];
} every_node[] = {
    { STR("authentication.k8s.io"), STR("tokenreviews"), { STR("create") } },
    { STR("authorization.k8s.io"), STR("subjectaccessreviews"), { STR("create") } },
    { STR("authorization.k8s.io"), STR("localsubjectaccessreviews"), { STR("create") } },
    { STR(""), STR("services"), { STR("get"), STR("list"), STR("watch") } },
    { STR(""), STR("events"), { STR("create"), STR("update"), STR("patch") } },
    { STR("events.k8s.io"), STR("events"), { STR("create"), STR("update"), STR("patch") } },
    { STR(""), STR("endpoints"), { STR("get") } },
    { STR("certificates.k8s.io"),
      STR("certificatesigningrequests"),
      { STR("create"), STR("get"), STR("list"), STR("watch") } },
    { STR("certificates.k8s.io"),
      STR("clustertrustbundles"),
      { STR("get"), STR("list"), STR("watch") } },
    { STR("storage.k8s.io"), STR("csidrivers"), { STR("get"), STR("list"), STR("watch") } },
    { STR("node.k8s.io"), STR("runtimeclasses"), { STR("get"), STR("list"), STR("watch") } },
};

static bool check_every_node(const struct access *q)
{
    for (size_t i = 0; i < ARRAY_LEN(every_node); i++)
        if (str_eq(q->resource, every_node[i].resource) && str_eq(q->group, every_node[i].group))
            return q->verb.n && words_have(q->verb, WORDS(every_node[i].verbs));
    return false;
}

static bool check(struct asked *x)
{
    const struct access *q = x->q;
    for (size_t i = 0; q->is_resource && i < ARRAY_LEN(divided); i++) {
        if (!str_eq(q->resource, divided[i].resource) || !str_eq(q->group, divided[i].group))
            continue;
        x->thing = divided[i].thing;
        return divided[i].check(x);
    }
    return q->is_resource && !q->sub.n && check_every_node(q);
}

static void refuse_unknown(struct asked *x)
{
    if (!x->arena)
        return;
    autobuf out = { 0 };
    buf_str_add(&out, STR("unknown node for user "));
    quote_go(&out, x->q->user->name);
    x->reason = arena_str(x->arena, buf_str(&out));
}

bool node_rules_allow(const struct node_graph *g, struct arena *a, const struct access *q,
                      struct str *ret_reason)
{
    struct asked x = { .graph = g, .arena = ret_reason ? a : NULL, .q = q };
    bool is_node = node_rules_identify(q->user, &x.node), yes = false;
    if (is_node && x.node.n)
        yes = check(&x);
    else if (is_node)
        refuse_unknown(&x);
    if (ret_reason)
        *ret_reason = x.reason;
    return yes;
}
