/* podcertificaterequest-cleaner-controller: requests of pods for certificates go after a quarter of
 * an hour, whatever came of them. They are listed now and then: many servers do not have them, so
 * nobody can follow them. */
#include "base/clock.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/common/when.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { PASS_MS = 300000, KEPT_SEC = 900, PAGE = 500 };

static const struct spn_target csrs =
    SPN_AT("certificates.k8s.io", "v1", "certificatesigningrequests", "", "");
static const struct spn_target requests =
    SPN_AT("certificates.k8s.io", "v1", "podcertificaterequests", "", "");

static int remove_if_old(struct spn_work *w, const struct spn_value *request, int64_t now_ns,
                         struct spn_err *err)
{
    struct spn_target at = requests;
    int64_t made_ns;
    if (!time_read(spn_value_dig(request, "metadata", "creationTimestamp"), &made_ns) ||
        now_ns < made_ns + KEPT_SEC * NS_PER_SEC)
        return 0;
    at.ns = meta_text(request, "namespace");
    at.name = meta_name(request);
    int r = spn_client_delete(w->client, &at, &(struct spn_delete){ .uid = meta_uid(request) },
                              &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? 0 : r;
}

/* A page. What cannot be removed now waits for the next pass. */
static void look_at(struct spn_work *w, const struct spn_value *items)
{
    const int64_t now_ns = time_now();
    for (size_t i = 0; i < spn_value_count(items); i++) {
        struct spn_err unsaid = { 0 };
        (void)remove_if_old(w, spn_value_at(items, i), now_ns, &unsaid);
    }
}

static int pass(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct spn_select page = { .limit = PAGE };
    struct spn_call how = w->how;
    how.metadata_only = true;
    (void)arg;
    do {
        struct spn_value *list;
        int r = spn_client_list(w->client, &requests, &page, &how, w->arena, &list, err);
        if (r < 0 && r != -SPN_NOT_FOUND && r != -SPN_EXPIRED)
            return r;
        if (r < 0)
            break;
        look_at(w, spn_value_get(list, "items"));
        page.resume = spn_value_text(spn_value_dig(list, "metadata", "continue"));
    } while (page.resume.n && !spn_stop_is_set(w->how.stop));
    return spn_again_after(PASS_MS);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    struct spn_controller *c = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "podcertificaterequest-cleaner-controller",
                                          .what = csrs,
                                          .kind = "CertificateSigningRequest",
                                          .has_no_namespace = true,
                                          .when = when_never,
                                          .reconcile = pass });
    spn_controller_enqueue(c, SPN_TEXT(""), SPN_TEXT("requests-of-pods"));
    return 0;
}

const struct controllers_row controllers_pod_certificate_cleaner = {
    "podcertificaterequest-cleaner-controller", add, NULL
};
