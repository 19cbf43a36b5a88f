/* sampan/election.h - one of many is the leader, by a Lease that it keeps renewing.
 *
 * As client-go does it, and together with programs that use client-go: same Lease, same rules. The
 * leader renews the Lease every `retry_ms`. Others take it once they have seen no change of it for
 * the duration that it names. That is measured by their own clock from the moment they saw the
 * change, so clocks may differ as long as they run at the same speed. A leader that cannot renew
 * for `renew_ms` is one no longer, before anybody else can be.
 *
 * A lease keeps two from leading at the same time; it does not keep a call of the old leader, sent
 * before, from arriving late. */
#pragma once

#include <sampan/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_election;

/* Zero means the usual. Callbacks come on the thread that runs the election and should be quick:
 * nothing is renewed meanwhile. Each may be NULL. */
struct spn_election_options {
    const char *ns, *name; /* of the Lease; both are needed */
    const char *identity;  /* of this process; NULL: the host's name and a random number */
    int64_t lease_ms;      /* 15 s; whole seconds */
    int64_t renew_ms;      /* 10 s */
    int64_t retry_ms;      /* 2 s */
    bool keep_at_end;      /* the next one waits until the lease is over, as after a crash */
    void *arg;
    void (*on_started)(void *arg);
    void (*on_stopped)(void *arg); /* at the end, also of one that never led */
    void (*on_leader)(void *arg, struct spn_text identity); /* another one, perhaps us */
};

/* Texts are copied; the client must outlive it. SPN_INVALID: names are missing, or the durations do
 * not fit: lease > renew > 1.2 * retry. */
SPN_API int spn_election_new(struct spn_client *c, const struct spn_election_options *opt,
                             struct spn_election **ret, struct spn_err *err);
SPN_API struct spn_election *spn_election_free(struct spn_election *e);

/* Tries to become the leader, then stays it. 0: `stop` was set; the Lease has been given up, so the
 * next one need not wait. SPN_EXPIRED: it was the leader and is one no longer. The caller's
 * thread. */
SPN_API int spn_election_run(struct spn_election *e, struct spn_stop *stop, struct spn_err *err);

/* Any thread. */
SPN_API bool spn_election_is_leader(struct spn_election *e);
SPN_API struct spn_text spn_election_leader(struct spn_election *e, struct spn_arena *a);
SPN_API const char *spn_election_identity(const struct spn_election *e);
/* False: it should have renewed the Lease, or ended, long ago. For a health check. */
SPN_API bool spn_election_is_healthy(struct spn_election *e);

#ifdef __cplusplus
}
#endif
