#include <sampan/config.h>

#include <errno.h>
#include <stdlib.h>

#include "api/go/goduration.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "base/banned.h"

enum flag_type { FLAG_TEXT, FLAG_TEXTS, FLAG_BOOL, FLAG_DURATION, FLAG_DOUBLE, FLAG_UNSIGNED };

struct flag {
    const char *name;
    char letter; /* of its short form; 0: none */
    enum flag_type type;
    size_t offset;
};

#define FLAG(name, letter, type, member)                                \
    {                                                                   \
        name, letter, type, offsetof(struct spn_config_options, member) \
    }
static const struct flag flags[] = {
    FLAG("kubeconfig", 0, FLAG_TEXT, kubeconfig),
    FLAG("context", 0, FLAG_TEXT, context),
    FLAG("cluster", 0, FLAG_TEXT, cluster),
    FLAG("user", 0, FLAG_TEXT, user),
    FLAG("namespace", 'n', FLAG_TEXT, ns),
    FLAG("server", 's', FLAG_TEXT, server),
    FLAG("tls-server-name", 0, FLAG_TEXT, tls_server_name),
    FLAG("certificate-authority", 0, FLAG_TEXT, certificate_authority),
    FLAG("proxy-url", 0, FLAG_TEXT, proxy_url),
    FLAG("client-certificate", 0, FLAG_TEXT, client_certificate),
    FLAG("client-key", 0, FLAG_TEXT, client_key),
    FLAG("token", 0, FLAG_TEXT, token),
    FLAG("username", 0, FLAG_TEXT, username),
    FLAG("password", 0, FLAG_TEXT, password),
    FLAG("as", 0, FLAG_TEXT, as),
    FLAG("as-uid", 0, FLAG_TEXT, as_uid),
    FLAG("as-group", 0, FLAG_TEXTS, as_groups),
    FLAG("as-user-extra", 0, FLAG_TEXTS, as_extra),
    FLAG("insecure-skip-tls-verify", 0, FLAG_BOOL, insecure),
    FLAG("disable-compression", 0, FLAG_BOOL, disable_compression),
    FLAG("request-timeout", 0, FLAG_DURATION, timeout_ms),
    FLAG("kube-api-qps", 0, FLAG_DOUBLE, qps),
    FLAG("kube-api-burst", 0, FLAG_UNSIGNED, burst),
};

/* One flag as it was given. */
struct given {
    const struct flag *flag;
    const char *value; /* NULL: it stands in the next argument, or the flag needs none */
};

static bool is_long(const struct flag *f, struct str name)
{
    return str_eq(str_of(f->name), name);
}

static bool parse_long(const char *arg, struct given *ret)
{
    struct str value = str_of(arg + 2), name = str_cut(&value, '=');
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (!is_long(&flags[i], name))
            continue;
        *ret = (struct given){ &flags[i], value.p };
        return true;
    }
    return false;
}

static bool parse_short(const char *arg, struct given *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        if (!flags[i].letter || arg[1] != flags[i].letter)
            continue;
        const char *value = arg[2] == '=' ? arg + 3 : arg + 2;
        *ret = (struct given){ &flags[i], arg[2] ? value : NULL };
        return true;
    }
    return false;
}

static bool parse_arg(const char *arg, struct given *ret)
{
    if (arg[0] != '-' || !arg[1])
        return false;
    return arg[1] == '-' ? parse_long(arg, ret) : parse_short(arg, ret);
}

/* ---- Values ---- */

static int bad_value(const struct given *g, struct spn_err *err)
{
    return spn_err_set(err, SPN_BAD_REQUEST, "invalid argument \"%s\" for \"--%s\" flag", g->value,
                       g->flag->name);
}

