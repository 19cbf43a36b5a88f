/* bad_input --server URL --ca FILE --cert FILE --key FILE
 *
 * What nobody should send: each request gets the Status that it deserves, and afterwards the server
 * is as well as before. Rows name the weakness they stand for, where it is a public one. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/json.h"
#include "net/outgoing/fetch.h"

enum { REPLY_MAX = 64 << 20 };

struct client {
    struct fetcher *fetcher;
    struct str server;
    struct arena arena; /* of one row */
    size_t passed, failed;
};

#define MAPS "/api/v1/namespaces/default/configmaps"

/* ---- Bodies that are too long to write down ---- */

static void repeat(struct buf *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        buf_str_add(out, str_of(text));
}

static void million_brackets(struct buf *out)
{
    repeat(out, "[", 1000000);
}

static void many_flow_brackets(struct buf *out)
{
    repeat(out, "[", 100000);
}

/* A definition whose schema nests as deep as types may. */
static void deep_definition(struct buf *out)
{
    enum { DEPTH = 480 };
    buf_str_add(out, STR("{\"metadata\":{\"name\":\"deeps.example.com\"},\"spec\":{\"group\":"
                         "\"example.com\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"deeps\","
                         "\"kind\":\"Deep\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
                         "\"storage\":true,\"schema\":{\"openAPIV3Schema\":"));
    repeat(out, "{\"type\":\"object\",\"properties\":{\"a\":", DEPTH);
    buf_str_add(out, STR("{\"type\":\"string\"}"));
    repeat(out, "}}", DEPTH);
    buf_str_add(out, STR("}}]}}"));
}

/* What has no type can nest as deep as JSON may; it is stored and shown again, in any encoding. */
static void deep_revision(struct buf *out)
{
    enum { DEPTH = 4000 }; /* as YAML, indentation makes 16 million bytes of it */
    buf_str_add(out, STR("{\"metadata\":{\"name\":\"deep\"},\"revision\":1,\"data\":"));
    repeat(out, "{\"a\":", DEPTH);
    buf_str_add(out, STR("1"));
    repeat(out, "}", DEPTH);
    buf_byte(out, '}');
}

static void quadratic_yaml(struct buf *out)
{
    repeat(out, "- ", 1000000);
}

static void quadratic_keys(struct buf *out)
{
    repeat(out, "? ", 1000000);
}

static void four_megabytes(struct buf *out)
{
    buf_str_add(out, STR("{\"metadata\":{\"name\":\"large\"},\"data\":{\"k\":\""));
    repeat(out, "0123456789abcdef", (4 << 20) / 16);
    buf_str_add(out, STR("\"}}"));
}

/* CVE-2019-11253 */
static void billion_laughs(struct buf *out)
{
    buf_str_add(out, STR("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: &a [x,x,x,x,x,x,x,x,x]\n"));
    for (char c = 'b'; c <= 'i'; c++) {
        buf_printf(out, "  %c: &%c [", c, c);
        for (int i = 0; i < 9; i++)
            buf_printf(out, "%s*%c", i ? "," : "", c - 1);
        buf_str_add(out, STR("]\n"));
    }
}

/* The envelope around a ConfigMap whose message is what `raw` adds. */
static void envelope(struct buf *out, struct str raw)
{
    buf_add(out,
            "k8s\0\x0a\x0f\x0a\x02v1\x12\x09"
            "ConfigMap\x12",
            22);
    size_t n = raw.n;
    for (; n >= 0x80; n >>= 7)
        buf_byte(out, (char)(n | 0x80));
    buf_byte(out, (char)n);
    buf_str_add(out, raw);
}

/* CVE-2021-3121: a length near 2^63. */
static void proto_long_field(struct buf *out)
{
    envelope(out, STR("\xfa\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f"));
}

/* CVE-2022-48468 */
static void proto_cut_prefix(struct buf *out)
{
    envelope(out, STR("\x0a\xff"));
}

/* CVE-2024-7254 */
static void proto_groups(struct buf *out)
{
    autobuf raw = { 0 };
    repeat(&raw, "\xfb\x01", 50000);
    envelope(out, buf_str(&raw));
}

/* CVE-2020-16845 */
static void proto_endless_varint(struct buf *out)
{
    autobuf raw = { 0 };
    repeat(&raw, "\x80", 1 << 20);
    envelope(out, buf_str(&raw));
}

