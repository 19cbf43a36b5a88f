#include "server/audit/audit_event.h"

#include "api/go/goduration.h"
#include "api/ip.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "net/loop.h"
#include "server/audit/audit_answer.h"
#include "server/audit/audit_late.h"
#include "server/audit/audit_text.h"
#include "base/banned.h"

enum { USER_AGENT_MAX = 1024, SLOW_MS = 500 };

struct audit_event {
    struct audit *audit;
    struct http_exchange *x;
    struct audit_decision decision;
    struct audit_facts facts;
    struct audit_annotation *annotations;
    bool is_long, is_stranger;  /* a stranger's only stage is that his refusal begins */
    bool is_begun, is_complete; /* the answer; its last event */
    struct audit_form form;     /* of the answer */
    struct buf pieces;          /* of a streamed answer that is to be shown */
    bool is_too_large;
    int64_t layer_ns[AUDIT_LAYERS];
};

/* ---- What is known from the start ---- */

static void add_source(struct arena *a, struct audit_facts *f, struct str text)
{
    struct ip ip;
    char out[IP_TEXT_MAX];
    if (f->n_sources < AUDIT_SOURCES_MAX && ip_parse(str_trim(text), &ip))
        f->sources[f->n_sources++] = arena_str(a, ip_format(&ip, out));
}

/* "1.2.3.4:80" or "[::1]:80" without the port. */
static struct str host_of(struct str address)
{
    if (!str_starts(address, STR("[")))
        return str_cut(&address, ':');
    address = str_skip(address, 1);
    return str_cut(&address, ']');
}

/* Takes the newest one back if it is there already, among all or as the one before. */
static void drop_repeated(struct audit_facts *f, size_t before, size_t from)
{
    bool is_new = f->n_sources > before;
    for (size_t i = from; is_new && i < before; i++)
        if (str_eq(f->sources[i], f->sources[before]))
            f->n_sources = before;
}

/* Whom proxies say that they speak for, and at last who really has the connection. */
static void find_sources(struct arena *a, const struct http_request *http, struct audit_facts *f)
{
    struct str chain = http_header_get(http, STR("x-forwarded-for"));
    while (chain.n)
        add_source(a, f, str_cut(&chain, ','));
    size_t n = f->n_sources;
    add_source(a, f, http_header_get(http, STR("x-real-ip")));
    drop_repeated(f, n, 0);
    n = f->n_sources;
    add_source(a, f, host_of(http->peer->address));
    drop_repeated(f, n, n ? n - 1 : 0);
}

static struct str user_agent_of(struct arena *a, const struct http_request *http)
{
    struct str agent = http_header_get(http, STR("user-agent"));
    if (agent.n <= USER_AGENT_MAX)
        return agent;
    return arena_printf(a, STR_FMT "...TRUNCATED", STR_ARG(str_take(agent, USER_AGENT_MAX)));
}

static struct str uri_of(struct arena *a, const struct http_request *http)
{
    if (!http->query.n)
        return http->path;
    return arena_printf(a, STR_FMT "?" STR_FMT, STR_ARG(http->path), STR_ARG(http->query));
}

static void find_facts(struct audit_event *e, const struct audit_subject *s)
{
    struct arena *a = http_arena(e->x);
    const struct http_request *http = http_request_of(e->x);
    const struct access *q = s->about;
    int64_t age = loop_now_ns(http_loop(e->x)) - http->arrived_ns;
    e->facts = (struct audit_facts){ .level = e->decision.level,
                                     .id = s->id,
                                     .uri = uri_of(a, http),
                                     .verb = q->verb,
                                     .user_agent = user_agent_of(a, http),
                                     .user = q->user,
                                     .has_object = q->is_resource,
                                     .group = q->group,
                                     .version = q->version,
                                     .resource = q->resource,
                                     .sub = q->sub,
                                     .ns = q->ns,
                                     .name = q->name,
                                     .received_ns = clock_wall_ns(audit_clock(e->audit)) - age };
    find_sources(a, http, &e->facts);
}

/* ---- Stages ---- */

static bool is_omitted(const struct audit_event *e, enum audit_stage stage)
{
    return e->decision.omitted & 1u << stage;
}

/* The event as text; where its answer stands in that. */
static size_t write_texts(struct audit_event *e, enum audit_stage stage, struct buf *json,
                          struct buf *words)
{
    struct audit_facts *f = &e->facts;
    f->stage = stage;
    f->stage_ns =
        stage == AUDIT_REQUEST_RECEIVED ? f->received_ns : clock_wall_ns(audit_clock(e->audit));
    f->annotations = e->annotations;
    if (audit_is_legacy(e->audit))
        audit_text_words(words, f);
    return audit_text_json(json, f);
}

