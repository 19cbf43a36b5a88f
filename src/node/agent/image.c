/* image.c - images of containers: what the pull policy says, secrets, pauses after failures. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "node/agent/agent_internal.h"
#include "node/agent/image_name.h"
#include "base/banned.h"

struct images {
    pthread_mutex_t pull_lock; /* one pull at a time, if that is wanted */
    pthread_mutex_t lock;      /* of what follows */
    double tokens;             /* pulls that may begin now */
    int64_t filled_ns;
    struct map failures; /* back-off key to struct failure: what the last pull said */
};

struct failure {
    size_t n;
    char text[]; /* the key, then what was said */
};

struct images *images_new(struct agent *ag)
{
    struct images *i = mem_new(struct images);
    (void)pthread_mutex_init(&i->pull_lock, NULL);
    (void)pthread_mutex_init(&i->lock, NULL);
    i->tokens = ag->opt.registry_burst;
    i->filled_ns = agent_mono_ns();
    return i;
}

struct images *images_free(struct images *i)
{
    size_t pos = 0;
    struct str key;
    void *p;
    if (!i)
        return NULL;
    while (map_next(&i->failures, &pos, &key, &p)) {
        (void)map_remove(&i->failures, key);
        free(p);
    }
    map_done(&i->failures);
    (void)pthread_mutex_destroy(&i->lock);
    (void)pthread_mutex_destroy(&i->pull_lock);
    free(i);
    return NULL;
}

/* An image that somebody wants. */
struct wish {
    struct agent *ag;
    struct arena *a;
    const struct value *pod;
    struct str container, image, policy, key;
    struct image_name name;
    const struct value *sandbox_config;
    struct start_failure *ret;
};

static bool fail(struct wish *w, struct str reason, struct str message)
{
    w->ret->reason = reason;
    w->ret->message = message;
    return false;
}

static struct value image_spec(const struct wish *w)
{
    struct value spec = value_object();
    value_put_new(w->a, &spec, STR("image"), value_string(w->name.full));
    const struct value *notes = value_dig(w->pod, "metadata", "annotations");
    if (value_is(notes, VALUE_OBJECT) && notes->n)
        value_put_new(w->a, &spec, STR("annotations"), value_borrow(notes));
    return spec;
}

/* False: the runtime cannot say. `ret_id` is empty if it is not there. */
static bool look_up(struct wish *w, struct str *ret_id, struct value *ret_image)
{
    struct err err = ERR_INIT(w->a);
    struct value req = value_object(), answer;
    value_put_new(w->a, &req, STR("image"), image_spec(w));
    if (cri_call(w->ag->parts.cri, "ImageStatus", &req, 0, w->a, &answer, &err) < 0) {
        struct str why =
            arena_printf(w->a, "Failed to inspect image \"\": " STR_FMT, STR_ARG(err.msg));
        tell_container(w->ag, w->pod, w->container, SPN_WARNING, "InspectFailed", STR_FMT,
                       STR_ARG(why));
        return fail(w, STR("ImageInspectError"), why);
    }
    const struct value *image = value_get(&answer, STR("image"));
    *ret_id = value_text(image, "id");
    if (image)
        *ret_image = value_borrow(image);
    return true;
}

/* ---- Secrets ---- */

static bool is_for(struct str registry, struct str domain)
{
    static const struct str schemes[] = { STR("https://"), STR("http://") };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (str_starts(registry, schemes[i]))
            registry = str_skip(registry, schemes[i].n);
    struct str rest = registry, host = str_cut(&rest, '/');
    bool is_docker = str_eq(host, STR("index.docker.io")) || str_eq(host, STR("docker.io"));
    if (is_docker && str_eq(domain, STR("docker.io")))
        return true;
    if (str_starts(host, STR("*.")))
        return str_ends(domain, str_skip(host, 1));
    return str_eq(host, domain);
}

static struct value auth_of(struct arena *a, const struct value *entry)
{
    struct value auth = value_object();
    struct str user = value_text(entry, "username"), word = value_text(entry, "password");
    autobuf both = { 0 };
    if (!user.n && base64_decode(&both, value_text(entry, "auth"))) {
        word = arena_str(a, buf_str(&both));
        user = str_cut(&word, ':');
    }
    value_put_new(a, &auth, STR("username"), value_string(user));
    value_put_new(a, &auth, STR("password"), value_string(word));
    return auth;
}

static void add_auths(struct wish *w, const struct value *secret, struct value *ret)
{
    const struct value *data = value_get(secret, STR("data"));
    struct str text = value_text(data, ".dockerconfigjson");
    bool is_old = !text.n;
    struct value config;
    autobuf bytes = { 0 };
    if (is_old)
        text = value_text(data, ".dockercfg");
    if (!base64_decode(&bytes, text) ||
        json_read(w->a, arena_str(w->a, buf_str(&bytes)), NULL, &config, NULL) < 0)
        return;
    value_each_field (f, is_old ? &config : value_get(&config, STR("auths")))
        if (is_for(f->key, w->name.domain))
            value_put_item(w->a, ret, auth_of(w->a, &f->val));
}

