/* replay --server URL --ca FILE (--cert FILE --key FILE | --callers) [--only FILE] [--allow FILE]
 * [--words FILE] [--client-ca CERT,KEY] [--proxy-ca CERT,KEY] [--account-key FILE]
 * [--other-key FILE] [--audit-log FILE] [--webhooks FOLDER | --extension FOLDER] [--diff] TRACE...
 *
 * Sends what was once sent to a real kube-apiserver and holds the answers against what it said. A
 * trace is one case per line; a case has steps; each step has a request and what is expected.
 * Several cases run at once; each has a namespace of its own. --only names a file of id prefixes,
 * one per line: only cases that start so are replayed. --allow names a file of ids that may differ,
 * each with its reason behind it; one of those that passes is reported, so that the file stays
 * true. --words names a file of descriptions of columns in our own words. Prints passed/total per
 * trace; with --diff, what differs. With --callers each step is sent as whom it names (caller.h).
 * --audit-log is where the server writes its audit events: without it they are not compared.
 * --webhooks is the folder of the webhook server (webhooks.py), which is an extension server with
 * --extension. */
#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/utf8.h"
#include "caller.h"
#include "events.h"
#include "extension.h"
#include "hooks.h"
#include "match.h"
#include "net/outgoing/fetch.h"

enum {
    TRACE_MAX = 64 << 20,
    STEP_TIMEOUT_MS = 60000,
    REPLY_MAX = 64 << 20,
    AT_ONCE = 8,
    NAMES_MAX = 16
};

struct replay {
    struct fetcher *fetcher; /* the admin's */
    struct callers *callers; /* NULL: all steps are his */
    struct str server;
    struct str only;       /* lines of prefixes; empty: everything */
    struct str allow;      /* lines of ids and reasons */
    struct str words;      /* lines of descriptions */
    const char *audit_log; /* NULL: events are not looked at */
    struct hooks hooks;    /* the webhook server */
    bool is_extension;     /* that is an extension server here */
    struct match_name names[NAMES_MAX];
    size_t n_names;
    bool diff;
    struct arena arena; /* of the program */
    atomic_uint n_namespaces, n_audited;
};

/* One trace, whose lines are handed out to whoever is free. */
struct trace {
    struct replay *r;
    pthread_mutex_t lock; /* of what follows, and of standard output */
    struct str lines;
    const char *round; /* which cases this round is of: round_of() */
    size_t total, run, passed, allowed, wrong;
};

/* What one case carries from step to step. */
struct run {
    struct replay *r;
    struct arena arena;
    struct match match;
    struct value saved;  /* name → text */
    struct str audit_id; /* of the step; empty: its events do not count */
    struct buf diff;
};

/* ---- Putting a request together ---- */

/* `{ns}` and `${name}` in `text`, in the case's arena. */
static struct str fill_in(struct run *run, struct str text)
{
    autobuf out = { 0 };
    while (text.n) {
        ptrdiff_t end = str_find(text, '}');
        const struct match_name *name = match_name_at(&run->match, text);
        const struct match_name *number =
            text.p[0] == '"' ? match_name_at(&run->match, str_skip(text, 1)) : NULL;
        if (number && str_ends(number->name, STR("Port}")) &&
            str_starts(str_skip(text, 1 + number->name.n), STR("\""))) {
            buf_str_add(&out, number->text);
            text = str_skip(text, number->name.n + 2);
        } else if (name) {
            buf_str_add(&out, name->text);
            text = str_skip(text, name->name.n);
        } else if (run->match.ns.n && str_starts(text, STR("{ns}"))) {
            buf_str_add(&out, run->match.ns);
            text = str_skip(text, 4);
        } else if (str_starts(text, STR("${")) && end > 0) {
            struct str saved = { text.p + 2, (size_t)end - 2 };
            const struct value *v = value_get(&run->saved, saved); /* else it is for a webhook */
            buf_str_add(&out, v ? value_str(v) : str_take(text, (size_t)end + 1));
            text = str_skip(text, (size_t)end + 1);
        } else {
            buf_byte(&out, text.p[0]);
            text = str_skip(text, 1);
        }
    }
    return arena_str(&run->arena, buf_str(&out));
}

/* A body as the recorder sent it: a space behind every comma and colon, which the server's answers
 * can quote. */
