#include "server/object/stored.h"

#include <assert.h>

#include "base/json.h"
#include "base/banned.h"

enum { FORMAT_JSON_V1 = 'J', FORMAT_CUSTOM_V1 = 'C', HEAD_BYTES = 9, CUSTOM_BYTES = 14 };

/* ---- Keys ---- */

struct str stored_key(struct arena *a, const struct kind_resource *r, struct str ns,
                      struct str name)
{
    bool in_ns = r->namespaced && ns.n;
    size_t n = r->etcd_prefix.n + 1 + (in_ns ? ns.n + 1 : 0) + name.n;
    char *p = arena_alloc(a, n, 1), *at = p;
    memcpy(at, r->etcd_prefix.p, r->etcd_prefix.n);
    at += r->etcd_prefix.n;
    *at++ = '/';
    if (in_ns) {
        memcpy(at, ns.p, ns.n);
        at += ns.n;
        *at++ = '/';
    }
    if (name.n)
        memcpy(at, name.p, name.n);
    return (struct str){ p, n };
}

void stored_key_parts(const struct kind_resource *r, struct str key, struct str *ret_ns,
                      struct str *ret_name)
{
    struct str rest = str_skip(key, r->etcd_prefix.n + 1);
    *ret_ns = STR("");
    if (r->namespaced)
        *ret_ns = str_cut(&rest, '/');
    *ret_name = rest;
}

static const struct kind_resource *resource_at(struct str prefix)
{
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            if (kind_stored(r) == r && str_eq(r->etcd_prefix, prefix))
                return r;
        }
    return NULL;
}

const struct kind_resource *stored_resource(struct str key)
{
    struct str root = STR("/registry/"), rest = str_skip(key, root.n), word = str_cut(&rest, '/');
    if (!str_starts(key, root) || !rest.n)
        return NULL;
    const struct kind_resource *r = resource_at(str_take(key, root.n + word.n));
    if (r)
        return r;
    struct str next = str_cut(&rest, '/');
    return rest.n ? resource_at(str_take(key, root.n + word.n + 1 + next.n)) : NULL;
}

/* ---- Writing ---- */

static void put_u32(char *p, size_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (char)(unsigned char)(n >> (8 * i));
}

static size_t get_u32(const char *p)
{
    size_t n = 0;
    for (int i = 0; i < 4; i++)
        n |= (size_t)(unsigned char)p[i] << (8 * i);
    return n;
}

/* Fields that come before resourceVersion in the order that clients know. */
static bool before_revision(struct str field)
{
    return str_eq(field, STR("name")) || str_eq(field, STR("generateName")) ||
           str_eq(field, STR("namespace")) || str_eq(field, STR("selfLink")) ||
           str_eq(field, STR("uid"));
}

static void write_field(struct buf *out, const struct value_field *f)
{
    json_write_string(out, f->key);
    buf_byte(out, ':');
    json_write(out, &f->val);
    buf_byte(out, ',');
}

/* Every field with a comma behind it; the last one's becomes the closing brace. */
static size_t write_meta(struct buf *out, const struct value *meta)
{
    buf_byte(out, '{');
    value_each_field (f, meta)
        if (before_revision(f->key))
            write_field(out, f);
    size_t at = out->n;
    value_each_field (g, meta)
        if (!before_revision(g->key) && !str_eq(g->key, STR("resourceVersion")))
            write_field(out, g);
    assert(at < out->n); /* there is a creationTimestamp */
    out->p[out->n - 1] = '}';
    return at;
}

/* The JSON, and into the head in front of it where things are. */
static void write_object(struct buf *out, size_t head_at, const struct value *obj)
{
    size_t start = out->n;
    buf_str_add(out, STR("{\"metadata\":"));
    size_t revision_at = write_meta(out, value_get(obj, STR("metadata")));
    size_t meta_end = out->n;
    value_each_field (f, obj) {
        if (str_eq(f->key, STR("metadata")) || str_eq(f->key, STR("kind")) ||
            str_eq(f->key, STR("apiVersion")))
            continue;
        buf_byte(out, ',');
        json_write_string(out, f->key);
        buf_byte(out, ':');
        json_write(out, &f->val);
    }
    buf_byte(out, '}');
    put_u32(out->p + head_at + 1, revision_at - start);
    put_u32(out->p + head_at + 5, meta_end - start);
}

