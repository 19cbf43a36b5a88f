/* The log of a container: its node is asked for it. */
#include "api/errors.h"
#include "api/field_errors.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "server/http/reply.h"
#include "server/registry/registry.h"
#include "server/verbs/connect.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

enum { HEAD_MS = 60000 }; /* one that follows may stay silent for ever */

/* ---- What the client wants ---- */

struct log_number {
    const char *name, *why;
    int64_t least;
    bool given;
    int64_t value;
};

enum { TAIL_LINES, LIMIT_BYTES, SINCE_SECONDS, LOG_NUMBERS };

static int read_numbers(struct call *c, struct log_number *numbers, struct err *err)
{
    for (size_t i = 0; i < LOG_NUMBERS; i++) {
        int r = request_int(&c->req, str_of(numbers[i].name), &numbers[i].value, err);
        if (r < 0)
            return r;
        numbers[i].given = r == 1;
    }
    return 0;
}

static int check_options(struct call *c, const struct log_number *numbers, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    bool both = numbers[SINCE_SECONDS].given && request_param(&c->req, STR("sinceTime")).n;
    for (size_t i = 0; i < LOG_NUMBERS; i++) {
        struct field_path path = { .name = str_of(numbers[i].name) };
        struct value shown = value_int(numbers[i].value);
        if (i == SINCE_SECONDS && both) {
            struct field_path root = { .name = STR("") };
            field_error(&e, FIELD_FORBIDDEN, &root, STR(""),
                        "at most one of `sinceTime` or `sinceSeconds` may be specified");
        } else if (numbers[i].given && numbers[i].value < numbers[i].least) {
            field_error(&e, FIELD_INVALID, &path, field_json(&e, &shown), "%s", numbers[i].why);
        }
    }
    /* Upstream has it only behind a gate that is closed. */
    struct field_path stream = { .name = STR("stream") };
    if (request_param(&c->req, STR("stream")).p)
        field_error(&e, FIELD_FORBIDDEN, &stream, STR(""), "may not be specified");
    return field_errors_report(&e, STR(""), STR("PodLogOptions"), c->req.name, err);
}

/* As the node wants it. */
static struct str log_query(struct call *c, const struct log_number *numbers)
{
    static const struct {
        const char *name;
        bool is_flag;
        int number; /* -1: it is a text, or a flag */
    } params[] = {
        { "follow", true, -1 },     { "limitBytes", false, LIMIT_BYTES },
        { "previous", true, -1 },   { "sinceSeconds", false, SINCE_SECONDS },
        { "sinceTime", false, -1 }, { "tailLines", false, TAIL_LINES },
        { "timestamps", true, -1 },
    };
    autobuf query = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        struct str text = request_param(&c->req, str_of(params[i].name));
        if (params[i].is_flag)
            text = request_flag(&c->req, str_of(params[i].name)) ? STR("true") : STR("");
        else if (params[i].number >= 0 && numbers[params[i].number].given)
            text = arena_printf(c->arena, "%lld", (long long)numbers[params[i].number].value);
        if (text.n)
            connect_add_param(&query, params[i].name, text);
    }
    return arena_str(c->arena, buf_str(&query));
}

static struct str log_target(struct call *c, struct str container, const struct log_number *numbers)
{
    struct str query = log_query(c, numbers);
    return arena_printf(c->arena, "/containerLogs/" STR_FMT "/" STR_FMT "/" STR_FMT "%s" STR_FMT,
                        STR_ARG(c->req.ns), STR_ARG(c->req.name), STR_ARG(container),
                        query.n ? "?" : "", STR_ARG(query));
}

/* ---- The answer ---- */

static bool on_head(void *arg, struct http_exchange *x, struct relay_answer *answer)
{
    static const struct http_header plain = { STR("content-type"), STR("text/plain") };
    (void)arg;
    (void)x;
    if (answer->status < 200 || answer->status > 206)
        return false;
    answer->status = 200;
    answer->headers = &plain;
    answer->n_headers = 1;
    return true;
}

