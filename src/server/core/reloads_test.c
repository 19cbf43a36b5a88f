#include "server/core/reloads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool shows(struct reloads *r, const char *line)
{
    autobuf out = { 0 };
    reloads_write_counts(r, "id", &out);
    reloads_write_hash(r, "id", &out);
    struct str wanted = str_of(line);
    return memmem(out.p, out.n, wanted.p, wanted.n) != NULL;
}

static void a_hash_is_that_of_the_text(void **state)
{
    char hash[RELOADS_HASH_TEXT];
    (void)state;
    reloads_hash(STR("abc"), hash);
    assert_string_equal(hash,
                        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void tries_are_counted(void **state)
{
    struct reloads r;
    struct arena a;
    (void)state;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    reloads_init(&r, "tea", "tea.yaml");
    assert_true(shows(&r, "apiserver_tea_config_controller_automatic_reloads_total{"
                          "apiserver_id_hash=\"id\",status=\"success\"} 0\n"));
    r.hides_none = true;
    assert_false(shows(&r, "status=\"success\""));
    reloads_note(&r, 0, NULL);
    assert_false(shows(&r, "status="));
    reloads_note(&r, 1, NULL);
    reloads_note(&r, 1, NULL);
    reloads_note(&r, err_set(&err, ERR_INVALID, "no water"), &err);
    assert_true(
        shows(&r, "automatic_reloads_total{apiserver_id_hash=\"id\",status=\"success\"} 2\n"));
    assert_true(
        shows(&r, "automatic_reloads_total{apiserver_id_hash=\"id\",status=\"failure\"} 1\n"));
    reloads_done(&r);
    arena_done(&a);
}

static void the_text_in_use_is_shown(void **state)
{
    struct reloads r;
    char hash[RELOADS_HASH_TEXT];
    (void)state;
    reloads_init(&r, "tea", "tea.yaml");
    reloads_hash(STR("green"), hash);
    reloads_use(&r, hash);
    assert_true(shows(&r, hash));
    reloads_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_is_that_of_the_text),
        cmocka_unit_test(tries_are_counted),
        cmocka_unit_test(the_text_in_use_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
