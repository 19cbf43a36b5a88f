#include "main/up_etcd.h"

#include <stdio.h>
#include <stdlib.h>

#include "main/account_keys.h"
#include "base/banned.h"

const char up_etcd_usage[] =
    "  --etcd-servers LIST the data is in this etcd, not in DIR: http://HOST:PORT or\n"
    "                      https://HOST:PORT, with commas; see docs/etcd.md\n"
    "  --etcd-cafile FILE, --etcd-certfile FILE, --etcd-keyfile FILE\n"
    "                      the authority of its certificates, and as whom it is asked\n"
    "  --etcd-prefix PATH  where in it (default /registry)\n"
    "  --etcd-user-file FILE\n"
    "                      has USER:PASSWORD for it; or set SAMPAN_ETCD_USER\n";

void up_etcd_take(enum up_etcd_flag flag, const char *given, struct up_etcd *ret)
{
    switch (flag) {
    case UP_ETCD_SERVERS:
        ret->servers = given;
        break;
    case UP_ETCD_CA:
        ret->ca = given;
        break;
    case UP_ETCD_CERT:
        ret->cert = given;
        break;
    case UP_ETCD_KEY:
        ret->key = given;
        break;
    case UP_ETCD_PREFIX:
        ret->prefix = given;
        break;
    case UP_ETCD_USER_FILE:
        ret->user_file = given;
        break;
    case UP_ETCD_END:
        break;
    }
}

bool up_etcd_check(const struct up_etcd *opt)
{
    bool has_more = opt->ca || opt->cert || opt->key || opt->prefix || opt->user_file;
    if (!opt->servers && has_more)
        fprintf(stderr, "sampan up: --etcd-servers must be set with other flags about etcd\n");
    else if (!opt->cert != !opt->key)
        fprintf(stderr, "sampan up: --etcd-certfile and --etcd-keyfile must be set together\n");
    else if (opt->prefix && opt->prefix[0] != '/')
        fprintf(stderr, "sampan up: --etcd-prefix must begin with a slash, not '%s'\n",
                opt->prefix);
    else
        return true;
    return false;
}

static int read_file(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    return path ? account_text(a, path, ret, err) : 0;
}

static int read_user(struct arena *a, const struct up_etcd *opt, struct remote_options *ret,
                     struct err *err)
{
    const char *given = getenv("SAMPAN_ETCD_USER");
    struct str text = given ? arena_str(a, str_of(given)) : STR("");
    int r = read_file(a, opt->user_file, &text, err);
    if (r < 0)
        return r;
    text = str_trim(text);
    if (text.n && str_find(text, ':') < 0)
        return err_set(err, ERR_INVALID, "the user of etcd is not of the form USER:PASSWORD");
    ret->user = str_cut(&text, ':');
    ret->password = text;
    return 0;
}

static void split_servers(struct arena *a, struct str list, struct remote_options *ret)
{
    struct str *servers = arena_array(a, struct str, list.n / 2 + 1);
    size_t n = 0;
    while (list.n) {
        struct str one = str_trim(str_cut(&list, ','));
        if (one.n)
            servers[n++] = one;
    }
    ret->servers = servers;
    ret->n_servers = n;
}

int up_etcd_load(struct arena *a, const struct up_etcd *opt, struct remote_options *ret,
                 struct err *err)
{
    *ret = (struct remote_options){ .prefix = str_of(opt->prefix ? opt->prefix : "/registry") };
    if (!opt->servers)
        return 0;
    split_servers(a, arena_str(a, str_of(opt->servers)), ret);
    if (!ret->n_servers)
        return err_set(err, ERR_INVALID, "--etcd-servers names no server");
    int r = read_user(a, opt, ret, err);
    if (r < 0)
        return r;
    r = read_file(a, opt->ca, &ret->ca_pem, err);
    if (r < 0)
        return r;
    r = read_file(a, opt->cert, &ret->cert_pem, err);
    if (r < 0)
        return r;
    return read_file(a, opt->key, &ret->key_pem, err);
}
