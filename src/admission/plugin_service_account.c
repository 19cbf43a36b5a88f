/* ServiceAccount: every pod runs as an account of its namespace, which must be there. Its token
 * comes with a volume that each container mounts. Pods that mirror what a node runs by itself have
 * none. */
#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>

#include "admission/plugins.h"
#include "api/names.h"
#include "api/words.h"
#include "auth/node_refs.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/banned.h"

#define VOLUME_PREFIX STR("kube-api-access-")
#define TOKEN_PATH    STR("/var/run/secrets/kubernetes.io/serviceaccount")

/* ---- The account ---- */

static struct str account_name(const struct value *pod)
{
    return value_str(value_dig(pod, "spec", "serviceAccountName"));
}

/* A controller makes "default" a moment after the namespace, so this one is waited for. Not by too
 * many at once: what they wait for needs a worker, too. */
enum { WAITERS_MAX = 16, WAIT_STEP_MS = 20, WAIT_MS = 1500 };
static atomic_int waiters;

static int await_account(struct admission_request *req, struct str name, struct value *ret,
                         struct err *err)
{
    const struct timespec step = { .tv_nsec = WAIT_STEP_MS * NS_PER_MS };
    for (int ms = 0; ms < WAIT_MS; ms += WAIT_STEP_MS) {
        (void)nanosleep(&step, NULL);
        int r = admission_read(req, STR(""), STR("serviceaccounts"), req->ns, name, ret, err);
        if (r != 0)
            return r;
    }
    return 0;
}

static int read_account(struct admission_request *req, struct str name, struct value *ret,
                        struct err *err)
{
    bool may_come = str_eq(name, STR("default")) && req->ns_is == ADMISSION_NAMESPACE_THERE;
    int r = admission_read(req, STR(""), STR("serviceaccounts"), req->ns, name, ret, err);
    if (r != 0 || !may_come)
        return r;
    if (atomic_fetch_add(&waiters, 1) < WAITERS_MAX)
        r = await_account(req, name, ret, err);
    atomic_fetch_sub(&waiters, 1);
    return r;
}

static int find_account(struct admission_request *req, const struct value *pod, struct value *ret,
                        struct err *err)
{
    struct str name = account_name(pod);
    int r = read_account(req, name, ret, err);
    if (r != 0)
        return r < 0 ? r : 0;
    return admission_forbid_as(req, pod, err,
                               "error looking up service account " STR_FMT "/" STR_FMT
                               ": serviceaccount \"" STR_FMT "\" not found",
                               STR_ARG(req->ns), STR_ARG(name), STR_ARG(name));
}

/* ---- The token ---- */

static bool wants_token(const struct value *account, const struct value *pod)
{
    const struct value *said = value_dig(pod, "spec", "automountServiceAccountToken");
    if (!value_is(said, VALUE_BOOL))
        said = value_get(account, STR("automountServiceAccountToken"));
    return !value_is(said, VALUE_BOOL) || said->b;
}

/* The name of the token's volume, if the pod has one already. */
static struct str token_volume(const struct value *spec)
{
    value_each_item (it, value_get(spec, STR("volumes")))
        if (str_starts(value_text(it, "name"), VOLUME_PREFIX))
            return value_text(it, "name");
    return STR("");
}

static struct str new_volume_name(struct arena *a)
{
    uint64_t random;
    while (getrandom(&random, sizeof(random), 0) != sizeof(random))
        continue;
    return name_generate(a, VOLUME_PREFIX, random);
}

static bool has_mount(const struct value *container)
{
    value_each_item (it, value_get(container, STR("volumeMounts")))
        if (str_eq(value_text(it, "mountPath"), TOKEN_PATH))
            return true;
    return false;
}

static struct value *ensure_list(struct arena *a, struct value *obj, struct str field)
{
    struct value *list = value_edit(a, obj, field);
    return value_is(list, VALUE_ARRAY) ? list : value_set(a, obj, field, value_array());
}

/* Whether a container got the mount. */
static bool mount_in(struct arena *a, struct value *spec, struct str list, struct str volume)
{
    struct value *containers = value_edit(a, spec, list);
    bool any = false;
    for (size_t i = 0; value_is(containers, VALUE_ARRAY) && i < containers->n; i++) {
        struct value mount = value_object();
        if (has_mount(value_at(containers, i)))
            continue;
        value_put(a, &mount, STR("name"), value_string(volume));
        value_put(a, &mount, STR("readOnly"), value_bool(true));
        value_put(a, &mount, STR("mountPath"), value_string(TOKEN_PATH));
        struct value *container = value_edit_at(a, containers, i);
        value_put_item(a, ensure_list(a, container, STR("volumeMounts")), mount);
        any = true;
    }
    return any;
}

