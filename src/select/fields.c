/* Reading comes in two passes because upstream's does: all terms are understood before the first
 * field is looked up, so the text's own faults are reported first. */
#include "select/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "api/go/quote.h"
#include "base/banned.h"

/* The first of `paths` that has a text gives it, else `otherwise` does. A number in a path is the
 * index of a list. */
struct fields_source {
    const char *kind, *field;
    const char *paths[4];
    const char *otherwise;
};

/* What upstream's strategies compute for the object's field set. Go has no absent booleans and
 * integers there, so theirs are "false" and "0". An event may be in either of its two forms, which
 * name the same things differently. */
static const struct fields_source sources[] = {
    { "Pod", "spec.hostNetwork", { "spec.hostNetwork" }, "false" },
    { "Pod", "status.podIP", { "status.podIP", "status.podIPs.0.ip" }, "" },
    { "Pod", "status.podIPs", { NULL }, "" }, /* may be named, but was never put into the set */
    { "Node", "spec.unschedulable", { "spec.unschedulable" }, "false" },
    { "ReplicationController", "status.replicas", { "status.replicas" }, "0" },
    { "Job", "status.successful", { "status.succeeded" }, "0" },
    { "Event", "involvedObject.kind", { "involvedObject.kind", "regarding.kind" }, "" },
    { "Event",
      "involvedObject.namespace",
      { "involvedObject.namespace", "regarding.namespace" },
      "" },
    { "Event", "involvedObject.name", { "involvedObject.name", "regarding.name" }, "" },
    { "Event", "involvedObject.uid", { "involvedObject.uid", "regarding.uid" }, "" },
    { "Event",
      "involvedObject.apiVersion",
      { "involvedObject.apiVersion", "regarding.apiVersion" },
      "" },
    { "Event",
      "involvedObject.resourceVersion",
      { "involvedObject.resourceVersion", "regarding.resourceVersion" },
      "" },
    { "Event",
      "involvedObject.fieldPath",
      { "involvedObject.fieldPath", "regarding.fieldPath" },
      "" },
    { "Event", "reportingComponent", { "reportingComponent", "reportingController" }, "" },
    { "Event",
      "source",
      { "source.component", "deprecatedSource.component", "reportingComponent",
        "reportingController" },
      "" },
};

/* Kinds of the groups that have one of the above; a custom kind may well be called Job too. */
static bool is_builtin(struct str group)
{
    return str_eq(group, STR("")) || str_eq(group, STR("batch")) ||
           str_eq(group, STR("events.k8s.io"));
}

static const struct fields_source *source_of(const struct fields_rules *rules, struct str field)
{
    if (!is_builtin(rules->group))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (str_eq(rules->kind, str_of(sources[i].kind)) && str_eq(field, str_of(sources[i].field)))
            return &sources[i];
    return NULL;
}

/* Up to the next comma that no backslash stands before. */
static struct str cut_term(struct str *rest)
{
    struct str s = *rest;
    size_t n = 0;
    while (n < s.n && s.p[n] != ',')
        n += s.p[n] == '\\' && n + 1 < s.n ? 2 : 1;
    *rest = str_skip(s, n + 1);
    return str_take(s, n);
}

static int by_text(const void *left, const void *right)
{
    return str_cmp(*(const struct str *)left, *(const struct str *)right);
}

static int split_terms(struct arena *a, struct str text, struct str **ret, size_t *ret_n,
                       struct err *err)
{
    struct str *parts = NULL;
    size_t n = 0, cap = 0;
    while (text.n) {
        struct str part = cut_term(&text);
        if (part.n == 0)
            continue;
        if (n == LIMIT_SELECTOR_REQUIREMENTS)
            return err_set(err, ERR_BAD_REQUEST, "the field selector has more than %u terms",
                           LIMIT_SELECTOR_REQUIREMENTS);
        if (n == cap) {
            cap = cap ? cap * 2 : 4;
            parts =
                arena_grow(a, parts, n * sizeof(*parts), cap * sizeof(*parts), alignof(struct str));
        }
        parts[n++] = part;
    }
    if (n > 1)
        qsort(parts, n, sizeof(*parts), by_text);
    *ret = parts;
    *ret_n = n;
    return 0;
}

