#include "server/discovery/openapi_custom.h"

#include <stdio.h>

#include "api/openapi/openapi.h"
#include "base/crc32c.h"
#include "base/idiom.h"
#include "base/json.h"

#include "base/banned.h"

/* ---- A schema as it is published ---- */

struct publisher {
    struct arena *a;
    bool swagger;
};

static bool is_true(const struct value *props, struct str key)
{
    const struct value *v = value_get(props, key);
    return value_is(v, VALUE_BOOL) && v->b;
}

static bool preserves(const struct value *props)
{
    return is_true(props, STR("x-kubernetes-preserve-unknown-fields"));
}

/* Swagger cannot say these, and old clients stumble over what is left of them. */
static bool is_dropped(const struct publisher *p, const struct value *props, struct str key)
{
    static const struct str choices[] = { STR("allOf"), STR("anyOf"), STR("oneOf"), STR("not"),
                                          STR("nullable") };
    bool nullable = is_true(props, STR("nullable"));
    struct str type = value_str(value_get(props, STR("type")));
    if (!p->swagger)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        if (str_eq(key, choices[i]))
            return true;
    if (str_eq(key, STR("items")) || str_eq(key, STR("properties")))
        return nullable || preserves(props);
    bool no_items = nullable || preserves(props) || !value_get(props, STR("items"));
    return str_eq(key, STR("type")) && (nullable || (str_eq(type, STR("array")) && no_items) ||
                                        (str_eq(type, STR("object")) && preserves(props)));
}

static struct value text(struct arena *a, struct str field)
{
    struct value v = value_object();
    value_put_new(a, &v, STR("type"), value_string(STR("string")));
    value_put_new(a, &v, STR("description"), value_string(openapi_common_help(field)));
    return v;
}

static struct value meta_ref(struct publisher *p)
{
    autobuf ref = { 0 };
    struct value v = value_object(), to = value_object(), all = value_array();
    openapi_meta_ref(&ref, STR("ObjectMeta"), p->swagger);
    value_put_new(p->a, &to, STR("$ref"), value_string(arena_str(p->a, buf_str(&ref))));
    if (p->swagger) {
        v = to;
    } else {
        value_put_item(p->a, &all, to);
        value_put_new(p->a, &v, STR("allOf"), all);
    }
    value_put_new(p->a, &v, STR("description"), value_string(openapi_common_help(STR("metadata"))));
    return v;
}

/* apiVersion, kind and metadata, which definitions need not mention. */
static void add_meta(struct publisher *p, struct value *schema)
{
    struct value *properties = value_ensure(p->a, schema, STR("properties"));
    static const struct str names[] = { STR("apiVersion"), STR("kind") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        value_put(p->a, properties, names[i], text(p->a, names[i]));
    value_put(p->a, properties, STR("metadata"), meta_ref(p));
}

static struct value publish(struct publisher *p, const struct value *props);

static struct value publish_each(struct publisher *p, const struct value *map)
{
    struct value out = value_object();
    value_each_field (f, map)
        value_put_new(p->a, &out, f->key, publish(p, &f->val));
    return out;
}

/* Without the names of properties that may be null: in Swagger they may be anything. */
static struct value publish_required(struct publisher *p, const struct value *props,
                                     const struct value *required)
{
    struct value out = value_array();
    bool filtered = p->swagger && !is_dropped(p, props, STR("properties"));
    bool none =
        p->swagger && is_true(value_get(props, STR("additionalProperties")), STR("nullable"));
    value_each_item (it, none ? NULL : required) {
        const struct value *of = value_get(value_get(props, STR("properties")), value_str(it));
        if (!filtered || !is_true(of, STR("nullable")))
            value_put_item(p->a, &out, value_borrow(it));
    }
    return out;
}

/* An object inside of another always says what it is. */
static void require_type_meta(struct publisher *p, struct value *schema)
{
    static const struct str names[] = { STR("kind"), STR("apiVersion") };
    struct value *required = value_edit(p->a, schema, STR("required"));
    if (!required)
        required = value_set(p->a, schema, STR("required"), value_array());
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool has = false;
        value_each_item (it, required)
            has |= str_eq(value_str(it), names[i]);
        if (!has)
            value_put_item(p->a, required, value_string(names[i]));
    }
}

static struct value publish(struct publisher *p, const struct value *props)
{
    struct value out = value_object();
    if (!value_is(props, VALUE_OBJECT))
        return value_borrow(props);
    value_each_field (f, props) {
        if (is_dropped(p, props, f->key))
            continue;
        struct value v =
            str_eq(f->key, STR("properties")) ? publish_each(p, &f->val)
            : str_eq(f->key, STR("items")) || str_eq(f->key, STR("additionalProperties"))
                ? publish(p, &f->val)
            : str_eq(f->key, STR("required")) ? publish_required(p, props, &f->val)
                                              : value_borrow(&f->val);
        if (v.type != VALUE_ARRAY || v.n)
            value_put_new(p->a, &out, f->key, v);
    }
    if (is_true(props, STR("x-kubernetes-embedded-resource")) &&
        !(p->swagger && preserves(props))) {
        add_meta(p, &out);
        require_type_meta(p, &out);
    }
    return out;
}