static void write_custom(struct buf *out, uint32_t mark, struct str version,
                         const struct value *obj)
{
    size_t at = out->n;
    char head[CUSTOM_BYTES] = { FORMAT_CUSTOM_V1 };
    assert(version.n <= UINT8_MAX);
    put_u32(head + HEAD_BYTES, mark);
    head[CUSTOM_BYTES - 1] = (char)(unsigned char)version.n;
    buf_add(out, head, sizeof(head));
    buf_str_add(out, version);
    write_object(out, at, obj);
}

void stored_write(struct buf *out, const struct kind_resource *r, const struct value *obj)
{
    const struct kind_custom *custom = r ? r->type->custom : NULL;
    if (custom) {
        write_custom(out, custom->mark, r->version, obj);
        return;
    }
    size_t at = out->n;
    char head[HEAD_BYTES] = { FORMAT_JSON_V1 };
    buf_add(out, head, sizeof(head));
    write_object(out, at, obj);
}

void stored_write_foreign(struct buf *out, struct str version, const struct value *obj)
{
    write_custom(out, 0, version, obj);
}

void stored_write_like(struct buf *out, const struct store_entry *e, const struct value *obj)
{
    struct stored s;
    if (stored_open(e, &s, NULL) == 0 && s.version.p) {
        write_custom(out, s.mark, s.version, obj);
        return;
    }
    size_t at = out->n;
    char head[HEAD_BYTES] = { FORMAT_JSON_V1 };
    buf_add(out, head, sizeof(head));
    write_object(out, at, obj);
}

/* ---- Reading ---- */

/* How long the head is; 0 if it is none. */
static size_t head_bytes(struct str bytes)
{
    if (bytes.n > HEAD_BYTES && bytes.p[0] == FORMAT_JSON_V1)
        return HEAD_BYTES;
    if (bytes.n > CUSTOM_BYTES && bytes.p[0] == FORMAT_CUSTOM_V1)
        return CUSTOM_BYTES + (unsigned char)bytes.p[CUSTOM_BYTES - 1];
    return 0;
}

int stored_open(const struct store_entry *e, struct stored *ret, struct err *err)
{
    size_t head = head_bytes(e->value);
    struct str json = str_skip(e->value, head);
    size_t revision_at = head ? get_u32(e->value.p + 1) : 0,
           meta_end = head ? get_u32(e->value.p + 5) : 0;
    if (revision_at < 1 || revision_at >= meta_end || meta_end >= json.n)
        return err_set(err, ERR_DAMAGED, "the stored bytes of " STR_FMT " are no object",
                       STR_ARG(e->key));
    *ret = (struct stored){
        .head = { json.p + 1, revision_at - 1 },
        .meta = { json.p + revision_at, meta_end - revision_at },
        .tail = { json.p + meta_end, json.n - meta_end },
        .rev = e->mod_rev,
    };
    if (e->value.p[0] == FORMAT_CUSTOM_V1) {
        ret->version = str_take(str_skip(e->value, CUSTOM_BYTES), head - CUSTOM_BYTES);
        ret->mark = (uint32_t)get_u32(e->value.p + HEAD_BYTES);
    }
    return 0;
}

bool stored_is_same(struct str was, struct str now)
{
    enum { MARK_BYTES = CUSTOM_BYTES - 1 - HEAD_BYTES };
    bool is_foreign = was.n > CUSTOM_BYTES && was.p[0] == FORMAT_CUSTOM_V1 &&
                      !get_u32(was.p + HEAD_BYTES) && now.n == was.n;
    if (!is_foreign)
        return str_eq(was, now);
    return str_eq(str_take(was, HEAD_BYTES), str_take(now, HEAD_BYTES)) &&
           str_eq(str_skip(was, HEAD_BYTES + MARK_BYTES), str_skip(now, HEAD_BYTES + MARK_BYTES));
}

static bool fits_type(const struct store_entry *e, const struct kind_type *t)
{
    struct stored s = { 0 };
    return !t || !t->custom ||
           (stored_open(e, &s, NULL) == 0 && s.mark == t->custom->mark &&
            str_eq(s.version, t->version));
}

bool stored_fits(const struct store_entry *e, const struct kind_resource *r)
{
    return fits_type(e, r->type);
}