static bool record(struct audit_event *e, enum audit_stage stage)
{
    autobuf json = { 0 }, words = { 0 };
    if (is_omitted(e, stage))
        return true;
    (void)write_texts(e, stage, &json, &words);
    return audit_record(e->audit, buf_str(&json), buf_str(&words));
}

/* The last stage, with an answer that is too large to be looked at here. */
static bool record_late(struct audit_event *e, struct str body)
{
    autobuf json = { 0 }, words = { 0 };
    if (is_omitted(e, AUDIT_RESPONSE_COMPLETE))
        return true;
    size_t at = write_texts(e, AUDIT_RESPONSE_COMPLETE, &json, &words);
    return audit_late_record(e->audit,
                             &(struct audit_late){ .event = buf_str(&json),
                                                   .at = at,
                                                   .words = buf_str(&words),
                                                   .form = e->form,
                                                   .answer = body,
                                                   .omits_managers = e->decision.omits_managers });
}

static void note_latency(struct audit_event *e, struct str key, int64_t ns)
{
    autobuf text = { 0 };
    if (ns <= 0)
        return;
    goduration_write(&text, ns);
    audit_event_annotate(e, key, arena_str(http_arena(e->x), buf_str(&text)));
}

static void note_time(struct audit_event *e)
{
    static const struct str layers[] = {
        [AUDIT_LAYER_QUEUE] = STR("apiserver.latency.k8s.io/apf-queue-wait"),
        [AUDIT_LAYER_STORE] = STR("apiserver.latency.k8s.io/etcd"),
    };
    int64_t ns = clock_wall_ns(audit_clock(e->audit)) - e->facts.received_ns;
    if (ns <= SLOW_MS * NS_PER_MS)
        return;
    for (size_t i = 0; i < AUDIT_LAYERS; i++)
        note_latency(e, layers[i], e->layer_ns[i]);
    note_latency(e, STR("apiserver.latency.k8s.io/total"), ns);
}

/* ---- The answer ---- */

static bool wants_answer(const struct audit_event *e)
{
    return e->decision.level == AUDIT_REQUEST_RESPONSE;
}

static void record_complete(struct audit_event *e, bool is_begun)
{
    if (!is_begun && (e->is_long || e->is_stranger))
        (void)record(e, AUDIT_RESPONSE_STARTED);
    if (!e->is_stranger)
        (void)record(e, AUDIT_RESPONSE_COMPLETE);
    e->is_complete = true;
}

static void note_truncated(struct audit_event *e)
{
    audit_event_annotate(e, STR("audit.k8s.io/truncated"), STR("true"));
}

/* Upstream does not show the answer that says that no form of it is acceptable. */
static void show(struct audit_event *e, struct str body, bool is_begun)
{
    struct arena scratch;
    struct audit_answer answer;
    arena_init(&scratch);
    audit_answer_read(&scratch, &e->form, e->facts.code == 406 ? STR("") : body, wants_answer(e),
                      e->decision.omits_managers, &answer);
    if (answer.is_too_large || e->is_too_large)
        note_truncated(e);
    e->facts.status = value_is(&answer.status, VALUE_OBJECT) ? &answer.status : NULL;
    e->facts.answer = buf_str(&answer.object);
    record_complete(e, is_begun);
    e->facts.status = NULL;
    e->facts.answer = STR("");
    audit_answer_done(&answer);
    arena_done(&scratch);
}

static void complete(struct audit_event *e, struct str body, bool is_begun)
{
    note_time(e);
    bool is_large = body.n > AUDIT_LATE_LEAST && wants_answer(e) && e->facts.code < 400;
    if (!is_large || e->is_long || e->is_stranger) {
        show(e, body, is_begun);
        return;
    }
    e->is_complete = true;
    if (body.n <= LIMIT_AUDIT_OBJECT_BYTES && record_late(e, body))
        return;
    note_truncated(e);
    (void)record(e, AUDIT_RESPONSE_COMPLETE);
}

static void on_whole(void *arg, struct http_exchange *x, int status,
                     const struct http_header *headers, size_t n_headers, struct str body)
{
    struct audit_event *e = arg;
    (void)x;
    e->facts.code = status;
    e->form = audit_form_of(headers, n_headers);
    complete(e, body, false);
}

