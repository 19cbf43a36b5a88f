/* The entries of managedFields: read, written, kept few. */
#include "merge/managed_internal.h"

#include <stdlib.h>

#include "base/limits.h"

#include "base/banned.h"

/* ---- one entry ---- */

int managed__cmp(const struct managed_entry *a, const struct managed_entry *b)
{
    int c = str_cmp(a->manager, b->manager);
    if (c)
        return c;
    if (a->is_apply != b->is_apply)
        return b->is_apply - a->is_apply;
    c = a->is_apply ? 0 : str_cmp(a->api_version, b->api_version);
    return c ? c : str_cmp(a->subresource, b->subresource);
}

static struct str text_of(const struct value *entry, const char *name)
{
    return value_str(value_get(entry, str_of(name)));
}

static int read_entry(struct arena *a, const struct value *in, size_t i, struct managed_entry *ret,
                      struct err *err)
{
    struct str operation = text_of(in, "operation");
    const struct value *fields = value_get(in, STR("fieldsV1"));
    *ret = (struct managed_entry){ .manager = text_of(in, "manager"),
                                   .subresource = text_of(in, "subresource"),
                                   .api_version = text_of(in, "apiVersion"),
                                   .time = text_of(in, "time"),
                                   .is_apply = str_eq(operation, STR("Apply")) };
    if (!ret->is_apply && !str_eq(operation, STR("Update")))
        return err_set(err, ERR_BAD_REQUEST, "operation must be `Apply` or `Update`");
    if (!ret->api_version.n)
        return err_set(err, ERR_BAD_REQUEST, "apiVersion must not be empty");
    struct str type = text_of(in, "fieldsType");
    if (!type.n)
        return err_set(err, ERR_BAD_REQUEST, "missing fieldsType in managed fields entry %zu", i);
    if (!str_eq(type, STR("FieldsV1")))
        return err_set(err, ERR_BAD_REQUEST,
                       "invalid fieldsType \"" STR_FMT "\" in managed fields entry %zu",
                       STR_ARG(type), i);
    return fields ? fieldset_read(a, fields, &ret->fields, err) : 0;
}

static struct value entry_value(struct arena *a, const struct managed_entry *e)
{
    struct value v = value_object();
    value_put_new(a, &v, STR("manager"), value_string(e->manager));
    value_put_new(a, &v, STR("operation"),
                  value_string(e->is_apply ? STR("Apply") : STR("Update")));
    value_put_new(a, &v, STR("apiVersion"), value_string(e->api_version));
    if (e->time.n)
        value_put_new(a, &v, STR("time"), value_string(e->time));
    value_put_new(a, &v, STR("fieldsType"), value_string(STR("FieldsV1")));
    value_put_new(a, &v, STR("fieldsV1"), fieldset_write(a, e->fields));
    if (e->subresource.n)
        value_put_new(a, &v, STR("subresource"), value_string(e->subresource));
    return v;
}

/* ---- all of them ---- */

struct managed_entry *managed__find(const struct managed_entries *m,
                                    const struct managed_entry *who)
{
    for (size_t i = 0; i < m->n; i++)
        if (managed__cmp(&m->all[i], who) == 0)
            return &m->all[i];
    return NULL;
}

struct managed_entry *managed__add(struct managed_entries *m, struct managed_entry e)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 8;
        m->all = arena_grow(m->arena, m->all, m->cap * sizeof(*m->all), cap * sizeof(*m->all),
                            alignof(struct managed_entry));
        m->cap = cap;
    }
    m->all[m->n] = e;
    return &m->all[m->n++];
}

void managed__drop_empty(struct managed_entries *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->all[i].fields)
            m->all[kept++] = m->all[i];
    m->n = kept;
}

void managed__drop_unknown(struct managed_entries *m, const struct managed_request *req)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++)
        if (managed__is_known(req, m->all[i].api_version))
            m->all[kept++] = m->all[i];
    m->n = kept;
}

int managed__read(struct managed_entries *m, const struct value *list, struct err *err)
{
    m->n = 0;
    if (value_is(list, VALUE_ARRAY) && list->n > LIMIT_FIELD_MANAGERS)
        return err_set(err, ERR_BAD_REQUEST, "more than %u managers", LIMIT_FIELD_MANAGERS);
    value_each_item (it, list) {
        struct managed_entry e;
        int r = read_entry(m->arena, it, (size_t)(it - list->items), &e, err);
        if (r < 0)
            return r;
        struct managed_entry *same = managed__find(m, &e);
        if (same)
            *same = e;
        else
            (void)managed__add(m, e);
    }
    return 0;
}

int managed_check_fields(struct arena *a, const struct value *managed_fields, struct err *err)
{
    struct managed_entries m = { .arena = a };
    return managed__read(&m, managed_fields, err);
}

static int compare_written(const void *pa, const void *pb)
{
    const struct managed_entry *a = pa, *b = pb;
    if (a->is_apply != b->is_apply)
        return b->is_apply - a->is_apply;
    int c = str_cmp(a->time, b->time);
    if (c)
        return c;
    c = str_cmp(a->manager, b->manager);
    if (c)
        return c;
    c = str_cmp(a->api_version, b->api_version);
    return c ? c : str_cmp(a->subresource, b->subresource);
}

void managed__write(const struct managed_entries *m, struct value *obj)
{
    struct value *meta = value_ensure(m->arena, obj, STR("metadata"));
    struct value list = value_array();
    if (!meta)
        return;
    if (!m->n) {
        value_drop(m->arena, meta, STR("managedFields"));
        return;
    }
    qsort(m->all, m->n, sizeof(*m->all), compare_written);
    for (size_t i = 0; i < m->n; i++)
        value_put_item(m->arena, &list, entry_value(m->arena, &m->all[i]));
    value_put(m->arena, meta, STR("managedFields"), list);
}

/* ---- keeping them few ---- */

static int compare_age(const void *pa, const void *pb)
{
    const struct managed_entry *a = pa, *b = pb;
    if (a->is_apply != b->is_apply)
        return a->is_apply - b->is_apply;
    int c = str_cmp(a->time, b->time);
    return c ? c : managed__cmp(a, b);
}

static struct managed_entry *older_of_version(struct managed_entry *all, size_t n,
                                              struct str api_version)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(all[i].api_version, api_version))
            return &all[i];
    return NULL;
}

/* Each goes into the bucket of its version, which the oldest of that version becomes. */
void managed__cap(struct managed_entries *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += !m->all[i].is_apply;
    if (n <= MANAGED_UPDATERS_MAX)
        return;
    qsort(m->all, m->n, sizeof(*m->all), compare_age);
    for (size_t i = 0, updaters = n; i < updaters && n > MANAGED_UPDATERS_MAX; i++) {
        struct managed_entry *e = &m->all[i];
        struct managed_entry who = { .manager = STR("ancient-changes"),
                                     .api_version = e->api_version };
        struct managed_entry *first = older_of_version(m->all, i, e->api_version);
        if (!first)
            continue;
        struct managed_entry *bucket = managed__find(m, &who);
        if (!bucket) {
            bucket = first;
            bucket->manager = who.manager;
            bucket->subresource = STR("");
        }
        if (bucket == e)
            continue;
        bucket->fields = fieldset_union(m->arena, e->fields, bucket->fields);
        bucket->time = e->time;
        e->fields = NULL;
        n--;
    }
    managed__drop_empty(m);
}
