/* client_link.c - the courier to the server of a configuration, made anew when its certificates
 * change, and the headers that say who asks. */
#include <pthread.h>
#include <sampan/credentials.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/calls/client.h"
#include "base/banned.h"

struct client_link {
    struct arena arena;    /* of the configuration's texts */
    struct spn_config cfg; /* a copy */
    struct spn_credentials *credentials;

    pthread_mutex_t lock; /* of what follows */
    struct courier *courier;
    uint64_t connection;        /* of the credentials that the courier was made with */
    struct spn_credential used; /* by the last request, as far as spn_credentials_refused() asks */
};

/* ---- The configuration, copied ---- */

static struct spn_text kept(struct arena *a, struct spn_text t)
{
    return t.p ? text_out(arena_str(a, str_in(t))) : t;
}

static struct spn_texts kept_texts(struct arena *a, struct spn_texts from)
{
    struct spn_text *items = arena_array(a, struct spn_text, from.n);
    for (size_t i = 0; i < from.n; i++)
        items[i] = kept(a, from.items[i]);
    return (struct spn_texts){ items, from.n };
}

static struct spn_impersonation kept_as(struct arena *a, const struct spn_impersonation *from)
{
    struct spn_extra *extra = arena_array(a, struct spn_extra, from->n_extra);
    for (size_t i = 0; i < from->n_extra; i++)
        extra[i] =
            (struct spn_extra){ kept(a, from->extra[i].key), kept_texts(a, from->extra[i].values) };
    return (struct spn_impersonation){ .user = kept(a, from->user),
                                       .uid = kept(a, from->uid),
                                       .groups = kept_texts(a, from->groups),
                                       .extra = extra,
                                       .n_extra = from->n_extra };
}

static const struct spn_exec *kept_exec(struct arena *a, const struct spn_exec *from)
{
    if (!from)
        return NULL;
    struct spn_exec *to = arena_new(a, struct spn_exec);
    struct spn_pair *env = arena_array(a, struct spn_pair, from->n_env);
    for (size_t i = 0; i < from->n_env; i++)
        env[i] = (struct spn_pair){ kept(a, from->env[i].name), kept(a, from->env[i].value) };
    *to = *from;
    to->command = kept(a, from->command);
    to->api_version = kept(a, from->api_version);
    to->install_hint = kept(a, from->install_hint);
    to->interactive_mode = kept(a, from->interactive_mode);
    to->args = kept_texts(a, from->args);
    to->env = env;
    if (from->cluster_config)
        to->cluster_config = spn_value_copy(arena_out(a), from->cluster_config);
    return to;
}

static struct spn_config kept_config(struct arena *a, const struct spn_config *from)
{
    struct spn_config to = *from;
    struct spn_text *const texts[] = {
        &to.server,    &to.tls_server_name, &to.ca_data,   &to.ca_file, &to.cert_data,
        &to.cert_file, &to.key_data,        &to.key_file,  &to.token,   &to.token_file,
        &to.username,  &to.password,        &to.proxy_url, &to.ns,      &to.user_agent,
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = kept(a, *texts[i]);
    to.as = kept_as(a, &from->as);
    to.exec = kept_exec(a, from->exec);
    return to;
}

/* ---- The way there ---- */

/* Texts are lent by the configuration and the credential. */
static struct courier_options way_there(const struct client_link *l,
                                        const struct spn_credential *now)
{
    return (struct courier_options){
        .trust = { .ca_pem = str_in(now->ca),
                   .cert_pem = str_in(now->cert),
                   .key_pem = str_in(now->key),
                   .insecure = l->cfg.insecure,
                   .proxy = str_in(l->cfg.proxy_url) },
        .url = str_in(l->cfg.server),
        .server_name = str_in(l->cfg.tls_server_name),
    };
}

static int new_courier(const struct client_link *l, const struct spn_credential *now,
                       struct arena *a, struct courier **ret, struct spn_err *err)
{
    const struct courier_options opt = way_there(l, now);
    struct err why = ERR_INIT(a);
    return courier_new(&opt, ret, &why) < 0 ? err_out(err, &why, SPN_INVALID) : 0;
}

/* Locked. A courier that is replaced lives as long as its deliveries. */
static int renew_courier(struct client_link *l, const struct spn_credential *now, struct arena *a,
                         struct spn_err *err)
{
    struct courier *fresh;
    if (l->courier && l->connection == now->connection)
        return 0;
    int r = new_courier(l, now, a, &fresh, err);
    if (r < 0)
        return r;
    courier_unref(l->courier);
    l->courier = fresh;
    l->connection = now->connection;
    return 0;
}

/* ---- Headers ---- */

/* At most so many: authorization, user and uid, and what belongs to the user. */
static size_t most_headers(const struct spn_impersonation *as)
{
    size_t n = 3 + as->groups.n;
    for (size_t i = 0; i < as->n_extra; i++)
        n += as->extra[i].values.n;
    return n;
}

static void add(struct client_headers *h, struct str name, struct str value)
{
    h->items[h->n++] = (struct http_header){ name, value };
}

static void add_authorization(struct client_headers *h, struct arena *a,
                              const struct spn_credential *now)
{
    if (now->token.n) {
        add(h, STR("authorization"), arena_printf(a, "Bearer " SPN_FMT, SPN_ARG(now->token)));
        return;
    }
    if (!now->username.n)
        return;
    autobuf both = { 0 };
    autobuf coded = { 0 };
    buf_printf(&both, SPN_FMT ":" SPN_FMT, SPN_ARG(now->username), SPN_ARG(now->password));
    base64_encode(&coded, buf_str(&both));
    add(h, STR("authorization"), arena_printf(a, "Basic " STR_FMT, STR_ARG(buf_str(&coded))));
}

static bool is_header_byte(char c)
{
    static const char others[] = "!#$&'*+-.^_`|~"; /* a token's, but for '%' */
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr(others, c));
}