static void write_spaced(struct buf *out, const struct value *v)
{
    const char *between = "";
    if (v->type == VALUE_OBJECT) {
        buf_byte(out, '{');
        value_each_field (f, v) {
            buf_str_add(out, str_of(between));
            json_write_string(out, f->key);
            buf_str_add(out, STR(": "));
            write_spaced(out, &f->val);
            between = ", ";
        }
        buf_byte(out, '}');
    } else if (v->type == VALUE_ARRAY) {
        buf_byte(out, '[');
        value_each_item (it, v) {
            buf_str_add(out, str_of(between));
            write_spaced(out, it);
            between = ", ";
        }
        buf_byte(out, ']');
    } else {
        json_write(out, v);
    }
}

static struct str body_of(struct run *run, const struct value *step)
{
    const struct value *body = value_get(step, STR("body"));
    if (!body || body->type == VALUE_NULL)
        return STR("");
    if (body->type == VALUE_STRING)
        return fill_in(run, value_str(body));
    autobuf text = { 0 };
    write_spaced(&text, body);
    return fill_in(run, buf_str(&text));
}

/* A list is a header for each. */
static size_t given_headers(struct run *run, const struct value *given, struct http_header *headers,
                            size_t most)
{
    size_t n = 0;
    value_each_field (f, given) {
        if (value_is(&f->val, VALUE_STRING) && n < most)
            headers[n++] = (struct http_header){ f->key, fill_in(run, value_str(&f->val)) };
        value_each_item (it, &f->val)
            if (n < most)
                headers[n++] = (struct http_header){ f->key, fill_in(run, value_str(it)) };
    }
    return n;
}

static size_t headers_of(struct run *run, const struct value *step, bool has_body, struct str token,
                         struct http_header *headers, size_t most)
{
    const struct value *given = value_get(step, STR("headers"));
    size_t n = given_headers(run, given, headers, most);
    if (token.n && !value_get(given, STR("Authorization")) && n < most)
        headers[n++] =
            (struct http_header){ STR("Authorization"),
                                  arena_printf(&run->arena, "Bearer " STR_FMT, STR_ARG(token)) };
    if (!value_get(given, STR("User-Agent")) && n < most)
        headers[n++] = (struct http_header){ STR("User-Agent"), STR("golden/1.0") };
    if (!value_get(given, STR("Accept")) && n < most)
        headers[n++] = (struct http_header){ STR("Accept"), STR("application/json") };
    if (run->audit_id.n && n < most)
        headers[n++] = (struct http_header){ STR("Audit-ID"), run->audit_id };
    if (has_body && !value_get(given, STR("Content-Type")) && n < most)
        headers[n++] = (struct http_header){ STR("Content-Type"), STR("application/json") };
    return n;
}

static int send_step(struct run *run, const struct value *step, struct fetch_reply *ret,
                     struct err *err)
{
    struct http_header headers[16];
    struct str body = body_of(run, step), token = STR("");
    struct fetcher *fetcher = run->r->fetcher;
    const struct value *as = value_get(step, STR("as"));
    struct value caller;
    if (as) { /* with {ns} and what was saved */
        autobuf text = { 0 };
        json_write(&text, as);
        if (json_read(&run->arena, fill_in(run, buf_str(&text)), NULL, &caller, err) < 0)
            return -1;
        as = &caller;
    }
    if (run->r->callers)
        fetcher = caller_fetcher(run->r->callers, &run->arena, as, &token);
    if (!fetcher)
        return err_set(err, ERR_NOT_FOUND, "this caller cannot be made");
    struct str path = fill_in(run, value_str(value_get(step, STR("path"))));
    const struct fetch_request req = {
        .method = value_str(value_get(step, STR("method"))),
        .url = arena_printf(&run->arena, STR_FMT STR_FMT, STR_ARG(run->r->server), STR_ARG(path)),
        .headers = headers,
        .n_headers = headers_of(run, step, body.n > 0, token, headers, 16),
        .body = body,
        .timeout_ms = STEP_TIMEOUT_MS,
        .max_reply = REPLY_MAX,
    };
    return fetch(fetcher, &req, &run->arena, ret, err);
}

/* ---- Comparing ---- */

static struct str header_of(const struct fetch_reply *reply, struct str name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (str_eq(reply->headers[i].name, name))
            return reply->headers[i].value;
    return (struct str){ NULL, 0 };
}

static bool say(struct run *run, const char *what, struct str want, struct str got)
{
    buf_printf(&run->diff, "      %s\n        want " STR_FMT "\n        got  " STR_FMT "\n", what,
               STR_ARG(want), STR_ARG(got));
    return false;
}

