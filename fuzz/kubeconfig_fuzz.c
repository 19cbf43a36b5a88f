/* A kubeconfig that is accepted can be found again entry by entry, and adding it a second time
 * changes nothing. One that is refused says why. The bytes are also taken for the output of a
 * credential plugin. */
#include <stdlib.h>

#include "client/bridge.h"
#include "client/config/exec_plugin.h"
#include "client/config/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_entries(const struct kubeconfig *k)
{
    const struct kube_cluster *clusters = k->clusters.items;
    for (size_t i = 0; i < k->clusters.n; i++)
        must(kubeconfig_cluster(k, clusters[i].name) == &clusters[i]);
    const struct kube_user *users = k->users.items;
    for (size_t i = 0; i < k->users.n; i++) {
        must(kubeconfig_user(k, users[i].name) == &users[i]);
        must(!users[i].token_file.n || users[i].token_file.p[0] == '/');
    }
    const struct kube_context *contexts = k->contexts.items;
    for (size_t i = 0; i < k->contexts.n; i++)
        must(kubeconfig_context(k, contexts[i].name) == &contexts[i]);
}

static void check_kubeconfig(struct spn_arena *a, struct spn_text text)
{
    struct kubeconfig k = { .arena = arena_in(a) };
    struct spn_err err = { 0 };
    if (kubeconfig_add(&k, text, SPN_TEXT("/here"), &err) < 0) {
        must(err.code == SPN_MALFORMED && err.message[0]);
        return;
    }
    check_entries(&k);
    struct kubeconfig before = k;
    must(kubeconfig_add(&k, text, SPN_TEXT("/there"), &err) == 0);
    must(k.clusters.n == before.clusters.n && k.users.n == before.users.n &&
         k.contexts.n == before.contexts.n);
    must(spn_text_eq(k.current_context, before.current_context));
    check_entries(&k);
}

static void check_plugin(struct spn_arena *a, struct spn_text text)
{
    struct spn_exec exec = { .api_version = SPN_TEXT("client.authentication.k8s.io/v1") };
    struct exec_credential c;
    struct spn_err err = { 0 };
    if (exec_plugin_read(&exec, text, a, &c, &err) < 0)
        must(err.code == SPN_UNAUTHORIZED && err.message[0]);
    else
        must((c.token.n || c.cert.n) && !c.cert.n == !c.key.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_text text = { (const char *)bytes, n };
    check_kubeconfig(a, text);
    check_plugin(a, text);
    spn_arena_free(a);
    return 0;
}
