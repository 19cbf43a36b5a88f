/* filter_impersonate.c - whoever may act for somebody else does so: Impersonate-User and its kin.
 *
 * There are two ways to be allowed. The old one is the verb `impersonate` on each thing that is
 * claimed. The constrained one is the verb `impersonate:MODE` on each of them, and for what is
 * asked `impersonate-on:MODE:VERB`; its modes are for nodes, service accounts and other users. The
 * constrained ones are tried first, unless another one let the same asker through before. A refusal
 * is worded by the first that fits, as upstream does it.
 *
 * When the guard has to ask others, the request waits for that one answer, and then everything is
 * asked again from the start: what was answered before is remembered, in the order of asking. */
#include <stdatomic.h>

#include "api/errors.h"
#include "api/go/quote.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/percent.h"
#include "server/audit/audit_event.h"
#include "server/filter/filter.h"
#include "server/guard/guard.h"
#include "server/http/reply.h"
#include "base/banned.h"

/* ---- What is claimed ---- */

/* Who the request wants to be. */
struct claim {
    struct str name, uid;
    const struct str *groups;
    size_t n_groups;
    struct user_extra *extra;
    size_t n_extra;
    bool has_extra; /* also one without a key */
};

static size_t values_of(struct arena *a, const struct http_request *http, struct str name,
                        const struct str **ret)
{
    struct str *values = arena_array(a, struct str, http->n_headers);
    size_t n = 0;
    for (size_t i = 0; i < http->n_headers; i++)
        if (str_eq(http->headers[i].name, name))
            values[n++] = http->headers[i].value;
    *ret = values;
    return n;
}

static void read_extra(struct arena *a, const struct http_request *http, struct claim *c)
{
    static const struct str prefix = STR("impersonate-extra-");
    c->extra = arena_array(a, struct user_extra, http->n_headers);
    for (size_t i = 0; i < http->n_headers; i++) {
        struct str name = http->headers[i].name, key = str_skip(name, prefix.n);
        bool is_known = false;
        if (!str_starts(name, prefix))
            continue;
        c->has_extra = true;
        for (size_t k = 0; k < i; k++)
            is_known |= str_eq(http->headers[k].name, name);
        if (is_known)
            continue;
        struct user_extra *e = &c->extra[c->n_extra++];
        if (!percent_decode(a, key, false, &e->key))
            e->key = key;
        e->n_values = values_of(a, http, name, &e->values);
    }
}

static struct claim read_claim(struct arena *a, const struct http_request *http)
{
    struct claim c = { .name = http_header_get(http, STR("impersonate-user")),
                       .uid = http_header_get(http, STR("impersonate-uid")) };
    c.n_groups = values_of(a, http, STR("impersonate-group"), &c.groups);
    read_extra(a, http, &c);
    return c;
}

static void print_list(struct buf *out, const struct str *items, size_t n)
{
    buf_str_add(out, n ? STR("[]string{") : STR("[]string(nil)"));
    for (size_t i = 0; i < n; i++) {
        buf_str_add(out, i ? STR(", ") : STR(""));
        quote_go(out, items[i]);
    }
    buf_str_add(out, n ? STR("}") : STR(""));
}

/* As Go prints the struct. */
static int refuse_nameless(struct arena *a, const struct claim *c, struct err *err)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("requested &user.DefaultInfo{Name:\"\", UID:"));
    quote_go(&out, c->uid);
    buf_str_add(&out, STR(", Groups:"));
    print_list(&out, c->groups, c->n_groups);
    buf_str_add(&out, STR(", Extra:map[string][]string"));
    buf_str_add(&out, c->n_extra ? STR("{") : STR("(nil)"));
    for (size_t i = 0; i < c->n_extra; i++) {
        buf_str_add(&out, i ? STR(", ") : STR(""));
        quote_go(&out, c->extra[i].key);
        buf_byte(&out, ':');
        print_list(&out, c->extra[i].values, c->extra[i].n_values);
    }
    buf_str_add(&out, c->n_extra ? STR("}}") : STR("}"));
    return err_set(err, ERR_BAD_REQUEST, STR_FMT " without impersonating a user name",
                   STR_ARG(arena_str(a, buf_str(&out))));
}

/* ---- Modes ---- */