static bool check_code(struct run *run, const struct value *expect, const struct fetch_reply *reply)
{
    int64_t code = 0;
    (void)value_to_int(value_get(expect, STR("code")), &code);
    return code == reply->status ||
           say(run, "code", arena_printf(&run->arena, "%lld", (long long)code),
               arena_printf(&run->arena, "%d: " STR_FMT, reply->status, STR_ARG(reply->body)));
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The recorder read headers as Latin-1. */
static struct str from_latin1(struct run *run, struct str text)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c >= 0x80)
            buf_byte(&out, (char)(0xc0 | c >> 6));
        buf_byte(&out, (char)(c < 0x80 ? c : 0x80 | (c & 0x3f)));
    }
    return arena_str(&run->arena, buf_str(&out));
}

static bool check_warnings(struct run *run, const struct value *expect,
                           const struct fetch_reply *reply)
{
    const struct value *want = value_get(expect, STR("warnings"));
    struct str got[64];
    size_t n = 0, n_want = want ? want->n : 0;
    for (size_t i = 0; i < reply->n_headers && n < 64; i++)
        if (str_eq(reply->headers[i].name, STR("warning")))
            got[n++] = reply->headers[i].value;
    qsort(got, n, sizeof(got[0]), by_text);
    bool same = n == n_want;
    for (size_t i = 0; same && i < n; i++)
        same = match_text(&run->match, value_str(&want->items[i]), from_latin1(run, got[i]));
    return same || say(run, "warnings",
                       arena_printf(&run->arena, "%zu of them, first: " STR_FMT, n_want,
                                    STR_ARG(value_str(value_at(want, 0)))),
                       arena_printf(&run->arena, "%zu of them, first: " STR_FMT, n,
                                    STR_ARG(n ? got[0] : STR(""))));
}

static bool check_header(struct run *run, const struct value *expect, const char *field,
                         struct str usual, struct str got)
{
    const struct value *want = value_get(expect, str_of(field));
    struct str text = value_str(want);
    if (value_is(want, VALUE_INT))
        text = arena_printf(&run->arena, "%lld", (long long)want->i);
    if (!want)
        text = usual;
    return str_eq(text, got) || say(run, field, text, got);
}

static bool check_json(struct run *run, const struct value *want, struct str text, struct str at)
{
    struct err err = ERR_INIT(&run->arena);
    struct value got;
    if (json_read(&run->arena, text, NULL, &got, &err) < 0)
        return say(run, "JSON", STR("a document"), text);
    return match_value(&run->match, want, &got, at);
}

static bool check_events(struct run *run, const struct value *want, struct str text)
{
    bool same = true;
    size_t n = 0;
    if (str_eq(value_str(want), STR("<any>")))
        return true;
    while (text.n) {
        struct str line = str_cut(&text, '\n');
        if (!line.n)
            continue;
        const struct value *event = value_at(want, n);
        same &= event ? check_json(run, event, line, arena_printf(&run->arena, "events[%zu]", n))
                      : say(run, "events", STR("no more"), line);
        n++;
    }
    if (n < want->n)
        same = say(run, "events", arena_printf(&run->arena, "%u", want->n),
                   arena_printf(&run->arena, "%zu", n));
    return same;
}

/* With U+FFFD for bytes that are not UTF-8, as the recorder has written what is not text. */
static struct str legible(struct run *run, struct str bytes)
{
    autobuf out = { 0 };
    while (bytes.n) {
        size_t n = 1;
        while (n < 4 && n < bytes.n && !utf8_valid(str_take(bytes, n)))
            n++;
        bool good = utf8_valid(str_take(bytes, n));
        buf_str_add(&out, good ? str_take(bytes, n) : STR("\xEF\xBF\xBD"));
        bytes = str_skip(bytes, good ? n : 1);
    }
    return arena_str(&run->arena, buf_str(&out));
}

/* ---- Lists without an order ---- */

static int by_json(const void *x, const void *y)
{
    autobuf a = { 0 }, b = { 0 };
    json_write(&a, x);
    json_write(&b, y);
    return str_cmp(buf_str(&a), buf_str(&b));
}

/* The list at a dotted path below `v`, sorted in place. */
static void sort_at(struct arena *a, struct value *v, struct str path)
{
    while (path.n && v)
        v = value_edit(a, v, str_cut(&path, '.'));
    if (value_is(v, VALUE_ARRAY) && v->n > 1)
        qsort(v->items, v->n, sizeof(*v->items), by_json);
}

/* Both sides with the lists sorted that the step names: "body.PATH". */
static void sort_lists(struct run *run, const struct value *step, struct value *want,
                       struct str *got)
{
    struct err err = ERR_INIT(&run->arena);
    struct value tree;
    if (!value_get(step, STR("sort")) || json_read(&run->arena, *got, NULL, &tree, &err) < 0)
        return;
    *want = value_clone(&run->arena, want);
    value_each_item (it, value_get(step, STR("sort"))) {
        struct str path = value_str(it);
        (void)str_cut(&path, '.');
        sort_at(&run->arena, want, path);
        sort_at(&run->arena, &tree, path);
    }
    autobuf text = { 0 };
    json_write(&text, &tree);
    *got = arena_str(&run->arena, buf_str(&text));
}

