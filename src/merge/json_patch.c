/* What differs from the letter of RFC 6902, because clients see it so: `replace` and `copy` accept
 * a field that is not there (a copy of it is null), `test` takes a missing field for null, negative
 * indexes count from the end, "+1" and "01" are indexes, `add` and `remove` cannot have the whole
 * document for their target, and a pointer need not begin with a slash. */
#include "merge/json_patch.h"

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "merge/patch_doc.h"
#include "base/banned.h"

/* ---- checking ---- */

/* One operation, as the server's decoder sees it. */
static const struct kind_field operation_fields[] = {
    { .name = { "op", 2 }, .scalar = KIND_STRING },
    { .name = { "path", 4 }, .scalar = KIND_STRING },
    { .name = { "from", 4 }, .scalar = KIND_STRING },
    { .name = { "value", 5 }, .scalar = KIND_ANY },
};
static const uint16_t operation_by_name[] = { 2, 0, 1, 3 };
static const struct kind_type operation_type = {
    .name = { "jsonPatchOp", 11 },
    .version = { "handlers", 8 },
    .fields = operation_fields,
    .by_name = operation_by_name,
    .n_fields = 4,
};

static const char *go_name(const struct value *v)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",     [VALUE_BOOL] = "bool",     [VALUE_INT] = "number",
        [VALUE_NUMBER] = "number", [VALUE_STRING] = "string", [VALUE_ARRAY] = "array",
        [VALUE_OBJECT] = "object",
    };
    return names[v->type];
}

/* `unknown field "x"` of one operation, as a note on the patch. */
static void add_note(struct arena *a, struct typed_notes *notes, size_t i, struct str note)
{
    if (notes->n++ >= TYPED_NOTES_MAX)
        return;
    struct str path = note;
    struct str what = str_cut(&path, '"');
    notes->notes[notes->n - 1] =
        arena_printf(a, "json patch " STR_FMT "\"[%zu]." STR_FMT, STR_ARG(what), i, STR_ARG(path));
}

static int check_operation(struct arena *a, const struct value *op, size_t i,
                           struct typed_notes *notes, struct err *err)
{
    struct typed_notes of_op;
    of_op.n = 0;
    struct value ignored;
    int r = typed_read(a, &operation_type, op, &of_op, &ignored, err);
    if (r < 0)
        return err_wrap(err, "error decoding patch");
    for (size_t k = 0; k < of_op.n && k < TYPED_NOTES_MAX; k++)
        add_note(a, notes, i, of_op.notes[k]);
    return 0;
}

int json_patch_check(struct arena *a, const struct value *patch, struct typed_notes *notes,
                     struct err *err)
{
    if (patch->type == VALUE_NULL)
        return 0;
    if (patch->type != VALUE_ARRAY)
        return err_set(err, ERR_BAD_REQUEST, "%sjson: cannot unmarshal %s into Go value of type %s",
                       notes ? "error decoding patch: " : "", go_name(patch),
                       notes ? "[]handlers.jsonPatchOp" : "jsonpatch.Patch");
    for (uint32_t i = 0; i < patch->n; i++) {
        const struct value *op = &patch->items[i];
        if (op->type == VALUE_NULL)
            continue;
        if (!notes && op->type != VALUE_OBJECT)
            return err_set(err, ERR_BAD_REQUEST,
                           "json: cannot unmarshal %s into Go value of type "
                           "jsonpatch.Operation",
                           go_name(op));
        int r = notes ? check_operation(a, op, i, notes, err) : 0;
        if (r < 0)
            return r;
    }
    if (patch->n > LIMIT_PATCH_OPERATIONS)
        return err_set(err, ERR_TOO_LARGE,
                       "Request entity too large: The allowed maximum operations in a JSON patch "
                       "is %u, got %u",
                       LIMIT_PATCH_OPERATIONS, patch->n);
    return 0;
}

/* ---- the operations ---- */

struct run {
    struct patch_doc doc;
    size_t copied; /* bytes that `copy` has repeated */
};

/* The last member of that name: duplicates may be there. */
static const struct value *member(const struct value *op, struct str name)
{
    const struct value *found = NULL;
    value_each_field (f, op) {
        if (str_eq(f->key, name))
            found = &f->val;
    }
    return found;
}

/* Where the pointer in the member `name` leads. */
static bool find(struct run *run, const struct value *op, struct str name, struct patch_box **ret,
                 struct str *ret_key)
{
    const struct value *pointer = member(op, name);
    return value_is(pointer, VALUE_STRING) &&
           patch_doc_find(&run->doc, value_str(pointer), ret, ret_key);
}

static bool is_root(const struct value *op)
{
    const struct value *path = member(op, STR("path"));
    return value_is(path, VALUE_STRING) && !path->n;
}

/* A missing value is null. */
static struct patch_slot new_slot(const struct value *op)
{
    const struct value *v = member(op, STR("value"));
    return (struct patch_slot){ .v = v ? value_borrow(v) : value_null() };
}

static bool do_add(struct run *run, const struct value *op)
{
    struct patch_box *box;
    struct str key;
    return find(run, op, STR("path"), &box, &key) &&
           patch_box_add(&run->doc, box, key, new_slot(op));
}

