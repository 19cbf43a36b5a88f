/* NodeRestriction of what nodes are given for their pods: tokens and certificates. */
#include "admission/node_restriction_internal.h"
#include "auth/node_refs.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- Audiences of tokens ---- */

/* Volumes that drivers have taken over. */
static const struct {
    struct str source, driver;
} migrated[] = {
    { STR("awsElasticBlockStore"), STR("ebs.csi.aws.com") },
    { STR("azureDisk"), STR("disk.csi.azure.com") },
    { STR("azureFile"), STR("file.csi.azure.com") },
    { STR("cinder"), STR("cinder.csi.openstack.org") },
    { STR("gcePersistentDisk"), STR("pd.csi.storage.gke.io") },
    { STR("portworxVolume"), STR("pxd.portworx.com") },
    { STR("vsphereVolume"), STR("csi.vsphere.vmware.com") },
};

/* The driver of a volume, of a pod or of the cluster; empty: none. */
static struct str driver_of(const struct value *source)
{
    struct str driver = value_str(value_dig(source, "csi", "driver"));
    for (size_t i = 0; !driver.n && i < ARRAY_LEN(migrated); i++)
        if (value_get(source, migrated[i].source))
            driver = migrated[i].driver;
    return driver;
}

static int claim_driver(const struct restricted *r, struct str claim, struct str *ret,
                        struct err *err)
{
    struct value obj, volume;
    int n = restricted__read(r,
                             &(struct restricted_lookup){ .plural = STR("persistentvolumeclaims"),
                                                          .kind = STR("persistentvolumeclaim"),
                                                          .ns = r->req->ns,
                                                          .name = claim },
                             &obj, err);
    if (n < 0)
        return n;
    n = restricted__read(
        r,
        &(struct restricted_lookup){ .plural = STR("persistentvolumes"),
                                     .kind = STR("persistentvolume"),
                                     .name = value_str(value_dig(&obj, "spec", "volumeName")) },
        &volume, err);
    if (n < 0)
        return n;
    *ret = driver_of(value_get(&volume, STR("spec")));
    return 0;
}

static int volume_driver(const struct restricted *r, const struct value *pod,
                         const struct value *volume, struct str *ret, struct err *err)
{
    const struct value *claim = value_get(volume, STR("persistentVolumeClaim"));
    if (value_dig(volume, "ephemeral", "volumeClaimTemplate"))
        return claim_driver(r,
                            arena_printf(r->req->arena, STR_FMT "-" STR_FMT,
                                         STR_ARG(value_str(value_dig(pod, "metadata", "name"))),
                                         STR_ARG(value_text(volume, "name"))),
                            ret, err);
    if (claim)
        return claim_driver(r, value_text(claim, "claimName"), ret, err);
    *ret = driver_of(volume);
    return 0;
}

/* 1 if a driver of the pod's volumes asks for such tokens, 0 if not, or an error. */
static int driver_wants(const struct restricted *r, const struct value *pod,
                        const struct value *volume, struct str audience, struct err *err)
{
    struct str driver = STR("");
    struct value obj;
    int n = volume_driver(r, pod, volume, &driver, err);
    if (n < 0 || !driver.n)
        return n;
    n = restricted__read(r,
                         &(struct restricted_lookup){ .group = STR("storage.k8s.io"),
                                                      .plural = STR("csidrivers"),
                                                      .kind = STR("csidriver"),
                                                      .name = driver },
                         &obj, err);
    if (n < 0)
        return n;
    value_each_item (it, value_dig(&obj, "spec", "tokenRequests"))
        if (str_eq(value_text(it, "audience"), audience))
            return 1;
    return 0;
}

static bool is_projected(const struct value *volume, struct str audience)
{
    value_each_item (it, value_dig(volume, "projected", "sources")) {
        const struct value *token = value_get(it, STR("serviceAccountToken"));
        if (token && str_eq(value_text(token, "audience"), audience))
            return true;
    }
    return false;
}

/* 1 if the pod has a use for such a token; else 0, and what could not be found out in `faults`. */
static int pod_wants(const struct restricted *r, const struct value *pod, struct str audience,
                     struct buf *faults)
{
    size_t n_faults = 0;
    value_each_item (it, value_dig(pod, "spec", "volumes")) {
        struct err err = ERR_INIT(r->req->arena);
        int n = is_projected(it, audience) ? 1 : driver_wants(r, pod, it, audience, &err);
        if (n > 0)
            return 1;
        if (n == 0)
            continue;
        buf_printf(faults, "%s" STR_FMT, n_faults++ ? ", " : "", STR_ARG(err.msg));
    }
    if (n_faults > 1) {
        struct str all = arena_str(r->req->arena, buf_str(faults));
        buf_reset(faults);
        buf_printf(faults, "[" STR_FMT "]", STR_ARG(all));
    }
    return 0;
}

