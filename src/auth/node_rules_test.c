/* What nodes may do: tables of questions. One pod runs on the node n1; it refers to a secret `s`, a
 * claim `c` and the account `a`. */
#include "auth/node_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/idiom.h"

static const char pod[] =
    "{'metadata':{'name':'p','namespace':'ns'},'spec':{'nodeName':'n1','serviceAccountName':'a',"
    "'volumes':[{'secret':{'secretName':'s'}},{'persistentVolumeClaim':{'claimName':'c'}}]}}";

struct row {
    const char *question; /* VERB GROUP/RESOURCE[/SUB] NS NAME [FIELD=VALUE]; - for none */
    const char *why_not;  /* NULL: it is allowed */
};

static struct str word(struct str *rest)
{
    struct str w = str_cut(rest, ' ');
    return str_eq(w, STR("-")) ? STR("") : w;
}

static struct access question(struct arena *a, const struct user *user, const char *text)
{
    struct str rest = arena_str(a, str_of(text));
    struct access q = { .user = user, .is_resource = true, .verb = word(&rest) };
    struct str what = word(&rest);
    q.group = str_cut(&what, '/');
    q.resource = str_cut(&what, '/');
    q.sub = what;
    q.ns = word(&rest);
    q.name = word(&rest);
    struct err err = ERR_INIT(a);
    assert_int_equal(fields_parse(a, rest, NULL, &q.fields, &err), 0);
    return q;
}

static void check(const struct row *rows, size_t n)
{
    static const struct str nodes[] = { STR("system:nodes") };
    const struct user user = { .name = STR("system:node:n1"), .groups = nodes, .n_groups = 1 };
    struct arena a;
    arena_init(&a);
    struct node_graph *g = node_graph_new();
    struct value obj = suite_tree(&a, pod), slice = suite_tree(&a, "{'spec':{'nodeName':'n1'}}");
    node_graph_set(g, NODE_THING_POD, STR("ns"), STR("p"), &obj);
    node_graph_set(g, NODE_THING_SLICE, STR(""), STR("sl"), &slice);
    node_graph_set(g, NODE_THING_CERTIFICATE_REQUEST, STR("ns"), STR("r"), &slice);
    for (size_t i = 0; i < n; i++) {
        struct access q = question(&a, &user, rows[i].question);
        struct str reason = STR("?");
        bool yes = node_rules_allow(g, &a, &q, &reason);
        if (yes != !rows[i].why_not)
            fail_msg("%s: %s", rows[i].question, yes ? "allowed" : "not allowed");
        assert_string_equal(str_cstr(&a, reason), rows[i].why_not ? rows[i].why_not : "");
        assert_int_equal(node_rules_allow(g, NULL, &q, NULL), yes);
    }
    node_graph_free(g);
    arena_done(&a);
}

#define UNRELATED "no relationship found between node 'n1' and this object"

