/* The first two bytes choose a type of the tables, the rest is up to three lines of JSON: a live
 * object with its managers, a configuration that is applied to it or replaces it, and a set of
 * fields. Inputs stay as they were; a set comes back from its JSON; nothing differs from itself;
 * and whoever applies by force owns afterwards exactly what he applied, and a second time changes
 * nothing of that. Managers may be of other versions of the kind. */
#include <stdlib.h>

#include "base/json.h"
#include "api/convert/convert.h"
#include "merge/managed.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct input {
    struct arena arena;
    struct managed_request req;
    struct value docs[3], empty;
    struct str texts[3];
};

static void must(bool good)
{
    if (!good)
        abort();
}

static struct str text_of(struct arena *a, const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    return arena_str(a, buf_str(&out));
}

static void check_set(struct input *in)
{
    struct arena *a = &in->arena;
    const struct fieldset *s, *back;
    if (fieldset_read(a, &in->docs[2], &s, NULL) < 0)
        return;
    struct value written = fieldset_write(a, s);
    must(fieldset_read(a, &written, &back, NULL) == 0 && fieldset_eq(s, back));
    must(!fieldset_difference(a, s, s) && fieldset_eq(fieldset_union(a, s, back), s));
    must(fieldset_eq(fieldset_intersection(a, s, back), s));
    (void)ownership_remove(a, in->req.schema, in->req.place, &in->docs[0], s);
}

static void check_self(struct input *in)
{
    struct ownership_changes c;
    struct err err = ERR_INIT(&in->arena);
    int r = ownership_compare(&in->arena, in->req.schema, in->req.place, &in->docs[0], &in->docs[0],
                              &c, &err);
    must(r < 0 ? err.msg.n : !c.removed && !c.modified && !c.added);
}

static void check_update(struct input *in)
{
    struct err err = ERR_INIT(&in->arena);
    struct value obj = value_share(&in->docs[1]);
    (void)managed_update(&in->arena, &in->req, &in->docs[0], &obj, &err);
    obj = value_share(&in->docs[1]);
    (void)managed_update(&in->arena, &in->req, NULL, &obj, &err);
}

static const struct value *fields_of(const struct value *obj, struct str manager)
{
    value_each_item (e, value_dig(obj, "metadata", "managedFields"))
        if (str_eq(value_str(value_get(e, STR("manager"))), manager) &&
            str_eq(value_str(value_get(e, STR("operation"))), STR("Apply")) &&
            !value_str(value_get(e, STR("subresource"))).n)
            return value_get(e, STR("fieldsV1"));
    return NULL;
}

/* What the manager owns is what the configuration has, but for what nobody owns. */
static void check_owned(struct input *in, const struct value *fields)
{
    struct arena *a = &in->arena;
    const struct fieldset *has, *owns = NULL;
    struct err err = ERR_INIT(a);
    struct fieldset_step meta = fieldset_name(STR("metadata")), kind = fieldset_name(STR("kind")),
                         version = fieldset_name(STR("apiVersion"));
    must(ownership_paths(a, in->req.schema, in->req.place, &in->docs[1], &has, &err) == 0);
    must(!fields || fieldset_read(a, fields, &owns, NULL) == 0);
    const struct fieldset *nobodys =
        fieldset_union(a, fieldset_of(a, &meta, 1),
                       fieldset_union(a, fieldset_of(a, &kind, 1), fieldset_of(a, &version, 1)));
    must(fieldset_eq(fieldset_without(a, has, nobodys), fieldset_without(a, owns, nobodys)));
}

static void check_apply(struct input *in)
{
    struct arena *a = &in->arena;
    struct err err = ERR_INIT(a);
    struct value once, twice;
    (void)managed_apply(a, &in->req, &in->docs[0], &in->docs[1], false, &once, &err);
    err_clear(&err);
    if (managed_check(a, &in->req, &in->docs[1], &err) < 0 ||
        managed_apply(a, &in->req, &in->docs[0], &in->docs[1], true, &once, &err) < 0) {
        must(err.msg.n);
        return;
    }
    const struct value *x = fields_of(&once, in->req.manager);
    if (value_is(value_get(&once, STR("metadata")), VALUE_OBJECT)) /* where managers have a place */
        check_owned(in, x);
    if (managed_apply(a, &in->req, &once, &in->docs[1], true, &twice, &err) < 0)
        return;
    const struct value *y = fields_of(&twice, in->req.manager);
    must(x && y ? value_eq(x, y) : !x && !y);
}

static bool read_docs(struct input *in, struct str text)
{
    static const struct json_options shallow = { .max_depth = 400 };
    for (size_t i = 0; i < 3; i++) {
        struct str line = str_cut(&text, '\n');
        in->docs[i] = value_object();
        if (line.n && json_read(&in->arena, line, &shallow, &in->docs[i], NULL) < 0)
            return false;
        value_drop_duplicates(&in->arena, &in->docs[i]);
        in->texts[i] = text_of(&in->arena, &in->docs[i]);
    }
    return in->docs[0].type == VALUE_OBJECT && in->docs[1].type == VALUE_OBJECT;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 2)
        return 0;
    const struct kind_type *type = &kind_types[(bytes[0] * 256u + bytes[1]) % n_kind_types];
    struct input in = { .empty = value_object() };
    in.req = (struct managed_request){ .schema = &ownership_kinds,
                                       .place = ownership_kind(type),
                                       .manager = STR("fuzz"),
                                       .now = STR("2001-02-03T04:05:06Z"),
                                       .empty = &in.empty,
                                       .versions = &managed_kinds };
    arena_init(&in.arena);
    in.req.api_version = convert_api_version(&in.arena, type);
    if (read_docs(&in, (struct str){ (const char *)bytes + 2, n - 2 })) {
        check_set(&in);
        check_self(&in);
        check_update(&in);
        check_apply(&in);
        for (size_t i = 0; i < 3; i++)
            must(str_eq(text_of(&in.arena, &in.docs[i]), in.texts[i]));
    }
    arena_done(&in.arena);
    return 0;
}