/* ---- Audit events ---- */

/* A UUID, as a server would make one: events show it as such. */
static void choose_audit_id(struct run *run, const struct value *step)
{
    run->audit_id = STR("");
    if (value_get(step, STR("audit")) && run->r->audit_log)
        run->audit_id = arena_printf(&run->arena, "%08x-0000-4000-8000-%012lx",
                                     atomic_fetch_add(&run->r->n_audited, 1), (long)getpid());
}

static bool check_audit(struct run *run, const struct value *expect)
{
    const struct value none = value_array(), *want = value_get(expect, STR("audit"));
    if (!run->audit_id.n)
        return true;
    want = want ? want : &none;
    struct value got = events_of(&run->arena, run->r->audit_log, run->audit_id, want->n);
    return match_value(&run->match, want, &got, STR("audit"));
}

/* ---- Webhooks ---- */

static int write_script(struct run *run, const struct value *step, struct err *err)
{
    const bool is_extension = run->r->is_extension;
    const struct value *script = value_get(step, is_extension ? STR("ext") : STR("webhook"));
    struct value filled;
    autobuf text = { 0 };
    if (!script || !run->r->hooks.url.n)
        return 0;
    json_write(&text, script);
    int r = json_read(&run->arena, fill_in(run, buf_str(&text)), NULL, &filled, err);
    if (r < 0)
        return r;
    return is_extension ? extension_script(&run->r->hooks, &run->arena, &filled, err)
                        : hooks_script(&run->r->hooks, &run->arena, run->match.ns, &filled, err);
}

/* What was asked since somebody last looked: a step that says nothing of it does not look. */
static bool check_extension(struct run *run, const struct value *step)
{
    struct err err = ERR_INIT(&run->arena);
    const struct value *want = value_dig(step, "expect", "extCalls");
    struct value got;
    if (!want)
        return true;
    bool of_server = str_eq(value_text(step, "extCalls"), STR("system"));
    if (extension_take(&run->r->hooks, &run->arena, of_server, &got, &err) < 0)
        return say(run, "calls", STR("an answer of the extension server"), err.msg);
    return match_value(&run->match, want, &got, STR("extCalls"));
}

static bool check_calls(struct run *run, const struct value *step)
{
    struct err err = ERR_INIT(&run->arena);
    const struct value none = value_array(), *expect = value_get(step, STR("expect")),
                       *want = value_get(expect, STR("calls"));
    struct value got;
    if (!run->r->hooks.url.n)
        return true;
    if (run->r->is_extension)
        return check_extension(run, step);
    if (hooks_take(&run->r->hooks, &run->arena, run->match.ns, value_get(step, STR("callHeaders")),
                   &got, &err) < 0)
        return say(run, "calls", STR("an answer of the webhook server"), err.msg);
    return match_value(&run->match, want ? want : &none, &got, STR("calls"));
}

/* ---- Flows ---- */

/* The name of the object with that uid, asked of the server; `<none>` without one. */
static struct str name_of(struct run *run, const char *plural, struct str uid)
{
    struct err err = ERR_INIT(&run->arena);
    struct fetch_reply reply;
    struct value list;
    const struct fetch_request req = {
        .method = STR("GET"),
        .url = arena_printf(&run->arena, STR_FMT "/apis/flowcontrol.apiserver.k8s.io/v1/%s",
                            STR_ARG(run->r->server), plural),
        .timeout_ms = STEP_TIMEOUT_MS,
        .max_reply = REPLY_MAX,
    };
    if (!uid.p)
        return STR("<none>");
    if (fetch(run->r->fetcher, &req, &run->arena, &reply, &err) < 0 ||
        json_read(&run->arena, reply.body, NULL, &list, &err) < 0)
        return err.msg;
    value_each_item (it, value_get(&list, STR("items")))
        if (str_eq(value_str(value_dig(it, "metadata", "uid")), uid))
            return value_str(value_dig(it, "metadata", "name"));
    return arena_printf(&run->arena, "no object with the uid " STR_FMT, STR_ARG(uid));
}

static bool check_flow(struct run *run, const struct value *expect, const struct fetch_reply *reply)
{
    bool same = check_header(
        run, expect, "flowSchema", STR("<none>"),
        name_of(run, "flowschemas", header_of(reply, STR("x-kubernetes-pf-flowschema-uid"))));
    same &= check_header(run, expect, "priorityLevel", STR("<none>"),
                         name_of(run, "prioritylevelconfigurations",
                                 header_of(reply, STR("x-kubernetes-pf-prioritylevel-uid"))));
    return same;
}

