#include "auth/node_refs.h"

#include "base/idiom.h"
#include "base/banned.h"

/* Where references go: empty names are none. */
struct walk {
    struct arena *arena;
    struct str ns;
    node_refs_take *take;
    void *to;
};

static void found(const struct walk *w, enum node_thing thing, struct str ns, struct str name)
{
    if (name.n)
        w->take(w->to, thing, ns, name);
}

static void found_here(const struct walk *w, enum node_thing thing, const struct value *name)
{
    found(w, thing, w->ns, value_str(name));
}

bool node_refs_is_mirror(const struct value *pod)
{
    return value_get(value_dig(pod, "metadata", "annotations"), NODE_MIRROR_ANNOTATION);
}

/* ---- Containers ---- */

static void walk_container(const struct walk *w, const struct value *container)
{
    value_each_item (it, value_get(container, STR("envFrom"))) {
        found_here(w, NODE_THING_SECRET, value_dig(it, "secretRef", "name"));
        found_here(w, NODE_THING_CONFIG_MAP, value_dig(it, "configMapRef", "name"));
    }
    value_each_item (it, value_get(container, STR("env"))) {
        const struct value *from = value_get(it, STR("valueFrom"));
        found_here(w, NODE_THING_SECRET, value_dig(from, "secretKeyRef", "name"));
        found_here(w, NODE_THING_CONFIG_MAP, value_dig(from, "configMapKeyRef", "name"));
    }
}

static void walk_containers(const struct walk *w, const struct value *spec)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers"),
                                        STR("ephemeralContainers") };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_item (it, value_get(spec, lists[i]))
            walk_container(w, it);
}

/* ---- Volumes of a pod ---- */

/* Sources with one secret, and where they name it. */
static const struct {
    const char *source, *field, *name;
} pod_secrets[] = {
    { "secret", "secretName", NULL },      { "azureFile", "secretName", NULL },
    { "cephfs", "secretRef", "name" },     { "cinder", "secretRef", "name" },
    { "flexVolume", "secretRef", "name" }, { "rbd", "secretRef", "name" },
    { "scaleIO", "secretRef", "name" },    { "iscsi", "secretRef", "name" },
    { "storageos", "secretRef", "name" },  { "csi", "nodePublishSecretRef", "name" },
};

static void walk_volume_secrets(const struct walk *w, const struct value *volume)
{
    for (size_t i = 0; i < ARRAY_LEN(pod_secrets); i++) {
        const struct value *v = value_get(volume, str_of(pod_secrets[i].source));
        v = value_get(v, str_of(pod_secrets[i].field));
        if (pod_secrets[i].name)
            v = value_get(v, str_of(pod_secrets[i].name));
        found_here(w, NODE_THING_SECRET, v);
    }
}

static void walk_volume(const struct walk *w, const struct value *pod, const struct value *volume)
{
    walk_volume_secrets(w, volume);
    found_here(w, NODE_THING_CONFIG_MAP, value_dig(volume, "configMap", "name"));
    value_each_item (it, value_dig(volume, "projected", "sources")) {
        found_here(w, NODE_THING_SECRET, value_dig(it, "secret", "name"));
        found_here(w, NODE_THING_CONFIG_MAP, value_dig(it, "configMap", "name"));
    }
    const struct value *claim = value_get(volume, STR("persistentVolumeClaim"));
    if (claim) {
        found_here(w, NODE_THING_CLAIM, value_get(claim, STR("claimName")));
    } else if (value_get(volume, STR("ephemeral"))) {
        struct str pod_name = value_str(value_dig(pod, "metadata", "name"));
        found(w, NODE_THING_CLAIM, w->ns,
              arena_printf(w->arena, STR_FMT "-" STR_FMT, STR_ARG(pod_name),
                           STR_ARG(value_text(volume, "name"))));
    }
}

/* ---- Resource claims ---- */

/* The claim that was made for an entry of the pod, where there is a template for it. */
static const struct value *made_claim(const struct value *pod, struct str entry)
{
    value_each_item (it, value_dig(pod, "status", "resourceClaimStatuses"))
        if (str_eq(value_text(it, "name"), entry))
            return value_get(it, STR("resourceClaimName"));
    return NULL;
}

static void walk_resource_claims(const struct walk *w, const struct value *pod)
{
    value_each_item (it, value_dig(pod, "spec", "resourceClaims")) {
        const struct value *claim = value_get(it, STR("resourceClaimName"));
        if (!claim && value_get(it, STR("resourceClaimTemplateName")))
            claim = made_claim(pod, value_text(it, "name"));
        found_here(w, NODE_THING_RESOURCE_CLAIM, claim);
    }
    found_here(w, NODE_THING_RESOURCE_CLAIM,
               value_dig(pod, "status", "extendedResourceClaimStatus", "resourceClaimName"));
}

void node_refs_of_pod(struct arena *a, const struct value *pod, node_refs_take *take, void *to)
{
    const struct walk w = {
        .arena = a, .ns = value_str(value_dig(pod, "metadata", "namespace")), .take = take, .to = to
    };
    const struct value *spec = value_get(pod, STR("spec"));
    found_here(&w, NODE_THING_ACCOUNT, value_get(spec, STR("serviceAccountName")));
    value_each_item (it, value_get(spec, STR("imagePullSecrets")))
        found_here(&w, NODE_THING_SECRET, value_get(it, STR("name")));
    walk_containers(&w, spec);
    value_each_item (it, value_get(spec, STR("volumes")))
        walk_volume(&w, pod, it);
    walk_resource_claims(&w, pod);
}

/* ---- Volumes of the cluster ---- */

/* Secrets that a node sees, and whether they are in the claim's namespace unless it is said. */
static const struct {
    const char *source, *field;
    bool is_near;
} volume_secrets[] = {
    { "cephfs", "secretRef", true },        { "flexVolume", "secretRef", true },
    { "rbd", "secretRef", true },           { "scaleIO", "secretRef", true },
    { "iscsi", "secretRef", true },         { "cinder", "secretRef", false },
    { "storageos", "secretRef", false },    { "csi", "nodePublishSecretRef", false },
    { "csi", "nodeStageSecretRef", false }, { "csi", "nodeExpandSecretRef", false },
};

void node_refs_of_volume(const struct value *volume, node_refs_take *take, void *to)
{
    const struct value *spec = value_get(volume, STR("spec"));
    const struct walk w = { .ns = value_str(value_dig(spec, "claimRef", "namespace")),
                            .take = take,
                            .to = to };
    for (size_t i = 0; i < ARRAY_LEN(volume_secrets); i++) {
        const struct value *ref =
            value_dig(spec, volume_secrets[i].source, volume_secrets[i].field);
        struct str ns = value_text(ref, "namespace");
        found(&w, NODE_THING_SECRET, ns.n || !volume_secrets[i].is_near ? ns : w.ns,
              value_text(ref, "name"));
    }
    const struct value *azure = value_get(spec, STR("azureFile"));
    struct str ns = value_text(azure, "secretNamespace");
    found(&w, NODE_THING_SECRET, ns.n ? ns : w.ns, value_text(azure, "secretName"));
}
