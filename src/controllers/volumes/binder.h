/* binder.h - the parts of persistentvolume-binder-controller. Private to this folder. */
#pragma once

#include "controllers/volumes/plan.h"
#include <sampan/controller.h>

struct binder {
    struct spn_cache *claims, *volumes, *classes, *nodes, *pods;
    struct spn_controller *claim_controller;
    bool makes_host_paths;
    int64_t sync_ms; /* what waits is looked at again so often */
};

/* ---- binder.c ---- */

/* NULL: the cache has none. */
struct spn_value *binder_cached(struct spn_cache *cache, struct spn_arena *a, struct spn_text key);
/* Each writes `*obj` if its edit has changed it, and leaves the server's answer there. */
int binder_write_claim(struct spn_work *w, struct spn_value **claim, const char *sub,
                       struct spn_err *err);
int binder_write_volume(struct spn_work *w, struct spn_value **volume, const char *sub,
                        struct spn_err *err);
/* The volume gets the phase. The event comes only if it had another. */
int binder_set_volume_phase(struct spn_work *w, struct spn_value **volume, const char *phase,
                            const struct volume_say *say, struct spn_err *err);
/* The volume is nobody's any more, and can be had. */
int binder_unbind(struct spn_work *w, struct spn_value *volume, struct spn_err *err);

/* ---- provision.c: both return as reconciles do ---- */

int binder_provision(struct binder *b, struct spn_work *w, struct spn_value *claim,
                     const struct spn_value *class, struct spn_err *err);

/* ---- reclaim.c ---- */

/* The claim is gone: does what the volume says of that. */
int binder_reclaim(struct binder *b, struct spn_work *w, struct spn_value *volume,
                   struct spn_err *err);
