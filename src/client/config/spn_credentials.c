#include <sampan/credentials.h>

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "client/config/config_internal.h"
#include "client/config/credentials_internal.h"
#include "client/config/exec_source.h"
#include "base/banned.h"

#define TOKEN_FILE_NS       (60 * NS_PER_SEC)
#define CERTIFICATE_FILE_NS (300 * NS_PER_SEC)

/* The newest content of a file. */
struct followed_file {
    struct buf text;
    int64_t read_ns; /* when it was last looked at */
    bool is_read;
};

struct spn_credentials {
    const struct spn_config *cfg;
    const struct clock *clock;

    pthread_mutex_t lock; /* of everything below; held while a plugin runs */
    struct followed_file token, ca, cert, key;
    struct exec_source *source;     /* NULL: no plugin is used */
    struct spn_arena *plugin_arena; /* of what it said last */
    struct exec_credential plugin;
    uint64_t plugin_serial;
    bool is_refused;
    uint64_t connection, version;
};

static bool uses_plugin(const struct spn_config *cfg)
{
    return cfg->exec && !cfg->token.n && !cfg->token_file.n && !cfg->username.n &&
           !cfg->password.n && !cfg->cert_data.n && !cfg->cert_file.n;
}

struct spn_credentials *credentials_new_with_clock(const struct spn_config *cfg,
                                                   const struct clock *clock)
{
    struct spn_credentials *c = mem_new(struct spn_credentials);
    c->cfg = cfg;
    c->clock = clock;
    c->plugin_arena = spn_arena_new();
    c->source = uses_plugin(cfg) ? exec_source_ref(cfg) : NULL;
    (void)pthread_mutex_init(&c->lock, NULL);
    return c;
}

struct spn_credentials *spn_credentials_new(const struct spn_config *cfg)
{
    return credentials_new_with_clock(cfg, &clock_system);
}

struct spn_credentials *spn_credentials_free(struct spn_credentials *c)
{
    if (!c)
        return NULL;
    buf_done(&c->token.text);
    buf_done(&c->ca.text);
    buf_done(&c->cert.text);
    buf_done(&c->key.text);
    spn_arena_free(c->plugin_arena);
    exec_source_unref(c->source);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
    return NULL;
}

/* ---- Files ---- */

static bool is_due(const struct spn_credentials *c, const struct followed_file *f, int64_t every_ns)
{
    return !f->is_read || clock_mono_ns(c->clock) - f->read_ns >= every_ns;
}

/* An error only if it was never read: an old content is better than none. True in `*ret_changed` if
 * there is another one now. */
static int follow(struct spn_credentials *c, struct followed_file *f, struct spn_text path,
                  bool *ret_changed, struct spn_err *err)
{
    struct arena a;
    struct buf text = { 0 };
    arena_init(&a);
    int r = config_read_file(str_cstr(&a, str_in(path)), &text, err);
    arena_done(&a);
    f->read_ns = clock_mono_ns(c->clock);
    if (r < 0)
        return f->is_read ? 0 : r;
    if (f->is_read && str_eq(buf_str(&f->text), buf_str(&text))) {
        buf_done(&text);
        return 0;
    }
    *ret_changed = true;
    buf_done(&f->text);
    f->text = text;
    f->is_read = true;
    return 0;
}

/* ---- Tokens ---- */

static int read_token(struct spn_credentials *c, struct spn_err *err)
{
    bool has_changed = false;
    int r = follow(c, &c->token, c->cfg->token_file, &has_changed, err);
    c->version += has_changed;
    if (r < 0 && c->cfg->token.n)
        return 0;
    return r;
}

static struct spn_text token_now(const struct spn_credentials *c)
{
    struct str token = str_trim(buf_str(&c->token.text));
    return token.n ? text_out(token) : c->cfg->token;
}

static int refresh_token(struct spn_credentials *c, struct spn_err *err)
{
    if (!c->cfg->token_file.n || (!c->is_refused && !is_due(c, &c->token, TOKEN_FILE_NS)))
        return 0;
    int r = read_token(c, err);
    if (r < 0)
        return spn_err_wrap(err, "failed to read token file \"" SPN_FMT "\"",
                            SPN_ARG(c->cfg->token_file));
    if (!token_now(c).n)
        return spn_err_set(err, SPN_FILE, "read empty token from file \"" SPN_FMT "\"",
                           SPN_ARG(c->cfg->token_file));
    return 0;
}

/* ---- Certificates ---- */

static int refresh_certificate(struct spn_credentials *c, struct followed_file *f,
                               struct spn_text data, struct spn_text path, struct spn_err *err)
{
    bool has_changed = false;
    if (data.n || !path.n || (!c->is_refused && !is_due(c, f, CERTIFICATE_FILE_NS)))
        return 0;
    int r = follow(c, f, path, &has_changed, err);
    c->connection += has_changed;
    c->version += has_changed;
    return r;
}