static bool has_only_name(const struct claim *c)
{
    return !c->uid.n && !c->n_groups && !c->has_extra;
}

/* A service account may be the node that its token was made for. */
static bool is_own_node(const struct claim *c, const struct user *asker)
{
    struct str node, ns, name;
    if (!has_only_name(c) || !user_is_node(c->name, &node) ||
        !user_service_account(asker->name, &ns, &name))
        return false;
    for (size_t i = 0; i < asker->n_extra; i++)
        if (str_eq(asker->extra[i].key, STR("authentication.kubernetes.io/node-name")))
            return asker->extra[i].n_values == 1 && str_eq(asker->extra[i].values[0], node);
    return false;
}

static bool is_any_node(const struct claim *c, const struct user *asker)
{
    struct str node;
    (void)asker;
    return has_only_name(c) && user_is_node(c->name, &node);
}

static bool is_account(const struct claim *c, const struct user *asker)
{
    struct str ns, name;
    (void)asker;
    return has_only_name(c) && user_service_account(c->name, &ns, &name);
}

static bool is_other(const struct claim *c, const struct user *asker)
{
    struct str node, ns, name;
    (void)asker;
    return !user_is_node(c->name, &node) && !user_service_account(c->name, &ns, &name);
}

static const struct mode {
    const char *name;
    bool (*fits)(const struct claim *c, const struct user *asker);
} modes[] = {
    { "associated-node", is_own_node },
    { "arbitrary-node", is_any_node },
    { "serviceaccount", is_account },
    { "user-info", is_other },
};

/* ---- Asking ---- */

/* Not an error of err.h: the answer is not there yet. */
enum { ASK_LATER = -1000 };

/* One attempt in one mode (NULL: the old one). */
struct attempt {
    struct filter_request *request;
    const struct mode *mode;
    struct str verb;
    struct arena *arena;
    struct err *err;
};

static int refuse(const struct attempt *t, const struct access *q, struct str why)
{
    struct str text = access_refusal(t->arena, q);
    const struct kind_resource asked = { .group = q->group, .plural = q->resource };
    if (why.n)
        text = arena_printf(t->arena, STR_FMT ": " STR_FMT, STR_ARG(text), STR_ARG(why));
    if (q->is_resource)
        return error_forbidden(t->err, &asked, q->name, text);
    return err_set(t->err, ERR_FORBIDDEN, "forbidden: " STR_FMT, STR_ARG(text));
}

struct answer {
    struct answer *next;
    struct guard_decision decision;
};

struct filter_answers {
    struct answer *first, **end;
    struct answer **at; /* the next one to be used */
    size_t known_way;   /* as of the first time: see last_way() */
};

static void remember(struct filter_request *r, const struct guard_decision *d)
{
    struct answer *answer = arena_new(http_arena(r->x), struct answer);
    answer->decision = *d;
    *r->answers->end = answer;
    r->answers->end = &answer->next;
}

static void remember_and_retry(struct filter_request *r, const struct guard_decision *d)
{
    remember(r, d);
    filter_retry(r);
}

/* What the guard says, now or before. False: the request waits. */
static bool hear(struct filter_request *r, const struct access *q, struct guard_decision *ret)
{
    struct filter_answers *all = r->answers;
    if (!*all->at) {
        *ret = (struct guard_decision){ .opinion = ACCESS_ALLOWED };
        if (!guard_allows(r->api->guard, q) && !filter_ask(r, q, remember_and_retry, ret))
            return false;
        remember(r, ret);
    }
    *ret = (*all->at)->decision;
    all->at = &(*all->at)->next;
    return true;
}

static int ask(const struct attempt *t, const struct access *q)
{
    struct guard_decision d;
    if (!hear(t->request, q, &d))
        return ASK_LATER;
    if (d.opinion == ACCESS_ALLOWED)
        return 0;
    if (d.error.n && d.reason.n)
        d.reason =
            arena_printf(t->arena, STR_FMT ": " STR_FMT, STR_ARG(d.error), STR_ARG(d.reason));
    return refuse(t, q, d.reason.n ? d.reason : d.error);
}

