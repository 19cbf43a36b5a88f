/* The public header, used as a program outside of this tree would: nothing else is included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sampan/patch.h>
#include "base/idiom.h"

static struct spn_text text(const char *s)
{
    return (struct spn_text){ s, s ? strlen(s) : 0 };
}

/* Single quotes are easier to read; the result is good until the next call. */
static struct spn_text json(char *room, size_t size, const char *quoted)
{
    size_t n = strlen(quoted);
    assert_true(n < size);
    for (size_t i = 0; i <= n; i++)
        room[i] = quoted[i] == '\'' ? '"' : quoted[i];
    return (struct spn_text){ room, n };
}

#define J(quoted) json((char[2000]){ 0 }, 2000, quoted)

static void check(int r, char *made, char *why, int want_code, const char *want)
{
    if (r != want_code)
        print_error("%d: %s\n", r, why ? why : "");
    assert_int_equal(r, want_code);
    if (r == 0) {
        assert_null(why);
        assert_string_equal(made, J(want).p);
    } else {
        assert_null(made);
        assert_non_null(why);
        assert_non_null(strstr(why, want));
    }
    free(made);
    free(why);
}

#define POD "'apiVersion':'v1','kind':'Pod'"

static void each_kind_of_patch_is_applied(void **state)
{
    (void)state;
    static const struct {
        enum spn_patch_type type;
        const char *doc, *patch;
        int code;
        const char *want;
    } cases[] = {
        { SPN_PATCH_JSON, "{'a':1}", "[{'op':'add','path':'/b','value':2}]", 0, "{'a':1,'b':2}" },
        { SPN_PATCH_JSON, "{'a':1}", "[{'op':'remove','path':'/b'}]", SPN_PATCH_INVALID, "" },
        { SPN_PATCH_JSON, "{'a':1}", "{}", SPN_PATCH_BAD, "" },
        { SPN_PATCH_JSON, "{'a':1", "[]", SPN_PATCH_BAD, "" },
        { SPN_PATCH_MERGE, "{'a':1,'b':{'c':2}}", "{'b':{'c':null,'d':3}}", 0,
          "{'a':1,'b':{'d':3}}" },
        { SPN_PATCH_MERGE, "{}", "[]", SPN_PATCH_BAD, "not a JSON object" },
        { SPN_PATCH_STRATEGIC, "{" POD ",'spec':{'containers':[{'name':'a','image':'x'}]}}",
          "{'spec':{'containers':[{'name':'b','image':'y'}]}}", 0,
          "{'apiVersion':'v1','kind':'Pod','spec':{'containers':[{'name':'b','image':'y'},"
          "{'name':'a','image':'x'}]}}" },
        { SPN_PATCH_STRATEGIC, "{'kind':'Mystery'}", "{}", SPN_PATCH_NO_KIND, "Mystery" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *made = NULL, *why = NULL;
        int r = spn_patch_apply(cases[i].type, J(cases[i].doc), J(cases[i].patch), &made, &why);
        check(r, made, why, cases[i].code, cases[i].want);
    }
}

static void patches_are_made_of_documents(void **state)
{
    (void)state;
    char *made = NULL, *why = NULL;
    int r = spn_patch_merge(J("{'a':1,'b':2}"), J("{'a':1,'c':3}"), &made, &why);
    check(r, made, why, 0, "{'b':null,'c':3}");
    made = why = NULL;
    r = spn_patch_two_way(J("{" POD ",'spec':{'containers':[{'name':'a','image':'x'}]}}"),
                          J("{" POD ",'spec':{'containers':[{'name':'a','image':'y'}]}}"), &made,
                          &why);
    check(r, made, why, 0,
          "{'spec':{'containers':[{'image':'y','name':'a'}],"
          "'$setElementOrder/containers':[{'name':'a'}]}}");
    made = why = NULL;
    const struct spn_text was = text("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":"
                                     "{\"a\":\"1\",\"b\":\"2\"}}"),
                          wanted = text("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":"
                                        "{\"a\":\"3\"}}"),
                          live = text("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":"
                                      "{\"a\":\"9\",\"b\":\"2\",\"theirs\":\"4\"}}");
    r = spn_patch_three_way(was, wanted, live, true, &made, &why);
    check(r, made, why, 0, "{'data':{'b':null,'a':'3'}}");
    made = why = NULL;
    r = spn_patch_three_way(was, wanted, live, false, &made, &why);
    check(r, made, why, SPN_PATCH_CONFLICT, "conflict");
}

static void configurations_are_applied(void **state)
{
    (void)state;
    const char *head = "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\"";
    char config[500];
    struct spn_apply how = { .manager = "one", .now = "2026-01-02T03:04:05Z" };
    char *first = NULL, *second = NULL, *why = NULL;
    (void)snprintf(config, sizeof(config), "%s},\"data\":{\"a\":\"1\"}}", head);
    assert_int_equal(spn_patch_apply_config(&how, text(NULL), text(config), &first, &why), 0);
    assert_non_null(strstr(first, "\"manager\":\"one\",\"operation\":\"Apply\""));
    assert_non_null(strstr(first, "\"data\":{\"a\":\"1\"}"));

    how.manager = "two";
    (void)snprintf(config, sizeof(config), "%s},\"data\":{\"a\":\"2\"}}", head);
    int r = spn_patch_apply_config(&how, text(first), text(config), &second, &why);
    check(r, second, why, SPN_PATCH_CONFLICT, "conflict with \"one\": .data.a");
    second = why = NULL;
    how.force = true;
    assert_int_equal(spn_patch_apply_config(&how, text(first), text(config), &second, &why), 0);
    assert_non_null(strstr(second, "\"data\":{\"a\":\"2\"}"));
    assert_null(strstr(second, "\"manager\":\"one\""));
    free(second);

    second = NULL;
    (void)snprintf(config, sizeof(config), "%s},\"dat\":1}", head);
    r = spn_patch_apply_config(&how, text(first), text(config), &second, NULL);
    assert_int_equal(r, SPN_PATCH_INVALID);
    assert_null(second);
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_patch_is_applied),
        cmocka_unit_test(patches_are_made_of_documents),
        cmocka_unit_test(configurations_are_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
