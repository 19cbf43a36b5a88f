/* Paths and what they find; the expectations are what client-go's package answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "schema/jsonpath.h"

static const char store[] =
    "{\"kind\":\"List\",\"n\":[1,2,3,4],\"f\":[1.5,1234567.5,0.00001,1e25],\"s\":\"ab\",\"no\":"
    "null,"
    "\"flags\":[true,false],\"text\":\"<a> & b\",\"map\":{\"z\":\"<\",\"a\":{\"c\":1.50}},"
    "\"items\":[{\"name\":\"i1\",\"x\":4,\"z\":1,\"ready\":true,\"cap\":{\"cpu\":\"4\"}},"
    "{\"name\":\"i2\",\"x\":-2,\"y\":2.5,\"ready\":false},{\"name\":\"i3\",\"x\":null,\"a.b/"
    "c\":\"dots\"}],"
    "\"deep\":{\"name\":\"d\",\"list\":[{\"name\":\"e\"},[]]}}";

enum { BUDGET = 1000000 };

/* What kubectl -o jsonpath would print, or the fault. */
static struct str run(struct arena *a, const char *text, const char *json, bool may_miss)
{
    struct err err = ERR_INIT(a);
    struct jsonpath *path;
    struct jsonpath_results results;
    struct value obj;
    size_t budget = BUDGET;
    autobuf out = { 0 };
    assert_int_equal(json_read(a, str_of(json), NULL, &obj, &err), 0);
    if (jsonpath_parse(a, str_of(text), &path, &err) < 0 ||
        jsonpath_find(a, path, &obj, may_miss, &budget, &results, &err) < 0) {
        assert_int_equal(err.code, ERR_INVALID);
        return err.msg;
    }
    for (size_t i = 0; i < results.n; i++)
        jsonpath_print(&out, &results.list[i]);
    return arena_str(a, buf_str(&out));
}

struct path_case {
    const char *path, *found;
};

static void check_in(const char *json, const struct path_case *cases, size_t n, bool may_miss)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        struct str got = run(&a, cases[i].path, json, may_miss);
        if (!str_eq(got, str_of(cases[i].found)))
            fail_msg("%s: \"%.*s\" instead of \"%s\"", cases[i].path, STR_ARG(got), cases[i].found);
    }
    arena_done(&a);
}

#define CHECK_IN(json, cases, may_miss) check_in((json), (cases), ARRAY_LEN(cases), (may_miss))
#define CHECK(cases, may_miss)          CHECK_IN(store, cases, may_miss)

static void test_fields(void **state)
{
    (void)state;
    static const struct path_case cases[] = {
        { "{.kind}", "List" },
        { "{ .kind }", "List" },
        { "{$.kind}", "List" },
        { "{@.kind}", "List" },
        { "{.deep.name}", "d" },
        { "{['deep']['name']}", "d" },
        { "{['deep.name']}", "d" },
        { "{.items[2].a\\.b/c}", "dots" },
        { "{.deep['name','list']}", "d [{\"name\":\"e\"},[]]" },
        { "{.no}", "null" },
        { "{.text}", "<a> & b" },
        { "{.map}", "{\"a\":{\"c\":1.5},\"z\":\"\\u003c\"}" },
        { "{.map.*}", "< {\"c\":1.5}" },
        { "{.flags.*}", "true false" },
        { "{.s.*}", "97 98" },
        { "{.f[*]}", "1.5 1.2345675e+06 1e-05 1e+25" },
        { "{..name}", "i1 i2 i3 d e" },
        { "{.deep..}", "{\"list\":[{\"name\":\"e\"},[]],\"name\":\"d\"} d [{\"name\":\"e\"},[]] "
                       "{\"name\":\"e\"} e" },
        { "", "" },
        { "just text", "just text" },
        { "a {.kind} b {.s}", "a List b ab" },
        { "{\"\\t\\x41\\u00e9\\101\"}{'it\\'s'}", "\tA\xc3\xa9"
                                                  "Ait's" },
        { "{.kind}{5}{1.50}{true}", "List51.5true" },
    };
    CHECK(cases, false);
}

