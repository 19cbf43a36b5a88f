#include "main/credentials.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "net/tls.h"
#include "base/banned.h"

enum { CA_DAYS = 3650, LEAF_SECONDS = 365 * 86400, PEM_MAX = 1 << 16 };

static int read_pem(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    autobuf text = { 0 };
    int r = file_read(path, PEM_MAX, &text, err);
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&text));
    return 0;
}

struct ca_files {
    const char *folder, *cert, *key;
};

static struct ca_files files_in(struct arena *a, const char *folder)
{
    return (struct ca_files){ folder, arena_printf(a, "%s/ca.crt", folder).p,
                              arena_printf(a, "%s/ca.key", folder).p };
}

const char *credentials_kubeconfig(struct arena *a, const char *dir)
{
    return arena_printf(a, "%s/admin.kubeconfig", dir).p;
}

/* Both files appear in one step, by a rename of their folder. An interrupted start leaves neither,
 * so one file alone means that the other was lost. */
static int make_ca(struct arena *a, const char *dir, int64_t now_sec, struct pki_pair *ret,
                   struct err *err)
{
    const char *folder = arena_printf(a, "%s/pki", dir).p;
    struct ca_files fresh = files_in(a, arena_printf(a, "%s/pki.new", dir).p);
    int r = pki_make_ca(a, STR("sampan"), now_sec, CA_DAYS, ret, err);
    if (r < 0)
        return r;
    r = file_private_dir(fresh.folder, err);
    if (r < 0)
        return r;
    r = file_write_atomic(fresh.key, ret->key_pem, 0600, FILE_KEPT, err);
    if (r < 0)
        return r;
    r = file_write_atomic(fresh.cert, ret->cert_pem, 0644, FILE_DURABLE, err);
    if (r < 0)
        return r;
    if (rename(fresh.folder, folder) < 0)
        return err_errno(err, errno, "rename %s to %s", fresh.folder, folder);
    return file_sync_dir(dir, err);
}

static int refuse_without(const char *lost, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND,
                   "%s is missing. Without it no client with an existing kubeconfig can connect. "
                   "Put it back from a backup, or start once with --new-ca to make a new "
                   "certificate authority; every client then needs a new kubeconfig",
                   lost);
}

/* Keeps what is left of the old one beside the new one. */
static int put_aside(struct arena *a, const char *folder, int64_t now_sec, struct err *err)
{
    const char *to = arena_printf(a, "%s.lost-%lld", folder, (long long)now_sec).p;
    if (rename(folder, to) < 0 && errno != ENOENT)
        return err_errno(err, errno, "rename %s to %s", folder, to);
    return 0;
}

int credentials_load_ca(struct arena *a, const char *dir, struct pki_pair *ret, struct err *err)
{
    struct ca_files ca = files_in(a, arena_printf(a, "%s/pki", dir).p);
    int r = file_check_private(ca.key, err);
    if (r < 0)
        return r;
    r = read_pem(a, ca.cert, &ret->cert_pem, err);
    if (r < 0)
        return r;
    return read_pem(a, ca.key, &ret->key_pem, err);
}

static int load_ca(struct arena *a, const struct credentials_options *opt, int64_t now_sec,
                   struct pki_pair *ret, struct err *err)
{
    struct ca_files ca = files_in(a, arena_printf(a, "%s/pki", opt->dir).p);
    bool has_cert = access(ca.cert, F_OK) == 0, has_key = access(ca.key, F_OK) == 0;
    if (has_cert && has_key)
        return credentials_load_ca(a, opt->dir, ret, err);
    bool was_there = has_cert || has_key || access(credentials_kubeconfig(a, opt->dir), F_OK) == 0;
    if (was_there && !opt->new_ca)
        return refuse_without(has_cert ? ca.key : ca.cert, err);
    int r = was_there ? put_aside(a, ca.folder, now_sec, err) : 0;
    if (r < 0)
        return r;
    return make_ca(a, opt->dir, now_sec, ret, err);
}

