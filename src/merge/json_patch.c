/* What differs from the letter of RFC 6902, because clients see it so: `replace` and `copy` accept
 * a field that is not there (a copy of it is null), `test` takes a missing field for null, negative
 * indexes count from the end, "+1" and "01" are indexes, `add` and `remove` cannot have the whole
 * document for their target, and a pointer need not begin with a slash. */
#include "merge/json_patch.h"

#include <stdarg.h>

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
    size_t copied;  /* bytes that `copy` has repeated */
    struct str why; /* an operation cannot be done, in the words of upstream's library */
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

static __attribute__((format(printf, 2, 3))) bool fail(struct run *run, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    run->why = arena_vprintf(run->doc.arena, fmt, ap);
    va_end(ap);
    return false;
}

/* Where one of the two pointers of an operation leads. */
struct place {
    struct str pointer;
    struct patch_box *box;
    struct str key;
};

/* There is no such pointer; of some operations upstream does not say which. */
static bool fail_pointer(struct run *run, const char *kind, bool is_from)
{
    bool is_terse =
        !is_from && (str_eq(str_of(kind), STR("add")) || str_eq(str_of(kind), STR("remove")) ||
                     str_eq(str_of(kind), STR("copy")));
    const char *name = is_from ? "from" : "path";
    if (is_terse)
        return fail(run, "%s operation failed to decode path: missing value", kind);
    return fail(run,
                "%s operation failed to decode %s: operation%s missing %s field: missing value",
                kind, name, is_from ? "," : "", name);
}

/* `kind` is that of the operation, `lost` what upstream says where the pointer leads nowhere, with
 * its quotes. */
static bool find(struct run *run, const struct value *op, const char *kind, bool is_from,
                 const char *lost, struct place *ret)
{
    const struct value *pointer = member(op, is_from ? STR("from") : STR("path"));
    if (!value_is(pointer, VALUE_STRING))
        return fail_pointer(run, kind, is_from);
    ret->pointer = value_str(pointer);
    if (patch_doc_find(&run->doc, ret->pointer, &ret->box, &ret->key))
        return true;
    bool is_quoted = str_ends(str_of(lost), STR("\""));
    return fail(run, "%s operation does not apply: %s" STR_FMT "%s: missing value", kind, lost,
                STR_ARG(ret->pointer), is_quoted ? "\"" : "");
}

/* Why a list has no such item, or an object no such field. */
static struct str why_absent(struct run *run, const struct place *at)
{
    struct arena *a = run->doc.arena;
    int64_t index;
    if (!patch_box_is_list(at->box))
        return arena_printf(a, "Unable to remove nonexistent key: " STR_FMT ": missing value",
                            STR_ARG(at->key));
    if (patch_index(at->key, &index))
        return arena_printf(a, "Unable to access invalid index: %lld: invalid index referenced",
                            (long long)index);
    return arena_printf(a, "strconv.Atoi: parsing \"" STR_FMT "\": invalid syntax",
                        STR_ARG(at->key));
}

static bool add(struct run *run, const struct place *at, struct patch_slot slot, const char *what)
{
    int64_t index;
    if (patch_box_add(&run->doc, at->box, at->key, slot))
        return true;
    struct str why = why_absent(run, at);
    if (!patch_index(at->key, &index))
        why = arena_printf(run->doc.arena,
                           "value was not a proper array index: '" STR_FMT "': " STR_FMT,
                           STR_ARG(at->key), STR_ARG(why));
    if (!what)
        return fail(run, "error while adding value during copy: " STR_FMT, STR_ARG(why));
    return fail(run, "error in %s for path: '" STR_FMT "': " STR_FMT, what, STR_ARG(at->pointer),
                STR_ARG(why));
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
    struct place at;
    return find(run, op, "add", false, "doc is missing path: \"", &at) &&
           add(run, &at, new_slot(op), "add");
}

static bool do_remove(struct run *run, const struct value *op)
{
    struct place at;
    if (!find(run, op, "remove", false, "doc is missing path: \"", &at))
        return false;
    if (patch_box_remove(at.box, at.key))
        return true;
    return fail(run, "error in remove for path: '" STR_FMT "': " STR_FMT, STR_ARG(at.pointer),
                STR_ARG(why_absent(run, &at)));
}