static int set_bool(const struct given *g, bool *ret, struct spn_err *err)
{
    static const char *const yes[] = { "true", "1", "t", "T", "TRUE", "True" };
    static const char *const no[] = { "false", "0", "f", "F", "FALSE", "False" };
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        bool is_yes = strcmp(g->value, yes[i]) == 0;
        if (!is_yes && strcmp(g->value, no[i]) != 0)
            continue;
        *ret = is_yes;
        return 0;
    }
    return bad_value(g, err);
}

/* A number without a unit is of seconds. */
static int set_duration(const struct given *g, struct arena *a, int64_t *ret, struct spn_err *err)
{
    int64_t ns;
    uint64_t seconds;
    struct err why = ERR_INIT(a);
    if (str_to_u64(str_of(g->value), &seconds) && seconds < INT64_MAX / 1000)
        *ret = (int64_t)seconds * 1000;
    else if (goduration_parse(str_of(g->value), &ns, &why) == 0 && ns >= 0)
        *ret = (ns + NS_PER_MS - 1) / NS_PER_MS;
    else
        return bad_value(g, err);
    return 0;
}

static int set_double(const struct given *g, double *ret, struct spn_err *err)
{
    char *end;
    double d = strtod(g->value, &end);
    if (!*g->value || *end || !(d > -1e9 && d < 1e9))
        return bad_value(g, err);
    *ret = d;
    return 0;
}

static int set_unsigned(const struct given *g, unsigned *ret, struct spn_err *err)
{
    uint64_t n;
    if (!str_to_u64(str_of(g->value), &n) || n > UINT32_MAX)
        return bad_value(g, err);
    *ret = (unsigned)n;
    return 0;
}

static void add_text(struct arena *a, const char *value, struct spn_texts *ret)
{
    struct spn_text *items = arena_array(a, struct spn_text, ret->n + 1);
    if (ret->n)
        memcpy(items, ret->items, ret->n * sizeof(*items));
    items[ret->n] = spn_text_of(value);
    *ret = (struct spn_texts){ items, ret->n + 1 };
}

static int set_value(struct arena *a, const struct given *g, struct spn_config_options *ret,
                     struct spn_err *err)
{
    void *place = (char *)ret + g->flag->offset;
    switch (g->flag->type) {
    case FLAG_TEXT:
        *(const char **)place = g->value;
        return 0;
    case FLAG_TEXTS:
        add_text(a, g->value, place);
        return 0;
    case FLAG_BOOL:
        return set_bool(g, place, err);
    case FLAG_DURATION:
        return set_duration(g, a, place, err);
    case FLAG_DOUBLE:
        return set_double(g, place, err);
    case FLAG_UNSIGNED:
        return set_unsigned(g, place, err);
    }
    return 0;
}

/* How many arguments the flag took, or a negative code. */
static int take_flag(struct arena *a, struct given *g, const char *next,
                     struct spn_config_options *ret, struct spn_err *err)
{
    int taken = 1;
    if (!g->value && g->flag->type == FLAG_BOOL) {
        g->value = "true";
    } else if (!g->value && !next) {
        return spn_err_set(err, SPN_BAD_REQUEST, "flag needs an argument: --%s", g->flag->name);
    } else if (!g->value) {
        g->value = next;
        taken = 2;
    }
    int r = set_value(a, g, ret, err);
    return r < 0 ? r : taken;
}

int spn_config_flags(struct spn_arena *a, int *argc, char **argv, struct spn_config_options *ret,
                     struct spn_err *err)
{
    int kept = *argc > 0, at = kept;
    while (at < *argc && strcmp(argv[at], "--") != 0) {
        struct given g;
        if (!parse_arg(argv[at], &g)) {
            argv[kept++] = argv[at++];
            continue;
        }
        int taken = take_flag(arena_in(a), &g, at + 1 < *argc ? argv[at + 1] : NULL, ret, err);
        if (taken < 0)
            return taken;
        at += taken;
    }
    while (at < *argc)
        argv[kept++] = argv[at++];
    argv[kept] = NULL;
    *argc = kept;
    return 0;
}
