/* Patches that are too much: too many operations, copies that grow, documents without bottom, sets
 * with hundreds of thousands of members. Each is refused, or done, in bounded time and memory, and
 * the server goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "live.h"
#include "net/outgoing/fetch.h"

enum { ANSWER_MS = 60000, MEMORY_MIB = 700 };

static const char json_patch[] = "application/json-patch+json",
                  merge_patch[] = "application/merge-patch+json",
                  strategic_patch[] = "application/strategic-merge-patch+json",
                  apply_patch[] = "application/apply-patch+yaml";

static struct fetcher *fetcher;

static int send_to(const char *method, const char *path, const char *type, struct str body,
                   struct str *ret)
{
    const struct http_header headers[] = { { STR("Content-Type"), str_of(type) } };
    struct arena a;
    arena_init(&a);
    const struct fetch_request req = {
        .method = str_of(method),
        .url = arena_printf(&a, "http://" STR_FMT "/api/v1/namespaces/default/configmaps%s",
                            STR_ARG(live.address), path),
        .headers = headers,
        .n_headers = 1,
        .body = body,
        .timeout_ms = ANSWER_MS,
        .max_reply = 64u << 20,
    };
    struct fetch_reply reply;
    struct err err = ERR_INIT(&a);
    int r = fetch(fetcher, &req, &a, &reply, &err);
    if (r < 0)
        print_error(STR_FMT "\n", STR_ARG(err.msg));
    assert_int_equal(r, 0);
    if (ret)
        *ret = arena_str(&live.arena, str_take(reply.body, 300));
    int status = reply.status;
    arena_done(&a);
    return status;
}

static void make(const char *name, struct str value)
{
    autobuf body = { 0 };
    buf_printf(&body, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"a\":\"", name);
    buf_str_add(&body, value);
    buf_str_add(&body, STR("\"}}"));
    assert_int_equal(send_to("POST", "", "application/json", buf_str(&body), NULL), 201);
}

/* With one of these codes. */
static void is_answered(const char *what, const char *path, const char *type,
                        const struct buf *body, const char *codes)
{
    char code[16];
    struct str said = STR("");
    int status = send_to("PATCH", path, type, buf_str(body), &said);
    (void)snprintf(code, sizeof(code), "%d", status);
    if (!strstr(codes, code))
        print_error("%s: %d " STR_FMT "\n", what, status, STR_ARG(said));
    assert_non_null(strstr(codes, code));
}

/* Its own words `n` times, with commas between them. */
static void repeat(struct buf *out, const char *open, const char *fmt, size_t n, const char *close)
{
    buf_str_add(out, str_of(open));
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        buf_printf(out, fmt, i);
#pragma GCC diagnostic pop
    }
    buf_str_add(out, str_of(close));
}

static void nest(struct buf *out, const char *open, const char *middle, const char *close, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_str_add(out, str_of(open));
    buf_str_add(out, str_of(middle));
    for (size_t i = 0; i < n; i++)
        buf_str_add(out, str_of(close));
}

/* ---- size and number ---- */

static void operations_are_counted(void **state)
{
    (void)state;
    make("counted", STR("1"));
    autobuf body = { 0 };
    repeat(&body, "[", "{\"op\":\"add\",\"path\":\"/data/k%zu\",\"value\":\"\"}",
           LIMIT_PATCH_OPERATIONS, "]");
    assert_int_equal(send_to("PATCH", "/counted", json_patch, buf_str(&body), NULL), 200);
    buf_reset(&body);
    repeat(&body, "[", "{\"op\":\"test\",\"path\":\"/data/k%zu\",\"value\":\"\"}",
           LIMIT_PATCH_OPERATIONS + 1, "]");
    is_answered("one operation too many", "/counted", json_patch, &body, "413");
}

/* k/k#84963: how many operations there are, and how long they are, are two things. */
static void few_operations_may_be_long(void **state)
{
    (void)state;
    enum { OPERATIONS = 10, BYTES = 200 << 10 };
    make("long", STR("1"));
    autobuf body = { 0 };
    for (size_t i = 0; i < OPERATIONS; i++) {
        buf_str_add(&body, i ? STR(",") : STR("["));
        buf_str_add(&body, STR("{\"op\":\"replace\",\"path\":\"/data/a\",\"value\":\""));
        for (size_t k = 0; k < BYTES; k++)
            buf_byte(&body, 'x');
        buf_str_add(&body, STR("\"}"));
    }
    size_t before = body.n;
    buf_byte(&body, ']');
    assert_true(body.n > 2000000);
    is_answered("ten long operations", "/long", json_patch, &body, "200");
    body.n = before;
    for (size_t i = OPERATIONS; i < LIMIT_PATCH_OPERATIONS + 1; i++)
        buf_str_add(&body, STR(",{\"op\":\"test\",\"path\":\"/kind\",\"value\":\"\"}"));
    buf_byte(&body, ']');
    is_answered("and many short ones", "/long", json_patch, &body, "413");
}

/* The number of operations and the number of bytes are two things. */
static void bytes_are_counted(void **state)
{
    (void)state;
    make("sized", STR("1"));
    autobuf value = { 0 }, body = { 0 };
    nest(&value, "x", "", "", 60 << 10);
    buf_str_add(&body, STR("["));
    for (size_t i = 0; i < 10; i++)
        buf_printf(&body, "%s{\"op\":\"add\",\"path\":\"/data/k%zu\",\"value\":\"" STR_FMT "\"}",
                   i ? "," : "", i, STR_ARG(buf_str(&value)));
    buf_str_add(&body, STR("]"));
    assert_int_equal(send_to("PATCH", "/sized", json_patch, buf_str(&body), NULL), 200);
    buf_reset(&body);
    nest(&body, " ", "[]", "", LIMIT_BODY_BYTES);
    is_answered("a body beyond the limit", "/sized", json_patch, &body, "413");
    is_answered("a configuration beyond it", "/sized?fieldManager=a", apply_patch, &body, "413");
}

