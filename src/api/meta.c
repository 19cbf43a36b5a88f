/* Upstream looks at an updated object twice, with the rules for creation (but no more than a path
 * segment for the name) and then with those for updates, and repeats the faults that both find for
 * custom resources only. Here the second pass leaves out what the first has seen. */
#include "api/meta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#include "api/go/quote.h"
#include "api/keys.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "base/banned.h"

enum { MANAGER_MAX = 128, SUBRESOURCE_MAX = 256 };

static const struct field_path metadata = { .name = STR("metadata") };

struct meta_rules meta_rules_of(struct str group, struct str resource, bool namespaced)
{
    /* Groups whose kinds were given the plain check of finalizers. */
    static const struct str plain[] = {
        STR("admissionregistration.k8s.io"),
        STR("apiextensions.k8s.io"),
        STR("apiregistration.k8s.io"),
        STR("coordination.k8s.io"),
        STR("node.k8s.io"),
        STR("policy"),
    };
    struct meta_rules rules = {
        .name = name_rule_of(group, resource),
        .namespaced = namespaced,
        .qualified_finalizers = group.n || !str_eq(resource, STR("events")),
    };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_eq(plain[i], group))
            rules.qualified_finalizers = false;
    return rules;
}

static void note_faults(struct field_errors *e, const struct field_path *path, struct str shown,
                        const struct name_faults *f)
{
    for (size_t i = 0; i < f->n; i++)
        field_error(e, FIELD_INVALID, path, field_quoted(e, shown), "%s%s", f->list[i].part,
                    f->list[i].why);
}

static void check_text(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                       struct str text)
{
    struct name_faults f = { 0 };
    if (!name_check(rule, text, &f))
        note_faults(e, path, text, &f);
}

static void check_bundle_name(struct field_errors *e, const struct field_path *path,
                              struct str signer, struct str name, bool prefix)
{
    struct name_faults f = { 0 };
    struct str rest = name;
    if (signer.n == 0 && str_find(name, ':') >= 0) {
        field_error(e, FIELD_INVALID, path, field_quoted(e, name), "%s",
                    "ClusterTrustBundle without signer name must not have \":\" in its name");
        return;
    }
    if (signer.n) {
        struct str front = arena_printf(e->arena, STR_FMT ":", STR_ARG(signer));
        char *p = arena_dup(e->arena, front.p, front.n);
        for (size_t i = 0; i < front.n; i++)
            p[i] = p[i] == '/' ? ':' : p[i];
        front.p = p;
        if (!str_starts(name, front)) {
            field_error(e, FIELD_INVALID, path, field_quoted(e, name),
                        "ClusterTrustBundle for signerName " STR_FMT
                        " must be named with prefix " STR_FMT,
                        STR_ARG(signer), STR_ARG(front));
            return;
        }
        rest = str_skip(name, front.n);
    }
    if (!(prefix ? name_check_prefix(NAME_TRUST_BUNDLE, rest, &f)
                 : name_check(NAME_TRUST_BUNDLE, rest, &f)))
        note_faults(e, path, name, &f);
}

static struct str joined(struct arena *a, struct str left, struct str right)
{
    return arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(left), STR_ARG(right));
}

/* A name, or with `prefix` a generateName. */
static void check_name(struct field_errors *e, enum name_rule rule, const struct value *object,
                       const struct field_path *path, struct str name, bool prefix)
{
    const struct value *spec = value_get(object, STR("spec"));
    if (rule == NAME_TRUST_BUNDLE) {
        check_bundle_name(e, path, value_text(spec, "signerName"), name, prefix);
        return;
    }
    struct name_faults f = { 0 };
    bool good = prefix ? name_check_prefix(rule, name, &f) : name_check(rule, name, &f);
    note_faults(e, path, name, &f);
    if (rule == NAME_API_SERVICE && good) {
        struct str wanted =
            joined(e->arena, value_text(spec, "version"), value_text(spec, "group"));
        if (!str_eq(name, wanted)) {
            struct str quoted = field_quoted(e, wanted);
            field_error(e, FIELD_INVALID, path, field_quoted(e, name),
                        "must be `spec.version+\".\"+spec.group`: " STR_FMT, STR_ARG(quoted));
        }
    }
    if (rule == NAME_DEFINITION) {
        struct str plural = value_str(value_dig(spec, "names", "plural"));
        if (!str_eq(name, joined(e->arena, plural, value_text(spec, "group"))))
            field_error(e, FIELD_INVALID, path, field_quoted(e, name), "%s",
                        "must be spec.names.plural+\".\"+spec.group");
    }
}