static void cbor_deep(struct buf *out)
{
    buf_str_add(out, STR("\xd9\xd9\xf7"));
    repeat(out, "\x81", 1000000);
}

static void cbor_huge_length(struct buf *out)
{
    buf_str_add(out, STR("\xd9\xd9\xf7\x5b\x7f\xff\xff\xff\xff\xff\xff\xff"));
}

static void long_accept(struct buf *out)
{
    repeat(out, "a;q=0.1,", 7000);
}

/* ---- The table ---- */

struct row {
    const char *name, *method, *path, *type, *body;
    int status;
    const char *words; /* in the answer */
    void (*make)(struct buf *out);
    const char *header;
    void (*make_header)(struct buf *out);
};

static const struct row rows[] = {
    { "wrong type", "POST", MAPS, NULL, "{\"metadata\":{\"name\":\"a\"},\"data\":[]}", 400,
      "cannot unmarshal array" },
    { "unknown field", "POST", MAPS "?fieldValidation=Strict", NULL,
      "{\"metadata\":{\"name\":\"a\"},\"nonsense\":1}", 400, "unknown field \\\"nonsense\\\"" },
    { "names keep their case", "POST", MAPS "?fieldValidation=Strict", NULL,
      "{\"Kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}", 400, "unknown field \\\"Kind\\\"" },
    { "duplicate key", "POST", MAPS "?fieldValidation=Strict", NULL,
      "{\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}", 400,
      "duplicate field \\\"metadata.name\\\"" },
    { "bytes that are no text", "POST", MAPS, NULL, "{\"metadata\":{\"name\":\"a\xff\"}}", 400,
      "" },
    { "a number that does not fit", "POST", "/apis/apps/v1/namespaces/default/deployments", NULL,
      "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":99999999999999999999}}", 400,
      "cannot unmarshal number" },
    { "nesting without end", "POST", MAPS, NULL, NULL, 400, "", million_brackets },
    { "types in types", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", NULL,
      NULL, 422, "spec", deep_definition },
    { "a deep value", "POST", "/apis/apps/v1/namespaces/default/controllerrevisions", NULL, NULL,
      201, "", deep_revision },
    { "shown as YAML", "GET", "/apis/apps/v1/namespaces/default/controllerrevisions/deep", NULL,
      NULL, 200, "", NULL, "Accept: application/yaml" },
    { "shown as protobuf", "GET", "/apis/apps/v1/namespaces/default/controllerrevisions/deep", NULL,
      NULL, 200, "", NULL, "Accept: application/vnd.kubernetes.protobuf" },
    { "shown as CBOR", "GET", "/apis/apps/v1/namespaces/default/controllerrevisions/deep", NULL,
      NULL, 200, "", NULL, "Accept: application/cbor" },
    { "listed as YAML", "GET", "/apis/apps/v1/namespaces/default/controllerrevisions", NULL, NULL,
      200, "", NULL, "Accept: application/yaml" },
    { "aliases without end (CVE-2019-11253)", "POST", MAPS, "application/yaml", NULL, 400, "",
      billion_laughs },
    { "a body over the limit", "POST", MAPS, NULL, NULL, 413, "", four_megabytes },
    { "also of a DELETE", "DELETE", MAPS "/none", NULL, NULL, 413, "", four_megabytes },
    { "a slow scanner (CVE-2019-11254)", "POST", MAPS, "application/yaml", NULL, 400, "",
      quadratic_yaml },
    { "and with keys", "POST", MAPS, "application/yaml", NULL, 400, "", quadratic_keys },
    { "flow nesting", "POST", MAPS, "application/yaml", NULL, 400, "", many_flow_brackets },
    { "protobuf: a long field (CVE-2021-3121)", "POST", MAPS, "application/vnd.kubernetes.protobuf",
      NULL, 400, "", proto_long_field },
    { "protobuf: a cut prefix (CVE-2022-48468)", "POST", MAPS,
      "application/vnd.kubernetes.protobuf", NULL, 400, "", proto_cut_prefix },
    { "protobuf: groups in groups (CVE-2024-7254)", "POST", MAPS,
      "application/vnd.kubernetes.protobuf", NULL, 400, "", proto_groups },
    { "protobuf: a varint without end (CVE-2020-16845)", "POST", MAPS,
      "application/vnd.kubernetes.protobuf", NULL, 400, "", proto_endless_varint },
    { "protobuf without its envelope", "POST", MAPS, "application/vnd.kubernetes.protobuf",
      "\x0a\x02v1", 400, "" },
    { "CBOR nesting", "POST", MAPS, "application/cbor", NULL, 400, "", cbor_deep },
    { "CBOR length", "POST", MAPS, "application/cbor", NULL, 400, "", cbor_huge_length },
    { "a list of encodings (CVE-2022-32149)", "GET", MAPS "/none", NULL, NULL, 406, "", NULL,
      "Accept", long_accept },

    /* Storage keys and tenancy. */
    { "a name that climbs (CVE-2015-5305)", "POST", MAPS, NULL,
      "{\"metadata\":{\"name\":\"../../secrets/x\"}}", 422, "metadata.name" },
    { "a name with an escape", "POST", MAPS, NULL, "{\"metadata\":{\"name\":\"a%2fb\"}}", 422,
      "metadata.name" },
    { "a generated name that climbs", "POST", MAPS, NULL,
      "{\"metadata\":{\"generateName\":\"../\"}}", 422, "" },
    { "a path that climbs (CVE-2022-3162)", "GET", "/api/v1/namespaces/%2e%2e/configmaps", NULL,
      NULL, 404, "NotFound" },
    { "and stays", "GET", "/api/v1/namespaces/%2e/configmaps", NULL, NULL, 404, "NotFound" },
    { "a name in the path that climbs", "GET", MAPS "/%2e%2e", NULL, NULL, 404, "NotFound" },
    { "an escaped slash is one", "GET", MAPS "/a%2fstatus%2fb", NULL, NULL, 404, "" },
    { "a cluster's kind in a namespace (CVE-2019-11247)", "GET", "/api/v1/namespaces/default/nodes",
      NULL, NULL, 404, "" },
    { "and written there", "POST", "/api/v1/namespaces/default/nodes", NULL,
      "{\"metadata\":{\"name\":\"n\"}}", 404, "" },
    { "and deleted there", "DELETE", "/api/v1/namespaces/default/nodes/n", NULL, NULL, 404, "" },
    { "a namespace's kind without one", "GET", "/api/v1/configmaps/a", NULL, NULL, 404, "" },
    { "and written so", "POST", "/api/v1/configmaps", NULL, "{\"metadata\":{\"name\":\"a\"}}", 405,
      "" },
    { "a namespace that stays", "DELETE", "/api/v1/namespaces/default", NULL, NULL, 403,
      "namespaces \\\"default\\\" is forbidden: this namespace may not be deleted" },
    { "an empty segment", "GET", "/api/v1/namespaces//configmaps", NULL, NULL, 404, "" },
    { "a parameter in the path", "GET", "/api/v1/namespaces/default/configmaps;x=1", NULL, NULL,
      404, "" },
    { "a NUL", "GET", MAPS "/a%00b", NULL, NULL, 400, "" },
    { "half an escape", "GET", MAPS "/a%2", NULL, NULL, 400, "" },
    { "a path that is not text", "GET", MAPS "/a%ff", NULL, NULL, 400, "" },

    /* What clients carry around. */
    { "a continue token of another kind", "GET",
      MAPS "?limit=1&continue="
           "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MiwiInN0YXJ0IjoiLi4vLi4vc2VjcmV0cy8ifQ",
      NULL, NULL, 400, "continue key is not valid" },
    { "a revision of the future", "GET",
      MAPS "?resourceVersion=18446744073709551615&resourceVersionMatch=Exact", NULL, NULL, 504,
      "Too large resource version" },
    { "a revision below zero", "GET", MAPS "?resourceVersion=-1", NULL, NULL, 400, "invalid" },
    { "a limit that is none", "GET", MAPS "?limit=x", NULL, NULL, 400, "" },
    { "a watch with a timeout that is none", "GET", MAPS "?watch=1&timeoutSeconds=x", NULL, NULL,
      400, "" },
    { "a body that is compressed", "POST", MAPS, NULL, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
      400, "", NULL, "Content-Encoding: gzip" },
};

