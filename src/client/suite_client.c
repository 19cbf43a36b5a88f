#include "client/suite_client.h"

#include <stdio.h>

int suite_arena_setup(void **state)
{
    *state = spn_arena_new();
    return 0;
}

int suite_arena_teardown(void **state)
{
    *state = spn_arena_free(*state);
    return 0;
}

void assert_text(struct spn_text got, const char *want)
{
    assert_non_null(got.p);
    if (!spn_text_eq(got, spn_text_of(want)))
        fail_msg("got \"" SPN_FMT "\", want \"%s\"", SPN_ARG(got), want);
}

struct spn_object *suite_object(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    struct spn_object *o = NULL;
    struct spn_err err;
    if (spn_value_read_json(a, spn_text_of(json), &v, &err) < 0 || spn_object_new(v, &o, &err) < 0)
        fail_msg("%s", err.message);
    return o;
}

struct spn_object *suite_keyed(struct spn_arena *a, const char *key, unsigned version)
{
    const char *slash = strchr(key, '/');
    struct spn_text ns = { key, slash ? (size_t)(slash - key) : 0 };
    struct spn_text json = spn_arena_printf(
        a,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"" SPN_FMT "\",\"resourceVersion\":\"%u\"}}",
        slash ? slash + 1 : key, SPN_ARG(ns), version);
    return suite_object(a, json.p);
}
