/* claim.h - who controls what: adopts objects that fit and nobody controls, and gives back those
 * that do not fit any more.
 *
 * Both are patches with the object's uid, which the server refuses if it is another one by now.
 * Before the first adoption the owner is read afresh: one that is being deleted, or was made anew,
 * adopts nothing. */
#pragma once

#include "select/labels.h"
#include <sampan/controller.h>

struct claim {
    struct spn_work *work;
    const struct spn_value *owner; /* with apiVersion and kind */
    const struct labels_selector *selector;
    struct spn_target what;  /* group, version and plural of the objects */
    const char *object_kind; /* "Pod", for messages */
    const char *finalizer;   /* that adopted objects get and released ones lose; NULL: none */
    /* NULL, or says which objects that match the selector fit, too. */
    bool (*fits)(void *arg, const struct spn_value *obj);
    void *fits_arg;
    /* Private. */
    bool has_checked;
    int can_adopt; /* 0, or the error of the check */
    struct spn_err why_not;
};

/* Leaves only what the owner has, in the same order. What failed does not keep others from being
 * claimed; the first error is returned. */
int claim_objects(struct claim *c, struct spn_value **items, size_t *n, struct spn_err *err);

/* Those that the owner controls and that match, without any request. */
size_t claim_owned(const struct claim *c, struct spn_value *const *items, size_t n,
                   struct spn_value **ret);

/* spec.selector of the owner. SPN_INVALID: it is none. */
int claim_selector(struct spn_arena *a, const struct spn_value *selector,
                   struct labels_selector *ret, struct spn_err *err);
bool claim_matches(const struct labels_selector *s, const struct spn_value *obj);
