#include "main/account_keys.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/banned.h"

enum { PEM_MAX = 1 << 16 };

static int read_text(struct arena *a, const char *path, struct str *ret, struct err *err)
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
        return r < 0 ? r : read_text(a, path, ret, err);
    }
    int r = signature_make(a, ret, err);
    return r < 0 ? r : file_write_atomic(path, *ret, 0600, FILE_DURABLE, err);
}

/* All files of keys, one behind the other. */
static int read_more(struct arena *a, const struct up_options *up, struct str *ret, struct err *err)
{
    autobuf all = { 0 };
    for (size_t i = 0; i < up->n_account_keys; i++) {
        struct str text;
        int r = read_text(a, up->account_keys[i], &text, err);
        if (r < 0)
            return r;
        buf_str_add(&all, text);
        buf_byte(&all, '\n');
    }
    *ret = arena_str(a, buf_str(&all));
    return 0;
}

int account_keys_load(struct arena *a, const struct up_options *up, struct identity_options *ret,
                      struct err *err)
{
    int r = up->signing_key ? read_text(a, up->signing_key, &ret->signing_key, err)
                            : own_key(a, up->dir, &ret->signing_key, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < up->n_issuers; i++)
        ret->issuers[ret->n_issuers++] = str_of(up->issuers[i]);
    struct str rest = str_of(up->audiences ? up->audiences : "");
    while (rest.n && ret->n_audiences < IDENTITY_NAMES_MAX)
        ret->audiences[ret->n_audiences++] = str_cut(&rest, ',');
    return up->n_account_keys ? read_more(a, up, &ret->more_keys, err) : 0;
}