/* What no header's name can have is written as in URLs; capitals are no different to the server. */
static struct str extra_name(struct arena *a, struct spn_text key)
{
    autobuf name = { 0 };
    buf_str_add(&name, STR("impersonate-extra-"));
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (is_header_byte(c))
            buf_byte(&name, c);
        else
            buf_printf(&name, "%%%02x", (unsigned char)c);
    }
    return arena_str(a, buf_str(&name));
}

static void add_impersonation(struct client_headers *h, struct arena *a,
                              const struct spn_impersonation *as)
{
    if (!as->user.n)
        return;
    add(h, STR("impersonate-user"), str_in(as->user));
    if (as->uid.n)
        add(h, STR("impersonate-uid"), str_in(as->uid));
    for (size_t i = 0; i < as->groups.n; i++)
        add(h, STR("impersonate-group"), str_in(as->groups.items[i]));
    for (size_t i = 0; i < as->n_extra; i++)
        for (size_t k = 0; k < as->extra[i].values.n; k++)
            add(h, extra_name(a, as->extra[i].key), str_in(as->extra[i].values.items[k]));
}

static struct client_headers headers_of(const struct client_link *l, struct arena *a,
                                        const struct spn_credential *now)
{
    struct client_headers h = { .items =
                                    arena_array(a, struct http_header, most_headers(&l->cfg.as)) };
    add_authorization(&h, a, now);
    add_impersonation(&h, a, &l->cfg.as);
    return h;
}

int client_link_take(struct client_link *l, struct arena *a, struct courier **ret,
                     struct client_headers *ret_headers, struct spn_err *err)
{
    struct spn_credential now;
    int r = spn_credentials_get(l->credentials, arena_out(a), &now, err);
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&l->lock);
    r = renew_courier(l, &now, a, err);
    if (r == 0)
        *ret = courier_ref(l->courier);
    l->used = (struct spn_credential){ .connection = now.connection, .version = now.version };
    (void)pthread_mutex_unlock(&l->lock);
    if (r < 0)
        return r;
    *ret_headers = headers_of(l, a, &now);
    return 0;
}

int client_link_way(struct client_link *l, struct arena *a, struct courier_options *ret,
                    struct client_headers *ret_headers, struct spn_err *err)
{
    struct spn_credential now;
    int r = spn_credentials_get(l->credentials, arena_out(a), &now, err);
    if (r < 0)
        return r;
    *ret = way_there(l, &now);
    *ret_headers = headers_of(l, a, &now);
    return 0;
}

void client_link_refused(struct client_link *l)
{
    (void)pthread_mutex_lock(&l->lock);
    struct spn_credential used = l->used;
    (void)pthread_mutex_unlock(&l->lock);
    spn_credentials_refused(l->credentials, &used);
}

/* ---- Beginning and end ---- */

int client_link_new(const struct spn_config *cfg, struct client_link **ret, struct spn_err *err)
{
    if (!cfg->server.n)
        return spn_err_set(err, SPN_INVALID, "the configuration names no server");
    struct client_link *l = mem_new(struct client_link);
    arena_init(&l->arena);
    l->cfg = kept_config(&l->arena, cfg);
    l->credentials = spn_credentials_new(&l->cfg);
    (void)pthread_mutex_init(&l->lock, NULL);
    *ret = l;
    return 0;
}

struct client_link *client_link_free(struct client_link *l)
{
    if (!l)
        return NULL;
    courier_unref(l->courier);
    spn_credentials_free(l->credentials);
    (void)pthread_mutex_destroy(&l->lock);
    arena_done(&l->arena);
    free(l);
    return NULL;
}
