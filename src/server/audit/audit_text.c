#include "server/audit/audit_text.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "server/audit/audit_event.h"
#include "base/banned.h"

enum { EXTRA_MAX = 64, ANNOTATIONS_MAX = 256 }; /* of one event */

/* ---- JSON ---- */

/* The key, behind a comma unless it is the first one of its object. */
static void key(struct buf *out, const char *name)
{
    buf_printf(out, "%s\"%s\":", out->n && out->p[out->n - 1] == '{' ? "" : ",", name);
}

static void text(struct buf *out, const char *name, struct str s)
{
    key(out, name);
    json_write_string(out, s);
}

static void text_if(struct buf *out, const char *name, struct str s)
{
    if (s.n)
        text(out, name, s);
}

static void raw_if(struct buf *out, const char *name, struct str json)
{
    if (!json.n)
        return;
    key(out, name);
    buf_str_add(out, json);
}

static void list(struct buf *out, const struct str *all, size_t n)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
        json_write_string(out, all[i]);
    }
    buf_byte(out, ']');
}

static int by_key(const void *a, const void *b)
{
    const struct user_extra *x = *(const struct user_extra *const *)a,
                            *y = *(const struct user_extra *const *)b;
    return str_cmp(x->key, y->key);
}

/* Go writes maps by their keys. */
static void extra(struct buf *out, const struct user *u)
{
    const struct user_extra *all[EXTRA_MAX] = { NULL };
    size_t n = u->n_extra < EXTRA_MAX ? u->n_extra : EXTRA_MAX;
    for (size_t i = 0; i < n; i++)
        all[i] = &u->extra[i];
    qsort(all, n, sizeof(all[0]), by_key);
    key(out, "extra");
    buf_byte(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
        json_write_string(out, all[i]->key);
        buf_byte(out, ':');
        list(out, all[i]->values, all[i]->n_values);
    }
    buf_byte(out, '}');
}

static void user(struct buf *out, const char *name, const struct user *u)
{
    key(out, name);
    buf_byte(out, '{');
    if (u) {
        text_if(out, "username", u->name);
        text_if(out, "uid", u->uid);
        if (u->n_groups) {
            key(out, "groups");
            list(out, u->groups, u->n_groups);
        }
        if (u->n_extra)
            extra(out, u);
    }
    buf_byte(out, '}');
}

static void object_ref(struct buf *out, const struct audit_facts *f)
{
    key(out, "objectRef");
    buf_byte(out, '{');
    text_if(out, "resource", f->resource);
    text_if(out, "namespace", f->ns);
    text_if(out, "name", f->name);
    text_if(out, "uid", f->uid);
    text_if(out, "apiGroup", f->group);
    text_if(out, "apiVersion", f->version);
    text_if(out, "resourceVersion", f->revision);
    text_if(out, "subresource", f->sub);
    buf_byte(out, '}');
}

static void status(struct buf *out, const struct audit_facts *f)
{
    static const char *const texts[] = { "status", "message", "reason" };
    key(out, "responseStatus");
    buf_str_add(out, STR("{\"metadata\":{}"));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        text_if(out, texts[i], value_str(value_get(f->status, str_of(texts[i]))));
    const struct value *details = value_get(f->status, STR("details"));
    if (details) {
        key(out, "details");
        json_write(out, details);
    }
    key(out, "code");
    json_write_int(out, f->code);
    buf_byte(out, '}');
}

static void time_at(struct buf *out, const char *name, int64_t wall_ns)
{
    char stamp[CLOCK_TEXT_BYTES];
    text(out, name, clock_format(wall_ns, true, stamp));
}

static int by_annotation(const void *a, const void *b)
{
    const struct audit_annotation *x = *(const struct audit_annotation *const *)a,
                                  *y = *(const struct audit_annotation *const *)b;
    return str_cmp(x->key, y->key);
}

static void annotations(struct buf *out, const struct audit_facts *f)
{
    const struct audit_annotation *all[ANNOTATIONS_MAX];
    size_t n = 0;
    for (const struct audit_annotation *a = f->annotations; a && n < ANNOTATIONS_MAX; a = a->next)
        all[n++] = a;
    if (!n)
        return;
    qsort(all, n, sizeof(all[0]), by_annotation);
    key(out, "annotations");
    buf_byte(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
        json_write_string(out, all[i]->key);
        buf_byte(out, ':');
        json_write_string(out, all[i]->value);
    }
    buf_byte(out, '}');
}

static void who(struct buf *out, const struct audit_facts *f)
{
    user(out, "user", f->user);
    if (f->impersonated)
        user(out, "impersonatedUser", f->impersonated);
    if (f->constraint.n) {
        key(out, "authenticationMetadata");
        buf_byte(out, '{');
        text(out, "impersonationConstraint", f->constraint);
        buf_byte(out, '}');
    }
    if (f->n_sources) {
        key(out, "sourceIPs");
        list(out, f->sources, f->n_sources);
    }
    text_if(out, "userAgent", f->user_agent);
}

size_t audit_text_json(struct buf *out, const struct audit_facts *f)
{
    buf_str_add(out, AUDIT_EVENT_HEAD);
    buf_str_add(out, STR("\"level\":"));
    json_write_string(out, audit_level_word(f->level));
    text(out, "auditID", f->id);
    text(out, "stage", audit_stage_word(f->stage));
    text(out, "requestURI", f->uri);
    text(out, "verb", f->verb);
    who(out, f);
    if (f->has_object)
        object_ref(out, f);
    if (f->code)
        status(out, f);
    raw_if(out, "requestObject", f->request);
    size_t at = out->n;
    raw_if(out, "responseObject", f->answer);
    time_at(out, "requestReceivedTimestamp", f->received_ns);
    time_at(out, "stageTimestamp", f->stage_ns);
    annotations(out, f);
    buf_byte(out, '}');
    return at;
}

/* ---- Words ---- */

static void quoted(struct buf *out, const char *name, struct str s, const char *otherwise)
{
    buf_printf(out, " %s=", name);
    json_write_string(out, s.n ? s : str_of(otherwise));
}

/* "\"a\",\"b\"" */
static void quoted_list(struct buf *out, const char *name, const struct user *u,
                        const char *otherwise)
{
    autobuf all = { 0 };
    for (size_t i = 0; u && i < u->n_groups; i++) {
        if (i)
            buf_byte(&all, ',');
        json_write_string(&all, u->groups[i]);
    }
    quoted(out, name, buf_str(&all), otherwise);
}

void audit_text_words(struct buf *out, const struct audit_facts *f)
{
    char stamp[CLOCK_TEXT_BYTES];
    buf_str_add(out, clock_format(f->received_ns, true, stamp));
    buf_str_add(out, STR(" AUDIT:"));
    quoted(out, "id", f->id, "");
    quoted(out, "stage", audit_stage_word(f->stage), "");
    quoted(out, "ip", f->n_sources ? f->sources[0] : STR(""), "<unknown>");
    quoted(out, "method", f->verb, "");
    quoted(out, "user", f->user ? f->user->name : STR(""), "<none>");
    quoted_list(out, "groups", f->user, "<none>");
    quoted(out, "as", f->impersonated ? f->impersonated->name : STR(""), "<self>");
    quoted_list(out, "asgroups", f->impersonated, "<lookup>");
    quoted(out, "user-agent", f->user_agent, "");
    quoted(out, "namespace", f->has_object ? f->ns : STR(""), "<none>");
    quoted(out, "uri", f->uri, "");
    if (f->code)
        buf_printf(out, " response=\"%d\"", f->code);
    else
        buf_str_add(out, STR(" response=\"<deferred>\""));
}
