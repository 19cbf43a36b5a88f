#include "node/volume/payload.h"

#include "base/base64.h"
#include "node/pod/pod_fields.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

enum { MODE_USUAL = 0644, MODE_PRIVATE = 0600 };

/* ---- The set of files ---- */

void payload_done(struct payload *p)
{
    map_done(&p->by_path);
}

void payload_put(struct payload *p, struct payload_file file)
{
    struct payload_file *known = map_get(&p->by_path, file.path);
    if (known) {
        *known = file;
        return;
    }
    if (p->n == p->cap) {
        const size_t cap = p->cap ? 2 * p->cap : 16;
        p->files = arena_grow(p->arena, p->files, p->n * sizeof(*p->files), cap * sizeof(*p->files),
                              alignof(struct payload_file *));
        p->cap = cap;
    }
    known = arena_new(p->arena, struct payload_file);
    *known = file;
    p->files[p->n++] = known;
    (void)map_set(&p->by_path, known->path, known);
}

static unsigned mode_of(const struct value *mode, unsigned otherwise)
{
    int64_t n;
    return value_to_int(mode, &n) ? (unsigned)n & 07777 : otherwise;
}

static bool is_optional(const struct value *source)
{
    return value_is_true(value_get(source, STR("optional")));
}

/* ---- Config maps and secrets ---- */

static struct str decoded(struct arena *a, struct str text)
{
    autobuf out = { 0 };
    return base64_decode(&out, text) ? arena_str(a, buf_str(&out)) : STR("");
}

struct keyed {
    const struct value *plain, *coded; /* maps of keys; `coded` is in base64 */
};

/* False: it has no such key. */
static bool find_key(struct arena *a, const struct keyed *from, struct str key, struct str *ret)
{
    const struct value *plain = value_get(from->plain, key), *coded = value_get(from->coded, key);
    if (plain)
        *ret = value_str(plain);
    else if (coded)
        *ret = decoded(a, value_str(coded));
    return plain || coded;
}

static void put_all(struct payload *p, const struct keyed *from, unsigned mode)
{
    value_each_field (f, from->plain)
        payload_put(p, (struct payload_file){ f->key, value_str(&f->val), mode, false, 0 });
    value_each_field (f, from->coded)
        payload_put(p, (struct payload_file){ f->key, decoded(p->arena, value_str(&f->val)), mode,
                                              false, 0 });
}

static int put_items(struct payload *p, const struct value *source, const struct keyed *from,
                     unsigned mode, const char *words, struct err *err)
{
    value_each_item (item, value_get(source, STR("items"))) {
        struct str key = value_text(item, "key"), data;
        if (find_key(p->arena, from, key, &data))
            payload_put(p, (struct payload_file){ value_text(item, "path"), data,
                                                  mode_of(value_get(item, STR("mode")), mode),
                                                  false, 0 });
        else if (!is_optional(source))
            return err_set(err, ERR_NOT_FOUND, "%s: " STR_FMT, words, STR_ARG(key));
    }
    return 0;
}

/* An object that is not there and need not be is an empty one. */
static int get_object(struct payload *p, const struct payload_case *c, const char *plural,
                      struct str name, bool optional, struct value *ret, struct err *err)
{
    int r = c->objects->get(c->objects->arg, plural, pod_ns(c->pod), name, p->arena, ret, err);
    if (r != -ERR_NOT_FOUND || !optional)
        return r;
    err_clear(err);
    *ret = value_object();
    return 0;
}

static int put_config_map(struct payload *p, const struct payload_case *c,
                          const struct value *source, unsigned mode, struct err *err)
{
    struct value object;
    int r = get_object(p, c, "configmaps", value_text(source, "name"), is_optional(source), &object,
                       err);
    if (r < 0)
        return r;
    const struct keyed from = { value_get(&object, STR("data")),
                                value_get(&object, STR("binaryData")) };
    if (value_at(value_get(source, STR("items")), 0))
        return put_items(p, source, &from, mode, "configmap references non-existent config key",
                         err);
    put_all(p, &from, mode);
    return 0;
}

static int put_secret(struct payload *p, const struct payload_case *c, const struct value *source,
                      struct str name, unsigned mode, struct err *err)
{
    struct value object;
    int r = get_object(p, c, "secrets", name, is_optional(source), &object, err);
    if (r < 0)
        return r;
    const struct keyed from = { NULL, value_get(&object, STR("data")) };
    if (value_at(value_get(source, STR("items")), 0))
        return put_items(p, source, &from, mode, "references non-existent secret key", err);
    put_all(p, &from, mode);
    return 0;
}

int payload_config_map(struct payload *p, const struct payload_case *c, const struct value *source,
                       struct err *err)
{
    return put_config_map(p, c, source, mode_of(value_get(source, STR("defaultMode")), MODE_USUAL),
                          err);
}

int payload_secret(struct payload *p, const struct payload_case *c, const struct value *source,
                   struct err *err)
{
    return put_secret(p, c, source, value_text(source, "secretName"),
                      mode_of(value_get(source, STR("defaultMode")), MODE_USUAL), err);
}

/* ---- Errors that come together ---- */

struct faults {
    struct arena *arena;
    struct str all;
    size_t n;
};

static void add_fault(struct faults *f, struct err *err)
{
    f->all = f->n++
                 ? arena_printf(f->arena, STR_FMT ", " STR_FMT, STR_ARG(f->all), STR_ARG(err->msg))
                 : err->msg;
    err_clear(err);
}

static int faults_result(const struct faults *f, struct err *err)
{
    if (!f->n)
        return 0;
    return err_set(err, ERR_INVALID, f->n > 1 ? "[" STR_FMT "]" : STR_FMT, STR_ARG(f->all));
}