static void check_row(struct client *c, const struct row *row)
{
    struct err err = ERR_INIT(&c->arena);
    autobuf body = { 0 }, header = { 0 };
    struct http_header headers[2] = { { STR("Content-Type"), STR("application/json") } };
    struct fetch_reply reply = { 0 };
    if (row->make)
        row->make(&body);
    else if (row->body)
        buf_str_add(&body, str_of(row->body));
    if (row->type)
        headers[0].value = str_of(row->type);
    if (row->make_header)
        row->make_header(&header);
    struct str name = row->header ? str_of(row->header) : STR("X-Nothing"), value = name;
    name = str_cut(&value, ':');
    headers[1] =
        (struct http_header){ name, row->make_header ? buf_str(&header) : str_trim(value) };
    const struct fetch_request req = {
        .method = str_of(row->method),
        .url = arena_printf(&c->arena, STR_FMT "%s", STR_ARG(c->server), row->path),
        .headers = headers,
        .n_headers = 2,
        .body = buf_str(&body),
        .max_reply = REPLY_MAX,
    };
    int r = fetch(c->fetcher, &req, &c->arena, &reply, &err);
    if (r == 0 && reply.status == row->status &&
        (!*row->words || memmem(reply.body.p, reply.body.n, row->words, strlen(row->words)))) {
        c->passed++;
    } else {
        c->failed++;
        printf("FAILED %s: want %d \"%s\", got %d " STR_FMT "\n", row->name, row->status,
               row->words, reply.status, STR_ARG(r < 0 ? err.msg : str_take(reply.body, 300)));
    }
    arena_reset(&c->arena);
}

