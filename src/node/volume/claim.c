#include "node/volume/claim.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "node/volume/host_path.h"
#include "node/volume/ownership.h"
#include "select/node_match.h"
#include "base/banned.h"

/* ---- From the pod to the PersistentVolume ---- */

static bool is_owned_by(const struct value *claim, const struct value *pod)
{
    value_each_item (owner, value_dig(claim, "metadata", "ownerReferences"))
        if (value_is_true(value_get(owner, STR("controller"))))
            return str_eq(value_text(owner, "uid"), pod_uid(pod));
    return false;
}

static bool is_protected(const struct value *claim)
{
    value_each_item (it, value_dig(claim, "metadata", "finalizers"))
        if (str_eq(value_str(it), STR("kubernetes.io/pvc-protection")))
            return true;
    return false;
}

static int get_claim(struct arena *a, const struct payload_case *c, struct str name,
                     struct value *ret, struct err *err)
{
    int r = c->objects->get(c->objects->arg, "persistentvolumeclaims", pod_ns(c->pod), name, a, ret,
                            err);
    if (r < 0)
        return err_wrap(err, "failed to fetch PVC from API server");
    if (value_dig(ret, "metadata", "deletionTimestamp") && !is_protected(ret))
        return err_set(err, ERR_CONFLICT, "PVC is being deleted");
    if (!str_eq(value_str(value_dig(ret, "status", "phase")), STR("Bound")))
        return err_set(err, ERR_UNAVAILABLE, "PVC is not bound");
    if (!value_str(value_dig(ret, "spec", "volumeName")).n)
        return err_set(err, ERR_UNAVAILABLE, "PVC has empty pvc.Spec.VolumeName");
    return 0;
}

static int get_volume(struct arena *a, const struct payload_case *c, const struct value *claim,
                      struct value *ret, struct err *err)
{
    struct str name = value_str(value_dig(claim, "spec", "volumeName")),
               uid = value_str(value_dig(claim, "metadata", "uid"));
    int r = c->objects->get(c->objects->arg, "persistentvolumes", STR(""), name, a, ret, err);
    if (r < 0)
        return err_wrap(err, "failed to fetch PV " STR_FMT " from API server", STR_ARG(name));
    const struct value *ref = value_dig(ret, "spec", "claimRef");
    if (!value_is(ref, VALUE_OBJECT))
        return err_set(err, ERR_UNAVAILABLE,
                       "found PV object " STR_FMT
                       " but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the "
                       "claim",
                       STR_ARG(name));
    if (!str_eq(value_text(ref, "uid"), uid))
        return err_set(err, ERR_CONFLICT,
                       "found PV object " STR_FMT " but its pv.Spec.ClaimRef.UID " STR_FMT
                       " does not point to claim.UID " STR_FMT,
                       STR_ARG(name), STR_ARG(value_text(ref, "uid")), STR_ARG(uid));
    return 0;
}

static int find_volume(struct arena *a, const struct payload_case *c, const struct value *volume,
                       struct value *ret, struct err *err)
{
    const struct value *source = value_get(volume, STR("persistentVolumeClaim"));
    struct str name = source ? value_text(source, "claimName")
                             : arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(pod_name(c->pod)),
                                            STR_ARG(value_text(volume, "name")));
    struct value claim;
    int r = get_claim(a, c, name, &claim, err);
    if (r < 0)
        return err_wrap(err, "error processing PVC " STR_FMT "/" STR_FMT, STR_ARG(pod_ns(c->pod)),
                        STR_ARG(name));
    if (!source && !is_owned_by(&claim, c->pod))
        return err_set(err, ERR_CONFLICT,
                       "PVC " STR_FMT "/" STR_FMT " was not created for pod " STR_FMT "/" STR_FMT
                       " (pod is not owner)",
                       STR_ARG(pod_ns(c->pod)), STR_ARG(name), STR_ARG(pod_ns(c->pod)),
                       STR_ARG(pod_name(c->pod)));
    r = get_volume(a, c, &claim, ret, err);
    if (r < 0)
        return err_wrap(err, "error processing PVC " STR_FMT "/" STR_FMT, STR_ARG(pod_ns(c->pod)),
                        STR_ARG(name));
    return 0;
}

static int check_use(const struct value *volume, const struct value *pv, bool as_mount,
                     bool as_device, struct err *err)
{
    struct str mode = value_str(value_dig(pv, "spec", "volumeMode"));
    const bool is_block = str_eq(mode, STR("Block"));
    if (as_mount && is_block)
        return err_set(err, ERR_INVALID,
                       "volume " STR_FMT " has volumeMode Block, but is specified in volumeMounts",
                       STR_ARG(value_text(volume, "name")));
    if (as_device && !is_block)
        return err_set(err, ERR_INVALID,
                       "volume " STR_FMT
                       " has volumeMode Filesystem, but is specified in volumeDevices",
                       STR_ARG(value_text(volume, "name")));
    return 0;
}

/* ---- Making it ---- */