static bool do_remove(struct run *run, const struct value *op)
{
    struct patch_box *box;
    struct str key;
    return find(run, op, STR("path"), &box, &key) && patch_box_remove(box, key);
}

static bool do_replace(struct run *run, const struct value *op)
{
    struct patch_slot slot = new_slot(op);
    if (is_root(op)) {
        run->doc.root = slot;
        return slot.v.type == VALUE_OBJECT || slot.v.type == VALUE_ARRAY;
    }
    struct patch_box *box;
    struct str key;
    struct patch_slot *old;
    if (!find(run, op, STR("path"), &box, &key) || !patch_box_get(box, key, &old))
        return false;
    if (!old)
        return patch_box_add(&run->doc, box, key, slot);
    *old = slot;
    return true;
}

static bool do_move(struct run *run, const struct value *op)
{
    struct patch_box *box;
    struct str key;
    struct patch_slot *from;
    if (!find(run, op, STR("from"), &box, &key) || !patch_box_get(box, key, &from) || !from)
        return false;
    struct patch_slot moved = *from;
    return patch_box_remove(box, key) && find(run, op, STR("path"), &box, &key) &&
           patch_box_add(&run->doc, box, key, moved);
}

/* Counts before it repeats anything: a few dozen operations can double a document each. */
static bool copy_slot(struct run *run, const struct patch_slot *from, struct patch_slot *ret)
{
    *ret = (struct patch_slot){ .v = value_null() };
    if (!from)
        return true;
    if (!patch_slot_write(run->doc.arena, from, LIMIT_JSON_DEPTH, &ret->v))
        return false;
    run->copied += json_length(&ret->v);
    return run->copied <= LIMIT_PATCH_COPY_BYTES;
}

static bool do_copy(struct run *run, const struct value *op)
{
    struct patch_box *box;
    struct str key;
    struct patch_slot *from, copy;
    return find(run, op, STR("from"), &box, &key) && patch_box_get(box, key, &from) &&
           find(run, op, STR("path"), &box, &key) && copy_slot(run, from, &copy) &&
           patch_box_add(&run->doc, box, key, copy);
}

static bool do_test(struct run *run, const struct value *op)
{
    const struct value *want = member(op, STR("value"));
    if (is_root(op))
        return want && patch_slot_eq(run->doc.arena, &run->doc.root, want);
    struct patch_box *box;
    struct str key;
    struct patch_slot *slot;
    if (!find(run, op, STR("path"), &box, &key) || !patch_box_get(box, key, &slot))
        return false;
    const struct value nothing = value_null();
    const struct patch_slot missing = { .v = value_null() };
    return patch_slot_eq(run->doc.arena, slot ? slot : &missing, want ? want : &nothing);
}

static bool run_operation(struct run *run, const struct value *op)
{
    static const struct {
        struct str name;
        bool (*run)(struct run *run, const struct value *op);
    } operations[] = {
        { { "add", 3 }, do_add },         { { "remove", 6 }, do_remove },
        { { "replace", 7 }, do_replace }, { { "move", 4 }, do_move },
        { { "copy", 4 }, do_copy },       { { "test", 4 }, do_test },
    };
    struct str name = value_str(member(op, STR("op")));
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        if (str_eq(name, operations[i].name))
            return operations[i].run(run, op);
    return false;
}

/* ---- the result ---- */

/* How deep it is, or some depth beyond `most`. */
static bool is_deeper(const struct value *v, size_t most)
{
    struct level {
        const struct value *v;
        uint32_t next;
    };
    autofree struct level *open = NULL;
    size_t n = 0, cap = 0;
    while (v) {
        if (v->type == VALUE_ARRAY || v->type == VALUE_OBJECT) {
            if (n == most)
                return true;
            if (n == cap) {
                cap = cap ? 2 * cap : 32;
                open = mem_resize(open, cap, sizeof(*open));
            }
            open[n++] = (struct level){ v, 0 };
        }
        while (n && open[n - 1].next == open[n - 1].v->n)
            n--;
        if (!n)
            return false;
        struct level *top = &open[n - 1];
        uint32_t i = top->next++;
        v = top->v->type == VALUE_OBJECT ? &top->v->fields[i].val : &top->v->items[i];
    }
    return false;
}

static bool run_all(struct run *run, const struct value *patch, struct value *ret)
{
    bool good = run->doc.root.v.type == VALUE_OBJECT || run->doc.root.v.type == VALUE_ARRAY;
    value_each_item (op, patch)
        good = good && run_operation(run, op);
    return good && patch_slot_write(run->doc.arena, &run->doc.root, LIMIT_JSON_DEPTH, ret) &&
           !is_deeper(ret, LIMIT_JSON_DEPTH);
}

int json_patch_apply(struct arena *a, const struct value *patch, struct value *doc, struct err *err)
{
    struct run run = { 0 };
    struct value result;
    patch_doc_init(&run.doc, a, doc);
    bool good = run_all(&run, patch, &result);
    patch_doc_done(&run.doc);
    if (!good)
        return err_set(err, ERR_INVALID,
                       "the server rejected our request due to an error in our request");
    *doc = result;
    return 0;
}