static bool check_step(struct run *run, const struct value *step, const struct fetch_reply *reply)
{
    const struct value *expect = value_get(step, STR("expect"));
    const struct value *body = value_get(expect, STR("body"));
    const struct value *events = value_get(expect, STR("events"));
    const struct value *text = value_get(expect, STR("text"));
    bool same = check_code(run, expect, reply);
    same &= check_warnings(run, expect, reply);
    if (body || text || (events && reply->status != 204))
        same &= check_header(run, expect, "contentType", STR("application/json"),
                             header_of(reply, STR("content-type")));
    same &= check_header(run, expect, "retryAfter", (struct str){ NULL, 0 },
                         header_of(reply, STR("retry-after")));
    if (value_is_true(value_get(step, STR("flow"))))
        same &= check_flow(run, expect, reply);
    if (body) {
        struct value want = *body;
        struct str got = reply->body;
        sort_lists(run, step, &want, &got);
        same &= check_json(run, &want, got, STR("body"));
    }
    if (events)
        same &= check_events(run, events, reply->body);
    struct str shown = text ? legible(run, reply->body) : STR("");
    if (text && !match_text(&run->match, value_str(text), shown))
        same = say(run, "text", value_str(text), shown);
    if (run->audit_id.n && !str_eq(header_of(reply, STR("audit-id")), run->audit_id))
        same = say(run, "Audit-Id", run->audit_id, header_of(reply, STR("audit-id")));
    same &= check_calls(run, step);
    return check_audit(run, expect) && same;
}

/* ---- Cases ---- */

/* The tokens that a step wants signed, and their base64, as ${NAME} and ${NAME_b64}. */
static void mint(struct run *run, const struct value *step)
{
    value_each_field (f, value_get(step, STR("mint"))) {
        struct err err = ERR_INIT(&run->arena);
        autobuf text = { 0 }, encoded = { 0 };
        struct value wanted;
        json_write(&text, &f->val);
        if (!run->r->callers ||
            json_read(&run->arena, fill_in(run, buf_str(&text)), NULL, &wanted, &err) < 0)
            continue;
        struct str token = caller_mint(run->r->callers, &run->arena, &wanted);
        base64_encode(&encoded, token);
        value_put(&run->arena, &run->saved, f->key, value_string(token));
        value_put(&run->arena, &run->saved,
                  arena_printf(&run->arena, STR_FMT "_b64", STR_ARG(f->key)),
                  value_string(arena_str(&run->arena, buf_str(&encoded))));
    }
}

/* "status.conditions.0.status" */
static const struct value *at_path(const struct value *v, struct str path)
{
    while (path.n && v) {
        struct str part = str_cut(&path, '.');
        uint64_t i;
        v = value_is(v, VALUE_ARRAY) && str_to_u64(part, &i) ? value_at(v, (size_t)i)
                                                             : value_get(v, part);
    }
    return v;
}

/* Keeps what later steps refer to: name → dotted path in the answer. */
static void save(struct run *run, const struct value *step, const struct fetch_reply *reply)
{
    struct err err = ERR_INIT(&run->arena);
    struct value tree;
    const struct value *wanted = value_get(step, STR("save"));
    if (!wanted || json_read(&run->arena, reply->body, NULL, &tree, &err) < 0)
        return;
    value_each_field (f, wanted) {
        const struct value *v = at_path(&tree, value_str(&f->val));
        if (value_is(v, VALUE_STRING))
            value_put(&run->arena, &run->saved, f->key, *v);
    }
}

/* Whether the answer is what the step waits for: a code, or a value. */
static bool is_awaited(struct run *run, const struct value *until, const struct fetch_reply *reply)
{
    const struct value *code = value_get(until, STR("code"));
    int64_t wanted;
    struct value tree;
    if (value_to_int(code, &wanted))
        return reply->status == (int)wanted;
    if (json_read(&run->arena, reply->body, NULL, &tree, NULL) < 0)
        return false;
    const struct value *v = at_path(&tree, value_text(until, "path"));
    return v && value_eq(v, value_get(until, STR("value")));
}

/* Asks again, as often as the step allows; what comes last counts. */
static int send_until(struct run *run, const struct value *step, struct fetch_reply *reply,
                      struct err *err)
{
    enum { PAUSE_MS = 50, PER_SECOND = 1000 / PAUSE_MS, WITHIN_DEFAULT = 30 };
    const struct value *until = value_get(step, STR("until"));
    int64_t within = WITHIN_DEFAULT;
    (void)value_to_int(value_get(step, STR("within")), &within);
    for (int64_t tries = within * PER_SECOND;; tries--) {
        int r = send_step(run, step, reply, err);
        if (r < 0 || !until || tries == 0 || is_awaited(run, until, reply))
            return r;
        (void)usleep(PAUSE_MS * 1000);
    }
}