static int check_node(struct arena *a, const struct payload_case *c, const struct value *pv,
                      struct err *err)
{
    struct value node;
    struct err ignored = ERR_INIT(a);
    const struct value *required = value_dig(pv, "spec", "nodeAffinity", "required");
    if (!value_is(required, VALUE_OBJECT) ||
        c->objects->get(c->objects->arg, "nodes", STR(""), c->node->name, a, &node, &ignored) < 0)
        return 0;
    struct node_terms terms =
        node_terms_read(a, value_get(required, STR("nodeSelectorTerms")), false);
    struct label_set labels = label_set_read(a, value_dig(&node, "metadata", "labels"));
    if (node_terms_hold(terms, c->node->name, labels))
        return 0;
    return err_set(err, ERR_CONFLICT, "no matching NodeSelectorTerms");
}

static int bind_local(struct arena *a, const struct payload_case *c, struct str name,
                      struct str source, struct pod_volume *ret, struct err *err)
{
    int64_t group;
    struct str path = arena_printf(a, STR_FMT "/volumes/kubernetes.io~local-volume/" STR_FMT,
                                   STR_ARG(pod_folder(a, c->node, pod_uid(c->pod))), STR_ARG(name));
    const char *p = str_cstr(a, path);
    ret->path = path;
    if (mount_point_is(p))
        return 0;
    if (mount_point_folders(a, path, 0750) < 0)
        return err_set(err, ERR_IO, "mkdir " STR_FMT ": " STR_FMT, STR_ARG(path),
                       STR_ARG(go_errno(a, errno)));
    if (mount(str_cstr(a, source), p, NULL, MS_BIND, NULL) < 0 ||
        (ret->is_read_only && mount(NULL, p, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0))
        return err_set(err, ERR_IO, "mount failed: " STR_FMT " at " STR_FMT ": " STR_FMT,
                       STR_ARG(source), STR_ARG(path), STR_ARG(go_errno(a, errno)));
    struct str policy =
        value_str(value_dig(c->pod, "spec", "securityContext", "fsGroupChangePolicy"));
    if (!ret->is_read_only && pod_fs_group(c->pod, &group))
        (void)ownership_set(p, group, false, str_eq(policy, STR("OnRootMismatch")));
    return 0;
}

static int make_local(struct arena *a, const struct payload_case *c, struct str name,
                      const struct value *local, struct pod_volume *ret, struct err *err)
{
    struct str source = value_text(local, "path"), type;
    if (path_has_backstep(source))
        return err_set(err, ERR_INVALID, "invalid path: " STR_FMT " must not contain '..'",
                       STR_ARG(source));
    int r = host_path_type(a, source, &type, err);
    if (r < 0)
        return r;
    if (ret->is_block) {
        ret->path = source;
        return str_eq(type, STR("BlockDevice"))
                   ? 0
                   : err_set(err, ERR_INVALID, STR_FMT " is not a block device", STR_ARG(source));
    }
    if (!str_eq(type, STR("Directory")))
        return err_set(err, ERR_UNIMPLEMENTED,
                       "this node mounts directories only, and " STR_FMT
                       " is none: mount its file system and name the place",
                       STR_ARG(source));
    ret->selinux_relabel = !ret->is_read_only;
    return bind_local(a, c, name, source, ret, err);
}

static int make_volume(struct arena *a, const struct payload_case *c, struct str name,
                       const struct value *pv, struct pod_volume *ret, struct err *err)
{
    const struct value *spec = value_get(pv, STR("spec"));
    const struct value *host = value_get(spec, STR("hostPath")),
                       *local = value_get(spec, STR("local")), *csi = value_get(spec, STR("csi"));
    ret->is_block = str_eq(value_text(spec, "volumeMode"), STR("Block"));
    if (local)
        return make_local(a, c, name, local, ret, err);
    if (host) {
        ret->path = value_text(host, "path");
        return host_path_check(a, host, err);
    }
    if (csi)
        return err_set(err, ERR_UNIMPLEMENTED,
                       "kubernetes.io/csi: driver name " STR_FMT
                       " not found in the list of registered CSI drivers",
                       STR_ARG(value_text(csi, "driver")));
    return err_set(err, ERR_UNIMPLEMENTED, "no volume plugin matched");
}

/* Upstream names all that wait, of which this is one. */
static int unbound(struct str name, struct err *err)
{
    struct str why = err->msg;
    const enum err_code code = err->code;
    err_clear(err);
    return err_set(err, code,
                   "Unable to attach or mount volumes: unmounted volumes=[" STR_FMT
                   "], unattached volumes=[], failed to process volumes=[" STR_FMT "]: " STR_FMT,
                   STR_ARG(name), STR_ARG(name), STR_ARG(why));
}

int claim_make(struct arena *a, const struct payload_case *c, const struct value *volume,
               bool used_as_mount, bool used_as_device, struct pod_volume *ret, struct err *err)
{
    struct value pv;
    if (find_volume(a, c, volume, &pv, err) < 0 ||
        check_use(volume, &pv, used_as_mount, used_as_device, err) < 0)
        return unbound(value_text(volume, "name"), err);
    struct str name = value_str(value_dig(&pv, "metadata", "name"));
    if (check_node(a, c, &pv, err) < 0)
        return err_wrap(err, "MountVolume.NodeAffinity check failed for volume " STR_FMT " ",
                        STR_ARG(go_quote(a, name)));
    ret->is_read_only = value_is_true(value_dig(volume, "persistentVolumeClaim", "readOnly"));
    if (make_volume(a, c, name, &pv, ret, err) < 0)
        return err_wrap(err, "MountVolume.SetUp failed for volume " STR_FMT " ",
                        STR_ARG(go_quote(a, name)));
    return 0;
}