static int refresh_certificates(struct spn_credentials *c, struct spn_err *err)
{
    const struct spn_config *cfg = c->cfg;
    int r = refresh_certificate(c, &c->ca, cfg->ca_data, cfg->ca_file, err);
    if (r < 0)
        return r;
    r = refresh_certificate(c, &c->cert, cfg->cert_data, cfg->cert_file, err);
    if (r < 0)
        return r;
    return refresh_certificate(c, &c->key, cfg->key_data, cfg->key_file, err);
}

static struct spn_text data_or_file(struct spn_text data, const struct followed_file *f)
{
    return data.n ? data : text_out(buf_str(&f->text));
}

/* ---- Plugins ---- */

static void keep_plugin(struct spn_credentials *c, struct spn_arena *a,
                        const struct exec_credential *said)
{
    const struct exec_credential *before = &c->plugin;
    bool same_cert = spn_text_eq(before->cert, said->cert) && spn_text_eq(before->key, said->key);
    c->connection += !same_cert;
    c->version++;
    spn_arena_free(c->plugin_arena);
    c->plugin_arena = a;
    c->plugin = *said;
}

static int ask_plugin(struct spn_credentials *c, struct spn_arena *a, struct exec_credential *ret,
                      uint64_t *ret_serial, struct spn_err *err)
{
    struct exec_question q = { .cfg = c->cfg,
                               .ca = data_or_file(c->cfg->ca_data, &c->ca),
                               .now_ns = clock_wall_ns(c->clock),
                               .refused = c->is_refused ? c->plugin_serial : 0 };
    int r = exec_source_get(c->source, &q, a, ret, ret_serial, err);
    return r < 0 ? spn_err_wrap(err, "getting credentials") : 0;
}

static int refresh_plugin(struct spn_credentials *c, struct spn_err *err)
{
    if (!c->source)
        return 0;
    struct exec_credential said;
    uint64_t serial = 0;
    struct spn_arena *a = spn_arena_new();
    int r = ask_plugin(c, a, &said, &serial, err);
    if (r < 0 || serial == c->plugin_serial) {
        spn_arena_free(a);
        return r;
    }
    keep_plugin(c, a, &said);
    c->plugin_serial = serial;
    return 0;
}

/* ---- What there is now ---- */

static int refresh(struct spn_credentials *c, struct spn_err *err)
{
    int r = refresh_certificates(c, err);
    if (r < 0)
        return r;
    r = refresh_token(c, err);
    if (r < 0)
        return r;
    r = refresh_plugin(c, err);
    if (r < 0)
        return r;
    c->is_refused = false;
    return 0;
}

static void answer(const struct spn_credentials *c, struct spn_arena *a, struct spn_credential *ret)
{
    const struct spn_config *cfg = c->cfg;
    bool is_plugin = c->source;
    *ret = (struct spn_credential){
        .token = spn_arena_text(a, is_plugin ? c->plugin.token : token_now(c)),
        .username = cfg->username,
        .password = cfg->password,
        .ca = spn_arena_text(a, data_or_file(cfg->ca_data, &c->ca)),
        .cert =
            spn_arena_text(a, is_plugin ? c->plugin.cert : data_or_file(cfg->cert_data, &c->cert)),
        .key = spn_arena_text(a, is_plugin ? c->plugin.key : data_or_file(cfg->key_data, &c->key)),
        .connection = c->connection,
        .version = c->version,
    };
}

/* It goes into a header. */
static int check_token(struct spn_text token, struct spn_err *err)
{
    for (size_t i = 0; i < token.n; i++)
        if ((unsigned char)token.p[i] < ' ' || token.p[i] == 0x7f)
            return spn_err_set(err, SPN_INVALID, "the token has a control character");
    return 0;
}

static int get(struct spn_credentials *c, struct spn_arena *a, struct spn_credential *ret,
               struct spn_err *err)
{
    int r = refresh(c, err);
    if (r < 0)
        return r;
    answer(c, a, ret);
    return check_token(ret->token, err);
}

int spn_credentials_get(struct spn_credentials *c, struct spn_arena *a, struct spn_credential *ret,
                        struct spn_err *err)
{
    (void)pthread_mutex_lock(&c->lock);
    int r = get(c, a, ret, err);
    (void)pthread_mutex_unlock(&c->lock);
    return r;
}

void spn_credentials_refused(struct spn_credentials *c, const struct spn_credential *used)
{
    (void)pthread_mutex_lock(&c->lock);
    c->is_refused |= used->version == c->version;
    (void)pthread_mutex_unlock(&c->lock);
}
