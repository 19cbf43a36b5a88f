#include "controllers/common/history.h"

#include <sampan/meta.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/template_hash.h"
#include "controllers/common/times.h"
#include "base/banned.h"

enum { PREFIX_MAX = 223 }; /* so that a hash fits behind it */

/* ---- Data ---- */

struct spn_value *history_data(struct spn_arena *a, const struct spn_value *owner)
{
    struct spn_value *data = spn_value_new(a, SPN_OBJECT);
    struct spn_value *template =
        spn_value_set(a, spn_value_ensure(a, data, "spec"), "template",
                      spn_value_copy(a, spn_value_dig(owner, "spec", "template")));
    spn_value_set_text(a, template, "$patch", SPN_TEXT("replace"));
    return data;
}

struct spn_value *history_template(struct spn_arena *a, const struct spn_value *revision)
{
    const struct spn_value *v = spn_value_dig(revision, "data", "spec", "template");
    struct spn_value *template = v ? spn_value_copy(a, v) : spn_value_new(a, SPN_OBJECT);
    spn_value_remove(a, template, "$patch");
    return template;
}

static int by_key(const void *a, const void *b)
{
    const struct value_field *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* A deep copy whose fields are sorted. */
static struct spn_value *sorted(struct spn_arena *a, const struct spn_value *v)
{
    if (spn_value_type(v) == SPN_ARRAY) {
        struct spn_value *list = spn_value_new(a, SPN_ARRAY);
        for (size_t i = 0; i < spn_value_count(v); i++)
            spn_value_push(a, list, sorted(a, spn_value_at(v, i)));
        return list;
    }
    if (spn_value_type(v) != SPN_OBJECT)
        return spn_value_copy(a, v);
    const size_t n = spn_value_count(v);
    struct value_field *fields = spn_arena_alloc(a, (n + 1) * sizeof(*fields));
    if (n)
        memcpy(fields, value_in(v)->fields, n * sizeof(*fields));
    qsort(fields, n, sizeof(*fields), by_key);
    struct spn_value *object = spn_value_new(a, SPN_OBJECT);
    for (size_t i = 0; i < n; i++)
        spn_value_set(a, object, spn_arena_text(a, text_out(fields[i].key)).p,
                      sorted(a, value_out(&fields[i].val)));
    return object;
}

/* As Go writes them, for the sake of browsers. */
static void add_escaped(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        const char c = s.p[i];
        if (c == '<' || c == '>' || c == '&') {
            buf_printf(out, "\\u00%02x", (unsigned)c);
        } else if (str_starts(str_skip(s, i), STR("\xe2\x80\xa8")) ||
                   str_starts(str_skip(s, i), STR("\xe2\x80\xa9"))) {
            buf_printf(out, "\\u202%x", (unsigned)(unsigned char)s.p[i + 2] & 0xf);
            i += 2;
        } else {
            buf_byte(out, c);
        }
    }
}

static uint32_t fnv32(uint32_t hash, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash * UINT32_C(16777619)) ^ (unsigned char)s.p[i];
    return hash;
}

struct spn_text history_hash(struct spn_arena *a, const struct spn_value *data, int64_t collisions)
{
    autobuf text = { 0 };
    add_escaped(&text, str_in(spn_value_json(a, sorted(a, data))));
    if (collisions >= 0)
        buf_printf(&text, "%lld", (long long)collisions);
    return safe_encode(a, fnv32(FNV32A_START, buf_str(&text)));
}

bool history_is_equal(const struct spn_value *revision, const struct spn_value *data)
{
    return spn_value_eq(spn_value_get(revision, "data"), data);
}

/* ---- Revisions ---- */

int64_t history_number(const struct spn_value *revision)
{
    return field_int(spn_value_get(revision, "revision"), 0);
}

static int by_number(const void *a, const void *b)
{
    const struct spn_value *const *x = a, *const *y = b;
    const int64_t number_x = history_number(*x), number_y = history_number(*y);
    int64_t x_ns = 0, y_ns = 0;
    if (number_x != number_y)
        return number_x < number_y ? -1 : 1;
    (void)time_read(spn_value_dig(*x, "metadata", "creationTimestamp"), &x_ns);
    (void)time_read(spn_value_dig(*y, "metadata", "creationTimestamp"), &y_ns);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    return str_cmp(str_in(meta_name(*x)), str_in(meta_name(*y)));
}

void history_sort(struct spn_value **revisions, size_t n)
{
    if (n)
        qsort(revisions, n, sizeof(*revisions), by_number);
}

