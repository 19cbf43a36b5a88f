#include "merge/last_applied.h"

#include "base/json.h"
#include "base/limits.h"
#include "merge/sorted.h"

#include "base/banned.h"

static const struct str annotation = STR("kubectl.kubernetes.io/last-applied-configuration");

static struct str annotation_of(const struct value *obj)
{
    return value_str(value_get(value_dig(obj, "metadata", "annotations"), annotation));
}

const struct fieldset *last_applied_paths(struct arena *a, const struct managed_request *req,
                                          const struct value *live)
{
    struct value last;
    struct ownership_changes changes;
    const struct fieldset *paths;
    struct str text = annotation_of(live);
    if (!text.n || json_read(a, text, NULL, &last, NULL) < 0)
        return NULL;
    value_drop_duplicates(a, &last);
    if (!str_eq(value_str(value_get(&last, STR("apiVersion"))), req->api_version) ||
        !str_eq(value_str(value_get(&last, STR("kind"))), value_str(value_get(live, STR("kind")))))
        return NULL;
    if (ownership_paths(a, req->schema, req->place, &last, &paths, NULL) < 0 ||
        ownership_compare(a, req->schema, req->place, &last, live, &changes, NULL) < 0)
        return NULL;
    paths = fieldset_difference(a, paths, changes.modified);
    paths = fieldset_difference(a, paths, changes.added);
    return fieldset_difference(a, paths, changes.removed);
}

/* Sorted by names as Go writes a map; what lies deeper than anybody can own stays as it was. */
static struct value in_order(struct arena *a, const struct value *v, size_t depth)
{
    struct value out = value_borrow(v);
    if (depth > LIMIT_FIELD_DEPTH)
        return out;
    if (v->type == VALUE_ARRAY) {
        out = value_array();
        value_each_item (it, v)
            value_put_item(a, &out, in_order(a, it, depth + 1));
    } else if (v->type == VALUE_OBJECT) {
        struct sorted s = sorted_fields(a, v);
        out = value_object();
        for (size_t i = 0; i < s.n; i++)
            value_put_new(a, &out, s.fields[i]->key, in_order(a, &s.fields[i]->val, depth + 1));
    }
    return out;
}

/* As Go's encoder writes it: with HTML escaped, and a newline behind it. */
static struct str text_of(struct arena *a, const struct value *config)
{
    struct value sorted = in_order(a, config, 0);
    autobuf json = { 0 }, out = { 0 };
    json_write(&json, &sorted);
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(&out, "\\u%04x", (unsigned)c);
        else
            buf_byte(&out, c);
    }
    buf_byte(&out, '\n');
    return arena_str(a, buf_str(&out));
}

void last_applied_write(struct arena *a, const struct value *applied, struct value *obj)
{
    struct value config = value_borrow(applied);
    if (!annotation_of(obj).n)
        return;
    struct value *meta = value_edit(a, &config, STR("metadata"));
    struct value *own = meta ? value_edit(a, meta, STR("annotations")) : NULL;
    if (value_is(own, VALUE_OBJECT))
        value_drop(a, own, annotation);
    meta = value_edit(a, obj, STR("metadata"));
    value_put(a, value_edit(a, meta, STR("annotations")), annotation,
              value_string(text_of(a, &config)));
}
