#include "server/audit/audit_answer.h"

#include "api/codec/cbor.h"
#include "api/codec/proto.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "net/http/gzip.h"
#include "server/object/format.h"
#include "base/banned.h"

enum { STATUS_MAX = 256 << 10 }; /* a Status is not larger, unless it shows a huge object */

struct audit_form audit_form_of(const struct http_header *headers, size_t n)
{
    struct audit_form form = { STR(""), STR("") };
    for (size_t i = 0; i < n; i++) {
        if (str_eq(headers[i].name, STR("content-type")))
            form.type = headers[i].value;
        else if (str_eq(headers[i].name, STR("content-encoding")))
            form.encoding = headers[i].value;
    }
    return form;
}

/* ---- Reading ---- */

static int read_proto(struct arena *a, struct str body, struct value *ret, struct err *err)
{
    struct proto_envelope envelope;
    int r = proto_envelope_read(body, &envelope, err);
    if (r < 0)
        return r;
    struct str version = envelope.api_version, group = STR("");
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_type *type = kind_type_find(group, version, envelope.kind);
    if (!type) /* Status, tables and partial objects are in a group without a name in front */
        type = kind_type_find(STR("meta"), version, envelope.kind);
    if (!type)
        return err_set(err, ERR_NOT_FOUND, "no such kind");
    return proto_read(a, type, envelope.raw, envelope.api_version, envelope.kind, ret, err);
}

static int read_tree(struct arena *a, enum format_media media, struct str body, struct value *ret,
                     struct err *err)
{
    switch (media) {
    case FORMAT_JSON:
        return json_read(a, body, NULL, ret, err);
    case FORMAT_YAML:
        return yaml_read(a, body, NULL, ret, err);
    case FORMAT_PROTO:
        return read_proto(a, body, ret, err);
    case FORMAT_CBOR:
        return cbor_read(a, body, ret, err);
    }
    return -ERR_INTERNAL;
}

static bool has(struct str text, const char *word)
{
    return text.n && memmem(text.p, text.n, word, strlen(word));
}

/* Whether it is worth reading to find a Status: ours say what they are near the front. */
static bool may_be_status(struct str body)
{
    return body.n <= STATUS_MAX && has(str_take(body, 64), "Status");
}

/* Compact JSON that says of what kind it is; ours begins with that. */
static bool is_plain(enum format_media media, struct str body)
{
    return media == FORMAT_JSON && str_starts(body, STR("{\"kind\":\"")) &&
           !memchr(body.p, '\n', body.n);
}

/* ---- Managers ---- */

static void drop_of_one(struct arena *a, struct value *obj)
{
    struct value *meta = value_is(obj, VALUE_OBJECT) ? value_edit(a, obj, STR("metadata")) : NULL;
    if (value_is(meta, VALUE_OBJECT))
        value_drop(a, meta, STR("managedFields"));
}

static void drop_of_each(struct arena *a, struct value *obj, const char *list, const char *in)
{
    struct value *all = value_edit(a, obj, str_of(list));
    for (size_t i = 0; value_is(all, VALUE_ARRAY) && i < all->n; i++) {
        struct value *it = value_edit_at(a, all, i);
        if (in && value_is(it, VALUE_OBJECT))
            it = value_edit(a, it, str_of(in));
        if (it)
            drop_of_one(a, it);
    }
}

void audit_answer_drop_managers(struct arena *a, struct value *obj)
{
    if (!value_is(obj, VALUE_OBJECT))
        return;
    drop_of_one(a, obj);
    if (str_ends(value_text(obj, "kind"), STR("List")))
        drop_of_each(a, obj, "items", NULL);
    if (str_eq(value_text(obj, "kind"), STR("Table")))
        drop_of_each(a, obj, "rows", "object");
}

/* ---- The answer ---- */

struct wish {
    enum format_media media;
    bool wants_object, omits_managers;
};

static void read_body(struct arena *a, const struct wish *wish, struct str body,
                      struct audit_answer *ret)
{
    struct err why = ERR_INIT(a);
    struct value tree;
    bool may_be = may_be_status(body);
    while (body.n && body.p[body.n - 1] == '\n')
        body.n--;
    if (wish->wants_object && !may_be && !wish->omits_managers && is_plain(wish->media, body)) {
        buf_str_add(&ret->object, body);
        return;
    }
    if ((!wish->wants_object && !may_be) || read_tree(a, wish->media, body, &tree, &why) < 0 ||
        !value_text(&tree, "kind").n)
        return;
    if (str_eq(value_text(&tree, "kind"), STR("Status")))
        ret->status = tree;
    if (!wish->wants_object)
        return;
    if (wish->omits_managers)
        audit_answer_drop_managers(a, &tree);
    json_write(&ret->object, &tree);
}

void audit_answer_read(struct arena *a, const struct audit_form *form, struct str body,
                       bool wants_object, bool omits_managers, struct audit_answer *ret)
{
    struct wish wish = { .wants_object = wants_object, .omits_managers = omits_managers };
    struct err err = ERR_INIT(a);
    autobuf inflated = { 0 };
    *ret = (struct audit_answer){ .status = value_null() };
    if (!body.n || !form->type.n || !format_of_content(form->type, &wish.media))
        return;
    if (str_eq(form->encoding, STR("gzip"))) { /* only long lists are, and never a Status */
        if (wants_object && gzip_inflate(&inflated, body, LIMIT_AUDIT_OBJECT_BYTES, &err) == 0)
            read_body(a, &wish, arena_str(a, buf_str(&inflated)), ret);
        ret->is_too_large = err.code == ERR_TOO_LARGE;
        return;
    }
    if (body.n > LIMIT_AUDIT_OBJECT_BYTES)
        ret->is_too_large = wants_object;
    else
        read_body(a, &wish, body, ret);
}

void audit_answer_done(struct audit_answer *answer)
{
    buf_done(&answer->object);
}