struct spn_value *history_new(struct spn_arena *a, const struct spn_value *owner, int64_t number,
                              int64_t collisions)
{
    struct spn_value *data = history_data(a, owner);
    struct spn_text hash = history_hash(a, data, collisions), prefix = meta_name(owner);
    prefix.n = prefix.n > PREFIX_MAX ? PREFIX_MAX : prefix.n;
    struct spn_value *revision = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, revision, "apiVersion", SPN_TEXT("apps/v1"));
    spn_value_set_text(a, revision, "kind", SPN_TEXT("ControllerRevision"));
    struct spn_value *meta = spn_value_ensure(a, revision, "metadata");
    spn_value_set_text(a, meta, "name",
                       spn_arena_printf(a, SPN_FMT "-" SPN_FMT, SPN_ARG(prefix), SPN_ARG(hash)));
    spn_value_set_text(a, meta, "namespace", meta_text(owner, "namespace"));
    const struct spn_value *labels = spn_value_dig(owner, "spec", "template", "metadata", "labels");
    const struct spn_value *notes = spn_value_dig(owner, "metadata", "annotations");
    if (labels)
        spn_value_set(a, meta, "labels", spn_value_copy(a, labels));
    spn_value_set_text(a, spn_value_ensure(a, meta, "labels"), "controller.kubernetes.io/hash",
                       hash);
    if (notes)
        spn_value_set(a, meta, "annotations", spn_value_copy(a, notes));
    (void)spn_set_controller(a, revision, owner, NULL); /* it has no other */
    spn_value_set(a, revision, "data", data);
    spn_value_set_int(a, revision, "revision", number);
    return revision;
}

static struct spn_target target(struct spn_work *w, struct spn_text name)
{
    struct spn_target at = SPN_AT("apps", "v1", "controllerrevisions", "", "");
    at.ns = w->ns;
    at.name = name;
    return at;
}

/* One of that name may be ours, which the cache has not shown yet; else the next hash is tried. */
static int create(struct spn_work *w, const struct spn_value *owner, int64_t number,
                  int64_t *collisions, struct spn_value **ret, struct spn_err *err)
{
    const struct spn_target all = target(w, SPN_TEXT(""));
    for (;;) {
        const struct spn_value *revision = history_new(w->arena, owner, number, *collisions);
        int r = spn_client_create(w->client, &all, revision, &w->how, w->arena, ret, err);
        if (r != -SPN_EXISTS)
            return r;
        const struct spn_target at = target(w, meta_name(revision));
        r = spn_client_get(w->client, &at, &w->how, w->arena, ret, err);
        if (r < 0 || history_is_equal(*ret, spn_value_get(revision, "data")))
            return r;
        (*collisions)++;
    }
}

static int renumber(struct spn_work *w, struct spn_value *revision, int64_t number,
                    struct spn_value **ret, struct spn_err *err)
{
    const struct spn_target at = target(w, meta_name(revision));
    struct spn_value *copy = spn_value_copy(w->arena, revision);
    spn_value_set_text(w->arena, copy, "apiVersion", SPN_TEXT("apps/v1"));
    spn_value_set_text(w->arena, copy, "kind", SPN_TEXT("ControllerRevision"));
    spn_value_set_int(w->arena, copy, "revision", number);
    return spn_client_update(w->client, &at, copy, &w->how, w->arena, ret, err);
}

int history_current(struct spn_work *w, const struct spn_value *owner, struct spn_value **revisions,
                    size_t n, int64_t *collisions, struct spn_value **ret, struct spn_err *err)
{
    const struct spn_value *data = history_data(w->arena, owner);
    const int64_t next = n ? history_number(revisions[n - 1]) + 1 : 1;
    size_t found = n;
    for (size_t i = 0; i < n; i++)
        if (history_is_equal(revisions[i], data))
            found = i;
    if (found == n)
        return create(w, owner, next, collisions, ret, err);
    if (found < n - 1)
        return renumber(w, revisions[found], next, ret, err);
    *ret = revisions[found];
    return 0;
}

int history_truncate(struct spn_work *w, struct spn_value **revisions, size_t n,
                     bool (*is_alive)(void *arg, struct spn_text name), void *arg, int64_t limit,
                     struct spn_err *err)
{
    size_t n_dead = 0;
    struct spn_value **dead = spn_arena_alloc(w->arena, (n + 1) * sizeof(*dead));
    for (size_t i = 0; i < n; i++)
        if (!is_alive(arg, meta_name(revisions[i])))
            dead[n_dead++] = revisions[i];
    for (size_t i = 0; limit >= 0 && (int64_t)i + limit < (int64_t)n_dead; i++) {
        const struct spn_target at = target(w, meta_name(dead[i]));
        const struct spn_delete what = { .uid = meta_uid(dead[i]) };
        int r = spn_client_delete(w->client, &at, &what, &w->how, w->arena, NULL, err);
        if (r < 0 && r != -SPN_NOT_FOUND)
            return r;
    }
    return 0;
}
