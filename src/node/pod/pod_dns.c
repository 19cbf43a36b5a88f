#include "node/pod/pod_dns.h"

#include "base/file.h"
#include "base/limits.h"
#include "node/pod/cri_tree.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

enum { SERVERS_MAX = 3, SEARCHES_MAX = 32, SEARCH_LINE_MAX = 2048, SEARCH_MAX = 253 };

/* ---- The node's file ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct str next_word(struct str *line)
{
    while (line->n && is_space(line->p[0]))
        *line = str_skip(*line, 1);
    size_t n = 0;
    while (n < line->n && !is_space(line->p[n]))
        n++;
    struct str word = str_take(*line, n);
    *line = str_skip(*line, n);
    return word;
}

static struct str option_name(struct str option)
{
    return str_cut(&option, ':');
}

/* Replaces one of the same name. */
static void set_option(struct arena *a, struct value *list, struct str option)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(option_name(value_str(value_at(list, i))), option_name(option))) {
            *value_edit_at(a, list, i) = value_string(option);
            return;
        }
    value_put_item(a, list, value_string(option));
}

static void read_searches(struct arena *a, struct str line, struct value *ret)
{
    *ret = value_array();
    for (struct str word = next_word(&line); word.n; word = next_word(&line)) {
        if (str_eq(word, STR(".")))
            continue;
        if (str_ends(word, STR(".")))
            word.n--;
        value_put_item(a, ret, value_string(word));
    }
}

int resolv_conf_read(struct arena *a, struct str text, struct resolv_conf *ret, struct err *err)
{
    *ret = (struct resolv_conf){ value_array(), value_array(), value_array() };
    bool is_good = true;
    while (text.n) {
        struct str line = str_cut(&text, '\n');
        struct str key = next_word(&line);
        if (str_eq(key, STR("nameserver"))) {
            struct str server = next_word(&line);
            is_good = is_good && server.n;
            if (server.n)
                value_put_item(a, &ret->servers, value_string(server));
        } else if (str_eq(key, STR("search"))) {
            read_searches(a, line, &ret->searches);
        } else if (str_eq(key, STR("options"))) {
            for (struct str word = next_word(&line); word.n; word = next_word(&line))
                set_option(a, &ret->options, word);
        }
    }
    if (!is_good)
        return err_set(err, ERR_INVALID,
                       "Encountered error while parsing resolv conf file. Error: nameserver list "
                       "is empty ");
    return 0;
}

static int node_dns(const struct node_facts *node, struct arena *a, struct resolv_conf *ret,
                    struct err *err)
{
    autobuf text = { 0 };
    *ret = (struct resolv_conf){ value_array(), value_array(), value_array() };
    if (!node->resolv_conf.n)
        return 0;
    int r = file_read(str_cstr(a, node->resolv_conf), LIMIT_RESOLV_CONF_BYTES, &text, err);
    return r < 0 ? r : resolv_conf_read(a, arena_str(a, buf_str(&text)), ret, err);
}

/* ---- By policy ---- */

static void add_new(struct arena *a, struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return;
    value_put_item(a, list, value_string(text));
}

static void use_cluster(const struct pod_place *p, struct arena *a, struct resolv_conf *c)
{
    const struct node_facts *node = p->node;
    struct value of_node = c->searches;
    c->servers = value_array();
    for (size_t i = 0; i < node->n_cluster_dns; i++)
        value_put_item(a, &c->servers, value_string(node->cluster_dns[i]));
    c->options = value_array();
    value_put_item(a, &c->options, value_string(STR("ndots:5")));
    if (!node->cluster_domain.n)
        return;
    struct str services = arena_printf(a, "svc." STR_FMT, STR_ARG(node->cluster_domain));
    c->searches = value_array();
    add_new(a, &c->searches,
            arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(pod_ns(p->pod)), STR_ARG(services)));
    add_new(a, &c->searches, services);
    add_new(a, &c->searches, node->cluster_domain);
    value_each_item (it, &of_node)
        add_new(a, &c->searches, value_str(it));
}

/* A node without a file resolves at its own addresses. */
static void use_node(const struct node_facts *node, struct arena *a, struct resolv_conf *c)
{
    if (node->resolv_conf.n)
        return;
    for (size_t i = 0; i < node->n_host_ips; i++)
        value_put_item(
            a, &c->servers,
            value_string(str_find(node->host_ips[i], ':') >= 0 ? STR("::1") : STR("127.0.0.1")));
    if (!c->servers.n)
        value_put_item(a, &c->servers, value_string(STR("127.0.0.1")));
    c->searches = value_array();
    value_put_item(a, &c->searches, value_string(STR(".")));
}