static bool is_ip(struct arena *a, struct str host)
{
    unsigned char raw[16];
    const char *text = str_cstr(a, host);
    return inet_pton(AF_INET, text, raw) == 1 || inet_pton(AF_INET6, text, raw) == 1;
}

static int issue_server(struct arena *a, const struct pki_pair *ca,
                        const struct credentials_options *opt, int64_t now_sec, int64_t ttl_sec,
                        struct pki_pair *ret, struct err *err)
{
    enum { NAMES_MAX = 8, OWN_IPS_MAX = 3 };
    char machine[256] = "";
    (void)gethostname(machine, sizeof(machine) - 1);
    struct str names[NAMES_MAX] = {
        STR("localhost"),
        STR("kubernetes"),
        STR("kubernetes.default"),
        STR("kubernetes.default.svc"),
        STR("kubernetes.default.svc.cluster.local"),
        STR(TLS_LOOPBACK_NAME),
    };
    size_t n_names = 6, n_ips = 0;
    struct str *ips = arena_array(a, struct str, OWN_IPS_MAX + opt->n_ips);
    ips[n_ips++] = STR("127.0.0.1");
    ips[n_ips++] = STR("::1");
    for (size_t i = 0; i < opt->n_ips; i++)
        ips[n_ips++] = opt->ips[i];
    if (machine[0])
        names[n_names++] = str_of(machine);
    if (is_ip(a, opt->host))
        ips[n_ips++] = opt->host;
    else if (opt->host.n)
        names[n_names++] = opt->host;

    return pki_issue(a, ca,
                     &(struct pki_leaf){ .common_name = STR("kube-apiserver"),
                                         .dns_names = names,
                                         .n_dns_names = n_names,
                                         .ips = ips,
                                         .n_ips = n_ips,
                                         .server = true,
                                         .now_sec = now_sec,
                                         .seconds = ttl_sec },
                     ret, err);
}

static int issue_master(struct arena *a, const struct pki_pair *ca, struct str name, struct str uid,
                        int64_t now_sec, int64_t ttl_sec, struct pki_pair *ret, struct err *err)
{
    const struct str groups[] = { STR("system:masters") };
    return pki_issue(a, ca,
                     &(struct pki_leaf){ .common_name = name,
                                         .uid = uid,
                                         .organizations = groups,
                                         .n_organizations = 1,
                                         .client = true,
                                         .now_sec = now_sec,
                                         .seconds = ttl_sec },
                     ret, err);
}

/* Nobody outside remembers it: extension servers read it from a ConfigMap. So a lost one is simply
 * made again. */
static int load_proxy_ca(struct arena *a, const char *dir, int64_t now_sec, struct pki_pair *ret,
                         struct err *err)
{
    const char *cert = arena_printf(a, "%s/pki/front-proxy-ca.crt", dir).p;
    const char *key = arena_printf(a, "%s/pki/front-proxy-ca.key", dir).p;
    struct err ignored = ERR_INIT(a);
    if (file_check_private(key, &ignored) == 0 &&
        read_pem(a, cert, &ret->cert_pem, &ignored) == 0 &&
        read_pem(a, key, &ret->key_pem, &ignored) == 0)
        return 0;
    int r = pki_make_ca(a, STR("front-proxy"), now_sec, CA_DAYS, ret, err);
    if (r < 0)
        return r;
    r = file_write_atomic(key, ret->key_pem, 0600, FILE_CHEAP, err);
    if (r < 0)
        return r;
    return file_write_atomic(cert, ret->cert_pem, 0644, FILE_CHEAP, err);
}

static int issue_proxy(struct arena *a, const struct credentials_options *opt, int64_t now_sec,
                       int64_t ttl_sec, struct credentials *ret, struct err *err)
{
    int r = load_proxy_ca(a, opt->dir, now_sec, &ret->proxy_ca, err);
    if (r < 0)
        return r;
    return pki_issue(a, &ret->proxy_ca,
                     &(struct pki_leaf){ .common_name = STR(CREDENTIALS_PROXY_NAME),
                                         .client = true,
                                         .now_sec = now_sec,
                                         .seconds = ttl_sec },
                     &ret->proxy, err);
}