static void copies_do_not_grow(void **state)
{
    (void)state;
    autobuf value = { 0 }, body = { 0 };
    nest(&value, "x", "", "", 700 << 10);
    make("copied", buf_str(&value));
    repeat(&body, "[", "{\"op\":\"copy\",\"from\":\"/data/a\",\"path\":\"/data/b%zu\"}", 30, "]");
    is_answered("copies of a large value", "/copied", json_patch, &body, "422 413");
    buf_reset(&body);
    repeat(&body, "[", "{\"op\":\"copy\",\"from\":\"/data\",\"path\":\"/data/x%zu\"}", 30, "]");
    is_answered("copies that double", "/copied", json_patch, &body, "422 413");
    buf_reset(&body);
    repeat(&body, "[", "{\"op\":\"move\",\"from\":\"/data\",\"path\":\"/data/x%zu\"}", 1000, "]");
    is_answered("moves into itself", "/copied", json_patch, &body, "422 400");
}

/* ---- depth ---- */

static void depth_is_bounded(void **state)
{
    (void)state;
    static const size_t depths[] = { 90, 150, 900, 9000, LIMIT_JSON_DEPTH + 10, 200000 };
    make("deep", STR("1"));
    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        autobuf body = { 0 };
        bool is_too_deep = depths[i] > LIMIT_JSON_DEPTH;
        nest(&body, "{\"metadata\":", "1", "}", depths[i]);
        is_answered("a deep merge patch", "/deep?fieldValidation=Ignore", merge_patch, &body,
                    is_too_deep ? "400" : "200");
        is_answered("a deep strategic patch", "/deep", strategic_patch, &body,
                    is_too_deep ? "400" : "200 422 500");
        buf_reset(&body);
        buf_str_add(&body, STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":"));
        nest(&body, "{\"a\":", "1", "}", depths[i]);
        buf_byte(&body, '}');
        is_answered("a deep configuration", "/deep?fieldManager=a", apply_patch, &body, "500 400");
        buf_reset(&body);
        buf_str_add(&body, STR("[{\"op\":\"add\",\"path\":\"/data/x\",\"value\":"));
        nest(&body, "[", "", "]", depths[i]);
        buf_str_add(&body, STR("}]"));
        is_answered("a deep value", "/deep", json_patch, &body, "422 400");
    }
}

/* ---- sets ---- */

static void large_sets_take_no_long(void **state)
{
    (void)state;
    enum { MANY = 250000 };
    make("sets", STR("1"));
    autobuf body = { 0 };
    repeat(&body, "{\"metadata\":{\"finalizers\":[", "\"%zx\"", MANY, "]}}");
    is_answered("many finalizers, merged", "/sets", merge_patch, &body, "422 413");
    is_answered("many finalizers, as a set", "/sets", strategic_patch, &body, "422 413");
    buf_reset(&body);
    repeat(&body,
           "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"sets\","
           "\"finalizers\":[",
           "\"%zx\"", MANY, "]}}");
    is_answered("many finalizers, applied", "/sets?fieldManager=a", apply_patch, &body, "422 413");
    buf_reset(&body);
    repeat(&body, "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[", "\"%zx\"", MANY,
           "]}}");
    is_answered("many to take out", "/sets", strategic_patch, &body, "200 422");
    buf_reset(&body);
    repeat(&body, "{\"metadata\":{\"$setElementOrder/ownerReferences\":[", "{\"uid\":\"%zx\"}",
           MANY / 2, "],\"ownerReferences\":[]}}");
    is_answered("a long order", "/sets", strategic_patch, &body, "500");
    buf_reset(&body);
    repeat(&body,
           "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"sets\"},"
           "\"data\":{",
           "\"k%zx\":\"\"", MANY, "}}");
    is_answered("many fields, applied", "/sets?fieldManager=a", apply_patch, &body, "200 422");
    is_answered("and again by another", "/sets?fieldManager=b", apply_patch, &body, "413");
    buf_reset(&body);
    repeat(&body, "{\"metadata\":{\"managedFields\":[",
           "{\"manager\":\"m%zu\",\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":"
           "\"FieldsV1\",\"fieldsV1\":{}}",
           20000, "]}}");
    is_answered("many managers", "/sets", merge_patch, &body, "200 422");
}

/* ---- all of it ---- */

static void memory_is_bounded(void **state)
{
    (void)state;
    struct rusage use;
    assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    print_message("at most %ld MiB\n", use.ru_maxrss >> 10);
    assert_true(use.ru_maxrss >> 10 < MEMORY_MIB);
#endif
    assert_int_equal(send_to("GET", "/deep", "application/json", STR(""), NULL), 200);
}

static int set_up(void **state)
{
    (void)state;
    live_start(&live);
    live_populate(&live);
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fetcher_free(fetcher);
    live_stop(&live);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_counted), cmocka_unit_test(few_operations_may_be_long),
        cmocka_unit_test(bytes_are_counted),      cmocka_unit_test(copies_do_not_grow),
        cmocka_unit_test(depth_is_bounded),       cmocka_unit_test(large_sets_take_no_long),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