/* What may open the registry; names of secrets that are not there go into `ret_missing`. */
static struct value auths_of(struct wish *w, struct buf *ret_missing)
{
    struct value all = value_array();
    const struct pod_objects *o = w->ag->parts.objects;
    value_each_item (ref, value_dig(w->pod, "spec", "imagePullSecrets")) {
        struct err err = ERR_INIT(w->a);
        struct value secret;
        struct str name = value_text(ref, "name");
        if (o->get(o->arg, "secrets", pod_ns(w->pod), name, w->a, &secret, &err) == 0)
            add_auths(w, &secret, &all);
        else
            buf_printf(ret_missing, "%s" STR_FMT, ret_missing->n ? ", " : "", STR_ARG(name));
    }
    return all;
}

/* ---- Pulling ---- */

static bool may_pull(struct agent *ag)
{
    struct images *i = ag->images;
    if (ag->opt.registry_qps < 0)
        return true;
    (void)pthread_mutex_lock(&i->lock);
    int64_t now = agent_mono_ns();
    i->tokens += (double)(now - i->filled_ns) / NS_PER_SEC * ag->opt.registry_qps;
    i->filled_ns = now;
    if (i->tokens > ag->opt.registry_burst)
        i->tokens = ag->opt.registry_burst;
    bool may = i->tokens >= 1;
    i->tokens -= may;
    (void)pthread_mutex_unlock(&i->lock);
    return may;
}

static int pull_once(struct wish *w, const struct value *auth, struct str *ret_ref, struct err *err)
{
    struct value req = value_object(), answer;
    value_put_new(w->a, &req, STR("image"), image_spec(w));
    if (auth)
        value_put_new(w->a, &req, STR("auth"), value_borrow(auth));
    if (w->sandbox_config)
        value_put_new(w->a, &req, STR("sandbox_config"), value_borrow(w->sandbox_config));
    if (!may_pull(w->ag))
        return err_set(err, ERR_UNAVAILABLE, "pull QPS exceeded");
    int r = cri_call(w->ag->parts.cri, "PullImage", &req, -1, w->a, &answer, err);
    if (r == 0)
        *ret_ref = value_text(&answer, "image_ref");
    return r;
}

/* With each secret in turn, until one opens it. */
static int pull_with_any(struct wish *w, struct str *ret_ref, struct err *err)
{
    autobuf missing = { 0 };
    struct value auths = auths_of(w, &missing);
    int r = auths.n ? 0 : pull_once(w, NULL, ret_ref, err);
    for (size_t i = 0; i < auths.n; i++) {
        err_clear(err);
        r = pull_once(w, value_at(&auths, i), ret_ref, err);
        if (r == 0)
            return 0;
    }
    if (r < 0 && missing.n)
        tell_pod(w->ag, w->pod, SPN_WARNING, "FailedToRetrieveImagePullSecret",
                 "Unable to retrieve some image pull secrets (" STR_FMT
                 "); attempting to pull the image may not succeed.",
                 STR_ARG(buf_str(&missing)));
    return r;
}

static void note_failure(struct wish *w, struct str said)
{
    struct images *i = w->ag->images;
    (void)pthread_mutex_lock(&i->lock);
    struct failure *old = map_remove(&i->failures, w->key);
    free(old);
    if (said.n) {
        struct failure *f = mem_alloc(sizeof(*f) + w->key.n + said.n);
        f->n = said.n;
        memcpy(f->text, w->key.p, w->key.n);
        memcpy(f->text + w->key.n, said.p, said.n);
        (void)map_set(&i->failures, (struct str){ f->text, w->key.n }, f);
    }
    (void)pthread_mutex_unlock(&i->lock);
}

static struct str last_failure(struct wish *w)
{
    struct images *i = w->ag->images;
    (void)pthread_mutex_lock(&i->lock);
    const struct failure *f = map_get(&i->failures, w->key);
    struct str said = f ? arena_str(w->a, (struct str){ f->text + w->key.n, f->n }) : STR("");
    (void)pthread_mutex_unlock(&i->lock);
    return said;
}

static bool wait_longer(struct wish *w)
{
    struct str message =
        arena_printf(w->a, "Back-off pulling image \"" STR_FMT "\"", STR_ARG(w->image));
    tell_container(w->ag, w->pod, w->container, SPN_NORMAL, "BackOff", STR_FMT, STR_ARG(message));
    struct str said = last_failure(w);
    if (said.n)
        message = arena_printf(w->a, STR_FMT ": " STR_FMT, STR_ARG(message), STR_ARG(said));
    return fail(w, STR("ImagePullBackOff"), message);
}

