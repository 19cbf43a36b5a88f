/* The YAML test suite as far as the Kubernetes tools read YAML, and the files that Go wrote for
 * every built-in kind: the YAML file holds what the JSON file holds, and comes out of yaml_write
 * byte for byte. Whatever is accepted must survive being written and read again. */
#include "base/idiom.h"
#include "base/yaml.h"

#include "base/json.h"
#include "base/vectors_test.h"

enum suite {
    SUITE_JSON,
    SUITE_REFUSED,
    SUITE_ROUND_TRIP,
    SUITE_EXCLUDED,
    SUITE_KINDS_EQUAL,
    SUITE_KINDS_BYTES,
    SUITE_COUNT,
};

#define READS_1_1         "asks for another YAML than 1.1; go-yaml v2 refuses"
#define UNKNOWN_DIRECTIVE "unknown directives are errors in libyaml and go-yaml v2"
#define ANCHOR_NAMES      "anchor names are letters, digits, - and _ in libyaml and go-yaml v2"
#define FLOW_COLON        "YAML 1.1: in flow, the colon stands on the key's line with a space behind it"
#define FLOW_QUESTION     "YAML 1.1: in flow, ? starts a key wherever it stands"
#define TABS              "tabs that separate tokens are refused by libyaml and go-yaml v2"
#define BARE_DOCUMENT     "after ... libyaml wants --- before the next document"
#define ROOT_INDENT       "libyaml wants the text of a top-level block scalar indented"
#define LAST_LINE         "a last line of spaces without a line break is no line to libyaml"
#define Y_IS_TRUE         "y is true to go-yaml v2, so the key y becomes \"true\""
#define BINARY            "!!binary is decoded, and a picture is not text"
#define LAX_INDENT        "libyaml and go-yaml v2 do not check the indent inside flow and quotes"
#define LAX_COMMENT       "libyaml and go-yaml v2 take # after an indicator for a comment"
#define LAX_DASH          "libyaml and go-yaml v2 take a lone - in flow for text"
#define LAX_DIRECTIVE     "libyaml takes a directive right after a document's content"

/* Cases that come out otherwise here; one that no longer does must be taken off the list. */
static const struct {
    const char *id, *reason;
} exclusions[] = {
    { "27NA", READS_1_1 },
    { "6ZKB", READS_1_1 },
    { "9DXL", READS_1_1 },
    { "BEC7", READS_1_1 },
    { "DK95/07", READS_1_1 },
    { "RTP8", READS_1_1 },
    { "W4TN", READS_1_1 },
    { "2LFX", UNKNOWN_DIRECTIVE },
    { "6LVF", UNKNOWN_DIRECTIVE },
    { "MUS6/05", UNKNOWN_DIRECTIVE },
    { "MUS6/06", UNKNOWN_DIRECTIVE },
    { "2SXE", ANCHOR_NAMES },
    { "8XYN", ANCHOR_NAMES },
    { "W5VH", ANCHOR_NAMES },
    { "Y2GN", ANCHOR_NAMES },
    { "4MUZ/00", FLOW_COLON },
    { "4MUZ/01", FLOW_COLON },
    { "4MUZ/02", FLOW_COLON },
    { "58MP", FLOW_COLON },
    { "5MUD", FLOW_COLON },
    { "5T43", FLOW_COLON },
    { "9SA2", FLOW_COLON },
    { "DBG4", FLOW_COLON },
    { "HM87/00", FLOW_COLON },
    { "K3WX", FLOW_COLON },
    { "NJ66", FLOW_COLON },
    { "UT92", FLOW_COLON },
    { "VJP3/01", FLOW_COLON },
    { "652Z", FLOW_QUESTION },
    { "HM87/01", FLOW_QUESTION },
    { "6BCT", TABS },
    { "6CA3", TABS },
    { "96NN/00", TABS },
    { "96NN/01", TABS },
    { "A2M4", TABS },
    { "DK95/00", TABS },
    { "DK95/03", TABS },
    { "DK95/04", TABS },
    { "Q5MG", TABS },
    { "R4YG", TABS },
    { "Y79Y/001", TABS },
    { "Y79Y/010", TABS },
    { "7Z25", BARE_DOCUMENT },
    { "M7A3", BARE_DOCUMENT },
    { "HWV9", BARE_DOCUMENT },
    { "QT73", BARE_DOCUMENT },
    { "DK3J", ROOT_INDENT },
    { "FP8R", ROOT_INDENT },
    { "JEF9/02", LAST_LINE },
    { "L24T/01", LAST_LINE },
    { "C4HZ", Y_IS_TRUE },
    { "565N", BINARY },
    { "9C9N", LAX_INDENT },
    { "QB6E", LAX_INDENT },
    { "DK95/01", LAX_INDENT },
    { "S98Z", LAX_INDENT },
    { "9JBA", LAX_COMMENT },
    { "CVW2", LAX_COMMENT },
    { "MUS6/00", LAX_COMMENT },
    { "SU5Z", LAX_COMMENT },
    { "X4QW", LAX_COMMENT },
    { "G5U8", LAX_DASH },
    { "YJV2", LAX_DASH },
    { "Y79Y/003", LAX_INDENT },
    { "9HCY", LAX_DIRECTIVE },
};