/* What a node says instead, as upstream's client of servers puts it. */
static void explain(struct call *c, int status, struct str body, struct err *err)
{
    static const struct {
        int status;
        enum err_code code;
        const char *words; /* NULL: what the node says */
    } rows[] = {
        { 401, ERR_UNAUTHORIZED, "the server has asked for the client to provide credentials" },
        { 403, ERR_FORBIDDEN, NULL },
        { 404, ERR_NOT_FOUND, "the server could not find the requested resource" },
        { 405, ERR_METHOD_NOT_ALLOWED,
          "the server does not allow this method on the requested resource" },
        { 503, ERR_UNAVAILABLE, "the server is currently unable to handle the request" },
    };
    struct str words = arena_printf(
        c->arena,
        "the server responded with the status code %d but did not return more information", status);
    enum err_code code = ERR_UNKNOWN;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].status == status) {
            code = rows[i].code;
            words = rows[i].words ? str_of(rows[i].words) : body;
        }
    (void)err_set(err, code, STR_FMT " ( pods/log " STR_FMT ")", STR_ARG(words),
                  STR_ARG(c->req.name));
    err->about = (struct err_about){ .name = c->req.name, .kind = STR("pods/log") };
}

static void on_collected(void *arg, struct http_exchange *x, const struct relay_answer *answer,
                         struct str body)
{
    struct connect_job *job = arg;
    struct err err = ERR_INIT(job->call->arena);
    (void)x;
    if (answer->status == 400) {
        (void)err_set(&err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(body));
    } else if (answer->status == 500) {
        (void)err_set(&err, ERR_INTERNAL, "Internal error occurred: " STR_FMT, STR_ARG(body));
        err_add_cause(&err, STR(""), STR(""), body);
    } else {
        explain(job->call, answer->status, body, &err);
    }
    call_fail(job->call, &err);
}

static void on_failed(void *arg, struct http_exchange *x, bool is_dialled, const struct err *why)
{
    struct connect_job *job = arg;
    struct err err = ERR_INIT(job->call->arena);
    struct str host = job->req.headers[0].value;
    (void)x;
    (void)is_dialled;
    (void)err_set(&err, ERR_UNKNOWN, "Get \"https://" STR_FMT STR_FMT "\": " STR_FMT, STR_ARG(host),
                  STR_ARG(job->req.target), STR_ARG(why->msg));
    call_fail(job->call, &err);
}

/* ---- The verb ---- */

static void ask_node(struct call *c, const struct connect_place *p, struct str target)
{
    struct connect_job *job = arena_new(c->arena, struct connect_job);
    struct http_header *headers = arena_array(c->arena, struct http_header, 2);
    headers[0] = (struct http_header){ STR("host"), connect_authority(c->arena, p) };
    headers[1] = (struct http_header){ STR("user-agent"), STR("kube-apiserver") };
    *job = (struct connect_job){
        .call = c,
        .req = { .method = STR("GET"),
                 .target = target,
                 .headers = headers,
                 .n_headers = 2,
                 .head_ms = request_flag(&c->req, STR("follow")) ? 0 : HEAD_MS },
        .holder = { NULL, on_head, on_collected, on_failed },
    };
    connect_pass(job, p, false);
}

/* 1: a node has been asked; 0: a pod that runs nowhere has said nothing. */
static int read_log(struct call *c, struct err *err)
{
    struct log_number numbers[LOG_NUMBERS] = {
        [TAIL_LINES] = { "tailLines", "must be greater than or equal to 0", 0, false, 0 },
        [LIMIT_BYTES] = { "limitBytes", "must be greater than 0", 1, false, 0 },
        [SINCE_SECONDS] = { "sinceSeconds", "must be greater than 0", 1, false, 0 },
    };
    struct registry_entry entry;
    struct connect_place place;
    struct str container;
    int r = read_numbers(c, numbers, err);
    if (r < 0)
        return r;
    r = check_options(c, numbers, err);
    if (r < 0)
        return r;
    r = registry_get(c, c->req.name, &entry, err);
    if (r < 0)
        return r;
    r = connect_find_container(c, &entry.obj, &container, err);
    if (r < 0)
        return r;
    struct str node = value_str(value_dig(&entry.obj, "spec", "nodeName"));
    if (!node.n)
        return 0;
    r = connect_find_node(c, node, &place, err);
    if (r < 0)
        return r;
    if (request_flag(&c->req, STR("insecureSkipTLSVerifyBackend")))
        place.trust = KUBELET_UNVERIFIED;
    ask_node(c, &place, log_target(c, container, numbers));
    return 1;
}

void verb_log(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    int r = read_log(c, &err);
    if (r < 0)
        call_fail(c, &err);
    else if (r == 0)
        reply_bytes(c->x, 204, NULL, 0, STR(""));
}