static void test_lists(void **state)
{
    (void)state;
    static const struct path_case cases[] = {
        { "{.n[0]}", "1" },
        { "{.n[-1]}", "4" },
        { "{.n[]}", "1" },
        { "{.n[*]}", "1 2 3 4" },
        { "{.n[1:3]}", "2 3" },
        { "{.n[:2]}", "1 2" },
        { "{.n[-2:]}", "3 4" },
        { "{.n[0:-1]}", "1 2 3" },
        { "{.n[::2]}", "1 3" },
        { "{.n[1::2]}", "2 4" },
        { "{.n[0:4:9223372036854775807]}", "1" },
        { "{.n[0:0]}", "" },
        { "{.n[7:7]}", "" },
        { "{.n[0,2, -1]}", "1 3 4" },
        { "{.no[0]}", "" },
        { "{.items[*].name}", "i1 i2 i3" },
        { "{.items[*].cap.cpu}", "4" },
        { "{.n[4]}", "array index out of bounds: index 4, length 4" },
        { "{.n[-5]}", "array index out of bounds: index -1, length 4" },
        { "{.n[2:9]}", "array index out of bounds: index 8, length 4" },
        { "{.n[3:1]}", "starting index 3 is greater than ending index 1" },
        { "{.n[0:4:0]}", "step must be > 0" },
        { "{.n[0:4:-1]}", "step must be > 0" },
        { "{.map[0]}", "map[string]interface {} is not array or slice" },
        { "{.s[0]}", "string is not array or slice" },
    };
    CHECK(cases, false);
}

static void test_filters(void **state)
{
    (void)state;
    static const struct path_case cases[] = {
        { "{.items[?(@.name==\"i2\")].x}", "-2" },
        { "{.items[?(@.name=='i2')].x}", "-2" },
        { "{.items[?(@.name!=\"i2\")].name}", "i1 i3" },
        { "{.items[?(@.name<\"i2\")].name}", "i1" },
        { "{.items[?(@.name>=\"i2\")].name}", "i2 i3" },
        { "{.items[?(@.x>0)].name}", "invalid type for comparison" },
        { "{.items[0][?(@.x>0)].name}",
          "map[cap:map[cpu:4] name:i1 ready:true x:4 z:1] is not array or slice and cannot be "
          "filtered" },
        { "{.items[?(@.z)].name}", "i1" },
        { "{.items[?(@.z==1)].name}", "i1" },
        { "{.items[?(@.y<=2.5)].name}", "i2" },
        { "{.items[?(@.y==2)].name}", "incompatible types for comparison" },
        { "{.items[?(@.ready==true)].name}", "i1" },
        { "{.items[?(@.ready<true)].name}", "invalid type for comparison" },
        { "{.items[?(@..cpu==\"4\")].name}", "i1" },
        { "{.items[?(@.x=4)].name}", "unrecognized filter operator =" },
        { "{.items[?(@.x<>4)].name}", "unrecognized filter operator <>" },
        { "{.items[?(@.x[9])].name}", "i1 i2" },
        { "{.n[?(@>2)]}", "3 4" },
        { "{.n[?(@!=2)]}", "1 3 4" },
        { "{.flags[?(@==false)]}", "false" },
        { "{.items[?(@['name','x']==1)]}", "can only compare one element at a time" },
        { "{.kind[?(@.a)]}", "List is not array or slice and cannot be filtered" },
        { "{.items[?(@.name==\")\")].name}", "" },
    };
    CHECK(cases, true);
}