static bool run_steps(struct run *run, const struct value *steps)
{
    bool same = true;
    size_t n = 0;
    value_each_item (step, steps) {
        struct err err = ERR_INIT(&run->arena);
        struct fetch_reply reply = { 0 };
        size_t before = run->diff.n;
        mint(run, step);
        choose_audit_id(run, step);
        bool good = write_script(run, step, &err) == 0 && send_until(run, step, &reply, &err) == 0
                        ? check_step(run, step, &reply)
                        : say(run, "request", STR("an answer"), err.msg);
        if (!good && run->r->diff) {
            autobuf found = { 0 };
            buf_str_add(&found, str_skip(buf_str(&run->diff), before));
            run->diff.n = before;
            buf_printf(&run->diff, "    step %zu: " STR_FMT " " STR_FMT "\n" STR_FMT, n,
                       STR_ARG(value_str(value_get(step, STR("method")))),
                       STR_ARG(value_str(value_get(step, STR("path")))), STR_ARG(buf_str(&found)));
        }
        save(run, step, &reply);
        same &= good;
        n++;
    }
    return same;
}

static bool make_namespace(struct run *run)
{
    struct err err = ERR_INIT(&run->arena);
    struct fetch_reply reply;
    const struct http_header headers[] = { { STR("Content-Type"), STR("application/json") },
                                           { STR("User-Agent"), STR("golden/1.0") } };
    const struct fetch_request req = {
        .method = STR("POST"),
        .url = arena_printf(&run->arena, STR_FMT "/api/v1/namespaces", STR_ARG(run->r->server)),
        .headers = headers,
        .n_headers = 2,
        .body = arena_printf(&run->arena,
                             "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                             "\"name\":\"" STR_FMT "\"}}",
                             STR_ARG(run->match.ns)),
    };
    if (fetch(run->r->fetcher, &req, &run->arena, &reply, &err) == 0 && reply.status == 201)
        return true;
    return say(run, "namespace", STR("201"), err.code ? err.msg : reply.body);
}

/* What an extension server was asked before belongs to another case: these come one by one. */
static void forget_calls(struct run *run)
{
    struct err err = ERR_INIT(&run->arena);
    struct value ignored;
    if (run->r->is_extension)
        (void)extension_take(&run->r->hooks, &run->arena, false, &ignored, &err);
}

/* The differences are added to `diff`. */
static bool run_case(struct replay *r, const struct value *c, struct buf *diff)
{
    struct run run = { .r = r, .saved = value_object() };
    arena_init(&run.arena);
    run.match = (struct match){
        .arena = &run.arena,
        .advertised = str_skip(r->server, strlen("https://")),
        .now_sec = time(NULL),
        .names = r->names,
        .n_names = r->n_names,
        .words = r->words,
        .diff = &run.diff,
    };
    const struct value *ns = value_get(c, STR("namespace"));
    bool wants_ns = !value_is(ns, VALUE_BOOL) || ns->b;
    run.match.ns = arena_printf(&run.arena, "golden-%u", atomic_fetch_add(&r->n_namespaces, 1));
    forget_calls(&run);
    bool same = (!wants_ns || make_namespace(&run)) && run_steps(&run, value_get(c, STR("steps")));
    buf_str_add(diff, buf_str(&run.diff));
    match_done(&run.match);
    buf_done(&run.diff);
    arena_done(&run.arena);
    return same;
}

static bool is_wanted(const struct replay *r, struct str id)
{
    struct str lines = r->only;
    if (!lines.n)
        return true;
    while (lines.n) {
        struct str prefix = str_trim(str_cut(&lines, '\n'));
        if (prefix.n && prefix.p[0] != '#' && str_starts(id, prefix))
            return true;
    }
    return false;
}

static bool is_allowed(const struct replay *r, struct str id)
{
    struct str lines = r->allow;
    while (lines.n) {
        struct str line = str_cut(&lines, '\n');
        if (str_eq(str_cut(&line, '\t'), id))
            return true;
    }
    return false;
}

/* ---- Traces ---- */