static void check_names(struct field_errors *e, enum name_rule rule, const struct value *object)
{
    const struct value *meta = value_get(object, STR("metadata"));
    struct str generate = value_text(meta, "generateName"), name = value_text(meta, "name");
    struct field_path path = field_child(&metadata, STR("generateName"));
    if (generate.n)
        check_name(e, rule, object, &path, generate, true);
    path = field_child(&metadata, STR("name"));
    if (name.n)
        check_name(e, rule, object, &path, name, false);
    else
        field_required(e, &path, "name or generateName is required");
}

static void check_namespace(struct field_errors *e, const struct value *meta, bool namespaced)
{
    struct field_path path = field_child(&metadata, STR("namespace"));
    struct str ns = value_text(meta, "namespace");
    if (namespaced && !ns.n)
        field_required(e, &path, "");
    else if (namespaced)
        check_text(e, &path, NAME_LABEL, ns);
    else if (ns.n)
        field_error(e, FIELD_FORBIDDEN, &path, STR(""), "not allowed on this type");
}

static int64_t generation_of(const struct value *meta)
{
    int64_t n = 0;
    (void)value_to_int(value_get(meta, STR("generation")), &n);
    return n;
}

static void check_generation(struct field_errors *e, const struct value *meta)
{
    struct field_path path = field_child(&metadata, STR("generation"));
    if (generation_of(meta) < 0)
        field_error(e, FIELD_INVALID, &path, field_json(e, value_get(meta, STR("generation"))),
                    "must be greater than or equal to 0");
}

void meta_check_labels(struct field_errors *e, const struct field_path *path,
                       const struct value *labels)
{
    value_each_field (label, labels) {
        check_text(e, path, NAME_QUALIFIED, label->key);
        check_text(e, path, NAME_LABEL_VALUE, value_str(&label->val));
    }
}

/* In lower case as Go has it: two letters beyond ASCII become ASCII ones. */
static void add_lower(struct buf *out, struct str s)
{
    while (s.n) {
        bool kelvin = str_starts(s, STR("\u212a")), dotted = str_starts(s, STR("\u0130"));
        char c = kelvin ? 'k' : dotted ? 'i' : s.p[0];
        buf_byte(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
        s = str_skip(s, kelvin ? 3 : dotted ? 2 : 1);
    }
}

void meta_check_annotations(struct field_errors *e, const struct field_path *path,
                            const struct value *annotations)
{
    autobuf lower = { 0 };
    size_t bytes = 0;
    value_each_field (note, annotations) {
        struct name_faults f = { 0 };
        buf_reset(&lower);
        add_lower(&lower, note->key);
        if (!name_check(NAME_QUALIFIED, buf_str(&lower), &f))
            note_faults(e, path, note->key, &f);
        bytes += note->key.n + value_str(&note->val).n;
    }
    if (bytes > LIMIT_ANNOTATION_BYTES)
        field_too_long(e, path, LIMIT_ANNOTATION_BYTES);
}

static void check_owner(struct field_errors *e, const struct field_path *path,
                        const struct value *owner)
{
    static const struct str needed[] = { STR("kind"), STR("name"), STR("uid") };
    struct field_path field = field_child(path, STR("apiVersion"));
    struct str version = value_text(owner, "apiVersion"), after = version;
    (void)str_cut(&after, '/');
    bool group = str_find(version, '/') >= 0;
    if (version.n == 0)
        field_required(e, &field, "must not be empty");
    else if (group && (after.n == 0 || str_find(after, '/') >= 0))
        field_error(e, FIELD_INVALID, &field, field_quoted(e, version), "%s",
                    "must be <group>/<version> or <version>");
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        field = field_child(path, needed[i]);
        if (value_str(value_get(owner, needed[i])).n == 0)
            field_required(e, &field, "must not be empty");
    }
    bool core = str_eq(version, STR("v1")) || str_eq(version, STR("/v1"));
    if (core && str_eq(value_text(owner, "kind"), STR("Event")))
        field_error(e, FIELD_INVALID, path, field_json(e, owner),
                    "/v1, Kind=Event is disallowed from being an owner");
}

static void check_owners(struct field_errors *e, const struct value *meta)
{
    struct field_path path = field_child(&metadata, STR("ownerReferences"));
    const struct value *owners = value_get(meta, STR("ownerReferences")), *first = NULL;
    size_t i = 0;
    value_each_item (owner, owners) {
        struct field_path at = field_index(&path, i++);
        check_owner(e, &at, owner);
        const struct value *controller = value_get(owner, STR("controller"));
        if (!value_is(controller, VALUE_BOOL) || !controller->b)
            continue;
        if (first)
            field_error(e, FIELD_INVALID, &path, field_json(e, owners),
                        "Only one reference can have Controller set to true. Found \"true\" in "
                        "references for " STR_FMT "/" STR_FMT " and " STR_FMT "/" STR_FMT,
                        STR_ARG(value_text(first, "kind")), STR_ARG(value_text(first, "name")),
                        STR_ARG(value_text(owner, "kind")), STR_ARG(value_text(owner, "name")));
        else
            first = owner;
    }
}