static struct access question(const struct restricted *r, struct str verb, struct str resource,
                              struct str name)
{
    return (struct access){ .user = r->req->user,
                            .is_resource = true,
                            .verb = verb,
                            .group = r->req->resource->group,
                            .version = r->req->resource->version,
                            .resource = resource,
                            .ns = r->req->ns,
                            .name = name };
}

static int check_audience(const struct restricted *r, const struct value *pod)
{
    const struct value *audiences = value_dig(r->obj, "spec", "audiences");
    struct str audience = value_str(value_at(audiences, 0));
    autobuf faults = { 0 };
    if (value_is(audiences, VALUE_ARRAY) && audiences->n > 1)
        return restricted__forbid(r, "node may only request 0 or 1 audiences");
    if (pod_wants(r, pod, audience, &faults))
        return 0;
    if (faults.n)
        return restricted__forbid(r, "error validating audience %s: " STR_FMT,
                                  restricted__quoted(r, audience), STR_ARG(buf_str(&faults)));
    struct access q =
        question(r, STR("request-serviceaccounts-token-audience"), audience, r->req->name);
    if (admission_allows(r->req, &q))
        return 0;
    return restricted__forbid(r, STR_FMT " is not authorized to request tokens for audience %s",
                              STR_ARG(r->req->user->name), restricted__quoted(r, audience));
}

/* ---- Tokens ---- */

static int read_pod(const struct restricted *r, struct str name, struct value *ret)
{
    return restricted__read(
        r,
        &(struct restricted_lookup){
            .plural = STR("pods"), .kind = STR("pod"), .ns = r->req->ns, .name = name },
        ret, r->err);
}

int restricted__token(const struct restricted *r)
{
    const struct value *ref = value_dig(r->obj, "spec", "boundObjectRef");
    struct str name = value_text(ref, "name"), uid = value_text(ref, "uid");
    struct value pod;
    if (!str_eq(value_text(ref, "apiVersion"), STR("v1")) ||
        !str_eq(value_text(ref, "kind"), STR("Pod")) || !name.n)
        return restricted__forbid(r, "node requested token not bound to a pod");
    if (!uid.n)
        return restricted__forbid(r, "node requested token with a pod binding without a uid");
    int n = read_pod(r, name, &pod);
    if (n < 0)
        return n;
    if (!str_eq(uid, value_str(value_dig(&pod, "metadata", "uid"))))
        return restricted__forbid(r,
                                  "the UID in the bound object reference (" STR_FMT
                                  ") does not match the UID in record. The object might have been "
                                  "deleted and then recreated",
                                  STR_ARG(uid));
    if (!str_eq(value_str(value_dig(&pod, "spec", "nodeName")), r->node))
        return restricted__forbid(
            r, "node requested token bound to a pod scheduled on a different node");
    return check_audience(r, &pod);
}

/* ---- Certificates of pods ---- */

/* An answer that may be another one if it is asked again. */
static int unsettled(const struct restricted *r, struct str why)
{
    return err_set(r->err, ERR_UNKNOWN, STR_FMT, STR_ARG(why));
}

/* The object that the request names as `what`, whose uid is `uid`. */
static int read_named(const struct restricted *r, const struct restricted_lookup *lookup,
                      const char *what, struct value *ret)
{
    struct err err = ERR_INIT(r->req->arena);
    int n = restricted__read(r, lookup, ret, &err);
    if (n == 0)
        return 0;
    struct str path = lookup->ns.n ? arena_printf(r->req->arena, STR_FMT "/" STR_FMT,
                                                  STR_ARG(lookup->ns), STR_ARG(lookup->name))
                                   : lookup->name;
    return unsettled(
        r, arena_printf(r->req->arena,
                        "while retrieving %s %s named in the PodCertificateRequest: " STR_FMT, what,
                        restricted__quoted(r, path), STR_ARG(err.msg)));
}

/* A PodCertificateRequest on its way. */
struct wanted {
    const struct restricted *r;
    const struct value *spec;
    const char *pod_path; /* quoted */
    struct value pod;
};

static struct str uid_of(const struct value *obj)
{
    return value_str(value_dig(obj, "metadata", "uid"));
}

static int check_wanted_node(const struct wanted *w)
{
    const struct restricted *r = w->r;
    struct str name = value_text(w->spec, "nodeName"), uid = value_text(w->spec, "nodeUID");
    struct value node;
    if (!str_eq(name, r->node))
        return restricted__forbid(
            r, "PodCertificateRequest.Spec.NodeName=%s, which is not the requesting node %s",
            restricted__quoted(r, name), restricted__quoted(r, r->node));
    int n = read_named(
        r, &(struct restricted_lookup){ .plural = STR("nodes"), .kind = STR("node"), .name = name },
        "node", &node);
    if (n < 0 || str_eq(uid, uid_of(&node)))
        return n;
    return unsettled(r, arena_printf(r->req->arena,
                                     "PodCertificateRequest for pod %s names node UID %s, "
                                     "inconsistent with the running node (%s)",
                                     w->pod_path, restricted__quoted(r, uid),
                                     restricted__quoted(r, uid_of(&node))));
}

