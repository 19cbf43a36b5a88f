/* Workloads and their scale: extensions/v1beta1, apps/v1beta1, apps/v1beta2.
 *
 * What the hub dropped from its fields it carries in annotations; old versions show the fields
 * instead of them. */
#include "api/convert/convert_internal.h"
#include "api/keys.h"
#include "api/label_syntax.h"
#include "api/go/quote.h"
#include "base/banned.h"

#define ROLLBACK_TO         STR(KEY_ROLLBACK_TO)
#define TEMPLATE_GENERATION STR(KEY_TEMPLATE_GENERATION)

/* ---- Numbers in annotations ---- */

static bool is_decimal(struct str digits)
{
    for (size_t i = 0; i < digits.n; i++)
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return false;
    return digits.n;
}

/* As Go's strconv reads it, and in its words. */
static int read_number(struct str text, int64_t *ret, struct err *err)
{
    struct str unsigned_text = text;
    if (str_starts(text, STR("+")) || str_starts(text, STR("-")))
        unsigned_text = str_skip(text, 1);
    bool decimal = is_decimal(unsigned_text);
    if (decimal && str_to_i64(str_starts(text, STR("+")) ? unsigned_text : text, ret))
        return 0;
    autobuf quoted = { 0 };
    quote_go(&quoted, text);
    return err_set(err, ERR_BAD_REQUEST, "strconv.ParseInt: parsing " STR_FMT ": %s",
                   STR_ARG(buf_str(&quoted)), decimal ? "value out of range" : "invalid syntax");
}

static void note_number(struct arena *a, struct value *obj, struct str key, int64_t number)
{
    convert__note_set(a, obj, key, arena_printf(a, "%lld", (long long)number));
}

/* ---- Deployments: spec.rollbackTo.revision ---- */

/* 1 and the revision, or 0 if there is none. An empty text is as good as none. */
static int rollback_revision(const struct value *obj, int64_t *ret, struct err *err)
{
    struct str text = value_str(convert__note(obj, ROLLBACK_TO));
    if (!text.n)
        return 0;
    int r = read_number(text, ret, err);
    if (r < 0)
        return err_wrap(err, "failed to parse annotation[" STR_FMT "]=" STR_FMT " as int64",
                        STR_ARG(ROLLBACK_TO), STR_ARG(text));
    return 1;
}

int convert__deployment_settle(struct arena *a, struct value *obj, struct err *err)
{
    int64_t revision = 0;
    int r = rollback_revision(obj, &revision, err);
    if (r < 0)
        return r;
    if (r == 1)
        note_number(a, obj, ROLLBACK_TO, revision);
    else
        convert__note_drop(a, obj, ROLLBACK_TO);
    return 0;
}

int convert__deployment_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    const struct value *to = value_dig(obj, "spec", "rollbackTo");
    int64_t revision = 0;
    (void)value_to_int(value_get(to, STR("revision")), &revision);
    if (value_is(to, VALUE_OBJECT))
        note_number(a, obj, ROLLBACK_TO, revision);
    else
        convert__note_drop(a, obj, ROLLBACK_TO);
    return 0;
}

int convert__deployment_out(struct arena *a, struct value *obj, struct err *err)
{
    int64_t revision = 0;
    int r = rollback_revision(obj, &revision, err);
    if (r <= 0)
        return r;
    struct value *spec = value_ensure(a, obj, STR("spec"));
    struct value *to = value_set(a, spec, STR("rollbackTo"), value_object());
    value_put_new(a, to, STR("revision"), value_int(revision));
    convert__note_drop(a, obj, ROLLBACK_TO);
    return 0;
}

/* ---- DaemonSets: spec.templateGeneration ---- */

static int template_generation(const struct value *obj, int64_t *ret, struct err *err)
{
    const struct value *note = convert__note(obj, TEMPLATE_GENERATION);
    return note ? read_number(value_str(note), ret, err) : 0;
}

/* Upstream writes the annotation whenever it shows a DaemonSet; here it is stored. */
int convert__daemon_set_settle(struct arena *a, struct value *obj, struct err *err)
{
    int64_t generation = 0;
    int r = template_generation(obj, &generation, err);
    if (r < 0)
        return r;
    if (convert__note(obj, TEMPLATE_GENERATION))
        note_number(a, obj, TEMPLATE_GENERATION, generation);
    return 0;
}

int convert__daemon_set_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    int64_t generation = 0;
    (void)value_to_int(value_dig(obj, "spec", "templateGeneration"), &generation);
    note_number(a, obj, TEMPLATE_GENERATION, generation);
    return 0;
}

int convert__daemon_set_out(struct arena *a, struct value *obj, struct err *err)
{
    int64_t generation = 0;
    int r = template_generation(obj, &generation, err);
    if (r < 0)
        return r;
    struct value *spec = value_ensure(a, obj, STR("spec"));
    if (generation)
        value_put(a, spec, STR("templateGeneration"), value_int(generation));
    convert__note_drop(a, obj, TEMPLATE_GENERATION);
    return 0;
}

/* ---- Scale: a selector is text in the hub, and a map too where it once could be nothing else ----
 */

/* False unless the selector has nothing but equalities. */
static bool read_equalities(struct arena *a, struct str selector, struct value *ret)
{
    *ret = value_object();
    while (selector.n) {
        struct str term = str_cut(&selector, ',');
        struct str key = str_trim(str_cut(&term, '='));
        if (!term.p)
            return false;
        struct str value = str_trim(str_starts(term, STR("=")) ? str_skip(term, 1) : term);
        if (!label_key_check(key, NULL) || !label_value_check(value, NULL))
            return false;
        value_put(a, ret, key, value_string(value));
    }
    return true;
}

int convert__scale_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *status = convert__edit(a, obj, STR("status"));
    if (!status)
        return 0;
    autobuf text = { 0 };
    struct str given = value_text(status, "targetSelector");
    value_each_field (label, value_get(status, STR("selector")))
        buf_printf(&text, "%s" STR_FMT "=" STR_FMT, text.n ? "," : "", STR_ARG(label->key),
                   STR_ARG(value_str(&label->val)));
    value_put(a, status, STR("selector"),
              value_string(given.n ? given : arena_str(a, buf_str(&text))));
    return 0;
}

int convert__scale_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *status = convert__edit(a, obj, STR("status"));
    struct str selector = value_text(status, "selector");
    if (!status)
        return 0;
    struct value map;
    convert__rename(a, status, STR("selector"), STR("targetSelector"));
    if (read_equalities(a, selector, &map))
        value_put(a, status, STR("selector"), map);
    return 0;
}