static bool is_excluded(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        if (strcmp(exclusions[i].id, id) == 0)
            return true;
    return false;
}

/* The test suite writes 450.00 where the JSON has 450. */
static bool is_same(const struct value *a, const struct value *b)
{
    double x, y;
    if (!a || !b)
        return a == b;
    if (value_to_double(a, &x) && value_to_double(b, &y))
        return x == y;
    if (a->type != b->type || a->type < VALUE_ARRAY)
        return value_eq(a, b);
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct value *in_b =
            a->type == VALUE_ARRAY ? &b->items[i] : value_get(b, a->fields[i].key);
        if (!is_same(a->type == VALUE_ARRAY ? &a->items[i] : &a->fields[i].val, in_b))
            return false;
    }
    return true;
}

/* Where the JSON value at the front of `s` ends. */
static size_t json_end(struct str s)
{
    size_t depth = 0, i = 0;
    bool in_string = false;
    for (; i < s.n; i++) {
        char c = s.p[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c == '\n' && depth == 0) {
            break;
        }
    }
    return i;
}

/* All documents but the empty ones, as an array. */
static struct value read_json_stream(struct arena *a, struct str text)
{
    struct value docs = value_array(), v;
    for (text = str_trim(text); text.n; text = str_trim(text)) {
        size_t n = json_end(text);
        if (json_read(a, str_take(text, n), NULL, &v, NULL) < 0) {
            printf("FAILED: in.json is not JSON\n");
            exit(1);
        }
        if (v.type != VALUE_NULL)
            value_push(a, &docs, v);
        text = str_skip(text, n);
    }
    return docs;
}

static int read_yaml_stream(struct arena *a, struct str text, struct value *ret, struct err *err)
{
    struct value docs = value_array(), v;
    struct yaml_stream *s = yaml_stream_new(a, text, NULL);
    int r;
    while ((r = yaml_stream_next(s, &v, err)) > 0)
        value_push(a, &docs, v);
    s = yaml_stream_free(s);
    *ret = docs;
    return r;
}

static bool survives(struct arena *a, const struct value *docs)
{
    value_each_item (doc, docs) {
        autobuf yaml = { 0 };
        autobuf json = { 0 };
        struct value again;
        yaml_write(&yaml, doc);
        if (yaml_read(a, buf_str(&yaml), NULL, &again, NULL) < 0 || !value_eq(doc, &again))
            return false;
        json_write(&json, doc);
        if (json_read(a, buf_str(&json), NULL, &again, NULL) < 0 || !value_eq(doc, &again))
            return false;
    }
    return true;
}

static bool exists(const char *path)
{
    return access(path, R_OK) == 0;
}

static void print_exclusions(void)
{
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        printf("yaml: excluded %s: %s\n", exclusions[i].id, exclusions[i].reason);
}

