/* columns_check_test.h - what the tests of columns share: an object in, its cells out. JSON is
 * written with ' for ", so that it can be read. */
#pragma once

#include "api/columns/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/json.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* 2026-01-02T03:04:05Z; an object with META is 4m5s old. */
#define NOW_NS (INT64_C(1767323045) * NS_PER_SEC)
#define META   "'metadata':{'name':'a','creationTimestamp':'2026-01-02T03:00:00Z'}"
#define GONE                                                             \
    "'metadata':{'name':'a','creationTimestamp':'2026-01-02T03:00:00Z'," \
    "'deletionTimestamp':'2026-01-02T03:04:00Z'}"

struct check {
    const char *resource; /* "v1 pods", "apps/v1 deployments" */
    const char *obj, *cells;
};

static inline struct value check_parse(struct arena *a, const char *text)
{
    struct err err = ERR_INIT(a);
    struct value v = value_null();
    char *json = arena_dup(a, text, strlen(text));
    for (size_t i = 0; i < strlen(text); i++)
        if (json[i] == '\'')
            json[i] = '"';
    if (json_read(a, (struct str){ json, strlen(text) }, NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

static inline const struct kind_resource *check_resource(const char *text)
{
    struct str plural = str_of(text), version = str_cut(&plural, ' '), group = { 0 };
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_version *v = kind_version_find(group, version);
    for (size_t i = 0; v && i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, plural))
            return &v->resources[i];
    if (str_eq(plural, STR("scales")))
        return &columns_scale;
    fail_msg("there is no resource %s", text);
    return NULL;
}

static inline void check_same(const struct value *got, const struct value *want, const char *about)
{
    autobuf x = { 0 }, y = { 0 };
    json_write(&x, got);
    json_write(&y, want);
    if (!value_eq(got, want))
        fail_msg("%s\n got: " STR_FMT "\nwant: " STR_FMT, about, STR_ARG(buf_str(&x)),
                 STR_ARG(buf_str(&y)));
}

static inline void check_rows(const struct check *rows, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        struct value obj = check_parse(&a, rows[i].obj), want = check_parse(&a, rows[i].cells);
        struct value got = columns_row(&a, check_resource(rows[i].resource), &obj, NOW_NS, NULL);
        check_same(&got, &want, rows[i].obj);
    }
    arena_done(&a);
}
