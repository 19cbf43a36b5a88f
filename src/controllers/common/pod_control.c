#include "controllers/common/pod_control.h"

#include "controllers/common/fields.h"
#include "controllers/common/refusal.h"
#include "base/banned.h"

static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");

int pod_control_create(const struct pod_control *c, const struct spn_value *pod,
                       struct spn_err *err)
{
    struct spn_work *w = c->work;
    struct spn_target at = pods;
    struct spn_value *made;
    at.ns = w->ns;
    if (!spn_value_count(spn_value_dig(pod, "metadata", "labels")))
        return spn_err_set(err, SPN_INVALID, "unable to create pods, no labels");
    int r = spn_client_create(w->client, &at, pod, &w->how, w->arena, &made, err);
    if (r == 0)
        spn_event(w->events, c->owner, SPN_NORMAL, "SuccessfulCreate", "Created pod: " SPN_FMT,
                  SPN_ARG(meta_name(made)));
    else if (!refusal_is_terminating(err))
        spn_event(w->events, c->owner, SPN_WARNING, "FailedCreate", "Error creating: %s",
                  err->message);
    return r;
}

int pod_control_delete(const struct pod_control *c, const struct spn_value *pod,
                       struct spn_err *err)
{
    struct spn_work *w = c->work;
    struct spn_target at = pods;
    const struct spn_delete what = { .uid = meta_uid(pod) };
    at.ns = w->ns;
    at.name = meta_name(pod);
    int r = spn_client_delete(w->client, &at, &what, &w->how, w->arena, NULL, err);
    if (r == -SPN_NOT_FOUND || r == -SPN_CONFLICT) /* that one is gone */
        return spn_err_set(err, SPN_NOT_FOUND, "the pod is gone");
    if (r < 0) {
        spn_event(w->events, c->owner, SPN_WARNING, "FailedDelete", "Error deleting: %s",
                  err->message);
        return spn_err_wrap(err, "unable to delete pods");
    }
    spn_event(w->events, c->owner, SPN_NORMAL, "SuccessfulDelete", "Deleted pod: " SPN_FMT,
              SPN_ARG(at.name));
    return 0;
}

size_t pod_control_slow_start(size_t n, pod_control_fn *fn, void *arg, int *ret,
                              struct spn_err *err)
{
    size_t n_good = 0, left = n;
    *ret = 0;
    for (size_t batch = 1; left && *ret == 0; batch *= 2) {
        size_t now = batch < left ? batch : left;
        for (size_t i = 0; i < now; i++) {
            struct spn_err why = { 0 };
            int r = fn(arg, &why);
            n_good += r == 0;
            if (r == 0 || *ret < 0)
                continue;
            *ret = r;
            if (err)
                *err = why;
        }
        left -= now;
    }
    return n_good;
}
