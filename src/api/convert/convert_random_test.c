/* Random objects of every kind go through every old version of it. SAMPAN_SEED tries others.
 *
 * Two laws. Sent back as it was read, with one label more, an object has that label more and
 * nothing else is changed, whatever the old version cannot say. And of an update that has nothing
 * in common with the stored object, the old version shows what was sent, whatever was kept. */
#include "api/convert/convert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/convert/convert_check_test.h"
#include "api/defaults/defaults.h"
#include "api/random/random_object.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"

enum { ROUNDS = 30, DEPTH = 7 };

struct trial {
    struct arena arena;
    struct random random;
    uint64_t seed;
    const struct kind_type *old, *hub;
};

static void fail_trial(struct trial *t, const char *what, const struct value *got,
                       const struct value *want)
{
    autobuf text = { 0 };
    json_write(&text, got);
    buf_str_add(&text, STR("\nwant\n"));
    json_write(&text, want);
    fail_msg("seed %llu, " STR_FMT " " STR_FMT ": %s: got\n" STR_FMT, (unsigned long long)t->seed,
             STR_ARG(convert_api_version(&t->arena, t->old)), STR_ARG(t->old->name), what,
             STR_ARG(buf_str(&text)));
}

static struct value retyped(struct trial *t, const struct kind_type *type, struct value *obj)
{
    struct value read;
    assert_int_equal(typed_read(&t->arena, type, obj, NULL, &read, NULL), 0);
    return read;
}

/* ---- Steps ---- */

static struct value random_object(struct trial *t, const struct kind_type *type)
{
    struct value obj;
    assert_true(random_typed(&t->random, &t->arena, type, DEPTH, &obj));
    return obj;
}

/* Whatever is stored has the defaults of the hub. */
static struct value random_stored(struct trial *t)
{
    struct value obj = random_object(t, t->hub);
    defaults_apply(&t->arena, t->hub, &obj);
    return retyped(t, t->hub, &obj);
}

static struct value convert(struct trial *t, const struct kind_type *from,
                            const struct kind_type *to, struct value *obj)
{
    struct err err = ERR_INIT(&t->arena);
    struct value out;
    if (convert_object(&t->arena, from, to, obj, &out, &err) < 0)
        fail_msg("seed %llu, " STR_FMT ": " STR_FMT, (unsigned long long)t->seed,
                 STR_ARG(t->old->name), STR_ARG(err.msg));
    return out;
}

/* As the server reads it from somebody who speaks the old version. */
static struct value received(struct trial *t, struct value *sent)
{
    struct value obj = value_clone(&t->arena, sent);
    defaults_apply(&t->arena, t->old, &obj);
    return retyped(t, t->old, &obj);
}

static struct value updated(struct trial *t, const struct value *live, struct value *sent)
{
    struct err err = ERR_INIT(&t->arena);
    struct value obj = received(t, sent);
    obj = convert(t, t->old, t->hub, &obj);
    if (convert_keep(&t->arena, t->old, live, &obj, &err) < 0)
        fail_msg("seed %llu, " STR_FMT ": " STR_FMT, (unsigned long long)t->seed,
                 STR_ARG(t->old->name), STR_ARG(err.msg));
    return obj;
}

static struct value with_label(struct trial *t, const struct kind_type *type,
                               const struct value *obj)
{
    struct value out = value_clone(&t->arena, obj);
    struct value *meta = value_ensure(&t->arena, &out, STR("metadata"));
    struct value *labels = value_ensure(&t->arena, meta, STR("labels"));
    value_put(&t->arena, labels, STR("new"), value_string(STR("label")));
    return retyped(t, type, &out);
}

/* ---- Laws ---- */

static void check_one_label_more(struct trial *t)
{
    struct value live = random_stored(t);
    struct value seen = convert(t, t->hub, t->old, &live);
    struct value sent = with_label(t, t->old, &seen), want = with_label(t, t->hub, &live);
    struct value got = updated(t, &live, &sent);
    if (!has_all_of(&got, &want))
        fail_trial(t, "one label more", &got, &want);
}

/* Kinds of which objects that are not valid may show something else. */
static bool is_odd(const struct kind_type *old)
{
    static const struct {
        struct str kind;
        const char *why;
    } odd[] = {
        { STR("Ingress"), "a port that has both a name and a number, and both are taken from it" },
        { STR("RoleBinding"), "a subject whose group has a slash in it" },
        { STR("ClusterRoleBinding"), "a subject whose group has a slash in it" },
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (str_eq(odd[i].kind, old->name))
            return true;
    return false;
}

static void check_what_is_sent_counts(struct trial *t)
{
    if (is_odd(t->old))
        return;
    struct value live = random_stored(t), sent = random_object(t, t->old);
    struct value fresh = received(t, &sent), kept = updated(t, &live, &sent);
    fresh = convert(t, t->old, t->hub, &fresh);
    struct value want = convert(t, t->hub, t->old, &fresh), got = convert(t, t->hub, t->old, &kept);
    want = received(t, &want);
    got = received(t, &got);
    if (!value_eq(&got, &want))
        fail_trial(t, "what is sent counts", &got, &want);
}

static void check_kinds(void (*check)(struct trial *t))
{
    const char *given = getenv("SAMPAN_SEED");
    uint64_t seed = 20261115;
    (void)str_to_u64(str_of(given), &seed);
    for (size_t i = 0; i < n_kind_types * ROUNDS; i++) {
        struct trial t = { .old = &kind_types[i % n_kind_types], .seed = seed + i / n_kind_types };
        t.hub = convert_hub(t.old);
        if (t.hub == t.old || str_ends(t.old->name, STR("List")))
            continue;
        t.random.seed = t.seed;
        arena_init(&t.arena);
        check(&t);
        arena_done(&t.arena);
    }
}

static void one_label_more(void **state)
{
    (void)state;
    check_kinds(check_one_label_more);
}

static void what_is_sent_counts(void **state)
{
    (void)state;
    check_kinds(check_what_is_sent_counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_label_more),
        cmocka_unit_test(what_is_sent_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