static void test_missing(void **state)
{
    (void)state;
    static const struct path_case allowed[] = {
        { "{.nothing}", "" },  { "{.nothing.below}", "" }, { "{.kind.below}", "" },
        { "{.no.below}", "" }, { "{.nothing[0]}", "" },    { "a{.nothing}b", "ab" },
    };
    static const struct path_case refused[] = {
        { "{.nothing}", "nothing is not found" },
        { "{.kind.below}", "below is not found" },
        { "{.no.below}", "below is not found" },
        { "{.items[?(@.z==1)].name}", "z is not found" },
        { "{.items[?(@.z)].name}", "i1" },
        { "{hello}", "unrecognized identifier hello" },
        { "{end}", "not in range, nothing to end" },
    };
    CHECK(allowed, true);
    CHECK(refused, false);
}

static void test_ranges(void **state)
{
    (void)state;
    static const struct path_case cases[] = {
        { "{range .items[*]}{.name}, {end}{.kind}", "i1, i2, i3, List" },
        { "{range .n[*]}{@}{end}", "1234" },
        { "{range .nothing[*]}{.name}{end}.", "." },
        { "{range .items[*]}{.name}:{range ..cpu}{@}{end};{end}", "i1:4;i2:;i3:;" },
        { "{range .n[*]}{@}{end}{end}", "not in range, nothing to end" },
        { "{range .n[:2]}[{@}]", "[1][2][{\"deep\"" }, /* the start is enough */
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str got = run(&a, cases[i].path, store, true);
        if (!str_starts(got, str_of(cases[i].found)))
            fail_msg("%s: \"%.*s\"", cases[i].path, STR_ARG(got));
    }
    arena_done(&a);
}

static void test_faults(void **state)
{
    (void)state;
    static const struct path_case cases[] = {
        { "{.a", "unclosed action" },
        { "{", "unclosed action" },
        { "{.a\n}", "unclosed action" },
        { "{.a[", "unterminated array" },
        { "{.a[?(@.b)", "unclosed array expect ]" },
        { "{.a[?(@.b", "unterminated filter" },
        { "{.a[?(@.b==\"c)]}", "unterminated filter" },
        { "{.a[x]}", "invalid array index x" },
        { "{.a['b]}", "invalid array index 'b" },
        { "{.a[1:2:3:4]}", "invalid array index 1:2:3:4" },
        { "{.a[-]}", "array index - is not a number" },
        { "{.a[99999999999999999999]}", "array index 99999999999999999999 is not a number" },
        { "{.a[0,x]}", "invalid array index x" },
        { "{.a[0,*x]}", "invalid array index *x" },
        { "{....a}", "invalid multiple recursive descent" },
        { "{['a..']..b}", "invalid multiple recursive descent" },
        { "{\"a}", "unterminated quoted string" },
        { "{\"a\\q\"}", "unquote string \"a\\q\" error invalid syntax" },
        { "{'\\400'}", "unquote string '\\400' error invalid syntax" },
        { "{'\\ud800'}", "unquote string '\\ud800' error invalid syntax" },
        { "{1.2.3}", "cannot parse number 1.2.3" },
        { "{-}", "cannot parse number -" },
        { "{\xd9\xa3}", "cannot parse number \xd9\xa3" },
        { "{*}", "unrecognized character in action: U+002A '*'" },
        { "{\t}", "unrecognized character in action: U+0009" },
        { "{\xe2\x82\xac}", "unrecognized character in action: U+20AC '\xe2\x82\xac'" },
        { "{\xc3\xa9}", "unrecognized identifier \xc3\xa9" },
    };
    CHECK(cases, true);
}