static int refuse_escape(struct str rest, struct err *err)
{
    static const char unknown[] = "\xef\xbf\xbd"; /* what Go reads where there is no UTF-8 */
    size_t n = utf8_step(rest.p, rest.n);
    struct str after = rest.n == 0 ? STR("") : n ? str_take(rest, n) : str_of(unknown);
    return err_set(err, ERR_BAD_REQUEST,
                   "invalid field selector: invalid escape sequence: \\" STR_FMT, STR_ARG(after));
}

/* A backslash makes a comma, an equals sign or a backslash part of the value. */
static int unescape(struct arena *a, struct str s, struct str *ret, struct err *err)
{
    char *out = arena_alloc(a, s.n ? s.n : 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == ',' || c == '=')
            return err_set(err, ERR_BAD_REQUEST,
                           "invalid field selector: unescaped character in value: %d", c);
        if (c == '\\') {
            struct str rest = str_skip(s, ++i);
            if (rest.n == 0 || (rest.p[0] != '\\' && rest.p[0] != ',' && rest.p[0] != '='))
                return refuse_escape(rest, err);
            c = rest.p[0];
        }
        out[n++] = c;
    }
    *ret = (struct str){ out, n };
    return 0;
}

/* Splits at the first operator; a field's name has no escapes. */
static int read_term(struct arena *a, struct str text, struct str part, struct fields_term *ret,
                     struct err *err)
{
    size_t at = 0;
    while (at < part.n && part.p[at] != '=' && !str_starts(str_skip(part, at), STR("!=")))
        at++;
    if (at == part.n)
        return err_set(err, ERR_BAD_REQUEST,
                       "invalid selector: '" STR_FMT "'; can't understand '" STR_FMT "'",
                       STR_ARG(text), STR_ARG(part));
    struct str rest = str_skip(part, at);
    bool two = rest.n > 1 && rest.p[1] == '=';
    *ret = (struct fields_term){ .field = str_take(part, at), .negated = rest.p[0] == '!' };
    return unescape(a, str_skip(rest, two ? 2 : 1), &ret->value, err);
}

static bool is_key_field(struct str field)
{
    return str_eq(field, STR("metadata.name")) || str_eq(field, STR("metadata.namespace"));
}

/* Each of these is one kind's own wording upstream. */
static int refuse_field(const struct fields_rules *rules, struct str field, struct err *err)
{
    autobuf quoted = { 0 };
    quote_go(&quoted, field);
    if (rules->n_selectors == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       STR_FMT " is not a known field selector: only \"metadata.name\", "
                               "\"metadata.namespace\"",
                       STR_ARG(buf_str(&quoted)));
    if (str_eq(rules->group, STR("batch")) && str_eq(rules->kind, STR("Job")))
        return err_set(err, ERR_BAD_REQUEST, "field label " STR_FMT " not supported for Job",
                       STR_ARG(buf_str(&quoted)));
    if (str_eq(rules->group, STR("resource.k8s.io")))
        return err_set(
            err, ERR_BAD_REQUEST,
            "field label not supported for " STR_FMT "/" STR_FMT ", Kind=" STR_FMT ": " STR_FMT,
            STR_ARG(rules->group), STR_ARG(rules->version), STR_ARG(rules->kind), STR_ARG(field));
    return err_set(err, ERR_BAD_REQUEST, "field label not supported: " STR_FMT, STR_ARG(field));
}

static int resolve(const struct fields_rules *rules, struct fields_term *term, struct err *err)
{
    if (!rules)
        return 0;
    bool known = rules->n_selectors == 0 && is_key_field(term->field);
    for (size_t i = 0; i < rules->n_selectors && !known; i++)
        known = str_eq(rules->selectors[i], term->field);
    for (size_t i = 0; i < rules->n_aliases; i++) {
        if (!str_eq(rules->aliases[2 * i], term->field))
            continue;
        term->field = rules->aliases[2 * i + 1];
        known = true;
        break;
    }
    if (!known)
        return refuse_field(rules, term->field, err);
    term->source = source_of(rules, term->field);
    return 0;
}

