/* What a reading has to say, in the words of Go's decoder. Nothing here runs for a good object. */
#include "api/typed_reader.h"

#include "api/go_type.h"
#include "base/buf.h"
#include "base/banned.h"

/* Go's strconv.Quote for what can be in a JSON key; text that is not ASCII stays. */
static void quote(struct buf *out, struct str s)
{
    static const char plain[] = "\a\b\f\n\r\t\v\"\\", escaped[] = "abfnrtv\"\\";
    buf_byte(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        const char *at = c ? memchr(plain, c, sizeof(plain) - 1) : NULL;
        if (at)
            buf_printf(out, "\\%c", escaped[at - plain]);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_byte(out, (char)c);
    }
    buf_byte(out, '"');
}

/* "spec.containers[0].name". */
static void add_path(struct buf *out, const struct typed_frame *f)
{
    if (!f)
        return;
    add_path(out, f->up);
    if (f->step == TYPED_ITEM) {
        buf_printf(out, "[%zu]", f->index);
        return;
    }
    if (f->up)
        buf_byte(out, '.');
    buf_str_add(out, f->name);
}

static bool is_noted(const struct typed_notes *notes, struct str note)
{
    for (size_t i = 0; i < notes->n; i++)
        if (str_eq(notes->notes[i], note))
            return true;
    return false;
}

void typed__note(struct typed_reader *r, const char *what, struct str key)
{
    if (!r->notes || r->opaque)
        return;
    if (r->notes->n >= TYPED_NOTES_MAX) {
        r->notes->n++;
        return;
    }
    autobuf path = { 0 };
    autobuf note = { 0 };
    add_path(&path, r->top);
    if (r->top)
        buf_byte(&path, '.');
    buf_str_add(&path, key);
    buf_printf(&note, "%s field ", what);
    quote(&note, buf_str(&path));
    if (!is_noted(r->notes, buf_str(&note)))
        r->notes->notes[r->notes->n++] = arena_str(r->arena, buf_str(&note));
}

static void describe(struct buf *out, const struct value *in, bool with_number)
{
    switch ((enum value_type)in->type) {
    case VALUE_NULL:
        buf_str_add(out, STR("null"));
        return;
    case VALUE_BOOL:
        buf_str_add(out, STR("bool"));
        return;
    case VALUE_INT:
        if (with_number)
            buf_printf(out, "number %ld", (long)in->i);
        else
            buf_str_add(out, STR("number"));
        return;
    case VALUE_NUMBER:
        buf_printf(out, "number%s%.*s", with_number ? " " : "", with_number ? (int)in->n : 0,
                   in->text);
        return;
    case VALUE_STRING:
        buf_str_add(out, STR("string"));
        return;
    case VALUE_ARRAY:
        buf_str_add(out, STR("array"));
        return;
    case VALUE_OBJECT:
        buf_str_add(out, STR("object"));
        return;
    }
}

/* The names of struct fields alone: neither list indexes nor map keys. */
static void add_field_path(struct buf *out, const struct typed_frame *f)
{
    if (!f)
        return;
    add_field_path(out, f->up);
    if (f->step == TYPED_FIELD) {
        buf_byte(out, '.');
        buf_str_add(out, f->name);
    }
}

static void say_mismatch(struct buf *out, const struct typed_reader *r, const struct value *in,
                         struct str go_type, bool with_number)
{
    const struct typed_frame *place = r->opaque ? r->opaque : r->top;
    const struct typed_frame *field = place;
    while (field && field->step != TYPED_FIELD)
        field = field->up;
    buf_str_add(out, STR("json: cannot unmarshal "));
    describe(out, in, with_number);
    if (field) {
        buf_printf(out, " into Go struct field " STR_FMT, STR_ARG(field->owner->name));
        add_field_path(out, place);
    } else {
        buf_str_add(out, STR(" into Go value"));
    }
    buf_printf(out, " of type " STR_FMT, STR_ARG(go_type));
}

void typed__mismatch(struct typed_reader *r, const struct value *in, struct str go_type,
                     bool with_number)
{
    if (r->saved.p)
        return;
    autobuf msg = { 0 };
    say_mismatch(&msg, r, in, go_type, with_number);
    r->saved = arena_str(r->arena, buf_str(&msg));
}

int typed__fatal_mismatch(struct typed_reader *r, const struct value *in, struct str go_type,
                          bool with_number)
{
    autobuf msg = { 0 };
    say_mismatch(&msg, r, in, go_type, with_number);
    return err_set(r->err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(buf_str(&msg)));
}

static struct str taken(struct arena *a, struct buf *text)
{
    return arena_str(a, buf_str(text));
}

struct str typed__go_struct(struct arena *a, const struct kind_type *t)
{
    autobuf text = { 0 };
    go_type_struct(&text, t);
    return taken(a, &text);
}

struct str typed__go_element(struct arena *a, const struct kind_field *f)
{
    autobuf text = { 0 };
    go_type_element(&text, f);
    return taken(a, &text);
}

struct str typed__go_type(struct arena *a, const struct kind_field *f)
{
    autobuf text = { 0 };
    go_type_field(&text, f);
    return taken(a, &text);
}