/* The token, the authority of the cluster and the namespace. */
static int add_volume(struct arena *a, struct value *spec, struct str name, struct err *err)
{
    static const char source[] =
        "{\"sources\":["
        "{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},"
        "{\"configMap\":{\"name\":\"kube-root-ca.crt\","
        "\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},"
        "{\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":"
        "{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}],"
        "\"defaultMode\":420}";
    struct value volume = value_object(), projected;
    int r = json_read(a, str_of(source), NULL, &projected, err);
    if (r < 0)
        return r;
    value_put(a, &volume, STR("name"), value_string(name));
    value_put(a, &volume, STR("projected"), projected);
    value_put_item(a, ensure_list(a, spec, STR("volumes")), volume);
    return 0;
}

static int mount_token(struct arena *a, struct value *pod, struct err *err)
{
    struct value *spec = value_ensure(a, pod, STR("spec"));
    struct str there = token_volume(spec), name = there.n ? there : new_volume_name(a);
    bool any = mount_in(a, spec, STR("initContainers"), name);
    any |= mount_in(a, spec, STR("containers"), name);
    return any && !there.n ? add_volume(a, spec, name, err) : 0;
}

/* ---- Secrets that an account allows ---- */

static bool is_strict(const struct value *account)
{
    static const struct str yes[] = { STR("1"),    STR("t"),    STR("T"),
                                      STR("true"), STR("TRUE"), STR("True") };
    struct str said = value_str(value_get(value_dig(account, "metadata", "annotations"),
                                          STR("kubernetes.io/enforce-mountable-secrets")));
    return words_have(said, WORDS(yes));
}

static bool lists(const struct value *account, const char *field, struct str name)
{
    value_each_item (it, value_get(account, str_of(field)))
        if (str_eq(value_text(it, "name"), name))
            return true;
    return false;
}

/* One pod that may refer to some secrets only. */
struct limits {
    struct admission_request *req;
    const struct value *pod, *account;
    struct err *err;
};

static int refuse_secret(const struct limits *l, struct str where, struct str name)
{
    return admission_forbid_as(l->req, l->pod, l->err,
                               STR_FMT "secret.secretName=\"" STR_FMT
                                       "\" is not allowed because service account " STR_FMT
                                       " does not reference that secret",
                               STR_ARG(where), STR_ARG(name),
                               STR_ARG(value_str(value_dig(l->account, "metadata", "name"))));
}

static int check_container(const struct limits *l, const char *kind, const struct value *container)
{
    struct arena *a = l->req->arena;
    struct str of = value_text(container, "name");
    value_each_item (it, value_get(container, STR("env"))) {
        const struct value *ref = value_dig(it, "valueFrom", "secretKeyRef");
        if (ref && !lists(l->account, "secrets", value_text(ref, "name")))
            return refuse_secret(l,
                                 arena_printf(a,
                                              "%s " STR_FMT " with envVar " STR_FMT " referencing ",
                                              kind, STR_ARG(of), STR_ARG(value_text(it, "name"))),
                                 value_text(ref, "name"));
    }
    value_each_item (it, value_get(container, STR("envFrom"))) {
        const struct value *ref = value_get(it, STR("secretRef"));
        if (ref && !lists(l->account, "secrets", value_text(ref, "name")))
            return refuse_secret(
                l, arena_printf(a, "%s " STR_FMT " with envFrom referencing ", kind, STR_ARG(of)),
                value_text(ref, "name"));
    }
    return 0;
}