/* ---- Fields of the pod ---- */

static int put_field(struct payload *p, const struct payload_case *c, const struct value *item,
                     unsigned mode, struct err *err)
{
    const struct value *field = value_get(item, STR("fieldRef")),
                       *resource = value_get(item, STR("resourceFieldRef"));
    struct payload_file file = { .path = path_clean(p->arena, value_text(item, "path")),
                                 .data = STR(""),
                                 .mode = mode_of(value_get(item, STR("mode")), mode) };
    int r = 0;
    if (field)
        r = pod_field(p->arena, c->pod, value_text(field, "fieldPath"), &file.data, err);
    else if (resource)
        r = pod_resource_field(p->arena, c->pod, NULL, resource, &c->node->allocatable, &file.data,
                               err);
    if (r < 0)
        return r;
    payload_put(p, file);
    return 0;
}

static int put_downward(struct payload *p, const struct payload_case *c, const struct value *source,
                        unsigned mode, struct err *err)
{
    struct faults faults = { .arena = p->arena };
    value_each_item (item, value_get(source, STR("items")))
        if (put_field(p, c, item, mode, err) < 0)
            add_fault(&faults, err);
    return faults_result(&faults, err);
}

int payload_downward(struct payload *p, const struct payload_case *c, const struct value *source,
                     struct err *err)
{
    return put_downward(p, c, source, mode_of(value_get(source, STR("defaultMode")), MODE_USUAL),
                        err);
}

/* ---- Projected ---- */

/* What only the pod's user is to read: where all containers run as one, or share a group. */
static struct payload_file private_file(const struct payload_case *c, struct str path,
                                        struct str data, unsigned mode)
{
    int64_t group;
    struct payload_file file = { .path = path, .data = data, .mode = mode };
    file.has_user = pod_common_user(c->pod, &file.user);
    if (file.has_user || pod_fs_group(c->pod, &group))
        file.mode = MODE_PRIVATE;
    return file;
}

static struct value token_request(struct arena *a, const struct value *pod,
                                  const struct value *source)
{
    int64_t seconds;
    struct value spec = value_object(), bound = value_object(), audiences = value_array();
    struct str audience = value_text(source, "audience");
    if (audience.n)
        value_put_item(a, &audiences, value_string(audience));
    value_put_new(a, &spec, STR("audiences"), audiences);
    if (value_to_int(value_get(source, STR("expirationSeconds")), &seconds))
        value_put_new(a, &spec, STR("expirationSeconds"), value_int(seconds));
    value_put_new(a, &bound, STR("apiVersion"), value_string(STR("v1")));
    value_put_new(a, &bound, STR("kind"), value_string(STR("Pod")));
    value_put_new(a, &bound, STR("name"), value_string(pod_name(pod)));
    value_put_new(a, &bound, STR("uid"), value_string(pod_uid(pod)));
    value_put_new(a, &spec, STR("boundObjectRef"), bound);
    return spec;
}

static int put_token(struct payload *p, const struct payload_case *c, const struct value *source,
                     unsigned mode, struct err *err)
{
    struct value request = token_request(p->arena, c->pod, source), status;
    int r = c->objects->token(c->objects->arg, c->pod, &request, p->arena, &status, err);
    if (r < 0)
        return r;
    payload_put(p, private_file(c, value_text(source, "path"), value_text(&status, "token"), mode));
    return 0;
}

static int put_trust_bundle(struct payload *p, const struct payload_case *c,
                            const struct value *source, unsigned mode, struct err *err)
{
    struct value object;
    struct str name = value_text(source, "name");
    if (!name.n)
        return err_set(err, ERR_UNIMPLEMENTED,
                       "ClusterTrustBundle projection by signerName is not supported by this node; "
                       "name a bundle");
    int r = c->objects->get(c->objects->arg, "clustertrustbundles", STR(""), name, p->arena,
                            &object, err);
    if (r == -ERR_NOT_FOUND && is_optional(source)) {
        err_clear(err);
        object = value_object();
    } else if (r < 0) {
        return r;
    }
    payload_put(p, private_file(c, value_text(source, "path"),
                                value_str(value_dig(&object, "spec", "trustBundle")), mode));
    return 0;
}

static int put_source(struct payload *p, const struct payload_case *c, const struct value *source,
                      unsigned mode, struct err *err)
{
    const struct value *of;
    if ((of = value_get(source, STR("secret"))))
        return put_secret(p, c, of, value_text(of, "name"), mode, err);
    if ((of = value_get(source, STR("configMap"))))
        return put_config_map(p, c, of, mode, err);
    if ((of = value_get(source, STR("downwardAPI"))))
        return put_downward(p, c, of, mode, err);
    if ((of = value_get(source, STR("serviceAccountToken"))))
        return put_token(p, c, of, mode, err);
    if ((of = value_get(source, STR("clusterTrustBundle"))))
        return put_trust_bundle(p, c, of, mode, err);
    if (value_get(source, STR("podCertificate")))
        return err_set(err, ERR_UNIMPLEMENTED,
                       "PodCertificate projection is not supported by this node");
    return 0;
}

int payload_projected(struct payload *p, const struct payload_case *c, const struct value *source,
                      struct err *err)
{
    const unsigned mode = mode_of(value_get(source, STR("defaultMode")), MODE_USUAL);
    struct faults faults = { .arena = p->arena };
    value_each_item (one, value_get(source, STR("sources")))
        if (put_source(p, c, one, mode, err) < 0)
            add_fault(&faults, err);
    return faults_result(&faults, err);
}