static void note(struct trace *t, struct str id, bool passed, struct str diff)
{
    bool allowed = is_allowed(t->r, id);
    t->run++;
    t->passed += passed;
    t->allowed += allowed && !passed;
    t->wrong += passed == allowed;
    if (t->r->diff)
        printf("  " STR_FMT "\n" STR_FMT, STR_ARG(id), STR_ARG(diff));
    else if (!passed && !allowed)
        printf("  FAILED " STR_FMT "\n", STR_ARG(id));
    else if (passed && allowed)
        printf("  PASSES, take it off the list: " STR_FMT "\n", STR_ARG(id));
}

static bool has(struct str line, const char *text)
{
    return line.p && memmem(line.p, line.n, text, strlen(text));
}

/* Rounds come one after the other: what must see a fresh server, what may run side by side, what
 * defines kinds of its own (others look at all that there is), what must be alone. */
static const char *const rounds[] = { "first", "usual", "defines", "last" };

static const char *round_of(struct str line)
{
    if (has(line, "\"order\":\"first\""))
        return rounds[0];
    if (has(line, "\"order\":\"last\""))
        return rounds[3];
    return rounds[has(line, "\"POST\",\"path\":\"/apis/apiextensions.k8s.io/") ? 2 : 1];
}

static bool next_line(struct trace *t, struct str *ret)
{
    pthread_mutex_lock(&t->lock);
    bool more = t->lines.n > 0;
    *ret = str_cut(&t->lines, '\n');
    pthread_mutex_unlock(&t->lock);
    return more;
}

static void replay_line(struct trace *t, struct str line)
{
    struct arena a;
    struct value c;
    autobuf diff = { 0 };
    arena_init(&a);
    if (line.n && json_read(&a, line, NULL, &c, NULL) == 0) {
        struct str id = value_str(value_get(&c, STR("id")));
        bool wanted = is_wanted(t->r, id), passed = wanted && run_case(t->r, &c, &diff);
        pthread_mutex_lock(&t->lock);
        t->total++;
        if (wanted)
            note(t, id, passed, buf_str(&diff));
        pthread_mutex_unlock(&t->lock);
    }
    arena_done(&a);
}

static void *replay_some(void *arg)
{
    struct str line;
    struct trace *t = arg;
    while (next_line(t, &line))
        if (line.n && round_of(line) == t->round)
            replay_line(t, line);
    return NULL;
}

static void replay_round(struct trace *t, struct str lines, const char *round)
{
    t->lines = lines;
    t->round = round;
    pthread_t threads[AT_ONCE];
    size_t n = 0, at_once = round == rounds[3] ? 1 : AT_ONCE;
    while (n < at_once && pthread_create(&threads[n], NULL, replay_some, t) == 0)
        n++;
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* How many cases did otherwise than they should have; negative if there was nothing to read. */
static int replay_trace(struct replay *r, const char *path)
{
    struct err err = ERR_INIT(&r->arena);
    autobuf text = { 0 };
    if (file_read(path, TRACE_MAX, &text, &err) < 0) {
        fprintf(stderr, "replay: " STR_FMT "\n", STR_ARG(err.msg));
        return -1;
    }
    struct trace t = { .r = r };
    pthread_mutex_init(&t.lock, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rounds); i++)
        replay_round(&t, buf_str(&text), rounds[i]);
    pthread_mutex_destroy(&t.lock);
    const char *name = strrchr(path, '/');
    printf("golden %s: %zu/%zu passed, %zu allowed to differ (%zu in the trace)\n",
           name ? name + 1 : path, t.passed, t.run, t.allowed, t.total);
    return (int)t.wrong;
}

static struct str read_text(struct replay *r, const char *path)
{
    struct err err = ERR_INIT(&r->arena);
    autobuf text = { 0 };
    if (!path)
        return STR("");
    if (file_read(path, 1 << 20, &text, &err) < 0) {
        fprintf(stderr, "replay: " STR_FMT "\n", STR_ARG(err.msg));
        exit(2);
    }
    return arena_str(&r->arena, buf_str(&text));
}

/* "CERT,KEY": both are files. */
static struct pki_pair read_pair(struct replay *r, const char *paths)
{
    struct str key = str_of(paths), cert = str_cut(&key, ',');
    return (struct pki_pair){ read_text(r, str_cstr(&r->arena, cert)),
                              read_text(r, str_cstr(&r->arena, key)) };
}

static void add_name(struct replay *r, const char *name, struct str text)
{
    r->names[r->n_names++] = (struct match_name){ str_of(name), text };
}

static struct str bundle(struct replay *r, struct str pem)
{
    autobuf text = { 0 };
    base64_encode(&text, pem);
    return arena_str(&r->arena, buf_str(&text));
}

/* A port that nobody listens on: it is ours, and stays so. */
static struct str dead_port(struct replay *r)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) < 0)
        exit(2);
    return arena_printf(&r->arena, "%u", ntohs(at.sin_port));
}

