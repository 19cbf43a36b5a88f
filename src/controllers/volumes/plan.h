/* plan.h - what is to be done for a claim or a volume, by what the other side says. Rules only: no
 * I/O.
 *
 * A claim and a volume name each other when they are bound. The volume is written first: it says
 * whose it is (spec.claimRef), so that two claims never get the same one. A claim that once was
 * bound (the annotation bind-completed) is never bound to another volume. */
#pragma once

#include <sampan/events.h>

#define NOTE_BIND_COMPLETED "pv.kubernetes.io/bind-completed"
#define NOTE_BY_CONTROLLER  "pv.kubernetes.io/bound-by-controller"
#define NOTE_PROVISIONED_BY "pv.kubernetes.io/provisioned-by"
#define NOTE_MIGRATED_TO    "pv.kubernetes.io/migrated-to"
#define NOTE_SELECTED_NODE  "volume.kubernetes.io/selected-node"
#define FINALIZER_IN_TREE   "kubernetes.io/pv-controller"

/* An event; without a reason: none. */
struct volume_say {
    enum spn_severity severity;
    const char *reason;
    struct spn_text message;
};

/* ---- Claims ---- */

enum claim_step {
    CLAIM_BIND,      /* to `volume` */
    CLAIM_PROVISION, /* somebody is to make a volume */
    CLAIM_SET_CLASS, /* it gets the default class, `class` */
    CLAIM_PENDING,   /* it waits; the event comes each time */
    CLAIM_LOST,      /* for good; the event comes once */
    CLAIM_REFUSED,   /* it makes no sense; the event comes, and it is tried again */
};

struct claim_plan {
    enum claim_step step;
    struct spn_value *volume;
    const struct spn_value *class;
    struct volume_say say;
};

/* What is known. Volumes are those that are free in its class, and those that are for it. */
struct claim_facts {
    const struct spn_value *claim;
    struct spn_value *const *volumes;
    size_t n_volumes;
    struct spn_value *named;             /* the volume of spec.volumeName; NULL: it is not there */
    const struct spn_value *class;       /* the one that it asks for; NULL: it is not there */
    const struct spn_value *usual_class; /* that of claims which do not say; NULL: there is none */
    const struct spn_text *pods;         /* names of those that use it and have no node yet */
    size_t n_pods;
};

bool claim_was_bound(const struct spn_value *claim);
/* SPN_INVALID: its selector is none. */
int claim_decide(struct spn_arena *a, const struct claim_facts *f, struct claim_plan *ret,
                 struct spn_err *err);
/* Of all classes, the newest that is marked as the usual one; NULL: none is. */
const struct spn_value *class_usual(const struct spn_value *const *classes, size_t n);

/* ---- Volumes ---- */

enum volume_step {
    VOLUME_AVAILABLE,  /* nobody has it yet */
    VOLUME_BOUND,      /* all is well */
    VOLUME_WAITS,      /* the claim has yet to say that it has it */
    VOLUME_MISMATCHED, /* and it never will: they are of different modes */
    VOLUME_UNBIND,     /* the claim has another one */
    VOLUME_RELEASED,   /* the claim is gone, or does not need it */
};

/* `claim` is the one that the volume names, uid included; NULL: it is gone. */
enum volume_step volume_decide(const struct spn_value *volume, const struct spn_value *claim);

/* ---- Who makes and removes volumes ---- */

enum volume_maker {
    MAKER_ELSEWHERE, /* somebody outside does it; `name` is how he is called */
    MAKER_HOST_PATH,
    MAKER_NONE, /* nobody can; `why` */
};

struct volume_by {
    enum volume_maker who;
    struct spn_text name, why;
};

/* `class` is NULL: there is no such class. */
struct volume_by claim_provisioner(struct spn_arena *a, const struct spn_value *claim,
                                   const struct spn_value *class);
struct volume_by volume_deleter(struct spn_arena *a, const struct spn_value *volume);
/* The name of the driver that has replaced a provisioner of old; empty: none has. */
struct spn_text provisioner_driver(struct spn_text old_name);
/* A pod that empties the volume, to be made in the namespace "default"; NULL: none can. */
struct spn_value *volume_recycler(struct spn_arena *a, const struct spn_value *volume);