static void test_limits(void **state)
{
    (void)state;
    struct arena a;
    autobuf text = { 0 };
    arena_init(&a);
    buf_byte(&text, '{');
    for (int i = 0; i < 40; i++)
        buf_str_add(&text, STR("['a','a','a']"));
    buf_byte(&text, '}');
    /* 3 to the power of 40, if there were no bound */
    autobuf json = { 0 };
    for (int i = 0; i < 40; i++)
        buf_str_add(&json, STR("{\"a\":"));
    buf_byte(&json, '1');
    for (int i = 0; i < 40; i++)
        buf_byte(&json, '}');
    const char *path = str_cstr(&a, buf_str(&text)), *obj = str_cstr(&a, buf_str(&json));
    assert_true(str_eq(run(&a, path, obj, true), STR("too many values are looked at")));

    buf_reset(&text);
    for (unsigned i = 0; i < LIMIT_JSONPATH_DEPTH + 1; i++)
        buf_str_add(&text, STR("{range .n[*]}"));
    path = str_cstr(&a, buf_str(&text));
    assert_true(str_eq(run(&a, path, "{}", true), STR("too many ranges inside each other")));
    arena_done(&a);
}

/* A workload as columns and scripts look at it. */
static const char workload[] =
    "{\"metadata\":{\"name\":\"web\",\"namespace\":\"prod\",\"labels\":{\"app.kubernetes.io/"
    "name\":\"shop\"},\"annotations\":{\"note\":\"hi\"}},\"spec\":{\"replicas\":3,\"containers\":[{"
    "\"name\":\"app\",\"image\":\"app:1\",\"port\":80,\"cpu\":0.5,\"tty\":true,\"env\":[{\"name\":"
    "\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"2\"}]},{\"name\":\"db\",\"image\":\"pg:"
    "16\",\"port\":5432,\"cpu\":0.1,\"tty\":false},{\"name\":\"log\",\"image\":\"fluent:2\","
    "\"port\":24224}]},\"status\":{\"ready\":true,\"ratio\":0.75,\"nothing\":null,\"list\":[1,2],"
    "\"nested\":[[1,2],[3]],\"text\":\"ab\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
    "\"True\"},{\"type\":\"Old\",\"status\":\"False\"}]}}";