/* {NAME}, {NAMEAddr}, {NAMELocal} and {NAMEPort} of somebody on loopback. */
static void add_place(struct replay *r, const char *name, struct str port)
{
    struct arena *a = &r->arena;
    const struct {
        const char *suffix, *before;
    } forms[] = { { "", "https://127.0.0.1:" },
                  { "Addr", "127.0.0.1:" },
                  { "Local", "localhost:" },
                  { "Port", "" } };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        add_name(r, str_cstr(a, arena_printf(a, "{%s%s}", name, forms[i].suffix)),
                 arena_printf(a, "%s" STR_FMT, forms[i].before, STR_ARG(port)));
}

/* What webhooks.py has left in its folder. */
static void use_webhooks(struct replay *r, const char *folder)
{
    struct arena *a = &r->arena;
    struct str port = read_text(r, str_cstr(a, arena_printf(a, "%s/port", folder))),
               ca = read_text(r, str_cstr(a, arena_printf(a, "%s/ca.crt", folder))),
               other = read_text(r, str_cstr(a, arena_printf(a, "%s/other.crt", folder)));
    r->hooks.url = arena_printf(a, "https://127.0.0.1:" STR_FMT, STR_ARG(port));
    r->hooks.fetcher = fetcher_new(&(struct fetcher_options){ .ca_pem = ca });
    add_place(r, r->is_extension ? "ext" : "webhook", port);
    add_place(r, "dead", dead_port(r));
    add_name(r, "{caBundle}", bundle(r, ca));
    add_name(r, "{otherCaBundle}", bundle(r, other));
}

int main(int argc, char **argv)
{
    static const struct option flags[] = {
        { "server", required_argument, NULL, 's' },
        { "ca", required_argument, NULL, 'a' },
        { "cert", required_argument, NULL, 'c' },
        { "key", required_argument, NULL, 'k' },
        { "only", required_argument, NULL, 'o' },
        { "allow", required_argument, NULL, 'w' },
        { "words", required_argument, NULL, 'W' },
        { "callers", no_argument, NULL, 'C' },
        { "client-ca", required_argument, NULL, 'l' },
        { "proxy-ca", required_argument, NULL, 'p' },
        { "account-key", required_argument, NULL, 'K' },
        { "other-key", required_argument, NULL, 'O' },
        { "audit-log", required_argument, NULL, 'A' },
        { "webhooks", required_argument, NULL, 'H' },
        { "extension", required_argument, NULL, 'E' },
        { "diff", no_argument, NULL, 'd' },
        { 0 },
    };
    /* Another run against the same server has other namespaces. */
    struct replay r = { .n_namespaces = (unsigned)getpid() % 1000 * 10000 };
    arena_init(&r.arena);
    struct fetcher_options tls = { 0 };
    struct callers_options callers = { 0 };
    bool has_callers = false;
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        if (c == 's')
            r.server = str_of(optarg);
        else if (c == 'a')
            tls.ca_pem = read_text(&r, optarg);
        else if (c == 'c')
            tls.cert_pem = read_text(&r, optarg);
        else if (c == 'k')
            tls.key_pem = read_text(&r, optarg);
        else if (c == 'o')
            r.only = read_text(&r, optarg);
        else if (c == 'w')
            r.allow = read_text(&r, optarg);
        else if (c == 'W')
            r.words = read_text(&r, optarg);
        else if (c == 'C')
            has_callers = true;
        else if (c == 'l')
            callers.client_ca = read_pair(&r, optarg);
        else if (c == 'p')
            callers.proxy_ca = read_pair(&r, optarg);
        else if (c == 'K')
            callers.account_key = read_text(&r, optarg);
        else if (c == 'O')
            callers.other_key = read_text(&r, optarg);
        else if (c == 'A')
            r.audit_log = optarg;
        else if (c == 'H')
            use_webhooks(&r, optarg);
        else if (c == 'E') {
            r.is_extension = true;
            use_webhooks(&r, optarg);
        } else if (c == 'd')
            r.diff = true;
        else
            return 2;
    }
    int wrong = 0;
    r.fetcher = fetcher_new(&tls);
    callers.server_ca_pem = tls.ca_pem;
    if (has_callers)
        r.callers = callers_new(&callers);
    for (int i = optind; i < argc; i++)
        wrong |= replay_trace(&r, argv[i]);
    if (r.callers)
        callers_free(r.callers);
    fetcher_free(r.fetcher);
    fetcher_free(r.hooks.fetcher);
    arena_done(&r.arena);
    return wrong ? 1 : 0;
}