static void check_finalizers(struct field_errors *e, const struct value *meta)
{
    struct field_path path = field_child(&metadata, STR("finalizers"));
    const struct value *finalizers = value_get(meta, STR("finalizers"));
    bool orphan = false, foreground = false;
    value_each_item (it, finalizers) {
        check_text(e, &path, NAME_QUALIFIED, value_str(it));
        orphan = orphan || str_eq(value_str(it), STR(FINALIZER_ORPHAN));
        foreground = foreground || str_eq(value_str(it), STR(FINALIZER_FOREGROUND));
    }
    if (orphan && foreground)
        field_error(e, FIELD_INVALID, &path, field_json(e, finalizers),
                    "finalizer orphan and foregroundDeletion cannot be both set");
}

bool meta_is_finalizer(struct str name)
{
    static const struct str plain[] = { STR(FINALIZER_KUBERNETES), STR(FINALIZER_ORPHAN),
                                        STR(FINALIZER_FOREGROUND) };
    return words_have(name, WORDS(plain)) || str_find(name, '/') >= 0;
}

static void check_old_finalizers(struct field_errors *e, const struct value *meta)
{
    struct field_path path = field_child(&metadata, STR("finalizers"));
    size_t i = 0;
    value_each_item (it, value_get(meta, STR("finalizers"))) {
        struct field_path at = field_index(&path, i++);
        struct str name = value_str(it);
        if (!meta_is_finalizer(name))
            field_error(e, FIELD_INVALID, &at, field_quoted(e, name), "%s",
                        "name is neither a standard finalizer name nor is it fully qualified");
    }
}

static void check_manager(struct field_errors *e, const struct field_path *path, struct str name)
{
    if (name.n > MANAGER_MAX)
        field_too_long(e, path, MANAGER_MAX);
    for (size_t i = 0, n = 0; i < name.n; i += n) {
        n = utf8_step(name.p + i, name.n - i);
        uint32_t code = n ? utf8_decode(name.p + i, n) : 0xfffd;
        n = n ? n : 1;
        if (!quote_is_printable(code))
            field_error(e, FIELD_INVALID, path, field_quoted(e, name),
                        "invalid character U+%04" PRIX32 " (at position %zu)", code, i);
    }
}

static void check_managed(struct field_errors *e, const struct field_path *path,
                          const struct value *entry)
{
    static const struct str operations[] = { STR("Apply"), STR("Update") };
    struct str operation = value_text(entry, "operation");
    struct field_path field = field_child(path, STR("operation"));
    if (operation.n == 0)
        field_required(e, &field, "must not be empty");
    else if (!words_have(operation, WORDS(operations)))
        field_not_supported(e, &field, field_json(e, value_get(entry, STR("operation"))),
                            operations, 2);
    struct str type = value_text(entry, "fieldsType");
    field = field_child(path, STR("fieldsType"));
    if (type.n && !str_eq(type, STR("FieldsV1")))
        field_error(e, FIELD_INVALID, &field, field_quoted(e, type), "must be `FieldsV1`");
    field = field_child(path, STR("manager"));
    check_manager(e, &field, value_text(entry, "manager"));
    field = field_child(path, STR("subresource"));
    if (value_text(entry, "subresource").n > SUBRESOURCE_MAX)
        field_too_long(e, &field, SUBRESOURCE_MAX);
}

/* Everything but the name; the same for new and for updated objects. */
static void check_common(struct field_errors *e, const struct value *meta, bool namespaced)
{
    check_namespace(e, meta, namespaced);
    check_generation(e, meta);
    struct field_path path = field_child(&metadata, STR("labels"));
    meta_check_labels(e, &path, value_get(meta, STR("labels")));
    path = field_child(&metadata, STR("annotations"));
    meta_check_annotations(e, &path, value_get(meta, STR("annotations")));
    check_owners(e, meta);
    check_finalizers(e, meta);
    path = field_child(&metadata, STR("managedFields"));
    size_t i = 0;
    value_each_item (entry, value_get(meta, STR("managedFields"))) {
        struct field_path at = field_index(&path, i++);
        check_managed(e, &at, entry);
    }
}

void meta_validate_create(struct field_errors *e, const struct meta_rules *rules,
                          const struct value *object)
{
    const struct value *meta = value_get(object, STR("metadata"));
    size_t before = e->n;
    check_names(e, rules->name, object);
    check_common(e, meta, rules->namespaced);
    if (rules->qualified_finalizers)
        check_old_finalizers(e, meta);
    if (e->n == before && rules->name == NAME_ANY)
        check_names(e, NAME_PATH_SEGMENT, object);
}

