#include "server/core/kubelet.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/banned.h"

struct kubelet {
    struct arena arena; /* of the types; nothing is added later */
    struct str types;
    bool has_ca;
    pthread_mutex_t lock; /* of `tls` */
    struct tls_context *tls[KUBELET_TRUSTS];
};

static int make_context(const struct kubelet_options *opt, enum kubelet_trust trust,
                        struct tls_context **ret, struct err *err)
{
    struct tls_config config = { .http1 = true, .lets_strangers_in = true };
    if (trust != KUBELET_STRANGER) {
        config.cert_pem = opt->cert_pem;
        config.key_pem = opt->key_pem;
    }
    if (trust == KUBELET_VERIFIED && opt->ca_pem.n) {
        config.ca_pem = opt->ca_pem;
        config.lets_strangers_in = false;
    }
    return tls_context_new(&config, ret, err);
}

static int make_contexts(const struct kubelet_options *opt, struct tls_context **ret,
                         struct err *err)
{
    for (int i = 0; i < KUBELET_TRUSTS; i++) {
        int r = make_context(opt, (enum kubelet_trust)i, &ret[i], err);
        if (r < 0)
            return err_wrap(err, "the client certificate for nodes");
    }
    return 0;
}

static void exchange_contexts(struct kubelet *k, struct tls_context **with)
{
    (void)pthread_mutex_lock(&k->lock);
    for (int i = 0; i < KUBELET_TRUSTS; i++) {
        struct tls_context *former = k->tls[i];
        k->tls[i] = with[i];
        with[i] = former;
    }
    (void)pthread_mutex_unlock(&k->lock);
}

int kubelet_set(struct kubelet *k, const struct kubelet_options *opt, struct err *err)
{
    struct tls_context *made[KUBELET_TRUSTS] = { 0 };
    const int r = make_contexts(opt, made, err);
    if (r == 0)
        exchange_contexts(k, made);
    for (int i = 0; i < KUBELET_TRUSTS; i++)
        tls_context_unref(made[i]);
    return r;
}

int kubelet_new(const struct kubelet_options *opt, struct kubelet **ret, struct err *err)
{
    struct kubelet *k = mem_new(struct kubelet);
    arena_init(&k->arena);
    (void)pthread_mutex_init(&k->lock, NULL);
    k->types = arena_str(&k->arena,
                         str_of(opt->address_types ? opt->address_types : KUBELET_ADDRESS_TYPES));
    k->has_ca = opt->ca_pem.n;
    int r = kubelet_set(k, opt, err);
    if (r < 0) {
        kubelet_free(k);
        return r;
    }
    *ret = k;
    return 0;
}

struct kubelet *kubelet_free(struct kubelet *k)
{
    if (!k)
        return NULL;
    for (int i = 0; i < KUBELET_TRUSTS; i++)
        tls_context_unref(k->tls[i]);
    (void)pthread_mutex_destroy(&k->lock);
    arena_done(&k->arena);
    free(k);
    return NULL;
}

struct tls_context *kubelet_tls(struct kubelet *k, enum kubelet_trust trust)
{
    (void)pthread_mutex_lock(&k->lock);
    struct tls_context *tls = tls_context_ref(k->tls[trust]);
    (void)pthread_mutex_unlock(&k->lock);
    return tls;
}

bool kubelet_verifies(const struct kubelet *k, enum kubelet_trust trust)
{
    return trust == KUBELET_VERIFIED && k->has_ca;
}

struct str kubelet_address_type(const struct kubelet *k, size_t i)
{
    struct str rest = k->types, type = str_cut(&rest, ',');
    while (i-- && type.p)
        type = rest.p ? str_cut(&rest, ',') : (struct str){ NULL, 0 };
    return type;
}