static bool fail_pull(struct wish *w, const struct err *err)
{
    struct str why = cri_description(err->msg);
    int64_t now = agent_mono_ns();
    tell_container(w->ag, w->pod, w->container, SPN_WARNING, "Failed",
                   "Failed to pull image \"" STR_FMT "\": " STR_FMT, STR_ARG(w->image),
                   STR_ARG(why));
    back_off_next(w->ag->pulls, w->key, now, now);
    note_failure(w, arena_printf(w->a, "ErrImagePull: " STR_FMT, STR_ARG(why)));
    return fail(w, STR("ErrImagePull"), why);
}

static void tell_pulled(struct wish *w, int64_t start, int64_t begun, const struct value *image)
{
    int64_t now = agent_mono_ns(), size = 0;
    (void)value_to_int(value_get(image, STR("size")), &size);
    struct str took = go_duration(w->a, (now - begun) / NS_PER_MS);
    struct str all = go_duration(w->a, (now - start) / NS_PER_MS);
    tell_container(w->ag, w->pod, w->container, SPN_NORMAL, "Pulled",
                   "Successfully pulled image \"" STR_FMT "\" in " STR_FMT " (" STR_FMT
                   " including waiting). Image size: %" PRId64 " bytes.",
                   STR_ARG(w->image), STR_ARG(took), STR_ARG(all), size);
}

static bool pull(struct wish *w, struct str *ret_ref, struct value *ret_image)
{
    struct err err = ERR_INIT(w->a);
    if (back_off_is_waiting_still(w->ag->pulls, w->key, agent_mono_ns()))
        return wait_longer(w);
    note_failure(w, STR(""));
    tell_container(w->ag, w->pod, w->container, SPN_NORMAL, "Pulling",
                   "Pulling image \"" STR_FMT "\"", STR_ARG(w->image));
    int64_t start = agent_mono_ns();
    if (!w->ag->opt.parallel_pulls)
        (void)pthread_mutex_lock(&w->ag->images->pull_lock);
    int64_t begun = agent_mono_ns();
    int r = pull_with_any(w, ret_ref, &err);
    if (!w->ag->opt.parallel_pulls)
        (void)pthread_mutex_unlock(&w->ag->images->pull_lock);
    if (r < 0)
        return fail_pull(w, &err);
    struct str id;
    if (!look_up(w, &id, ret_image))
        return false;
    tell_pulled(w, start, begun, ret_image);
    return true;
}

static bool fail_name(struct wish *w, const struct err *err)
{
    struct str why = arena_printf(w->a,
                                  "Failed to apply default image tag \"" STR_FMT
                                  "\": couldn't parse image name \"" STR_FMT "\": " STR_FMT,
                                  STR_ARG(w->image), STR_ARG(w->image), STR_ARG(err->msg));
    tell_container(w->ag, w->pod, w->container, SPN_WARNING, "InspectFailed", STR_FMT,
                   STR_ARG(why));
    return fail(w, STR("InvalidImageName"), why);
}

bool image_ensure(struct agent *ag, const struct value *pod, struct str container, struct str image,
                  struct str policy, const struct value *sandbox_config, struct arena *a,
                  struct str *ret_ref, struct value *ret_image, struct start_failure *ret)
{
    struct err err = ERR_INIT(a);
    struct wish w = { .ag = ag,
                      .a = a,
                      .pod = pod,
                      .container = container,
                      .image = image,
                      .policy = policy,
                      .sandbox_config = sandbox_config,
                      .ret = ret };
    w.key = arena_printf(a, STR_FMT "_" STR_FMT, STR_ARG(pod_uid(pod)), STR_ARG(image));
    if (image_name_read(a, image, &w.name, &err) < 0)
        return fail_name(&w, &err);
    if (str_eq(policy, STR("Always")))
        return pull(&w, ret_ref, ret_image);
    if (!look_up(&w, ret_ref, ret_image))
        return false;
    if (ret_ref->n) {
        tell_container(ag, pod, container, SPN_NORMAL, "Pulled",
                       "Container image \"" STR_FMT
                       "\" already present on machine and can be accessed by the pod",
                       STR_ARG(image));
        return true;
    }
    if (!str_eq(policy, STR("Never")))
        return pull(&w, ret_ref, ret_image);
    struct str why =
        arena_printf(a, "Container image \"" STR_FMT "\" is not present with pull policy of Never",
                     STR_ARG(image));
    tell_container(ag, pod, container, SPN_WARNING, "ErrImageNeverPull", STR_FMT, STR_ARG(why));
    return fail(&w, STR("ErrImageNeverPull"), why);
}