static const struct path_case workload_cases[] = {
    { "{.metadata.name}", "web" },
    { ".metadata.name", ".metadata.name" },
    { "{.metadata.labels.app}", "app is not found" },
    { "{.metadata.labels.app\\.kubernetes\\.io/name}", "shop" },
    { "{.metadata.labels['app\\.kubernetes\\.io/name']}", "shop" },
    { "{.metadata['name', 'namespace']}", "web prod" },
    { "{.metadata.missing}", "missing is not found" },
    { "{.metadata.name.first}", "first is not found" },
    { "{.spec.replicas}", "3" },
    { "{.spec.containers[*].name}", "app db log" },
    { "{.spec.containers[0].name}", "app" },
    { "{.spec.containers[-1].name}", "log" },
    { "{.spec.containers[-1:].name}", "log" },
    { "{.spec.containers[0:1].name}", "app" },
    { "{.spec.containers[:2].name}", "app db" },
    { "{.spec.containers[1:].name}", "db log" },
    { "{.spec.containers[::2].name}", "app log" },
    { "{.spec.containers[0:3:2].name}", "app log" },
    { "{.spec.containers[5].name}", "array index out of bounds: index 5, length 3" },
    { "{.spec.containers[-9].name}", "array index out of bounds: index -6, length 3" },
    { "{.spec.containers[2:1].name}", "starting index 2 is greater than ending index 1" },
    { "{.spec.containers[0,2].name}", "app log" },
    { "{.spec.containers[0:2:0].name}", "step must be > 0" },
    { "{.spec.containers[a].name}", "invalid array index a" },
    { "{.spec.containers[].name}", "app" },
    { "{.spec.containers[?(@.name==\"db\")].image}", "pg:16" },
    { "{.spec.containers[?(@.name=='db')].image}", "pg:16" },
    { "{.spec.containers[?(@.name!=\"db\")].name}", "app log" },
    { "{.spec.containers[?(@.port>100)].name}", "db log" },
    { "{.spec.containers[?(@.port>=5432)].name}", "db log" },
    { "{.spec.containers[?(@.port<100)].name}", "app" },
    { "{.spec.containers[?(@.port<=80)].name}", "app" },
    { "{.spec.containers[?(@.port==80)].name}", "app" },
    { "{.spec.containers[?(@.port==\"80\")].name}", "incompatible types for comparison" },
    { "{.spec.containers[?(@.cpu==0.5)].name}", "cpu is not found" },
    { "{.spec.containers[?(@.cpu>0.1)].name}", "cpu is not found" },
    { "{.spec.containers[?(@.tty)].name}", "app db" },
    { "{.spec.containers[?(@.tty==true)].name}", "tty is not found" },
    { "{.spec.containers[?(@.tty==false)].name}", "tty is not found" },
    { "{.spec.containers[?(@.none)].name}", "" },
    { "{.spec.containers[?(@.name)].name}", "app db log" },
    { "{.spec.containers[?(@.name==\"db\" && @.port==80)].name}",
      "unrecognized character in action: U+0026 '&'" },
    { "{.spec.containers[?(@.name==\"db\")]['name','image']}", "db pg:16" },
    { "{.spec.containers[?(@.env[0].name==\"A\")].name}", "env is not found" },
    { "{.spec.containers[?(@.env[*].name==\"A\")].name}",
      "can only compare one element at a time" },
    { "{.spec.containers[?(\"db\"==@.name)].name}", "db" },
    { "{.spec.containers[?(@.name==@.name)].name}", "app db log" },
    { "{.spec.containers[?(@.name>\"db\")].name}", "log" },
    { "{.spec.containers[?(@.port>\"a\")].name}", "incompatible types for comparison" },
    { "{.spec.containers[?(@.name=~\"d\")].name}", "unrecognized character in action: U+007E '~'" },
    { "{.spec.containers[?(@.name==)].name}", "unrecognized character in action: U+003D '='" },
    { "{.spec.containers[?(@.name==\"db\"].name}", "unterminated filter" },
    { "{.spec.containers[?@.name==\"db\"].name}", "invalid array index ?@.name==\"db\"" },
    { "{.spec.containers[?(@.name==\"d]b\")].name}", "" },
    { "{.status.conditions[?(@.type==\"Ready\")].status}", "True" },
    { "{.status.conditions[?(@.type==\"Gone\")].status}", "" },
    { "{range .spec.containers[*]}{.name}{\"\\n\"}{end}", "app\ndb\nlog\n" },
    { "{range .spec.containers[*]}{.name}{\"\\t\"}{.image}{\"\\n\"}{end}",
      "app\tapp:1\ndb\tpg:16\nlog\tfluent:2\n" },
    { "{range .spec.containers[*]}[{.name}]{end}", "[app][db][log]" },
    { "{range .spec.containers[*]}{range .env[*]}{.name}{end}{end}", "env is not found" },
    { "{range .spec.none[*]}{.name}{end}", "none is not found" },
    { "{range .spec.containers[*]}{.name}\n{end}", "app\ndb\nlog\n" },
    { "{range}{end}", "" },
    { "{.spec.containers[*].env[*].value}", "1 2" },
    { "{..name}", "web app A B db log" },
    { "{..image}", "app:1 pg:16 fluent:2" },
    { "{..none}", "none is not found" },
    { "{.spec..port}", "80 5432 24224" },
    { "{.metadata.annotations.*}", "hi" },
    { "{.*.name}", "web" },
    { "{*}", "unrecognized character in action: U+002A '*'" },
    { "{.}", " is not found" },
    { "{}", "{\"metadata\":{\"annotations\":{\"note\":\"hi\"},\"labels\":{\"app.kubernetes.io/"
            "name\":\"shop\"},\"name\":\"web\",\"namespace\":\"prod\"},\"spec\":{"
            "\"containers\":[{\"cpu\":0.5,\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
            "\"B\",\"value\":\"2\"}],\"image\":\"app:1\",\"name\":\"app\",\"port\":80,\"tty\":"
            "true},{\"cpu\":0.1,\"image\":\"pg:16\",\"name\":\"db\",\"port\":5432,\"tty\":"
            "false},{\"image\":\"fluent:2\",\"name\":\"log\",\"port\":24224}],\"replicas\":3},"
            "\"status\":{\"conditions\":[{\"status\":\"True\",\"type\":\"Ready\"},{\"status\":"
            "\"False\",\"type\":\"Old\"}],\"list\":[1,2],\"nested\":[[1,2],[3]],\"nothing\":"
            "null,\"ratio\":0.75,\"ready\":true,\"text\":\"ab\"}}" },
    { "{ }", "{\"metadata\":{\"annotations\":{\"note\":\"hi\"},\"labels\":{\"app.kubernetes.io/"
             "name\":\"shop\"},\"name\":\"web\",\"namespace\":\"prod\"},\"spec\":{"
             "\"containers\":[{\"cpu\":0.5,\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
             "\"B\",\"value\":\"2\"}],\"image\":\"app:1\",\"name\":\"app\",\"port\":80,\"tty\":"
             "true},{\"cpu\":0.1,\"image\":\"pg:16\",\"name\":\"db\",\"port\":5432,\"tty\":"
             "false},{\"image\":\"fluent:2\",\"name\":\"log\",\"port\":24224}],\"replicas\":3},"
             "\"status\":{\"conditions\":[{\"status\":\"True\",\"type\":\"Ready\"},{\"status\":"
             "\"False\",\"type\":\"Old\"}],\"list\":[1,2],\"nested\":[[1,2],[3]],\"nothing\":"
             "null,\"ratio\":0.75,\"ready\":true,\"text\":\"ab\"}}" },
    { "{@}", "{\"metadata\":{\"annotations\":{\"note\":\"hi\"},\"labels\":{\"app.kubernetes.io/"
             "name\":\"shop\"},\"name\":\"web\",\"namespace\":\"prod\"},\"spec\":{"
             "\"containers\":[{\"cpu\":0.5,\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
             "\"B\",\"value\":\"2\"}],\"image\":\"app:1\",\"name\":\"app\",\"port\":80,\"tty\":"
             "true},{\"cpu\":0.1,\"image\":\"pg:16\",\"name\":\"db\",\"port\":5432,\"tty\":"
             "false},{\"image\":\"fluent:2\",\"name\":\"log\",\"port\":24224}],\"replicas\":3},"
             "\"status\":{\"conditions\":[{\"status\":\"True\",\"type\":\"Ready\"},{\"status\":"
             "\"False\",\"type\":\"Old\"}],\"list\":[1,2],\"nested\":[[1,2],[3]],\"nothing\":"
             "null,\"ratio\":0.75,\"ready\":true,\"text\":\"ab\"}}" },
    { "{$}", "{\"metadata\":{\"annotations\":{\"note\":\"hi\"},\"labels\":{\"app.kubernetes.io/"
             "name\":\"shop\"},\"name\":\"web\",\"namespace\":\"prod\"},\"spec\":{"
             "\"containers\":[{\"cpu\":0.5,\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
             "\"B\",\"value\":\"2\"}],\"image\":\"app:1\",\"name\":\"app\",\"port\":80,\"tty\":"
             "true},{\"cpu\":0.1,\"image\":\"pg:16\",\"name\":\"db\",\"port\":5432,\"tty\":"
             "false},{\"image\":\"fluent:2\",\"name\":\"log\",\"port\":24224}],\"replicas\":3},"
             "\"status\":{\"conditions\":[{\"status\":\"True\",\"type\":\"Ready\"},{\"status\":"
             "\"False\",\"type\":\"Old\"}],\"list\":[1,2],\"nested\":[[1,2],[3]],\"nothing\":"
             "null,\"ratio\":0.75,\"ready\":true,\"text\":\"ab\"}}" },
    { "{$.metadata.name}", "web" },
    { "{@.metadata.name}", "web" },
    { "{\"text\"}", "text" },
    { "{'text'}", "text" },
    { "{\"a\\nb\"}", "a\nb" },
    { "{\"unterminated}", "unterminated quoted string" },
    { "{'a\"b'}", "a\"b" },
    { "{1}", "1" },
    { "{1.5}", "1.5" },
    { "{-1}", "-1" },
    { "{true}", "true" },
    { "{foo}", "unrecognized identifier foo" },
    { "{foo.bar}", "unrecognized identifier foo" },
    { "{.metadata.name", "unclosed action" },
    { ".metadata.name}", ".metadata.name}" },
    { "{.metadata.name}}", "web}" },
    { "{{.metadata.name}}", "unrecognized character in action: U+007B '{'" },
    { "name: {.metadata.name}, replicas: {.spec.replicas}", "name: web, replicas: 3" },
    { "plain", "plain" },
    { "{.metadata.}", " is not found" },
    { "{.metadata..name}", "web" },
    { "{.metadata.name.}", " is not found" },
    { "{.metadata['name]}", "invalid array index 'name" },
    { "{.metadata[\"name\"]}", "invalid array index \"name\"" },
    { "{.metadata[name]}", "invalid array index name" },
    { "{['metadata']['name']}", "web" },
    { "{['metadata'].name}", "web" },
    { "{.spec['containers'][0]['name']}", "app" },
    { "{.status.ready}", "true" },
    { "{.status.ratio}", "0.75" },
    { "{.status.nothing}", "null" },
    { "{.status.list}", "[1,2]" },
    { "{.status.nested}", "[[1,2],[3]]" },
    { "{.status.nested[0][1]}", "2" },
    { "{.status.nested[*][*]}", "1 2 3" },
    { "{.status.nested[*][0]}", "1 3" },
    { "{.status.list[*]}", "1 2" },
    { "{.status.list[0].x}", "x is not found" },
    { "{.status.text[0]}", "string is not array or slice" },
    { "{.status.ratio.x}", "x is not found" },
    { "{.status.list.x}", "x is not found" },
    { "{[0]}", "map[string]interface {} is not array or slice" },
    { "{.0}", "0 is not found" },
    { "{.metadata.labels.*}", "shop" },
    { "{.spec.containers[(@.length-1)].name}", "invalid array index (@.length-1)" },
    { "{.spec.containers[0][1].name}", "map[string]interface {} is not array or slice" },
    { "{.spec.containers[*]['name']}", "app db log" },
    { "{.spec.containers[1,0].name}", "db app" },
    { "{.spec.containers[0:99].name}", "array index out of bounds: index 98, length 3" },
};