/* Integers beyond what a double holds come back as they were sent. */
static void check_integers(struct client *c)
{
    static const struct row make = {
        "a long integer",
        "POST",
        MAPS,
        NULL,
        "{\"metadata\":{\"name\":\"long\",\"generation\":9007199254740993}}",
        201,
        "\"generation\":9007199254740993"
    };
    static const struct row read = {
        "and back", "GET", MAPS "/long", NULL, NULL, 200, "\"generation\":9007199254740993"
    };
    check_row(c, &make);
    check_row(c, &read);
}

/* The keys of one namespace are not those of another that starts like it. */
static void check_prefixes(struct client *c)
{
    static const struct row steps[] = {
        { "namespace a", "POST", "/api/v1/namespaces", NULL, "{\"metadata\":{\"name\":\"a\"}}", 201,
          "" },
        { "namespace ab", "POST", "/api/v1/namespaces", NULL, "{\"metadata\":{\"name\":\"ab\"}}",
          201, "" },
        { "an object in ab", "POST", "/api/v1/namespaces/ab/configmaps", NULL,
          "{\"metadata\":{\"name\":\"x\"}}", 201, "" },
        { "is not listed in a", "GET", "/api/v1/namespaces/a/configmaps", NULL, NULL, 200,
          "\"items\":[]" },
        { "but in ab", "GET", "/api/v1/namespaces/ab/configmaps", NULL, NULL, 200,
          "\"name\":\"x\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        check_row(c, &steps[i]);
}

static struct str read_text(struct client *c, const char *path, struct arena *keep)
{
    struct err err = ERR_INIT(&c->arena);
    autobuf text = { 0 };
    if (file_read(path, 1 << 20, &text, &err) < 0) {
        fprintf(stderr, "bad_input: " STR_FMT "\n", STR_ARG(err.msg));
        exit(2);
    }
    return arena_str(keep, buf_str(&text));
}

int main(int argc, char **argv)
{
    static const struct option flags[] = {
        { "server", required_argument, NULL, 's' },
        { "ca", required_argument, NULL, 'a' },
        { "cert", required_argument, NULL, 'c' },
        { "key", required_argument, NULL, 'k' },
        { 0 },
    };
    struct client c = { 0 };
    struct fetcher_options tls = { 0 };
    struct arena keep;
    arena_init(&keep);
    arena_init(&c.arena);
    for (int f; (f = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (f == 's')
            c.server = str_of(optarg);
        else if (f == 'a')
            tls.ca_pem = read_text(&c, optarg, &keep);
        else if (f == 'c')
            tls.cert_pem = read_text(&c, optarg, &keep);
        else if (f == 'k')
            tls.key_pem = read_text(&c, optarg, &keep);
        else
            return 2;
    }
    c.fetcher = fetcher_new(&tls);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(&c, &rows[i]);
    check_integers(&c);
    check_prefixes(&c);
    fetcher_free(c.fetcher);
    arena_done(&c.arena);
    arena_done(&keep);
    printf("%zu passed, %zu failed\n", c.passed, c.failed);
    return c.failed ? 1 : 0;
}
