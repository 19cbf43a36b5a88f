#include "main/credentials.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/banned.h"

enum { CA_DAYS = 3650, LEAF_DAYS = 365, PEM_MAX = 1 << 16 };

static int read_pem(struct arena *a, const char *path, struct str *ret, struct err *err)
{
    autobuf text = { 0 };
    int r = file_read(path, PEM_MAX, &text, err);
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&text));
    return 0;
}

/* The key is written first, and one sync of the folder is for both: a certificate on disk always
 * has its key. */
static int load_ca(struct arena *a, const char *dir, int64_t now_sec, struct pki_pair *ret,
                   struct err *err)
{
    const char *folder = arena_printf(a, "%s/pki", dir).p;
    const char *cert = arena_printf(a, "%s/ca.crt", folder).p;
    const char *key = arena_printf(a, "%s/ca.key", folder).p;
    int r = file_private_dir(folder, err);
    if (r < 0)
        return r;

    r = read_pem(a, cert, &ret->cert_pem, err);
    if (r == 0)
        return read_pem(a, key, &ret->key_pem, err);
    if (r != -ERR_NOT_FOUND)
        return r;
    err_clear(err);
    r = pki_make_ca(a, STR("sampan"), now_sec, CA_DAYS, ret, err);
    if (r == 0)
        r = file_write_atomic(key, ret->key_pem, 0600, FILE_KEPT, err);
    if (r == 0)
        r = file_write_atomic(cert, ret->cert_pem, 0644, FILE_DURABLE, err);
    return r;
}

static bool is_ip(struct arena *a, struct str host)
{
    unsigned char raw[16];
    const char *text = str_cstr(a, host);
    return inet_pton(AF_INET, text, raw) == 1 || inet_pton(AF_INET6, text, raw) == 1;
}

static int issue_server(struct arena *a, const struct pki_pair *ca, struct str host,
                        int64_t now_sec, struct pki_pair *ret, struct err *err)
{
    char machine[256] = "";
    (void)gethostname(machine, sizeof(machine) - 1);
    bool ip = is_ip(a, host);
    struct str names[8] = {
        STR("localhost"),
        STR("kubernetes"),
        STR("kubernetes.default"),
        STR("kubernetes.default.svc"),
        STR("kubernetes.default.svc.cluster.local"),
    };
    size_t n_names = 5;
    if (machine[0])
        names[n_names++] = str_of(machine);
    if (!ip && host.n)
        names[n_names++] = host;
    struct str ips[4] = { STR("127.0.0.1"), STR("::1"), STR("10.0.0.1") };
    size_t n_ips = 3;
    if (ip)
        ips[n_ips++] = host;

    return pki_issue(a, ca,
                     &(struct pki_leaf){ .common_name = STR("kube-apiserver"),
                                         .dns_names = names,
                                         .n_dns_names = n_names,
                                         .ips = ips,
                                         .n_ips = n_ips,
                                         .server = true,
                                         .now_sec = now_sec,
                                         .days = LEAF_DAYS },
                     ret, err);
}

static int issue_admin(struct arena *a, const struct pki_pair *ca, int64_t now_sec,
                       struct pki_pair *ret, struct err *err)
{
    const struct str groups[] = { STR("system:masters") };
    return pki_issue(a, ca,
                     &(struct pki_leaf){ .common_name = STR("admin"),
                                         .uid = STR("admin"),
                                         .organizations = groups,
                                         .n_organizations = 1,
                                         .client = true,
                                         .now_sec = now_sec,
                                         .days = LEAF_DAYS },
                     ret, err);
}

int credentials_load(struct arena *a, const char *dir, struct str host, int64_t now_sec,
                     struct credentials *ret, struct err *err)
{
    int r = load_ca(a, dir, now_sec, &ret->ca, err);
    if (r == 0)
        r = issue_server(a, &ret->ca, host, now_sec, &ret->server, err);
    if (r == 0)
        r = issue_admin(a, &ret->ca, now_sec, &ret->admin, err);
    return r < 0 ? err_wrap(err, "certificates") : 0;
}

static void add_data(struct buf *out, const char *name, struct str pem)
{
    buf_printf(out, "    %s: ", name);
    base64_encode(out, pem);
    buf_byte(out, '\n');
}

int credentials_write_kubeconfig(const struct credentials *c, struct str address, const char *file,
                                 struct err *err)
{
    autobuf text = { 0 };
    buf_printf(&text,
               "apiVersion: v1\n"
               "kind: Config\n"
               "clusters:\n"
               "- name: sampan\n"
               "  cluster:\n"
               "    server: https://" STR_FMT "\n",
               STR_ARG(address));
    add_data(&text, "certificate-authority-data", c->ca.cert_pem);
    buf_str_add(&text, STR("users:\n"
                           "- name: admin\n"
                           "  user:\n"));
    add_data(&text, "client-certificate-data", c->admin.cert_pem);
    add_data(&text, "client-key-data", c->admin.key_pem);
    buf_str_add(&text, STR("contexts:\n"
                           "- name: sampan\n"
                           "  context:\n"
                           "    cluster: sampan\n"
                           "    user: admin\n"
                           "current-context: sampan\n"));
    return file_write_atomic(file, buf_str(&text), 0600, FILE_CHEAP, err);
}