static bool do_replace(struct run *run, const struct value *op)
{
    struct patch_slot slot = new_slot(op), *old;
    struct place at;
    if (is_root(op)) {
        run->doc.root = slot;
        return slot.v.type == VALUE_OBJECT || slot.v.type == VALUE_ARRAY ||
               fail(run, "replace operation value must be object or array: %%!w(<nil>)");
    }
    if (!find(run, op, "replace", false, "doc is missing path: ", &at))
        return false;
    if (!patch_box_get(at.box, at.key, &old))
        return fail(
            run, "replace operation does not apply: doc is missing key: " STR_FMT ": missing value",
            STR_ARG(at.pointer));
    if (!old)
        return patch_box_add(&run->doc, at.box, at.key, slot);
    *old = slot;
    return true;
}

static bool do_move(struct run *run, const struct value *op)
{
    struct place at;
    struct patch_slot *from;
    if (!find(run, op, "move", true, "doc is missing from path: ", &at))
        return false;
    if (!patch_box_get(at.box, at.key, &from) || !from)
        return fail(run, "error in move for path: '" STR_FMT "': " STR_FMT, STR_ARG(at.key),
                    STR_ARG(why_absent(run, &at)));
    struct patch_slot moved = *from;
    return patch_box_remove(at.box, at.key) &&
           find(run, op, "move", false, "doc is missing destination path: ", &at) &&
           add(run, &at, moved, "move");
}

/* Counts before it repeats anything: a few dozen operations can double a document each. */
static bool copy_slot(struct run *run, const struct patch_slot *from, struct patch_slot *ret)
{
    *ret = (struct patch_slot){ .v = value_null() };
    if (!from)
        return true;
    if (patch_slot_write(run->doc.arena, from, LIMIT_JSON_DEPTH, &ret->v))
        run->copied += json_length(&ret->v);
    else
        run->copied = SIZE_MAX;
    return run->copied <= LIMIT_PATCH_COPY_BYTES ||
           fail(run, "Unable to complete the copy, the accumulated size increase of copy is too "
                     "large");
}

static bool do_copy(struct run *run, const struct value *op)
{
    struct place at;
    struct patch_slot *from, copy;
    if (!find(run, op, "copy", true, "doc is missing from path: ", &at))
        return false;
    if (!patch_box_get(at.box, at.key, &from))
        return fail(run, "error in copy for from: '" STR_FMT "': " STR_FMT, STR_ARG(at.pointer),
                    STR_ARG(why_absent(run, &at)));
    return find(run, op, "copy", false, "doc is missing destination path: ", &at) &&
           copy_slot(run, from, &copy) && add(run, &at, copy, NULL);
}

static bool do_test(struct run *run, const struct value *op)
{
    const struct value *want = member(op, STR("value"));
    const struct value nothing = value_null();
    const struct patch_slot missing = { .v = value_null() };
    struct patch_slot *slot = NULL;
    struct place at = { .pointer = STR("") };
    bool is_same;
    if (is_root(op)) {
        is_same = want && patch_slot_eq(run->doc.arena, &run->doc.root, want);
    } else {
        if (!find(run, op, "test", false, "is missing path: ", &at))
            return false;
        if (!patch_box_get(at.box, at.key, &slot))
            return fail(run, "error in test for path: '" STR_FMT "': " STR_FMT, STR_ARG(at.pointer),
                        STR_ARG(why_absent(run, &at)));
        is_same = patch_slot_eq(run->doc.arena, slot ? slot : &missing, want ? want : &nothing);
    }
    return is_same ||
           fail(run, "testing value " STR_FMT " failed: test failed", STR_ARG(at.pointer));
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
    return fail(run, "Unexpected kind: " STR_FMT, STR_ARG(name.n ? name : STR("unknown")));
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

static int apply(struct arena *a, const struct value *patch, struct value *doc, bool is_told,
                 struct err *err)
{
    struct run run = { .why = STR("the result is nested too deeply") };
    struct value result;
    patch_doc_init(&run.doc, a, doc);
    bool good = run_all(&run, patch, &result);
    patch_doc_done(&run.doc);
    if (!good && is_told)
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(run.why));
    if (!good)
        return err_set(err, ERR_INVALID,
                       "the server rejected our request due to an error in our request");
    *doc = result;
    return 0;
}

int json_patch_apply(struct arena *a, const struct value *patch, struct value *doc, struct err *err)
{
    return apply(a, patch, doc, false, err);
}

int json_patch_apply_told(struct arena *a, const struct value *patch, struct value *doc,
                          struct err *err)
{
    return apply(a, patch, doc, true, err);
}
