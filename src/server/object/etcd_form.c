#include "server/object/etcd_form.h"

#include "api/codec/proto.h"
#include "api/convert/convert.h"
#include "api/typed.h"
#include "base/json.h"
#include "server/object/stored.h"
#include "base/banned.h"

#define ROOT      STR("/registry/")
#define ENCRYPTED STR("k8s:enc:")

/* ---- On the way out ---- */

static bool is_json(const struct kind_resource *r)
{
    return r->type->flags & KIND_JSON_ONLY || str_eq(r->group, STR("apiextensions.k8s.io")) ||
           str_eq(r->group, STR("apiregistration.k8s.io"));
}

/* Kind and version in front of the stored JSON. */
static void write_json(struct buf *out, struct str group, struct str version, struct str kind,
                       const struct stored *s)
{
    buf_str_add(out, STR("{\"apiVersion\":\""));
    if (group.n)
        buf_printf(out, STR_FMT "/", STR_ARG(group));
    buf_printf(out, STR_FMT "\",\"kind\":\"" STR_FMT "\",", STR_ARG(version), STR_ARG(kind));
    buf_str_add(out, s->head);
    buf_str_add(out, s->meta);
    buf_str_add(out, s->tail);
    buf_byte(out, '\n');
}

static int write_proto(struct buf *out, struct arena *a, const struct kind_resource *r,
                       const struct store_entry *e, struct err *err)
{
    struct value obj, typed;
    int res = stored_read(a, r->type, e, &obj, err);
    if (res < 0)
        return res;
    struct value *meta = value_ensure(a, &obj, STR("metadata"));
    value_drop(a, meta, STR("resourceVersion"));
    res = typed_read(a, r->type, &obj, NULL, &typed, err);
    if (res < 0)
        return res;
    proto_envelope_write(out, r->type, &typed);
    return 0;
}

static int write_custom(const struct etcd_form *f, struct buf *out, struct arena *a, struct str key,
                        const struct stored *s, struct err *err)
{
    struct str rest = str_skip(key, ROOT.n), group = str_cut(&rest, '/'),
               plural = str_cut(&rest, '/');
    struct str kind = f->kind_of ? f->kind_of(f->arg, a, group, plural) : STR("");
    if (!kind.n)
        return err_set(err, ERR_INTERNAL, "nobody knows the kind of " STR_FMT, STR_ARG(key));
    write_json(out, group, s->version, kind, s);
    return 0;
}

/* 1 and the form of etcd, or 0: as it is. */
static int write_form(const struct etcd_form *f, struct buf *out, struct arena *a,
                      const struct store_entry *e, struct err *err)
{
    struct stored s;
    if (!str_starts(e->key, ROOT) || stored_open(e, &s, NULL) < 0)
        return 0;
    if (s.version.p)
        return write_custom(f, out, a, e->key, &s, err) < 0 ? -(int)err->code : 1;
    const struct kind_resource *r = stored_resource(e->key);
    if (!r)
        return 0;
    if (is_json(r)) {
        write_json(out, r->group, r->version, r->type->name, &s);
        return 1;
    }
    int res = write_proto(out, a, r, e, err);
    return res < 0 ? res : 1;
}

/* With the encryption around it, if there is one. */
static int seal_in(const struct etcd_form *f, struct arena *a, struct str key, struct str value,
                   struct buf *out, struct err *err)
{
    autobuf form = { 0 };
    const struct store_entry e = { .key = key, .value = value };
    int r = write_form(f, &form, a, &e, err);
    if (r < 0)
        return r;
    struct str plain = r ? buf_str(&form) : value;
    int sealed = f->inner ? f->inner->seal(f->inner, key, plain, out, err) : 0;
    if (sealed != 0)
        return sealed;
    buf_str_add(out, plain);
    return 1;
}

static int seal(struct store_codec *c, struct str key, struct str value, struct buf *out,
                struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = seal_in((const struct etcd_form *)c, &a, key, value, out, &why);
    if (r < 0)
        (void)err_set(err, (enum err_code) - r, STR_FMT, STR_ARG(why.msg));
    arena_done(&a);
    return r;
}

/* ---- On the way in ---- */

/* What stored_write() needs. */
static bool is_object(const struct value *obj)
{
    return value_is(value_dig(obj, "metadata", "creationTimestamp"), VALUE_STRING) &&
           value_is(value_dig(obj, "metadata", "name"), VALUE_STRING);
}