static int check_wanted_pod(struct wanted *w)
{
    const struct restricted *r = w->r;
    struct str uid = value_text(w->spec, "podUID");
    int n = read_named(r,
                       &(struct restricted_lookup){ .plural = STR("pods"),
                                                    .kind = STR("pod"),
                                                    .ns = r->req->ns,
                                                    .name = value_text(w->spec, "podName") },
                       "pod", &w->pod);
    if (n < 0)
        return n;
    if (!str_eq(uid, uid_of(&w->pod)))
        return unsettled(r, arena_printf(r->req->arena,
                                         "PodCertificateRequest for pod %s contains pod UID (%s) "
                                         "which differs from running pod %s",
                                         w->pod_path, restricted__quoted(r, uid),
                                         restricted__quoted(r, uid_of(&w->pod))));
    if (!str_eq(value_str(value_dig(&w->pod, "spec", "nodeName")), r->node))
        return restricted__forbid(
            r, "pod %s is not running on node %s named in the PodCertificateRequest", w->pod_path,
            restricted__quoted(r, r->node));
    if (node_refs_is_mirror(&w->pod))
        return restricted__forbid(r, "pod %s is a mirror pod", w->pod_path);
    return 0;
}

static int check_wanted_account(const struct wanted *w)
{
    const struct restricted *r = w->r;
    struct str name = value_text(w->spec, "serviceAccountName"),
               uid = value_text(w->spec, "serviceAccountUID"),
               real = value_str(value_dig(&w->pod, "spec", "serviceAccountName"));
    struct value account;
    if (!str_eq(name, real))
        return restricted__forbid(r,
                                  "PodCertificateRequest for pod %s contains serviceAccountName "
                                  "(%s) that differs from running pod (%s)",
                                  w->pod_path, restricted__quoted(r, name),
                                  restricted__quoted(r, real));
    int n = read_named(r,
                       &(struct restricted_lookup){ .plural = STR("serviceaccounts"),
                                                    .kind = STR("serviceaccount"),
                                                    .ns = r->req->ns,
                                                    .name = name },
                       "service account", &account);
    if (n < 0 || str_eq(uid, uid_of(&account)))
        return n;
    return unsettled(r, arena_printf(r->req->arena,
                                     "PodCertificateRequest for pod %s names service account UID "
                                     "%s, which differs from the running service account (%s)",
                                     w->pod_path, restricted__quoted(r, uid),
                                     restricted__quoted(r, uid_of(&account))));
}

static bool mounts_signer(const struct value *pod, struct str signer)
{
    value_each_item (volume, value_dig(pod, "spec", "volumes"))
        value_each_item (it, value_dig(volume, "projected", "sources")) {
            const struct value *certificate = value_get(it, STR("podCertificate"));
            if (certificate && str_eq(value_text(certificate, "signerName"), signer))
                return true;
        }
    return false;
}

static int check_wanted_signer(const struct wanted *w)
{
    const struct restricted *r = w->r;
    struct str signer = value_text(w->spec, "signerName");
    if (mounts_signer(&w->pod, signer))
        return 0;
    char *resource = arena_dup(r->req->arena, signer.p, signer.n);
    for (size_t i = 0; i < signer.n; i++)
        if (resource[i] == '/')
            resource[i] = ':'; /* a resource has no slash */
    struct access q =
        question(r, STR("request-serviceaccounts-podcertificate-signer"),
                 (struct str){ resource, signer.n }, value_text(w->spec, "serviceAccountName"));
    if (admission_allows(r->req, &q))
        return 0;
    return restricted__forbid(
        r, "pod %s does not mount a podCertificate projected volume for signer %s", w->pod_path,
        restricted__quoted(r, signer));
}

int restricted__pod_certificate(const struct restricted *r)
{
    if (r->req->operation != ADMISSION_CREATE)
        return restricted__forbid(r, "unexpected operation %s", restricted__operation(r));
    if (r->req->sub.n)
        return restricted__forbid(r, "unexpected subresource " STR_FMT, STR_ARG(r->req->sub));
    struct wanted w = { .r = r, .spec = value_get(r->obj, STR("spec")) };
    w.pod_path =
        restricted__quoted(r, arena_printf(r->req->arena, STR_FMT "/" STR_FMT, STR_ARG(r->req->ns),
                                           STR_ARG(value_text(w.spec, "podName"))));
    int n = check_wanted_node(&w);
    if (n < 0)
        return n;
    n = check_wanted_pod(&w);
    if (n < 0)
        return n;
    n = check_wanted_account(&w);
    return n < 0 ? n : check_wanted_signer(&w);
}