static int check_containers(const struct limits *l, const char *kind, const char *list)
{
    value_each_item (it, value_dig(l->pod, "spec", list)) {
        int r = check_container(l, kind, it);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_volumes(const struct limits *l)
{
    value_each_item (it, value_dig(l->pod, "spec", "volumes")) {
        const struct value *secret = value_get(it, STR("secret"));
        if (secret && !lists(l->account, "secrets", value_text(secret, "secretName")))
            return refuse_secret(l, STR("volume with "), value_text(secret, "secretName"));
    }
    return 0;
}

static int check_pull_secrets(const struct limits *l)
{
    size_t i = 0;
    value_each_item (it, value_dig(l->pod, "spec", "imagePullSecrets")) {
        struct str name = value_text(it, "name");
        if (!lists(l->account, "imagePullSecrets", name))
            return admission_forbid_as(
                l->req, l->pod, l->err,
                "imagePullSecrets[%zu].name=\"" STR_FMT
                "\" is not allowed because service account " STR_FMT
                " does not reference that imagePullSecret",
                i, STR_ARG(name), STR_ARG(value_str(value_dig(l->account, "metadata", "name"))));
        i++;
    }
    return 0;
}

static int check_secrets(const struct limits *l)
{
    int r = check_volumes(l);
    if (r < 0)
        return r;
    r = check_containers(l, "init container", "initContainers");
    if (r < 0)
        return r;
    r = check_containers(l, "container", "containers");
    return r < 0 ? r : check_pull_secrets(l);
}

/* ---- All of it ---- */

static void note_secret(void *to, enum node_thing thing, struct str ns, struct str name)
{
    (void)ns, (void)name;
    *(bool *)to |= thing == NODE_THING_SECRET;
}

static bool projects_token(const struct value *pod)
{
    value_each_item (volume, value_dig(pod, "spec", "volumes"))
        value_each_item (it, value_dig(volume, "projected", "sources"))
            if (value_get(it, STR("serviceAccountToken")))
                return true;
    return false;
}

static int check_mirror(struct admission_request *req, const struct value *pod, struct err *err)
{
    bool has_secret = false;
    if (account_name(pod).n)
        return admission_forbid(req, pod, STR("a mirror pod may not reference service accounts"),
                                err);
    node_refs_of_pod(req->arena, pod, note_secret, &has_secret);
    if (has_secret)
        return admission_forbid(req, pod, STR("a mirror pod may not reference secrets"), err);
    if (projects_token(pod))
        return admission_forbid(
            req, pod, STR("a mirror pod may not use ServiceAccountToken volume projections"), err);
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE, STR("") },
    { STR(""), STR("pods"), ADMISSION_UPDATE, STR("ephemeralcontainers") },
    { .operations = 0 },
};

static int validate(struct admission_request *req, const struct value *pod, struct err *err)
{
    struct value account;
    bool is_new = req->target == &targets[0];
    if (is_new && !admission_is_in_the_making(req))
        return 0;
    if (is_new && node_refs_is_mirror(pod))
        return check_mirror(req, pod, err);
    if (!account_name(pod).n)
        return admission_forbid_as(
            req, pod, err, "no service account specified for pod " STR_FMT "/" STR_FMT,
            STR_ARG(req->ns), STR_ARG(value_str(value_dig(pod, "metadata", "name"))));
    int r = find_account(req, pod, &account, err);
    if (r < 0 || !is_strict(&account))
        return r;
    const struct limits l = { .req = req, .pod = pod, .account = &account, .err = err };
    return is_new ? check_secrets(&l)
                  : check_containers(&l, "ephemeral container", "ephemeralContainers");
}

static void set_pull_secrets(struct arena *a, struct value *pod, const struct value *account)
{
    struct value *spec = value_ensure(a, pod, STR("spec"));
    const struct value *own = value_get(spec, STR("imagePullSecrets")),
                       *given = value_get(account, STR("imagePullSecrets"));
    if ((value_is(own, VALUE_ARRAY) && own->n) || !value_is(given, VALUE_ARRAY) || !given->n)
        return;
    struct value list = value_array();
    value_each_item (it, given) {
        struct value *ref = value_push(a, &list, value_object());
        value_put(a, ref, STR("name"), value_string(value_text(it, "name")));
    }
    value_put(a, spec, STR("imagePullSecrets"), list);
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    struct value account;
    if (req->target != &targets[0] || !admission_is_in_the_making(req))
        return 0;
    if (node_refs_is_mirror(pod))
        return validate(req, pod, err);
    if (!account_name(pod).n) {
        struct value *spec = value_ensure(req->arena, pod, STR("spec"));
        value_put(req->arena, spec, STR("serviceAccountName"), value_string(STR("default")));
        value_put(req->arena, spec, STR("serviceAccount"), value_string(STR("default")));
    }
    int r = find_account(req, pod, &account, err);
    if (r < 0)
        return r;
    if (wants_token(&account, pod))
        r = mount_token(req->arena, pod, err);
    if (r < 0)
        return r;
    set_pull_secrets(req->arena, pod, &account);
    return validate(req, pod, err);
}

const struct admission_plugin plugin_service_account = {
    .name = "ServiceAccount",
    .is_off = true, /* nobody makes the default accounts yet */
    .targets = targets,
    .mutate = mutate,
    .validate = validate,
};
