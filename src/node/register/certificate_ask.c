#include "node/register/certificate_ask.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "client/bridge.h"
#include "net/crypto/pki.h"
#include "base/banned.h"

enum { CALL_MS = 30000, LOOK_MS = 1000, PEM_MAX = 1 << 20 };

/* ---- Asking ---- */

static struct value request_object(struct arena *a, const struct certificate_wish *w,
                                   struct str request_pem)
{
    struct value obj = value_object(), meta = value_object(), spec = value_object();
    struct value usages = value_array();
    autobuf text = { 0 };
    base64_encode(&text, request_pem);
    value_put_item(a, &usages, value_string(STR("digital signature")));
    value_put_item(a, &usages, value_string(str_of(w->usage)));
    value_put(a, &meta, STR("generateName"), value_string(STR("csr-")));
    value_put(a, &spec, STR("request"), value_string(arena_str(a, buf_str(&text))));
    value_put(a, &spec, STR("signerName"), value_string(str_of(w->signer)));
    value_put(a, &spec, STR("usages"), usages);
    value_put(a, &obj, STR("apiVersion"), value_string(STR("certificates.k8s.io/v1")));
    value_put(a, &obj, STR("kind"), value_string(STR("CertificateSigningRequest")));
    value_put(a, &obj, STR("metadata"), meta);
    value_put(a, &obj, STR("spec"), spec);
    return obj;
}

/* 1: the certificate is there; 0: it is not yet; else it never will be. */
static int look_at(struct arena *a, const struct value *obj, struct str *ret_cert, struct err *err)
{
    value_each_item (c, value_dig(obj, "status", "conditions")) {
        struct str type = value_text(c, "type"), message = value_text(c, "message");
        if (str_eq(type, STR("Denied")) || str_eq(type, STR("Failed")))
            return err_set(err, ERR_FORBIDDEN,
                           "certificate signing request is " STR_FMT ": " STR_FMT, STR_ARG(type),
                           STR_ARG(message));
    }
    struct str text = value_str(value_dig(obj, "status", "certificate"));
    autobuf pem = { 0 };
    if (!text.n)
        return 0;
    if (!base64_decode(&pem, text))
        return err_set(err, ERR_INVALID, "the certificate that was issued cannot be read");
    *ret_cert = arena_str(a, buf_str(&pem));
    return 1;
}

static int wait_for(const struct certificate_wish *w, struct str name, struct arena *a,
                    struct str *ret_cert, struct err *err)
{
    const int64_t begun = clock_mono_ns(&clock_system);
    const struct spn_call how = { .stop = w->stop, .timeout_ms = CALL_MS };
    struct spn_target at =
        SPN_AT("certificates.k8s.io", "v1", "certificatesigningrequests", "", "");
    at.name = text_out(name);
    for (;;) {
        struct spn_err why = { 0 };
        struct spn_value *obj;
        int rc = spn_client_get(w->client, &at, &how, arena_out(a), &obj, &why);
        if (rc == -SPN_NOT_FOUND)
            return err_set(err, ERR_FORBIDDEN, "the request for a certificate has been removed");
        rc = rc == 0 ? look_at(a, value_in(obj), ret_cert, err) : 0;
        if (rc)
            return rc < 0 ? rc : 0;
        if (w->wait_ms >= 0 && clock_mono_ns(&clock_system) - begun > w->wait_ms * NS_PER_MS)
            return err_set(err, ERR_TIMEOUT, "nobody has approved request " STR_FMT, STR_ARG(name));
        if (spn_stop_wait(w->stop, LOOK_MS))
            return err_set(err, ERR_GONE, "stopped");
    }
}

