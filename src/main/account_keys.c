#include "main/account_keys.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/banned.h"

enum { PEM_MAX = 1 << 16 };

int account_text(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    autobuf text = { 0 };
    int r = file_read(path, PEM_MAX, &text, err);
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&text));
    return 0;
}

static int own_key(struct arena *a, const char *dir, struct str *ret, struct err *err)
{
    const char *path = arena_printf(a, "%s/pki/sa.key", dir).p;
    if (access(path, F_OK) == 0) {
        int r = file_check_private(path, err);
        return r < 0 ? r : account_text(a, path, ret, err);
    }
    int r = signature_make(a, ret, err);
    return r < 0 ? r : file_write_atomic(path, *ret, 0600, FILE_DURABLE, err);
}

/* All files of keys, one behind the other. */
static int read_more(struct arena *a, const struct up_accounts *up, struct str *ret,
                     struct err *err)
{
    autobuf all = { 0 };
    for (size_t i = 0; i < up->n_keys; i++) {
        struct str text;
        int r = account_text(a, up->keys[i], &text, err);
        if (r < 0)
            return r;
        buf_str_add(&all, text);
        buf_byte(&all, '\n');
    }
    *ret = arena_str(a, buf_str(&all));
    return 0;
}

static struct identity_proxy proxy_rules(const struct up_options *up)
{
    return (struct identity_proxy){
        .allowed = account_names(up->proxy_allowed),
        .user_headers = account_names(up->proxy_users ? up->proxy_users : "X-Remote-User"),
        .uid_headers = account_names(up->proxy_uids ? up->proxy_uids : "X-Remote-Uid"),
        .group_headers = account_names(up->proxy_groups ? up->proxy_groups : "X-Remote-Group"),
        .extra_prefixes = account_names(up->proxy_extra ? up->proxy_extra : "X-Remote-Extra-"),
    };
}

struct identity_names account_names(const char *list)
{
    struct identity_names names = { .n = 0 };
    struct str rest = str_of(list ? list : "");
    while (rest.n && names.n < IDENTITY_NAMES_MAX)
        names.items[names.n++] = str_trim(str_cut(&rest, ','));
    return names;
}

int account_keys_load(struct arena *a, const struct up_options *up, struct identity_options *ret,
                      struct err *err)
{
    const struct up_accounts *accounts = &up->accounts;
    int r = accounts->signing_key ? account_text(a, accounts->signing_key, &ret->signing_key, err)
                                  : own_key(a, up->dir, &ret->signing_key, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < accounts->n_issuers; i++)
        ret->issuers.items[ret->issuers.n++] = str_of(accounts->issuers[i]);
    ret->audiences = account_names(accounts->audiences);
    ret->keys_uri = str_of(accounts->keys_uri ? accounts->keys_uri : "");
    ret->token_max_sec = accounts->max_sec;
    ret->no_token_extension = accounts->no_extension;
    ret->proxy = proxy_rules(up);
    if (up->proxy_ca) {
        r = account_text(a, up->proxy_ca, &ret->proxy.ca, err);
        if (r < 0)
            return r;
    }
    return accounts->n_keys ? read_more(a, accounts, &ret->more_keys, err) : 0;
}
