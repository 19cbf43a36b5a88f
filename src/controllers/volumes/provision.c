/* Volumes that are made for a claim: by somebody outside, who is told by an annotation; or, for
 * development, as a directory of this machine. */
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/volumes/binder.h"
#include "controllers/volumes/edits.h"
#include "controllers/volumes/host_path.h"
#include "select/volume_match.h"
#include "base/banned.h"

#define HOST_PATH "kubernetes.io/host-path"

static const struct spn_target all_volumes = SPN_AT("", "v1", "persistentvolumes", "", "");

static void say_failed(struct spn_work *w, const struct spn_value *claim, struct spn_text why)
{
    spn_event(w->events, claim, SPN_WARNING, "ProvisioningFailed", SPN_FMT, SPN_ARG(why));
}

static int set_provisioner(struct spn_work *w, struct spn_value **claim, struct spn_text name,
                           struct spn_err *err)
{
    return claim_set_provisioner(w->arena, *claim, name) ? binder_write_claim(w, claim, "", err)
                                                         : 0;
}

static int ask_outside(struct spn_work *w, struct spn_value *claim, struct spn_text who,
                       struct spn_err *err)
{
    int r = set_provisioner(w, &claim, who, err);
    if (r == -SPN_CONFLICT || r == -SPN_NOT_FOUND)
        return r;
    if (r < 0) {
        say_failed(w, claim, spn_arena_printf(w->arena, "Error saving claim: %s", err->message));
        return r;
    }
    spn_event(w->events, claim, SPN_NORMAL, "ExternalProvisioning",
              "Waiting for a volume to be created either by the external provisioner '" SPN_FMT
              "' or manually by the system administrator. If volume creation is delayed, please "
              "verify that the provisioner is running and correctly registered.",
              SPN_ARG(who));
    return 0;
}

/* ---- Host paths ---- */

/* As Go prints a list: "[a b]". */
static struct spn_text print_list(struct spn_arena *a, const struct spn_value *list)
{
    struct spn_text all = SPN_TEXT("[");
    for (size_t i = 0; i < spn_value_count(list); i++)
        all = spn_arena_printf(a, SPN_FMT "%s" SPN_FMT, SPN_ARG(all), i ? " " : "",
                               SPN_ARG(spn_value_text(spn_value_at(list, i))));
    return spn_arena_printf(a, SPN_FMT "]", SPN_ARG(all));
}

/* Why none can be made, in upstream's words; empty: it can. */
static struct spn_text why_not(struct binder *b, struct spn_arena *a, const struct spn_value *claim,
                               const struct spn_value *class)
{
    struct spn_text node = meta_annotation(claim, NOTE_SELECTED_NODE);
    const struct spn_value *options = spn_value_get(class, "mountOptions");
    if (spn_value_dig(claim, "spec", "dataSource"))
        return SPN_TEXT("plugin \"" HOST_PATH "\" is not a CSI plugin. Only CSI plugin can "
                        "provision a claim with a datasource");
    if (spn_value_count(options))
        return spn_arena_printf(a,
                                "Mount options are not supported by the provisioner but "
                                "StorageClass \"" SPN_FMT "\" has mount options " SPN_FMT,
                                SPN_ARG(meta_name(class)), SPN_ARG(print_list(a, options)));
    if (!b->makes_host_paths)
        return SPN_TEXT("Failed to create provisioner: provisioning in volume plugin \"" HOST_PATH
                        "\" is disabled");
    if (node.p && !binder_cached(b->nodes, a, node))
        return spn_arena_printf(a, "Failed to get target node: node \"" SPN_FMT "\" not found",
                                SPN_ARG(node));
    return SPN_TEXT("");
}

/* The scheduler is to look for another node. */
static void reschedule(struct spn_work *w, struct spn_value *claim)
{
    struct spn_value *meta = spn_value_edit(w->arena, claim, "metadata");
    struct spn_value *notes = spn_value_edit(w->arena, meta, "annotations");
    if (!spn_value_get(notes, NOTE_SELECTED_NODE))
        return;
    spn_value_remove(w->arena, notes, NOTE_SELECTED_NODE);
    (void)binder_write_claim(w, &claim, "", NULL);
}

static int make_directory(struct spn_work *w, struct spn_value *claim,
                          const struct spn_value *class, struct spn_text *ret, struct spn_err *err)
{
    int r = 0;
    if (str_eq(volume_mode(value_in(claim)), STR("Block")))
        r = spn_err_set(err, SPN_INVALID, HOST_PATH " does not support block volume provisioning");
    else
        r = host_path_make(w->arena, meta_uid(claim), ret, err);
    if (r == 0)
        return 0;
    say_failed(w, claim,
               spn_arena_printf(w->arena,
                                "Failed to provision volume with StorageClass \"" SPN_FMT "\": %s",
                                SPN_ARG(meta_name(class)), err->message));
    reschedule(w, claim);
    return r;
}

static int create_volume(struct spn_work *w, const struct spn_value *claim,
                         const struct spn_value *volume, struct spn_text path, struct spn_err *err)
{
    struct spn_target at = all_volumes;
    at.name = meta_name(volume);
    int r = spn_client_create(w->client, &at, volume, &w->how, w->arena, NULL, err);
    if (r < 0 && r != -SPN_EXISTS) {
        say_failed(w, claim,
                   spn_arena_printf(w->arena,
                                    "Error creating provisioned PV object for claim " SPN_FMT
                                    ": %s. Deleting the volume.",
                                    SPN_ARG(w->key), err->message));
        (void)host_path_remove(path, NULL);
        return r;
    }
    spn_event(w->events, claim, SPN_NORMAL, "ProvisioningSucceeded",
              "Successfully provisioned volume " SPN_FMT " using " HOST_PATH, SPN_ARG(at.name));
    return 0;
}

static int make_host_path(struct binder *b, struct spn_work *w, struct spn_value *claim,
                          const struct spn_value *class, struct spn_err *err)
{
    struct spn_target at = all_volumes;
    struct spn_value *there;
    struct spn_text path;
    int r = set_provisioner(w, &claim, SPN_TEXT(HOST_PATH), err);
    if (r < 0)
        return r;
    at.name = spn_arena_printf(w->arena, "pvc-" SPN_FMT, SPN_ARG(meta_uid(claim)));
    r = spn_client_get(w->client, &at, &w->how, w->arena, &there, err);
    if (r != -SPN_NOT_FOUND)
        return r;
    struct spn_text why = why_not(b, w->arena, claim, class);
    if (why.n) {
        say_failed(w, claim, why);
        return 0;
    }
    r = make_directory(w, claim, class, &path, err);
    if (r < 0)
        return r;
    return create_volume(w, claim, volume_of_host_path(w->arena, claim, class, at.name, path), path,
                         err);
}

int binder_provision(struct binder *b, struct spn_work *w, struct spn_value *claim,
                     const struct spn_value *class, struct spn_err *err)
{
    struct volume_by by = claim_provisioner(w->arena, claim, class);
    switch (by.who) {
    case MAKER_ELSEWHERE:
        return ask_outside(w, claim, by.name, err);
    case MAKER_HOST_PATH:
        return make_host_path(b, w, claim, class, err);
    case MAKER_NONE:
        say_failed(w, claim, by.why);
        return 0;
    }
    return 0;
}