/* A copy of a list of texts, sorted, so that long lists can be compared. */
static struct str *sorted_texts(struct arena *a, const struct value *list, size_t *ret_n)
{
    size_t n = 0;
    struct str *texts = arena_array(a, struct str, value_is(list, VALUE_ARRAY) ? list->n : 0);
    value_each_item (it, list)
        texts[n++] = value_str(it);
    if (n)
        qsort(texts, n, sizeof(*texts), words_compare);
    *ret_n = n;
    return texts;
}

/* What the new metadata have and the old have not, sorted, each once, as Go prints a list. */
static void check_no_new_finalizers(struct field_errors *e, const struct value *new_meta,
                                    const struct value *old_meta)
{
    size_t n = 0, n_old = 0;
    struct str *texts = sorted_texts(e->arena, value_get(new_meta, STR("finalizers")), &n);
    struct str *old = sorted_texts(e->arena, value_get(old_meta, STR("finalizers")), &n_old);
    autobuf list = { 0 };
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(texts[i], texts[i - 1]))
            continue;
        if (n_old && bsearch(&texts[i], old, n_old, sizeof(*old), words_compare))
            continue;
        buf_printf(&list, "%s", list.n ? ", " : "");
        quote_go(&list, texts[i]);
    }
    if (list.n == 0)
        return;
    struct field_path path = field_child(&metadata, STR("finalizers"));
    field_error(e, FIELD_FORBIDDEN, &path, STR(""),
                "no new finalizers can be added if the object is being deleted, found new "
                "finalizers []string{" STR_FMT "}",
                STR_ARG(buf_str(&list)));
}

/* Absent, null, the empty text and zero are the same to a Go struct without a pointer. */
static const struct value *set_or_null(const struct value *meta, struct str key)
{
    const struct value *v = value_get(meta, key);
    return value_is(v, VALUE_NULL) || (value_is(v, VALUE_STRING) && !v->n) ? NULL : v;
}

static void check_unchanged(struct field_errors *e, const struct value *new_meta,
                            const struct value *old_meta)
{
    static const struct {
        struct str name;
        bool is_text; /* shown in quotes also when it is empty */
    } fields[] = {
        { STR("name"), true },
        { STR("namespace"), true },
        { STR("uid"), true },
        { STR("creationTimestamp"), false },
        { STR("deletionTimestamp"), false },
        { STR("deletionGracePeriodSeconds"), false },
    };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct field_path path = field_child(&metadata, fields[i].name);
        const struct value *new_val = set_or_null(new_meta, fields[i].name);
        const struct value *old_val = set_or_null(old_meta, fields[i].name);
        if (!new_val && !old_val)
            continue;
        if (!new_val || !old_val || !value_eq(new_val, old_val))
            field_error(e, FIELD_INVALID, &path,
                        fields[i].is_text ? field_quoted(e, value_str(new_val))
                                          : field_json(e, new_val),
                        "field is immutable");
    }
}

void meta_validate_update(struct field_errors *e, const struct meta_rules *rules,
                          const struct value *new_obj, const struct value *old_obj)
{
    const struct value *new_meta = value_get(new_obj, STR("metadata"));
    const struct value *old_meta = value_get(old_obj, STR("metadata"));
    bool by_spec = rules->name == NAME_TRUST_BUNDLE || rules->name == NAME_API_SERVICE;
    check_names(e, by_spec ? rules->name : NAME_PATH_SEGMENT, new_obj);
    check_common(e, new_meta, rules->namespaced);
    if (set_or_null(old_meta, STR("deletionTimestamp")))
        check_no_new_finalizers(e, new_meta, old_meta);
    struct field_path path = field_child(&metadata, STR("resourceVersion"));
    if (value_text(new_meta, "resourceVersion").n == 0)
        field_error(e, FIELD_INVALID, &path, STR("\"\""), "must be specified for an update");
    path = field_child(&metadata, STR("generation"));
    if (generation_of(new_meta) < generation_of(old_meta)) {
        struct value shown = value_int(generation_of(new_meta));
        field_error(e, FIELD_INVALID, &path, field_json(e, &shown), "must not be decremented");
    }
    check_unchanged(e, new_meta, old_meta);
    if (rules->qualified_finalizers)
        check_old_finalizers(e, new_meta);
}

struct str meta_new_uid(struct arena *a)
{
    unsigned char b[16];
    while (getrandom(b, sizeof(b), 0) != sizeof(b))
        continue;
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4, RFC 9562 */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    return arena_printf(a, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                        b[12], b[13], b[14], b[15]);
}