static void run_case(struct vectors_count *counts, const char *id)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    const char *folder = str_cstr(&a, arena_printf(&a, "yaml/%s", id));
    const char *json = vectors_path(&a, folder, "in.json");
    struct str text = vectors_read(&a, vectors_path(&a, folder, "in.yaml"));
    struct value docs;
    int r = read_yaml_stream(&a, text, &docs, &err);

    enum suite suite = SUITE_COUNT;
    bool passed = true;
    if (exists(vectors_path(&a, folder, "error"))) {
        suite = SUITE_REFUSED;
        passed = r < 0;
    } else if (exists(json)) {
        struct value want = read_json_stream(&a, vectors_read(&a, json));
        suite = SUITE_JSON;
        passed = r == 0 && is_same(&docs, &want);
    }
    if (is_excluded(id))
        vectors_score(&counts[SUITE_EXCLUDED], !passed, id);
    else if (suite != SUITE_COUNT)
        vectors_score(&counts[suite], passed, id);
    if (!passed && !is_excluded(id)) {
        autobuf out = { 0 };
        json_write(&out, &docs);
        printf("  " STR_FMT " " STR_FMT "\n", STR_ARG(buf_str(&out)), STR_ARG(err.msg));
    }
    if (r == 0)
        vectors_score(&counts[SUITE_ROUND_TRIP], survives(&a, &docs), id);
    arena_done(&a);
}

/* A case is a folder with in.yaml, or a folder of numbered ones. */
static void run_suite(struct vectors_count *counts)
{
    struct arena a;
    arena_init(&a);
    struct dirent **cases, **parts;
    size_t n = vectors_list(vectors_path(&a, "yaml", ""), &cases);
    for (size_t i = 0; i < n; i++) {
        const char *id = cases[i]->d_name;
        const char *folder = str_cstr(&a, arena_printf(&a, "yaml/%s", id));
        if (exists(vectors_path(&a, folder, "in.yaml"))) {
            run_case(counts, id);
        } else {
            size_t n_parts = vectors_list(vectors_path(&a, folder, ""), &parts);
            for (size_t j = 0; j < n_parts; j++) {
                run_case(counts, str_cstr(&a, arena_printf(&a, "%s/%s", id, parts[j]->d_name)));
                free(parts[j]);
            }
            free(parts);
        }
        free(cases[i]);
    }
    free(cases);
    arena_done(&a);
}

static void run_kind(struct vectors_count *counts, const char *folder, struct str name)
{
    struct arena a;
    arena_init(&a);
    const char *yaml_name = str_cstr(&a, name);
    struct str stem = str_take(name, name.n - 5);
    const char *json_name = str_cstr(&a, arena_printf(&a, STR_FMT ".json", STR_ARG(stem)));
    struct str text = vectors_read(&a, vectors_path(&a, folder, yaml_name));
    struct value from_yaml, from_json;
    bool read = yaml_read(&a, text, NULL, &from_yaml, NULL) == 0 &&
                json_read(&a, vectors_read(&a, vectors_path(&a, folder, json_name)), NULL,
                          &from_json, NULL) == 0;
    autobuf out = { 0 };
    if (read)
        yaml_write(&out, &from_yaml);
    vectors_score(&counts[SUITE_KINDS_EQUAL], read && value_eq(&from_yaml, &from_json), yaml_name);
    vectors_score(&counts[SUITE_KINDS_BYTES], read && str_eq(buf_str(&out), text), yaml_name);
    arena_done(&a);
}

static void run_kinds(struct vectors_count *counts, const char *folder)
{
    struct arena a;
    arena_init(&a);
    struct dirent **entries;
    size_t n = vectors_list(vectors_path(&a, folder, ""), &entries);
    for (size_t i = 0; i < n; i++) {
        struct str name = str_of(entries[i]->d_name);
        if (str_ends(name, STR(".yaml")))
            run_kind(counts, folder, name);
        free(entries[i]);
    }
    free(entries);
    arena_done(&a);
}

int main(void)
{
    struct vectors_count counts[SUITE_COUNT] = {
        [SUITE_JSON] = { .name = "yaml: read as in.json" },
        [SUITE_REFUSED] = { .name = "yaml: errors refused" },
        [SUITE_ROUND_TRIP] = { .name = "yaml: written and read again" },
        [SUITE_EXCLUDED] = { .name = "yaml: exclusions that still differ" },
        [SUITE_KINDS_EQUAL] = { .name = "yaml: built-in kinds equal to their JSON" },
        [SUITE_KINDS_BYTES] = { .name = "yaml: built-in kinds written byte for byte" },
    };
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "yaml") && vectors_are_there(&a, "k8s-roundtrip");
    arena_done(&a);
    if (!there)
        return VECTORS_SKIPPED;
    print_exclusions();
    run_suite(counts);
    run_kinds(counts, "k8s-roundtrip");
    run_kinds(counts, "k8s-roundtrip-apiextensions");
    return vectors_report(counts, SUITE_COUNT) ? 0 : 1;
}
