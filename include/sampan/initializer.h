/* sampan/initializer.h - programs that finish objects before anybody sees them.
 *
 *     static int initialize(void *arg, struct spn_work *w, struct spn_value *obj,
 *                           struct spn_err *err)
 *     {
 *         ... changes obj ...
 *         return 0;
 *     }
 *
 *     spn_manager_initializes(m, &(struct spn_initializer_options){
 *         .name = "example.initializer.test", .what = pods, .kind = "Pod",
 *         .initialize = initialize });
 *     r = spn_manager_run(m, &err);
 *
 * An object waits while names stand in its metadata.initializers.pending, which an
 * InitializerConfiguration puts there (Kubernetes 1.7 to 1.13, and Sampan). When ours is the first
 * of them, it is our turn. One patch makes all our changes and takes the name away, so nothing is
 * ever half done. It holds only for the object that we have seen: if somebody else was faster, we
 * begin again with what he has made of it. */
#pragma once

#include <sampan/controller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes of `obj`, as it waits, what it should be; unchanged, it is let through as it is. Returns 0,
 * or a negative code with `err` filled. SPN_EXISTS, SPN_CONFLICT and SPN_INVALID say that it can
 * never become that: its creation then fails with the message, and it goes. After any other error
 * it waits, and this is called again. */
typedef int spn_initialize_fn(void *arg, struct spn_work *w, struct spn_value *obj,
                              struct spn_err *err);

/* Zero means the usual. */
struct spn_initializer_options {
    const char *name;              /* ours among those that are pending; needed */
    struct spn_target what;        /* group, version, plural; ns: empty for all */
    const char *kind;              /* of these: "Pod"; needed */
    bool has_no_namespace;         /* objects of the kind are in none */
    unsigned workers;              /* calls at once; 1 */
    spn_initialize_fn *initialize; /* needed */
    void *arg;
    /* Reasons of the events that tell what became of an object: it was changed, or its creation was
     * made to fail. NULL: none. */
    const char *changed_reason, *failed_reason;
};

/* Before spn_manager_run(). The manager's client sees objects that wait from now on, in all its
 * informers and calls. Texts are copied. Who creates waits: an error is tried again within a
 * second. */
SPN_API void spn_manager_initializes(struct spn_manager *m,
                                     const struct spn_initializer_options *opt);

#ifdef __cplusplus
}
#endif