int certificate_ask(const struct certificate_wish *wish, struct arena *a, struct str *ret_cert,
                    struct str *ret_key, struct err *err)
{
    const struct str group = STR("system:nodes");
    const struct pki_leaf leaf = {
        .common_name = arena_printf(a, "system:node:" STR_FMT, STR_ARG(wish->node)),
        .organizations = &group,
        .n_organizations = 1,
        .dns_names = wish->dns_names,
        .n_dns_names = wish->n_dns_names,
        .ips = wish->ips,
        .n_ips = wish->n_ips,
    };
    const struct spn_target at =
        SPN_AT("certificates.k8s.io", "v1", "certificatesigningrequests", "", "");
    const struct spn_call how = { .stop = wish->stop, .timeout_ms = CALL_MS };
    struct spn_err why = { 0 };
    struct spn_value *made;
    struct str request;
    int r = pki_make_request(a, &leaf, &request, ret_key, err);
    if (r < 0)
        return r;
    const struct value obj = request_object(a, wish, request);
    if (spn_client_create(wish->client, &at, value_out(&obj), &how, arena_out(a), &made, &why) < 0)
        return err_set(err, why.code == SPN_CANCELLED ? ERR_GONE : ERR_UNAVAILABLE,
                       "ask for a certificate: %s", why.message);
    struct str name = value_str(value_dig(value_in(made), "metadata", "name"));
    log_info("asked for a certificate", LOG_STR("request", name), LOG_CSTR("signer", wish->signer));
    return wait_for(wish, name, a, ret_cert, err);
}

/* ---- Files ---- */

int certificate_folder(const char *dir, struct err *err)
{
    struct str path = str_of(dir);
    for (size_t i = 1; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/')
            continue;
        if (mkdir(str_cstr(err->arena, str_take(path, i)), 0755) < 0 && errno != EEXIST)
            return err_errno(err, errno, "make %s", dir);
    }
    return 0;
}

int certificate_keep(const char *dir, const char *prefix, struct str cert_pem, struct str key_pem,
                     struct err *err)
{
    struct arena *a = err->arena;
    const int64_t now = clock_wall_ns(&clock_system);
    struct str file = arena_printf(a, "%s-%lld.pem", prefix, (long long)(now / NS_PER_SEC));
    struct str path = arena_printf(a, "%s/" STR_FMT, dir, STR_ARG(file));
    struct str link = arena_printf(a, "%s/%s-current.pem", dir, prefix);
    struct str fresh = arena_printf(a, "%s/%s-updated.pem", dir, prefix);
    struct str both = arena_printf(a, STR_FMT STR_FMT, STR_ARG(cert_pem), STR_ARG(key_pem));
    int r = certificate_folder(dir, err);
    if (r < 0)
        return r;
    r = file_write_atomic(str_cstr(a, path), both, 0600, FILE_DURABLE, err);
    if (r < 0)
        return r;
    (void)unlink(str_cstr(a, fresh));
    if (symlink(str_cstr(a, file), str_cstr(a, fresh)) < 0 ||
        rename(str_cstr(a, fresh), str_cstr(a, link)) < 0)
        return err_errno(err, errno, "link " STR_FMT, STR_ARG(link));
    return file_sync_dir(dir, err);
}

int certificate_find(struct arena *a, const char *dir, const char *prefix, int64_t now_sec,
                     struct str *ret_pem, struct err *err)
{
    autobuf text = { 0 };
    int64_t until;
    struct str path = arena_printf(a, "%s/%s-current.pem", dir, prefix);
    int r = file_read(str_cstr(a, path), PEM_MAX, &text, err);
    if (r < 0)
        return r;
    r = pki_not_after(buf_str(&text), &until, err);
    if (r < 0)
        return r;
    if (until <= now_sec)
        return err_set(err, ERR_NOT_FOUND, "the certificate in " STR_FMT " has ended",
                       STR_ARG(path));
    *ret_pem = arena_str(a, buf_str(&text));
    return 0;
}

int64_t certificate_renewal(int64_t not_before, int64_t not_after, double chance)
{
    const double whole = (double)(not_after - not_before);
    return not_before + (int64_t)(whole * (0.7 + 0.2 * chance));
}