static void warn(const struct pod_place *p, const char *reason, struct str message)
{
    if (p->warn)
        p->warn(p->warn_arg, reason, message);
}

static void use_policy(const struct pod_place *p, struct arena *a, struct resolv_conf *c)
{
    struct str policy = value_str(value_dig(p->pod, "spec", "dnsPolicy"));
    const bool is_host = value_is_true(value_dig(p->pod, "spec", "hostNetwork"));
    if (str_eq(policy, STR("None"))) {
        *c = (struct resolv_conf){ value_array(), value_array(), value_array() };
        return;
    }
    if (str_eq(policy, STR("Default")) || (str_eq(policy, STR("ClusterFirst")) && is_host)) {
        use_node(p->node, a, c);
        return;
    }
    if (p->node->n_cluster_dns) {
        use_cluster(p, a, c);
        return;
    }
    warn(p, "MissingClusterDNS",
         arena_printf(a,
                      "pod: \"" STR_FMT "\". kubelet does not have ClusterDNS IP configured and "
                      "cannot create Pod using \"ClusterFirst\" policy. Falling back to "
                      "\"Default\" policy.",
                      STR_ARG(pod_describe(a, p->pod))));
    use_node(p->node, a, c);
}

static struct value without_twins(struct arena *a, const struct value *list,
                                  const struct value *more)
{
    struct value all = value_array();
    value_each_item (it, list)
        add_new(a, &all, value_str(it));
    value_each_item (it, more)
        add_new(a, &all, value_str(it));
    return all;
}

/* What the pod itself says is added. */
static void use_own(struct arena *a, const struct value *own, struct resolv_conf *c)
{
    if (!value_is(own, VALUE_OBJECT))
        return;
    c->servers = without_twins(a, &c->servers, value_get(own, STR("nameservers")));
    c->searches = without_twins(a, &c->searches, value_get(own, STR("searches")));
    value_each_item (it, value_get(own, STR("options"))) {
        struct str name = value_text(it, "name"), value = value_text(it, "value");
        set_option(a, &c->options,
                   value.n ? arena_printf(a, STR_FMT ":" STR_FMT, STR_ARG(name), STR_ARG(value))
                           : name);
    }
}

/* ---- Limits ---- */

static struct str joined(struct arena *a, const struct value *list)
{
    autobuf out = { 0 };
    value_each_item (it, list)
        buf_printf(&out, "%s" STR_FMT, out.n ? " " : "", STR_ARG(value_str(it)));
    return arena_str(a, buf_str(&out));
}

static void cut_servers(const struct pod_place *p, struct arena *a, struct value *servers)
{
    if (servers->n <= SERVERS_MAX)
        return;
    while (servers->n > SERVERS_MAX)
        value_remove_at(a, servers, servers->n - 1);
    warn(p, "DNSConfigForming",
         arena_printf(a,
                      "Nameserver limits were exceeded, some nameservers have been omitted, the "
                      "applied nameserver line is: " STR_FMT,
                      STR_ARG(joined(a, servers))));
}

static void cut_searches(const struct pod_place *p, struct arena *a, struct value *searches)
{
    const size_t before = searches->n;
    while (searches->n > SEARCHES_MAX)
        value_remove_at(a, searches, searches->n - 1);
    for (size_t i = searches->n; i-- > 0;)
        if (value_str(value_at(searches, i)).n > SEARCH_MAX)
            value_remove_at(a, searches, i);
    while (joined(a, searches).n > SEARCH_LINE_MAX)
        value_remove_at(a, searches, searches->n - 1);
    if (searches->n == before)
        return;
    warn(p, "DNSConfigForming",
         arena_printf(a,
                      "Search Line limits were exceeded, some search paths have been omitted, the "
                      "applied search line is: " STR_FMT,
                      STR_ARG(joined(a, searches))));
}

int pod_dns(const struct pod_place *p, struct arena *a, struct value *ret, struct err *err)
{
    struct resolv_conf c;
    int r = node_dns(p->node, a, &c, err);
    if (r < 0)
        return r;
    use_policy(p, a, &c);
    use_own(a, value_dig(p->pod, "spec", "dnsConfig"), &c);
    cut_servers(p, a, &c.servers);
    cut_searches(p, a, &c.searches);
    *ret = value_object();
    tree_some(a, ret, STR("servers"), c.servers);
    tree_some(a, ret, STR("searches"), c.searches);
    tree_some(a, ret, STR("options"), c.options);
    return 0;
}