/* When two thirds of its time are over. A certificate ends with its CA at the latest, so its real
 * end is read. */
static int choose_renewal(const struct pki_pair *pair, int64_t now_sec, int64_t *ret,
                          struct err *err)
{
    int64_t end;
    int r = pki_not_after(pair->cert_pem, &end, err);
    if (r < 0)
        return r;
    *ret = now_sec + (end - now_sec) * 2 / 3;
    return 0;
}

static int load_all(struct arena *a, const struct credentials_options *opt, int64_t now_sec,
                    struct credentials *ret, struct err *err)
{
    int64_t ttl_sec = opt->ttl_sec ? opt->ttl_sec : LEAF_SECONDS;
    *ret = (struct credentials){ 0 };
    int r = load_ca(a, opt, now_sec, &ret->ca, err);
    if (r < 0)
        return r;
    r = issue_server(a, &ret->ca, opt, now_sec, ttl_sec, &ret->server, err);
    if (r < 0)
        return r;
    r = issue_master(a, &ret->ca, STR("admin"), STR("admin"), now_sec, ttl_sec, &ret->admin, err);
    if (r < 0)
        return r;
    r = issue_master(a, &ret->ca, STR("kube-apiserver-kubelet-client"), STR(""), now_sec, ttl_sec,
                     &ret->kubelet, err);
    if (r < 0)
        return r;
    r = issue_proxy(a, opt, now_sec, ttl_sec, ret, err);
    if (r < 0)
        return r;
    return choose_renewal(&ret->server, now_sec, &ret->renew_sec, err);
}

int credentials_load(struct arena *a, const struct credentials_options *opt, int64_t now_sec,
                     struct credentials *ret, struct err *err)
{
    int r = load_all(a, opt, now_sec, ret, err);
    return r < 0 ? err_wrap(err, "certificates") : 0;
}

static void add_data(struct buf *out, const char *name, struct str pem)
{
    buf_printf(out, "    %s: ", name);
    base64_encode(out, pem);
    buf_byte(out, '\n');
}

struct str credentials_text(struct arena *a, const struct credentials_config *k)
{
    autobuf text = { 0 };
    buf_printf(&text,
               "apiVersion: v1\n"
               "kind: Config\n"
               "clusters:\n"
               "- name: sampan\n"
               "  cluster:\n"
               "    server: https://" STR_FMT "\n",
               STR_ARG(k->address));
    if (k->server_name.n)
        buf_printf(&text, "    tls-server-name: " STR_FMT "\n", STR_ARG(k->server_name));
    add_data(&text, "certificate-authority-data", k->ca_pem);
    buf_str_add(&text, STR("users:\n- name: "));
    json_write_string(&text, k->user); /* which is YAML, too */
    buf_str_add(&text, STR("\n  user:\n"));
    add_data(&text, "client-certificate-data", k->pair->cert_pem);
    add_data(&text, "client-key-data", k->pair->key_pem);
    buf_str_add(&text, STR("contexts:\n"
                           "- name: sampan\n"
                           "  context:\n"
                           "    cluster: sampan\n"
                           "    user: "));
    json_write_string(&text, k->user);
    buf_str_add(&text, STR("\ncurrent-context: sampan\n"));
    return arena_str(a, buf_str(&text));
}

static int write_both(struct arena *a, const struct credentials *c, const char *dir,
                      struct str address, const char *file, struct err *err)
{
    struct str text =
        credentials_text(a, &(struct credentials_config){ .user = STR("admin"),
                                                          .address = address,
                                                          .server_name = c->server_name,
                                                          .ca_pem = c->ca.cert_pem,
                                                          .pair = &c->admin });
    int r = file_write_atomic(arena_printf(a, "%s/pki/server.crt", dir).p, c->server.cert_pem, 0644,
                              FILE_CHEAP, err);
    if (r < 0)
        return r;
    return file_write_atomic(file, text, 0600, FILE_CHEAP, err);
}

int credentials_write(const struct credentials *c, const char *dir, struct str address,
                      const char *file, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = write_both(&a, c, dir, address, file, err);
    arena_done(&a);
    return r;
}