/* As one of the hub, which is what is stored. */
static int write_stored(struct buf *out, struct arena *a, const struct kind_type *type,
                        struct value *obj, struct err *err)
{
    const struct kind_type *hub = convert_hub(type);
    struct value converted = *obj;
    if (hub != type) {
        int r = convert_object(a, type, hub, obj, &converted, err);
        if (r < 0)
            return r;
    }
    if (!is_object(&converted))
        return err_set(err, ERR_DAMAGED, "no metadata");
    stored_write(out, NULL, &converted);
    return 0;
}

static int read_proto(struct buf *out, struct arena *a, struct str value, struct err *err)
{
    struct proto_envelope env;
    struct value obj;
    int r = proto_envelope_read(value, &env, err);
    if (r < 0)
        return r;
    const struct kind_type *type = kind_find(env.api_version, env.kind);
    if (!type)
        return err_set(err, ERR_DAMAGED, "no kind \"" STR_FMT "\" in version \"" STR_FMT "\"",
                       STR_ARG(env.kind), STR_ARG(env.api_version));
    r = proto_read(a, type, env.raw, env.api_version, env.kind, &obj, err);
    if (r < 0)
        return r;
    return write_stored(out, a, type, &obj, err);
}

static int read_json(struct buf *out, struct arena *a, struct str key, struct str value,
                     struct err *err)
{
    struct value obj, typed;
    int r = json_read(a, value, NULL, &obj, err);
    if (r < 0)
        return r;
    struct str api_version = value_text(&obj, "apiVersion"), kind = value_text(&obj, "kind");
    if (!api_version.n || !kind.n || !is_object(&obj))
        return err_set(err, ERR_DAMAGED, "no object");
    const struct kind_type *type = stored_resource(key) ? kind_find(api_version, kind) : NULL;
    if (!type) {
        struct str version = api_version;
        (void)str_cut(&version, '/');
        if (!version.n || version.n > UINT8_MAX)
            return err_set(err, ERR_DAMAGED, "no version");
        stored_write_foreign(out, version, &obj);
        return 0;
    }
    r = typed_read(a, type, &obj, NULL, &typed, err);
    if (r < 0)
        return r;
    return write_stored(out, a, type, &typed, err);
}

/* 1 and the stored form, 0 if it is no object, or why it cannot be read. */
static int read_form(struct buf *out, struct arena *a, struct str key, struct str value,
                     struct err *err)
{
    if (!str_starts(key, ROOT))
        return 0;
    if (proto_is_envelope(value)) {
        int r = read_proto(out, a, value, err);
        return r < 0 ? r : 1;
    }
    if (!str_starts(value, STR("{")))
        return 0;
    int r = read_json(out, a, key, value, err);
    return r < 0 ? r : 1;
}

int etcd_form_keep(struct store_codec *c, struct str key, struct str value, struct buf *out)
{
    struct arena a;
    (void)c;
    if (str_starts(value, ENCRYPTED))
        return 0;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = read_form(out, &a, key, value, &why);
    if (r < 0)
        buf_reset(out); /* its readers will be told */
    arena_done(&a);
    return r > 0;
}

/* What could not be turned when it came, or was encrypted. */
static int open_form(struct arena *a, struct store_entry *e, struct err *err)
{
    autobuf out = { 0 };
    struct arena own;
    arena_init(&own);
    struct err why = ERR_INIT(&own);
    int r = read_form(&out, &own, e->key, e->value, &why);
    if (r > 0)
        e->value = arena_str(a, buf_str(&out));
    bool is_damaged = r < 0 && stored_resource(e->key);
    if (is_damaged) {
        (void)err_set(err, ERR_DAMAGED, "the stored bytes of " STR_FMT " are no object: " STR_FMT,
                      STR_ARG(e->key), STR_ARG(why.msg));
        if (err)
            err_add_cause(err, STR("UnexpectedServerResponse"), STR(""),
                          arena_str(err->arena, why.msg));
    }
    arena_done(&own);
    return is_damaged ? -ERR_DAMAGED : 0;
}

static int open_value(struct store_codec *c, struct arena *a, struct store_entry *e,
                      struct err *err)
{
    const struct etcd_form *f = (const struct etcd_form *)c;
    int r = f->inner ? f->inner->open(f->inner, a, e, err) : 0;
    if (r < 0)
        return r;
    bool is_ready = e->value.n && (e->value.p[0] == 'J' || e->value.p[0] == 'C');
    return is_ready ? 0 : open_form(a, e, err);
}

void etcd_form_init(struct etcd_form *f)
{
    *f = (struct etcd_form){ .codec = { .open = open_value, .seal = seal } };
}