/* About something of `authentication.k8s.io` or, in the old mode, partly of the core group. */
static struct access about(const struct attempt *t, const char *resource, struct str name)
{
    bool is_old = !t->mode && (strcmp(resource, "users") == 0 || strcmp(resource, "groups") == 0 ||
                               strcmp(resource, "serviceaccounts") == 0);
    return (struct access){ .user = t->request->user,
                            .is_resource = true,
                            .verb = t->verb,
                            .group = is_old ? STR("") : STR("authentication.k8s.io"),
                            .version = STR("v1"),
                            .resource = str_of(resource),
                            .name = name };
}

static int ask_name(const struct attempt *t, const struct claim *c)
{
    struct str node, ns, name;
    struct access q = about(t, "users", c->name);
    if (t->mode && user_is_node(c->name, &node)) {
        q = about(t, "nodes", t->mode == &modes[0] ? STR("*") : node);
    } else if (user_service_account(c->name, &ns, &name)) {
        q = about(t, "serviceaccounts", name);
        q.ns = ns;
    }
    return ask(t, &q);
}

static int ask_groups(const struct attempt *t, const struct claim *c)
{
    for (size_t i = 0; i < c->n_groups; i++) {
        struct access q = about(t, "groups", c->groups[i]);
        if (t->mode && str_eq(c->groups[i], USER_MASTERS))
            return refuse(t, &q, STR("impersonating the system:masters group is not allowed"));
        if (t->mode && !c->groups[i].n)
            return refuse(t, &q, STR("impersonating the empty string group is not allowed"));
        int r = ask(t, &q);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What the constrained modes do not allow, whoever asks; empty: nothing. */
static struct str odd_extra(struct arena *a, const struct user_extra *e)
{
    struct str path = e->key, domain = str_cut(&path, '/');
    if (!e->key.n)
        return STR("impersonating the empty string key in extra is not allowed");
    if (!domain.n || !path.n)
        return arena_printf(a,
                            "impersonating an invalid key in extra is not allowed: extra.key: "
                            "Invalid value: \"" STR_FMT "\": must be a domain-prefixed path (such "
                            "as \"acme.io/foo\")",
                            STR_ARG(e->key));
    for (size_t i = 0; i < e->n_values; i++)
        if (!e->values[i].n)
            return STR("impersonating the empty string value in extra is not allowed");
    return STR("");
}

static int check_extra(const struct attempt *t, const struct claim *c)
{
    for (size_t i = 0; t->mode && i < c->n_extra; i++) {
        struct str why = odd_extra(t->arena, &c->extra[i]);
        const struct access q = about(t, "userextras", STR(""));
        if (why.n)
            return refuse(t, &q, why);
    }
    return 0;
}

static int ask_extra(const struct attempt *t, const struct claim *c)
{
    int odd = check_extra(t, c);
    if (odd < 0)
        return odd;
    for (size_t i = 0; i < c->n_extra; i++)
        for (size_t k = 0; k < c->extra[i].n_values; k++) {
            struct access q = about(t, "userextras", c->extra[i].values[k]);
            q.sub = c->extra[i].key;
            int r = ask(t, &q);
            if (r < 0)
                return r;
        }
    return 0;
}

static int ask_all(const struct attempt *t, const struct claim *c)
{
    int r = ask_name(t, c);
    if (r < 0)
        return r;
    if (c->uid.n) {
        const struct access q = about(t, "uids", c->uid);
        r = ask(t, &q);
        if (r < 0)
            return r;
    }
    r = ask_groups(t, c);
    return r < 0 ? r : ask_extra(t, c);
}

static int try_mode(struct filter_request *r, const struct mode *mode, const struct claim *c,
                    struct err *err)
{
    struct arena *a = http_arena(r->x);
    struct attempt t = { .request = r, .arena = a, .err = err, .verb = STR("impersonate") };
    if (!mode)
        return ask_all(&t, c);
    struct access q = filter_access(r);
    t.mode = mode;
    t.verb = arena_printf(a, "impersonate:%s", mode->name);
    q.verb = arena_printf(a, "impersonate-on:%s:" STR_FMT, mode->name, STR_ARG(q.verb));
    int e = ask(&t, &q);
    return e < 0 ? e : ask_all(&t, c);
}

/* By which way each asker was last let through, by a hash of the name: an index into the modes + 1,
 * their number + 1 for the old way, 0 if he never was. Upstream tries that one first. Two names
 * that share a place only change the order for each other. */
enum { MEMORY = 1 << 16 };
static _Atomic uint8_t last_ways[MEMORY];

static _Atomic uint8_t *last_way(const struct filter_request *r)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (size_t i = 0; i < r->user->name.n; i++)
        hash = (hash ^ (unsigned char)r->user->name.p[i]) * UINT32_C(16777619);
    return &last_ways[(hash ^ hash >> 16) % MEMORY];
}

/* 1 if that way lets him through, 0 if it is not meant for such a claim, or why not. */
static int try_way(struct filter_request *r, size_t way, const struct claim *c,
                   const struct mode **ret, struct err *err)
{
    const struct mode *mode = way <= ARRAY_LEN(modes) ? &modes[way - 1] : NULL;
    if (mode && !mode->fits(c, r->user))
        return 0;
    int e = try_mode(r, mode, c, err);
    if (e < 0)
        return e;
    *ret = mode;
    return 1;
}

/* The refusal is that of the first way that was tried. */
static int find_mode(struct filter_request *r, const struct claim *c, const struct mode **ret,
                     struct err *err)
{
    _Atomic uint8_t *last = last_way(r);
    size_t known = r->answers->known_way;
    for (size_t i = known ? 0 : 1; i <= ARRAY_LEN(modes) + 1; i++) {
        struct err later = ERR_INIT(http_arena(r->x));
        size_t way = i ? i : known;
        if (i && i == known)
            continue;
        int e = try_way(r, way, c, ret, err->code ? &later : err);
        if (e > 0) {
            atomic_store_explicit(last, (uint8_t)way, memory_order_relaxed);
            err_clear(err);
            return 0;
        }
        if (e == ASK_LATER)
            return e;
    }
    return -ERR_FORBIDDEN;
}

/* Begins to ask, or begins again. */
static void begin(struct filter_request *r)
{
    if (!r->answers) {
        r->answers = arena_new(http_arena(r->x), struct filter_answers);
        r->answers->end = &r->answers->first;
        r->answers->known_way = atomic_load_explicit(last_way(r), memory_order_relaxed);
    }
    r->answers->at = &r->answers->first;
}

/* ---- Becoming ---- */

static void add_group(struct arena *a, struct user *user, struct str group)
{
    if (user_is_in(user, group))
        return;
    struct str *groups = arena_array(a, struct str, user->n_groups + 1);
    if (user->n_groups)
        memcpy(groups, user->groups, user->n_groups * sizeof(*groups));
    groups[user->n_groups++] = group;
    user->groups = groups;
}

static const struct user *become(struct arena *a, const struct claim *c, const struct mode *mode)
{
    static const struct str nodes[] = { USER_NODES };
    struct user *user = arena_new(a, struct user);
    struct str ns, name, node;
    *user = (struct user){ .name = c->name,
                           .uid = c->uid,
                           .groups = c->groups,
                           .n_groups = c->n_groups,
                           .extra = c->extra,
                           .n_extra = c->n_extra };
    if (!user->n_groups && user_service_account(user->name, &ns, &name))
        user->n_groups = user_service_account_groups(a, ns, &user->groups);
    if (mode && user_is_node(user->name, &node)) {
        user->groups = nodes;
        user->n_groups = 1;
    }
    if (str_eq(user->name, USER_ANONYMOUS))
        add_group(a, user, USER_UNAUTHENTICATED);
    else if (!user_is_in(user, USER_UNAUTHENTICATED))
        add_group(a, user, USER_AUTHENTICATED);
    return user;
}

bool filter_impersonate(struct filter_request *r)
{
    struct arena *a = http_arena(r->x);
    struct err err = ERR_INIT(a);
    const struct claim c = read_claim(a, r->http);
    const struct mode *mode = NULL;
    if (!c.name.n && has_only_name(&c))
        return true;
    begin(r);
    int e = c.name.n ? find_mode(r, &c, &mode, &err) : refuse_nameless(a, &c, &err);
    if (e == ASK_LATER)
        return false;
    if (e < 0) {
        reply_error(r->x, &err);
        return false;
    }
    r->impersonator = r->user;
    r->user = become(a, &c, mode);
    audit_event_impersonated(r->audit, r->user,
                             mode ? arena_printf(a, "impersonate:%s", mode->name) : STR(""));
    return true;
}