static void on_begin(void *arg, struct http_exchange *x, int status,
                     const struct http_header *headers, size_t n_headers)
{
    struct audit_event *e = arg;
    const struct audit_form form = audit_form_of(headers, n_headers);
    e->facts.code = status;
    e->form = (struct audit_form){ arena_str(http_arena(x), form.type),
                                   arena_str(http_arena(x), form.encoding) };
    if (e->is_long)
        (void)record(e, AUDIT_RESPONSE_STARTED);
    e->is_begun = true;
}

/* What lasts is not shown. */
static void on_bytes(void *arg, struct http_exchange *x, struct str bytes)
{
    struct audit_event *e = arg;
    (void)x;
    if (!wants_answer(e) || e->is_long || e->is_too_large)
        return;
    e->is_too_large = e->pieces.n + bytes.n > LIMIT_AUDIT_OBJECT_BYTES;
    if (e->is_too_large)
        buf_done(&e->pieces);
    else
        buf_str_add(&e->pieces, bytes);
}

/* As upstream words it when the client has gone before anything was answered. */
static void note_silence(struct audit_event *e, struct arena *a)
{
    struct value status = value_object();
    value_put_new(a, &status, STR("status"), value_string(STR("Success")));
    value_put_new(a, &status, STR("message"), value_string(STR("Connection closed early")));
    e->facts.code = 200;
    e->facts.status = &status;
    record_complete(e, false);
    e->facts.status = NULL;
}

static void on_end(void *arg, struct http_exchange *x, int status)
{
    struct audit_event *e = arg;
    if (!e->is_complete && !status) {
        note_silence(e, http_arena(x));
    } else if (!e->is_complete) {
        e->facts.code = status;
        complete(e, buf_str(&e->pieces), e->is_begun);
    }
    buf_done(&e->pieces);
}

bool audit_event_begin(struct audit *au, struct http_exchange *x, const struct audit_subject *s,
                       struct audit_event **ret)
{
    struct audit_decision decision = audit_policy_decide(audit_policy_of(au), s->about);
    *ret = NULL;
    audit_count_level(au, decision.level);
    if (decision.level == AUDIT_NONE)
        return true;
    struct audit_event *e = arena_new(http_arena(x), struct audit_event);
    *e = (struct audit_event){ .audit = au,
                               .x = x,
                               .decision = decision,
                               .annotations = s->notes,
                               .is_long = s->is_long,
                               .is_stranger = !s->about->user };
    find_facts(e, s);
    *ret = e;
    if (!e->is_stranger && !record(e, AUDIT_REQUEST_RECEIVED))
        return false;
    http_observe(x, &(struct http_observer){
                        .arg = e,
                        .on_whole = on_whole,
                        .on_begin = on_begin,
                        .on_bytes = on_bytes,
                        .on_end = on_end,
                    });
    return true;
}

/* ---- What becomes known on the way ---- */

void audit_event_impersonated(struct audit_event *e, const struct user *as, struct str constraint)
{
    if (!e)
        return;
    e->facts.impersonated = as;
    e->facts.constraint = constraint;
}

void audit_event_annotate(struct audit_event *e, struct str key, struct str value)
{
    if (!e)
        return;
    struct audit_annotation **end = &e->annotations;
    for (; *end; end = &(*end)->next)
        if (str_eq((*end)->key, key))
            return;
    *end = arena_new(http_arena(e->x), struct audit_annotation);
    **end = (struct audit_annotation){ .key = key, .value = value };
}

void audit_event_took(struct audit_event *e, enum audit_layer layer, int64_t ns)
{
    if (e)
        e->layer_ns[layer] += ns;
}

bool audit_event_wants_object(const struct audit_event *e)
{
    return e && e->decision.level >= AUDIT_REQUEST;
}

bool audit_event_omits_managers(const struct audit_event *e)
{
    return e && e->decision.omits_managers;
}

static void fill(struct audit_event *e, struct str *to, const struct value *obj, const char *field)
{
    if (!to->n)
        *to = arena_str(http_arena(e->x), value_str(value_dig(obj, "metadata", field)));
}

void audit_event_metadata(struct audit_event *e, const struct value *obj)
{
    if (!e)
        return;
    fill(e, &e->facts.ns, obj, "namespace");
    fill(e, &e->facts.name, obj, "name");
    fill(e, &e->facts.uid, obj, "uid");
    fill(e, &e->facts.revision, obj, "resourceVersion");
}

void audit_event_object(struct audit_event *e, struct str json)
{
    if (audit_event_wants_object(e))
        e->facts.request = arena_str(http_arena(e->x), json);
}

void audit_event_patch(struct audit_event *e, const struct value *patch)
{
    autobuf json = { 0 };
    if (!audit_event_wants_object(e))
        return;
    json_write(&json, patch);
    audit_event_object(e, buf_str(&json));
}