int fields_parse(struct arena *a, struct str text, const struct fields_rules *rules,
                 struct fields_selector *ret, struct err *err)
{
    struct str *parts = NULL;
    size_t n = 0;
    int r = split_terms(a, text, &parts, &n, err);
    if (r < 0)
        return r;

    struct fields_term *terms = arena_array(a, struct fields_term, n);
    for (size_t i = 0; i < n; i++) {
        r = read_term(a, text, parts[i], &terms[i], err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < n; i++) {
        r = resolve(rules, &terms[i], err);
        if (r < 0)
            return r;
    }
    *ret = (struct fields_selector){ .terms = terms, .n = n };
    return 0;
}

enum { NUMBER_MAX = 24 };

/* The text of a scalar; `scratch` is for a number's digits. */
static struct str scalar_text(const struct value *v, char scratch[static NUMBER_MAX])
{
    if (!v)
        return STR("");
    switch ((enum value_type)v->type) {
    case VALUE_BOOL:
        return v->b ? STR("true") : STR("false");
    case VALUE_INT:
        return (struct str){ scratch, (size_t)snprintf(scratch, NUMBER_MAX, "%" PRId64, v->i) };
    case VALUE_NUMBER:
    case VALUE_STRING:
        return (struct str){ v->text, v->n };
    case VALUE_NULL:
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        break;
    }
    return STR("");
}

static struct str text_at(const struct value *v, struct str path, char scratch[static NUMBER_MAX])
{
    while (v && path.n) {
        struct str step = str_cut(&path, '.');
        uint64_t index;
        if (v->type != VALUE_ARRAY)
            v = value_get(v, step);
        else
            v = str_to_u64(step, &index) ? value_at(v, (size_t)index) : NULL;
    }
    return scalar_text(v, scratch);
}

static struct str computed_text(const struct value *obj, const struct fields_source *source,
                                char scratch[static NUMBER_MAX])
{
    size_t n = ARRAY_LEN(source->paths);
    for (size_t i = 0; i < n && source->paths[i]; i++) {
        struct str text = text_at(obj, str_of(source->paths[i]), scratch);
        if (text.n)
            return text;
    }
    return str_of(source->otherwise);
}

bool fields_match(const struct fields_selector *s, const struct value *obj)
{
    char scratch[NUMBER_MAX];
    for (size_t i = 0; i < s->n; i++) {
        const struct fields_term *term = &s->terms[i];
        struct str text = term->source ? computed_text(obj, term->source, scratch)
                                       : text_at(obj, term->field, scratch);
        if (str_eq(text, term->value) == term->negated)
            return false;
    }
    return true;
}

bool fields_by_key(const struct fields_selector *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!is_key_field(s->terms[i].field))
            return false;
    return true;
}

bool fields_match_key(const struct fields_selector *s, struct str ns, struct str name)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct fields_term *term = &s->terms[i];
        struct str text = str_eq(term->field, STR("metadata.name")) ? name : ns;
        if (str_eq(text, term->value) == term->negated)
            return false;
    }
    return true;
}

bool fields_exact(const struct fields_selector *s, struct str field, struct str *ret)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->terms[i].negated || !str_eq(s->terms[i].field, field))
            continue;
        *ret = s->terms[i].value;
        return true;
    }
    return false;
}

void fields_write(struct buf *out, const struct fields_selector *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct fields_term *term = &s->terms[i];
        if (i)
            buf_byte(out, ',');
        buf_str_add(out, term->field);
        buf_str_add(out, term->negated ? STR("!=") : STR("="));
        for (size_t j = 0; j < term->value.n; j++) {
            char c = term->value.p[j];
            if (c == '\\' || c == ',' || c == '=')
                buf_byte(out, '\\');
            buf_byte(out, c);
        }
    }
}
