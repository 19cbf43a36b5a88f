/* NodeRestriction of pods: a node makes pods that mirror those it runs by itself, and reports,
 * deletes and evicts its own. */
#include "admission/node_restriction_internal.h"
#include "auth/node_refs.h"
#include "base/idiom.h"
#include "base/banned.h"

static int read_pod(const struct restricted *r, struct value *ret)
{
    return restricted__read(
        r,
        &(struct restricted_lookup){
            .plural = STR("pods"), .kind = STR("pod"), .ns = r->req->ns, .name = r->req->name },
        ret, r->err);
}

static bool is_on_node(const struct restricted *r, const struct value *pod)
{
    return str_eq(value_str(value_dig(pod, "spec", "nodeName")), r->node);
}

/* ---- Mirror pods ---- */

static int check_owner_uid(const struct restricted *r, struct str uid)
{
    struct value node;
    int n = restricted__read(
        r,
        &(struct restricted_lookup){ .plural = STR("nodes"), .kind = STR("node"), .name = r->node },
        &node, r->err);
    if (n < 0)
        return n;
    struct str real = value_str(value_dig(&node, "metadata", "uid"));
    if (str_eq(uid, real))
        return 0;
    return restricted__forbid(r, "node " STR_FMT " UID mismatch: expected " STR_FMT " got " STR_FMT,
                              STR_ARG(r->node), STR_ARG(uid), STR_ARG(real));
}

static int check_owner(const struct restricted *r)
{
    const struct value *owners = value_dig(r->obj, "metadata", "ownerReferences");
    size_t n = value_is(owners, VALUE_ARRAY) ? owners->n : 0;
    const struct value *owner = value_at(owners, 0);
    const char *node = restricted__quoted(r, r->node);
    if (n > 1)
        return restricted__forbid(
            r, "node %s can only create pods with a single owner reference set to itself", node);
    if (n == 0 || !str_eq(value_text(owner, "apiVersion"), STR("v1")) ||
        !str_eq(value_text(owner, "kind"), STR("Node")) ||
        !str_eq(value_text(owner, "name"), r->node))
        return restricted__forbid(
            r, "node %s can only create pods with an owner reference set to itself", node);
    if (!value_is_true(value_get(owner, STR("controller"))))
        return restricted__forbid(
            r, "node %s can only create pods with a controller owner reference set to itself",
            node);
    if (value_is_true(value_get(owner, STR("blockOwnerDeletion"))))
        return restricted__forbid(
            r, "node %s must not set blockOwnerDeletion on an owner reference", node);
    return check_owner_uid(r, value_text(owner, "uid"));
}

/* What a pod refers to, by the order of what is named first. */
struct references {
    bool secrets, maps;
};

static void note_reference(void *to, enum node_thing thing, struct str ns, struct str name)
{
    struct references *refs = to;
    (void)ns, (void)name;
    refs->secrets |= thing == NODE_THING_SECRET;
    refs->maps |= thing == NODE_THING_CONFIG_MAP;
}

/* What a volume of this kind takes from the API. */
static const struct {
    struct str source;
    const char *what;
} volume_kinds[] = {
    { STR("configMap"), "configmaps (via configmap volumes)" },
    { STR("secret"), "secrets (via secret volumes)" },
    { STR("csi"), "csidrivers (via CSI volumes)" },
    { STR("glusterfs"), "endpoints (via glusterFS volumes)" },
    { STR("persistentVolumeClaim"), "persistentvolumeclaims" },
    { STR("ephemeral"), "persistentvolumeclaims (via ephemeral volumes)" },
    { STR("azureFile"), "secrets (via azureFile volumes)" },
};
static const struct {
    struct str source;
    const char *what;
} projection_kinds[] = {
    { STR("configMap"), "configmaps (via projected volumes)" },
    { STR("secret"), "secrets (via projected volumes)" },
    { STR("serviceAccountToken"), "serviceaccounts (via projected volumes)" },
    { STR("clusterTrustBundle"), "clustertrustbundles" },
    { STR("podCertificate"), "podcertificates" },
};

static const char *volume_reference(const struct value *volume)
{
    for (size_t i = 0; i < ARRAY_LEN(volume_kinds); i++)
        if (value_get(volume, volume_kinds[i].source))
            return volume_kinds[i].what;
    value_each_item (it, value_dig(volume, "projected", "sources"))
        for (size_t i = 0; i < ARRAY_LEN(projection_kinds); i++)
            if (value_get(it, projection_kinds[i].source))
                return projection_kinds[i].what;
    return NULL;
}

