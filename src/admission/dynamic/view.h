/* view.h - a request as webhooks and expressions see it: objects in a version that is served, and
 * an AdmissionRequest that tells the rest. */
#pragma once

#include "admission/admission.h"

struct view {
    const struct kind_resource *resource; /* in the version that is shown */
    const struct kind_type *type;         /* of the objects: a Scale, for example */
    const struct value *obj, *old_obj;    /* complete, with kind and apiVersion; NULL: none */
};

/* Where it is, as upstream has it: a Namespace is in the one of its own name. */
struct str view_namespace(const struct admission_request *req);

/* `obj` is the request's object as it is now; it is converted, not changed. */
int view_make(struct admission_request *req, const struct value *obj,
              const struct kind_resource *as, struct view *ret, struct err *err);

/* The AdmissionRequest (admission.k8s.io/v1) without object, oldObject and options, which are large
 * and stand apart. `uid` may be empty. In the arena. */
struct value view_request(struct admission_request *req, const struct view *v, struct str uid);

/* What somebody has made of the view's object becomes `obj`: it is read as its type, with defaults,
 * and converted. Faults as upstream has them for an object that a webhook returns. */
int view_take(struct admission_request *req, const struct view *v, struct value *changed,
              struct value *obj, struct err *err);

/* "Internal error occurred: WHY"; `why` may be err's own message. */
int view_internal_error(struct str why, struct err *err);
