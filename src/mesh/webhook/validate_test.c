/* What the validation webhook says: a table of our own, and the recorded verdicts, if they are
 * there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "mesh/webhook/validate.h"

struct row {
    const char *kind, *spec, *wrong; /* NULL: it is fine */
};

static const struct row rows[] = {
    { "VirtualService", "{hosts: [a.test], http: [{route: [{destination: {host: a.test}}]}]}",
      NULL },
    { "VirtualService", "{hosts: [a.test]}", "http, tcp or tls" },
    { "VirtualService", "{hosts: [a.test], http: [{redirect: {}}]}", "redirect must specify" },
    { "DestinationRule", "{host: a.test, subsets: [{name: v1}, {name: v1}]}", "duplicate subset" },
    { "DestinationRule", "{host: a.test, subsets: [{name: v1, labels: {a: b}}]}", NULL },
    { "Gateway", "{servers: []}", "at least one server" },
    { "ServiceEntry", "{hosts: ['*']}", "invalid host" },
    { "Sidecar", "{egress: [{hosts: [a.test]}]}", "namespace/dnsName" },
    { "AuthorizationPolicy", "{rules: [{from: [{source: {}}]}]}", "from.source" },
    { "PeerAuthentication", "{mtls: {mode: STRICT}}", NULL },
};

static int verdict(struct arena *a, const struct value *obj, struct err *err)
{
    unsigned warnings;
    return validate_object(a, obj, &warnings, err);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct value obj;
        struct str text = arena_printf(
            &a, "{apiVersion: networking.istio.io/v1, kind: %s, metadata: {name: x}, spec: %s}",
            rows[i].kind, rows[i].spec);
        assert_int_equal(yaml_read(&a, text, NULL, &obj, &err), 0);
        int r = verdict(&a, &obj, &err);
        assert_int_equal(r < 0, rows[i].wrong != NULL);
        if (r < 0)
            assert_non_null(memmem(err.msg.p, err.msg.n, rows[i].wrong, strlen(rows[i].wrong)));
        arena_done(&a);
    }
}

/* Ports stand there as "{port:NAME}": any number will do. */
static void fill_ports(char *line)
{
    for (char *p; (p = strstr(line, "\"{port:"));) {
        char *end = strchr(p + 1, '"');
        memset(p, ' ', (size_t)(end + 1 - p));
        memcpy(p, "8080", 4);
    }
}

/* How many verdicts differ is told; those that do are printed. */
static void test_recorded(void **state)
{
    const char *folder = getenv("SAMPAN_VECTORS");
    char path[4096];
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/mesh/admission.jsonl", folder ? folder : "");
    FILE *f = folder ? fopen(path, "r") : NULL;
    if (!f)
        skip();
    char *line = NULL;
    size_t cap = 0, n = 0, differ = 0;
    for (ssize_t len; (len = getline(&line, &cap, f)) > 0; n++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        struct value c;
        fill_ports(line);
        assert_int_equal(json_read(&a, (struct str){ line, (size_t)len }, NULL, &c, &err), 0);
        bool accepted = value_is_true(value_dig(&c, "webhook", "accepted"));
        int r = verdict(&a, value_get(&c, STR("object")), &err);
        if ((r == 0) != accepted) {
            differ++;
            printf("%.*s: %s\n", STR_ARG(value_text(&c, "id")),
                   r ? str_cstr(&a, err.msg) : "accepted");
        }
        arena_done(&a);
    }
    free(line);
    (void)fclose(f);
    printf("%zu verdicts, %zu differ\n", n, differ);
    assert_int_equal(differ, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows),
                                        cmocka_unit_test(test_recorded) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