static void divided_by_pods(void **state)
{
    static const struct row rows[] = {
        { "get /secrets ns s", NULL },
        { "list /secrets ns s", NULL },
        { "get /secrets ns other", UNRELATED },
        { "list /secrets ns -", "No Object name found" },
        { "list /secrets - s", "can only read namespaced object of this type" },
        { "update /secrets ns s", "can only read resources of this type" },
        { "get /secrets/x ns s", "cannot read subresource" },
        { "get /configmaps ns s", UNRELATED },
        { "get /persistentvolumeclaims ns c", NULL },
        { "list /persistentvolumeclaims ns c", "can only get individual resources of this type" },
        { "patch /persistentvolumeclaims/status ns c", NULL },
        { "get /persistentvolumeclaims/status ns c", "can only get/update/patch this type" },
        { "get /persistentvolumeclaims/x ns c", "cannot get subresource" },
        { "get /serviceaccounts ns a", NULL },
        { "create /serviceaccounts/token ns a", NULL },
        { "create /serviceaccounts/token ns b", UNRELATED },
        { "create /serviceaccounts ns a", "can only create token subresource of serviceaccount" },
        { "create /serviceaccounts/token ns -",
          "can only create tokens for individual service accounts" },
        { "get storage.k8s.io/volumeattachments - v", UNRELATED },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

static void pods(void **state)
{
    static const struct row rows[] = {
        { "get /pods ns p", NULL },
        { "get /pods ns q", UNRELATED },
        { "watch /pods - - spec.nodeName=n1", NULL },
        { "list /pods ns - spec.nodeName=n1,status.phase!=Failed", NULL },
        { "list /pods ns - spec.nodeName=n2",
          "can only list/watch pods with spec.nodeName field selector" },
        { "list /pods ns - spec.nodeName!=n1",
          "can only list/watch pods with spec.nodeName field selector" },
        { "list /pods ns p", NULL },
        { "create /pods ns -", NULL },
        { "delete /pods ns q", NULL },
        { "update /pods ns p", "" },
        { "patch /pods/status ns q", NULL },
        { "get /pods/status ns p", "" },
        { "create /pods/eviction ns q", NULL },
        { "create /pods/exec ns p", "" },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

static void divided_by_name(void **state)
{
    static const char lease_name[] =
        "can only access node lease with the same name as the requesting node";
    static const struct row rows[] = {
        { "get /nodes - n1", NULL },
        { "get /nodes - n2", "node 'n1' cannot read 'n2', only its own Node object" },
        { "list /nodes - -", "node 'n1' cannot read all nodes, only its own Node object" },
        { "update /nodes - n2", NULL }, /* NodeRestriction looks at it */
        { "delete /nodes - n1", "" },
        { "patch /nodes/status - n1", NULL },
        { "get /nodes/proxy - n1", "" },
        { "update coordination.k8s.io/leases kube-node-lease n1", NULL },
        { "create coordination.k8s.io/leases kube-node-lease -", NULL },
        { "update coordination.k8s.io/leases kube-node-lease n2", lease_name },
        { "get coordination.k8s.io/leases ns n1",
          "can only access leases in the \"kube-node-lease\" system namespace" },
        { "list coordination.k8s.io/leases kube-node-lease -",
          "can only get, create, update, patch, or delete a node lease" },
        { "get storage.k8s.io/csinodes - n1", NULL },
        { "get storage.k8s.io/csinodes - n2",
          "can only access CSINode with the same name as the requesting node" },
        { "patch storage.k8s.io/csinodes/status - n1",
          "CSINode status access requires CSIVolumeHealth feature" },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

static void devices_and_certificates(void **state)
{
    static const struct row rows[] = {
        { "create resource.k8s.io/resourceslices - -", NULL },
        { "delete resource.k8s.io/resourceslices - sl", NULL },
        { "delete resource.k8s.io/resourceslices - x", UNRELATED },
        { "deletecollection resource.k8s.io/resourceslices - - spec.nodeName=n1", NULL },
        { "list resource.k8s.io/resourceslices - -",
          "can only list/watch/deletecollection resourceslices with nodeName field selector" },
        { "create certificates.k8s.io/podcertificaterequests ns -", NULL },
        { "get certificates.k8s.io/podcertificaterequests ns r", NULL },
        { "get certificates.k8s.io/podcertificaterequests ns x", UNRELATED },
        { "delete certificates.k8s.io/podcertificaterequests ns r",
          "nodes may not delete podcertificaterequests" },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

static void all_nodes_alike(void **state)
{
    static const struct row rows[] = {
        { "list /services - -", NULL },
        { "create events.k8s.io/events ns -", NULL },
        { "delete /events ns x", "" },
        { "create authorization.k8s.io/subjectaccessreviews - -", NULL },
        { "watch certificates.k8s.io/certificatesigningrequests - -", NULL },
        { "update certificates.k8s.io/certificatesigningrequests/approval - x", "" },
        { "get certificates.k8s.io/certificatesigningrequests/status - x", "" },
        { "get apps/deployments ns x", "" },
        { "- /services - -", "" },
    };
    (void)state;
    check(rows, ARRAY_LEN(rows));
}

static void who_is_a_node(void **state)
{
    static const struct str nodes[] = { STR("system:nodes") };
    struct user user = { .name = STR("system:node:n1"), .groups = nodes, .n_groups = 1 };
    struct str node;
    struct arena a;
    (void)state;
    assert_true(node_rules_identify(&user, &node));
    assert_true(str_eq(node, STR("n1")));
    user.n_groups = 0;
    assert_false(node_rules_identify(&user, &node));
    user = (struct user){ .name = STR("n1"), .groups = nodes, .n_groups = 1 };
    assert_false(node_rules_identify(&user, &node));
    user.name = STR("system:node:");
    arena_init(&a);
    struct node_graph *g = node_graph_new();
    struct access q = question(&a, &user, "list /services - -");
    struct str reason;
    assert_false(node_rules_allow(g, &a, &q, &reason));
    assert_true(str_eq(reason, STR("unknown node for user \"system:node:\"")));
    node_graph_free(g);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divided_by_pods), cmocka_unit_test(pods),
        cmocka_unit_test(divided_by_name), cmocka_unit_test(devices_and_certificates),
        cmocka_unit_test(all_nodes_alike), cmocka_unit_test(who_is_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