/* Quotes inside of text are escaped, so this can only be the name of a field, and no other field of
 * the metadata has one of that name. */
void stored_hide_managers(struct stored *s)
{
    static const char name[] = ",\"managedFields\":[";
    const char *at = memmem(s->meta.p, s->meta.n, name, sizeof(name) - 1);
    if (!at)
        return;
    s->meta.n = (size_t)(at - s->meta.p);
    s->meta_end = STR("}");
}

/* Likewise. */
bool stored_is_uninitialized(const struct store_entry *e)
{
    static const char name[] = ",\"initializers\":{\"pending\":";
    struct stored s = { 0 };
    return stored_open(e, &s, NULL) == 0 && memmem(s.meta.p, s.meta.n, name, sizeof(name) - 1);
}

static void splice_meta(struct buf *out, const struct stored *s)
{
    buf_str_add(out, s->head);
    buf_str_add(out, STR("\"resourceVersion\":\""));
    json_write_int(out, (int64_t)s->rev);
    buf_str_add(out, STR("\","));
    buf_str_add(out, s->meta);
    buf_str_add(out, s->meta_end);
}

/* Custom objects have their fields by name. */
static void add_type(struct buf *out, const struct kind_type *type)
{
    if (!type->custom) {
        buf_str_add(out, STR("\"kind\":\""));
        buf_str_add(out, type->name);
        buf_str_add(out, STR("\","));
    }
    buf_str_add(out, STR("\"apiVersion\":\""));
    if (type->group.n) {
        buf_str_add(out, type->group);
        buf_byte(out, '/');
    }
    buf_str_add(out, type->version);
    buf_str_add(out, STR("\","));
    if (type->custom) {
        buf_str_add(out, STR("\"kind\":\""));
        buf_str_add(out, type->name);
        buf_str_add(out, STR("\","));
    }
}

void stored_splice(struct buf *out, const struct stored *s, const struct kind_type *type)
{
    buf_reserve(out, s->head.n + s->meta.n + s->tail.n + 200);
    buf_byte(out, '{');
    if (type)
        add_type(out, type);
    splice_meta(out, s);
    buf_str_add(out, s->tail);
}

void stored_splice_meta(struct buf *out, const struct stored *s, bool beta)
{
    buf_str_add(out, STR("{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1"));
    buf_str_add(out, beta ? STR("beta1\",") : STR("\","));
    splice_meta(out, s);
    buf_byte(out, '}');
}

/* The whole text, in the arena: the tree points into it. */
static struct str spliced(struct arena *a, const struct stored *s, const struct kind_type *type)
{
    size_t names = type ? type->group.n + type->version.n + type->name.n : 0,
           size = s->head.n + s->meta.n + s->tail.n + names + 256;
    struct buf text = { arena_alloc(a, size, 1), 0, size };
    const char *p = text.p;
    stored_splice(&text, s, type);
    assert(text.p == p); /* there was room for all of it */
    return buf_str(&text);
}

static int read_spliced(struct arena *a, struct str text, const struct store_entry *e,
                        struct value *ret, struct err *err)
{
    int r = json_read(a, text, NULL, ret, err);
    if (r < 0)
        return err_set(err, ERR_DAMAGED, "the stored bytes of " STR_FMT " are no object",
                       STR_ARG(e->key));
    return 0;
}

int stored_read(struct arena *a, const struct kind_type *type, const struct store_entry *e,
                struct value *ret, struct err *err)
{
    struct stored s = { 0 };
    int r = stored_open(e, &s, err);
    if (r < 0)
        return r;
    struct str text = spliced(a, &s, type);
    if (fits_type(e, type))
        return read_spliced(a, text, e, ret, err);
    struct value was;
    r = read_spliced(a, text, e, &was, err);
    return r < 0 ? r : type->custom->fit(a, type, s.version, &was, ret, err);
}

int stored_read_meta(struct arena *a, const struct store_entry *e, struct value *ret,
                     struct err *err)
{
    struct stored s = { 0 };
    int r = stored_open(e, &s, err);
    if (r < 0)
        return r;
    autobuf text = { 0 };
    buf_byte(&text, '{');
    splice_meta(&text, &s);
    buf_byte(&text, '}');
    return read_spliced(a, arena_str(a, buf_str(&text)), e, ret, err);
}
