/* The first two bytes choose a type of the tables, the rest is up to three lines of JSON: a
 * document, another one or a patch, and a third document. Every patch type is tried with them.
 * Inputs stay as they were; a merge patch has done its work when it is applied a second time (a
 * list in the place of an object keeps its nulls until then), and one that was made leads where it
 * should; nothing differs from itself. */
#include <stdlib.h>

#include "base/json.h"
#include "merge/json_patch.h"
#include "merge/merge_patch.h"
#include "merge/strategic.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct input {
    struct arena arena;
    const struct kind_type *type;
    struct value docs[3];
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

/* Can it be said in a merge patch? A null says something else there. */
static bool is_without_nulls(const struct value *v)
{
    if (v->type == VALUE_NULL)
        return false;
    value_each_item (it, v) {
        if (!is_without_nulls(it))
            return false;
    }
    value_each_field (f, v) {
        if (!is_without_nulls(&f->val))
            return false;
    }
    return true;
}

static void check_json(struct input *in)
{
    struct typed_notes notes = { .n = 0 };
    struct err err = ERR_INIT(&in->arena);
    struct value doc = value_share(&in->docs[0]);
    int r = json_patch_check(&in->arena, &in->docs[1], &notes, &err);
    must((r == 0) == !err.msg.n);
    if (json_patch_check(&in->arena, &in->docs[1], NULL, &err) < 0)
        return;
    r = json_patch_apply(&in->arena, &in->docs[1], &doc, &err);
    must(r == 0 || str_eq(text_of(&in->arena, &doc), in->texts[0]));
}

static void check_merge(struct input *in)
{
    struct value twice = value_share(&in->docs[0]);
    merge_patch_apply(&in->arena, &in->docs[1], &twice);
    merge_patch_apply(&in->arena, &in->docs[1], &twice);
    struct value thrice = value_share(&twice);
    merge_patch_apply(&in->arena, &in->docs[1], &thrice);
    must(value_eq(&twice, &thrice));

    struct value patch = merge_patch_create(&in->arena, &in->docs[0], &in->docs[1]);
    struct value doc = value_share(&in->docs[0]);
    merge_patch_apply(&in->arena, &patch, &doc);
    bool can_be_said = in->docs[0].type == VALUE_OBJECT && in->docs[1].type == VALUE_OBJECT &&
                       is_without_nulls(&in->docs[1]);
    must(!can_be_said || value_eq(&doc, &in->docs[1]));
}

static void check_strategic(struct input *in)
{
    struct err err = ERR_INIT(&in->arena);
    for (size_t i = 0; i < 3; i++)
        if (in->docs[i].type != VALUE_OBJECT)
            return;
    struct value doc = value_share(&in->docs[0]), patch;
    int r = strategic_apply(&in->arena, &strategic_kinds, in->type, &in->docs[1], &doc, &err);
    must(r == 0 || (err.msg.n && str_eq(text_of(&in->arena, &doc), in->texts[0])));
    r = strategic_two_way(&in->arena, &strategic_kinds, in->type, &in->docs[0], &in->docs[0],
                          &patch, &err);
    must(r < 0 || !patch.n);
    r = strategic_two_way(&in->arena, &strategic_kinds, in->type, &in->docs[0], &in->docs[1],
                          &patch, &err);
    if (r == 0)
        (void)strategic_apply(&in->arena, &strategic_kinds, in->type, &patch, &doc, &err);
    for (int overwrite = 0; overwrite < 2; overwrite++)
        (void)strategic_three_way(&in->arena, &strategic_kinds, in->type, &in->docs[0],
                                  &in->docs[1], &in->docs[2], overwrite, &patch, &err);
}

static bool read_docs(struct input *in, struct str text)
{
    static const struct json_options shallow = { .max_depth = 200 };
    for (size_t i = 0; i < 3; i++) {
        struct str line = str_cut(&text, '\n');
        in->docs[i] = value_object();
        if (line.n && json_read(&in->arena, line, &shallow, &in->docs[i], NULL) < 0)
            return false;
        value_drop_duplicates(&in->arena, &in->docs[i]);
        in->texts[i] = text_of(&in->arena, &in->docs[i]);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 2)
        return 0;
    struct input in = { .type = &kind_types[(bytes[0] * 256u + bytes[1]) % n_kind_types] };
    arena_init(&in.arena);
    if (read_docs(&in, (struct str){ (const char *)bytes + 2, n - 2 })) {
        check_json(&in);
        check_merge(&in);
        check_strategic(&in);
        for (size_t i = 0; i < 3; i++)
            must(str_eq(text_of(&in.arena, &in.docs[i]), in.texts[i]));
    }
    arena_done(&in.arena);
    return 0;
}