static void test_workload(void **state)
{
    (void)state;
    CHECK_IN(workload, workload_cases, false);
}

/* Where keys may be missing, nothing is found instead. */
static void test_missing_in_workload(void **state)
{
    (void)state;
    static const struct path_case cases[] = {
        { "{.metadata.labels.app}", "" },
        { "{.metadata.missing}", "" },
        { "{.metadata.name.first}", "" },
        { "{.spec.containers[?(@.cpu==0.5)].name}", "app" },
        { "{.spec.containers[?(@.cpu>0.1)].name}", "app" },
        { "{.spec.containers[?(@.tty==true)].name}", "app" },
        { "{.spec.containers[?(@.tty==false)].name}", "db" },
        { "{.spec.containers[?(@.env[0].name==\"A\")].name}", "app" },
        { "{range .spec.containers[*]}{range .env[*]}{.name}{end}{end}", "AB" },
        { "{range .spec.none[*]}{.name}{end}", "" },
        { "{..none}", "" },
        { "{.}", "" },
        { "{.metadata.}", "" },
        { "{.metadata.name.}", "" },
        { "{.status.list[0].x}", "" },
        { "{.status.ratio.x}", "" },
        { "{.status.list.x}", "" },
        { "{.0}", "" },
    };
    CHECK_IN(workload, cases, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_workload),
        cmocka_unit_test(test_missing_in_workload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