/* The first kind of object that the pod needs of the API; NULL: none. */
static const char *pod_reference(struct arena *a, const struct value *pod)
{
    const struct value *spec = value_get(pod, STR("spec")),
                       *claims = value_get(spec, STR("resourceClaims"));
    struct references refs = { 0 };
    if (value_text(spec, "serviceAccountName").n)
        return "serviceaccounts";
    node_refs_of_pod(a, pod, note_reference, &refs);
    if (refs.secrets || refs.maps)
        return refs.secrets ? "secrets" : "configmaps";
    if (value_is(claims, VALUE_ARRAY) && claims->n)
        return "resourceclaims";
    value_each_item (it, value_get(spec, STR("volumes"))) {
        const char *what = volume_reference(it);
        if (what)
            return what;
    }
    return NULL;
}

static int check_create(const struct restricted *r)
{
    const char *node = restricted__quoted(r, r->node);
    if (!node_refs_is_mirror(r->obj))
        return restricted__forbid(
            r, "pod does not have %s annotation, node %s can only create mirror pods",
            restricted__quoted(r, NODE_MIRROR_ANNOTATION), node);
    if (!is_on_node(r, r->obj))
        return restricted__forbid(
            r, "node %s can only create pods with spec.nodeName set to itself", node);
    int n = check_owner(r);
    if (n < 0)
        return n;
    const char *what = pod_reference(r->req->arena, r->obj);
    return what ? restricted__forbid(r, "node %s can not create pods that reference %s", node, what)
                : 0;
}

/* ---- Pods that are there ---- */

static int check_itself(const struct restricted *r)
{
    const char *node = restricted__quoted(r, r->node);
    if (r->req->operation == ADMISSION_CREATE)
        return check_create(r);
    if (r->req->operation != ADMISSION_DELETE)
        return restricted__forbid(
            r, "unexpected operation \"%s\", node %s can only create and delete mirror pods",
            restricted__operation(r), node);
    if (!is_on_node(r, r->req->old_obj))
        return restricted__forbid(
            r, "node %s can only delete pods with spec.nodeName set to itself", node);
    return 0;
}

static int check_status(const struct restricted *r)
{
    static const struct {
        const char *field, *what;
    } kept[] = {
        { "resourceClaimStatuses", "resource claim statues" },
        { "extendedResourceClaimStatus", "extended resource claim status" },
        { "nodeAllocatableResourceClaimStatuses", "node allocatable resource claim statuses" },
    };
    const struct value *old_obj = r->req->old_obj;
    const char *node = restricted__quoted(r, r->node);
    if (r->req->operation != ADMISSION_UPDATE)
        return restricted__forbid(r, "unexpected operation \"%s\"", restricted__operation(r));
    if (!is_on_node(r, old_obj))
        return restricted__forbid(
            r, "node %s can only update pod status for pods with spec.nodeName set to itself",
            node);
    if (!restricted__same(value_dig(r->obj, "metadata", "labels"),
                          value_dig(old_obj, "metadata", "labels")))
        return restricted__forbid(r, "node %s cannot update labels through pod status", node);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (!restricted__same(value_dig(r->obj, "status", kept[i].field),
                              value_dig(old_obj, "status", kept[i].field)))
            return restricted__forbid(r, "node %s cannot update %s", node, kept[i].what);
    return 0;
}

static int check_eviction(const struct restricted *r)
{
    struct value pod;
    int n = read_pod(r, &pod);
    if (n < 0 || is_on_node(r, &pod))
        return n;
    return restricted__forbid(
        r, "node " STR_FMT " can only evict pods with spec.nodeName set to itself",
        STR_ARG(r->node));
}

int restricted__pod(const struct restricted *r)
{
    if (!r->req->sub.n)
        return check_itself(r);
    if (str_eq(r->req->sub, STR("status")))
        return check_status(r);
    if (str_eq(r->req->sub, STR("eviction")))
        return check_eviction(r);
    return restricted__forbid(
        r, "unexpected pod subresource %s, only 'status' and 'eviction' are allowed",
        restricted__quoted(r, r->req->sub));
}
