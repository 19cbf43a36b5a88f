#include "auth/bootstrap_token.h"

#include <stdlib.h>

#include "api/go/gotime.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/banned.h"

enum { ID_BYTES = 6, SECRET_BYTES = 16, GROUP_TAIL_MAX = 256 };

#define BOOTSTRAPPERS "system:bootstrappers"

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !(s.p[i] >= '0' && s.p[i] <= '9'))
            return false;
    return true;
}

static bool split(struct str token, struct str *ret_id, struct str *ret_secret)
{
    struct str rest = token;
    *ret_id = str_cut(&rest, '.');
    *ret_secret = rest;
    return ret_id->n == ID_BYTES && rest.n == SECRET_BYTES && is_plain(*ret_id) && is_plain(rest);
}

bool bootstrap_token_secret(struct arena *a, struct str token, struct str *ret_name)
{
    struct str id, secret;
    if (!split(token, &id, &secret))
        return false;
    *ret_name = arena_printf(a, "bootstrap-token-" STR_FMT, STR_ARG(id));
    return true;
}

/* A field of the Secret, decoded. */
static struct str data_of(struct arena *a, const struct value *secret, const char *field)
{
    autobuf text = { 0 };
    (void)base64_decode(&text, value_str(value_dig(secret, "data", field)));
    return arena_str(a, buf_str(&text));
}

/* As long as it takes, whatever is in it. */
static bool is_same_secret(struct str x, struct str y)
{
    unsigned char differ = x.n != y.n;
    for (size_t i = 0; i < x.n && i < y.n; i++)
        differ |= (unsigned char)(x.p[i] ^ y.p[i]);
    return !differ;
}

static bool is_over(struct arena *a, const struct value *secret, int64_t now_sec)
{
    struct str text = data_of(a, secret, "expiration");
    struct gotime end;
    struct err ignored = ERR_INIT(a);
    if (!text.n)
        return false;
    return gotime_parse(text, false, &end, &ignored) < 0 || end.sec <= now_sec;
}

static bool is_good(struct arena *a, const struct value *secret, struct str id, struct str password,
                    int64_t now_sec)
{
    return !value_dig(secret, "metadata", "deletionTimestamp") &&
           str_eq(value_text(secret, "type"), STR("bootstrap.kubernetes.io/token")) &&
           is_same_secret(data_of(a, secret, "token-secret"), password) && password.n &&
           str_eq(data_of(a, secret, "token-id"), id) && !is_over(a, secret, now_sec) &&
           str_eq(data_of(a, secret, "usage-bootstrap-authentication"), STR("true"));
}

/* system:bootstrappers:WORDS, which begin with anything of their letters and end with one. */
static bool is_group(struct str group)
{
    static const struct str prefix = STR(BOOTSTRAPPERS ":");
    struct str tail = str_skip(group, prefix.n);
    if (!str_starts(group, prefix) || !tail.n || tail.n > GROUP_TAIL_MAX)
        return false;
    for (size_t i = 0; i < tail.n; i++) {
        bool inner = i + 1 < tail.n && (tail.p[i] == ':' || tail.p[i] == '-');
        if (!inner && !is_plain((struct str){ tail.p + i, 1 }))
            return false;
    }
    return true;
}

static int by_text(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static int set_groups(struct arena *a, const struct value *secret, struct user *user,
                      struct err *err)
{
    struct str list = data_of(a, secret, "auth-extra-groups");
    size_t n = 2;
    for (size_t i = 0; i < list.n; i++)
        n += list.p[i] == ',';
    struct str *groups = arena_array(a, struct str, n + 1);
    groups[user->n_groups++] = STR(BOOTSTRAPPERS);
    while (list.n) {
        struct str group = str_cut(&list, ',');
        if (!is_group(group))
            return err_set(err, ERR_UNAUTHORIZED, "bootstrap group \"" STR_FMT "\" is invalid",
                           STR_ARG(group));
        user->groups = groups;
        if (!user_is_in(user, group))
            groups[user->n_groups++] = group;
    }
    qsort(groups, user->n_groups, sizeof(*groups), by_text);
    groups[user->n_groups++] = USER_AUTHENTICATED;
    user->groups = groups;
    return 0;
}

int bootstrap_token_user(struct arena *a, struct str token, const struct value *secret,
                         int64_t now_sec, struct user *ret, struct err *err)
{
    struct str id, password;
    if (!split(token, &id, &password) || !is_good(a, secret, id, password, now_sec))
        return 0;
    *ret = (struct user){ .name = arena_printf(a, "system:bootstrap:" STR_FMT, STR_ARG(id)) };
    int r = set_groups(a, secret, ret, err);
    return r < 0 ? r : 1;
}