/* ---- A kind ---- */

static void add_gvk(struct arena *a, struct value *schema, const struct kind_type *t)
{
    struct value list = value_array(), gvk = value_object();
    value_put_new(a, &gvk, STR("group"), value_string(t->group));
    value_put_new(a, &gvk, STR("kind"), value_string(t->name));
    value_put_new(a, &gvk, STR("version"), value_string(t->version));
    value_put_item(a, &list, gvk);
    value_put(a, schema, STR("x-kubernetes-group-version-kind"), list);
}

struct source {
    struct openapi_custom hook; /* first: it is what the documents have */
    struct custom_kinds *kinds;
};

static bool read_definition(const struct openapi_custom *hook, struct arena *a,
                            const struct kind_type *t, struct value *ret)
{
    const struct source *s = (const struct source *)hook;
    struct err err = ERR_INIT(a);
    uint64_t rev;
    struct str name = custom_version_of_type(t)->of->name;
    return custom_read_definition(s->kinds, a, name, ret, &rev, &err) == 1;
}

/* Paths are told without the dot that they begin with. */
static struct value selectable_fields(struct arena *a, const struct value *crd, struct str version)
{
    struct value out = value_array();
    value_each_item (v, value_dig(crd, "spec", "versions")) {
        if (!str_eq(value_str(value_get(v, STR("name"))), version))
            continue;
        value_each_item (it, value_get(v, STR("selectableFields"))) {
            struct str path = value_str(value_get(it, STR("jsonPath")));
            struct value field = value_object();
            if (str_starts(path, STR(".")))
                path = str_skip(path, 1);
            value_put_new(a, &field, STR("fieldPath"), value_string(path));
            value_put_item(a, &out, field);
        }
    }
    return out;
}

static void write_selectable(const struct openapi_custom *hook, struct buf *out,
                             const struct kind_type *t)
{
    struct arena a;
    struct value crd, fields = value_null();
    arena_init(&a);
    if (read_definition(hook, &a, t, &crd))
        fields = selectable_fields(&a, &crd, t->version);
    if (fields.n) {
        buf_str_add(out, STR(",\"x-kubernetes-selectable-fields\":"));
        json_write(out, &fields);
    }
    arena_done(&a);
}

/* Of a kind whose unknown fields are kept Swagger says nothing: clients would refuse them. */
static void write_schema(const struct openapi_custom *hook, struct buf *out,
                         const struct kind_type *t, bool swagger)
{
    const struct custom_version *v = custom_version_of_type(t);
    struct arena a;
    arena_init(&a);
    struct publisher p = { &a, swagger };
    struct value crd, schema = value_object();
    const struct value *props = NULL;
    if (read_definition(hook, &a, t, &crd))
        props = custom_find_schema(&crd, t->version);
    bool open = !props || (swagger && (preserves(props) || v->kind.keeps_unknown));
    if (!open) {
        schema = publish(&p, props);
        add_meta(&p, &schema);
    }
    value_put(&a, &schema, STR("type"), value_string(STR("object")));
    add_gvk(&a, &schema, t);
    json_write(out, &schema);
    out->n--; /* open again */
    write_selectable(hook, out, t);
    buf_byte(out, '}');
    arena_done(&a);
}

/* ---- Documents ---- */

void openapi_custom_tag(const struct catalog *c, const struct catalog_version *v,
                        char ret[OPENAPI_TAG_BYTES + 1])
{
    uint32_t crc = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->n_customs; i++) {
        const struct custom *custom = c->customs[i];
        bool of_it = !v || (str_eq(custom->group, v->group) && custom_served(custom, v->version));
        if (!of_it)
            continue;
        crc = crc32c(crc, custom->name.p, custom->name.n);
        crc = crc32c(crc, &custom->rev, sizeof(custom->rev));
        n++;
    }
    snprintf(ret, OPENAPI_TAG_BYTES + 1, "%08X%08X", crc, (unsigned)n);
}

void openapi_custom_version(struct buf *out, struct arena *a, struct custom_kinds *kinds,
                            const struct catalog_version *v)
{
    struct source s = { { write_schema, write_selectable }, kinds };
    struct kind_resource *resources = arena_array(a, struct kind_resource, v->n);
    for (size_t i = 0; i < v->n; i++)
        resources[i] = *v->resources[i];
    const struct kind_version version = { v->group, v->version, false, resources, v->n };
    openapi_version(out, &version, &s.hook);
}

void openapi_custom_swagger(struct buf *paths, struct buf *definitions, struct custom_kinds *kinds,
                            const struct kind_resource *r)
{
    struct source s = { { write_schema, write_selectable }, kinds };
    openapi_swagger_kind(paths, definitions, r, &s.hook);
}
