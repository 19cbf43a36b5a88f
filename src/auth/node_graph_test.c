/* Which node sees what: each kind of reference once, then random changes against a model that looks
 * at every object. */
#include "auth/node_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/idiom.h"

static void set(struct node_graph *g, enum node_thing thing, const char *ns, const char *name,
                const char *obj)
{
    struct arena a;
    arena_init(&a);
    struct value v = obj ? suite_tree(&a, obj) : value_null();
    node_graph_set(g, thing, str_of(ns), str_of(name), obj ? &v : NULL);
    arena_done(&a);
}

static bool leads(struct node_graph *g, enum node_thing thing, const char *ns, const char *name,
                  const char *node)
{
    return node_graph_leads(g, thing, str_of(ns), str_of(name), str_of(node));
}

/* ---- Each reference ---- */

static const struct {
    const char *spec;
    enum node_thing thing;
    const char *name;
} references[] = {
    { "'serviceAccountName':'x'", NODE_THING_ACCOUNT, "x" },
    { "'imagePullSecrets':[{'name':'x'}]", NODE_THING_SECRET, "x" },
    { "'containers':[{'envFrom':[{'secretRef':{'name':'x'}}]}]", NODE_THING_SECRET, "x" },
    { "'initContainers':[{'envFrom':[{'configMapRef':{'name':'x'}}]}]", NODE_THING_CONFIG_MAP,
      "x" },
    { "'ephemeralContainers':[{'env':[{'valueFrom':{'secretKeyRef':{'name':'x'}}}]}]",
      NODE_THING_SECRET, "x" },
    { "'containers':[{'env':[{'valueFrom':{'configMapKeyRef':{'name':'x'}}}]}]",
      NODE_THING_CONFIG_MAP, "x" },
    { "'volumes':[{'secret':{'secretName':'x'}}]", NODE_THING_SECRET, "x" },
    { "'volumes':[{'azureFile':{'secretName':'x'}}]", NODE_THING_SECRET, "x" },
    { "'volumes':[{'cephfs':{'secretRef':{'name':'x'}}}]", NODE_THING_SECRET, "x" },
    { "'volumes':[{'csi':{'nodePublishSecretRef':{'name':'x'}}}]", NODE_THING_SECRET, "x" },
    { "'volumes':[{'configMap':{'name':'x'}}]", NODE_THING_CONFIG_MAP, "x" },
    { "'volumes':[{'projected':{'sources':[{'secret':{'name':'x'}}]}}]", NODE_THING_SECRET, "x" },
    { "'volumes':[{'projected':{'sources':[{},{'configMap':{'name':'x'}}]}}]",
      NODE_THING_CONFIG_MAP, "x" },
    { "'volumes':[{'persistentVolumeClaim':{'claimName':'x'}}]", NODE_THING_CLAIM, "x" },
    { "'volumes':[{'name':'v','ephemeral':{}}]", NODE_THING_CLAIM, "p-v" },
    { "'resourceClaims':[{'name':'c','resourceClaimName':'x'}]", NODE_THING_RESOURCE_CLAIM, "x" },
    { "'resourceClaims':[{'name':'c','resourceClaimTemplateName':'t'}]", NODE_THING_RESOURCE_CLAIM,
      "made" },
    { "'containers':[]", NODE_THING_RESOURCE_CLAIM, "extended" },
};

static void pods_refer(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(references); i++) {
        struct node_graph *g = node_graph_new();
        struct arena a;
        arena_init(&a);
        struct str pod = arena_printf(
            &a,
            "{'metadata':{'name':'p','namespace':'ns'},'spec':{'nodeName':'n1',%s},"
            "'status':{'resourceClaimStatuses':[{'name':'c','resourceClaimName':'made'}],"
            "'extendedResourceClaimStatus':{'resourceClaimName':'extended'}}}",
            references[i].spec);
        set(g, NODE_THING_POD, "ns", "p", str_cstr(&a, pod));
        assert_true(leads(g, NODE_THING_POD, "ns", "p", "n1"));
        if (!leads(g, references[i].thing, "ns", references[i].name, "n1"))
            fail_msg("%s is not seen", references[i].spec);
        assert_false(leads(g, references[i].thing, "ns", references[i].name, "n2"));
        assert_false(leads(g, references[i].thing, "other", references[i].name, "n1"));
        set(g, NODE_THING_POD, "ns", "p", NULL);
        assert_false(leads(g, references[i].thing, "ns", references[i].name, "n1"));
        assert_int_equal(node_graph_size(g).things, 0);
        assert_int_equal(node_graph_size(g).links, 0);
        arena_done(&a);
        node_graph_free(g);
    }
}

static void mirror_pods_give_nothing(void **state)
{
    (void)state;
    struct node_graph *g = node_graph_new();
    set(g, NODE_THING_POD, "ns", "p",
        "{'metadata':{'name':'p','namespace':'ns','annotations':{'kubernetes.io/"
        "config.mirror':''}},"
        "'spec':{'nodeName':'n1','imagePullSecrets':[{'name':'x'}]}}");
    assert_true(leads(g, NODE_THING_POD, "ns", "p", "n1"));
    assert_false(leads(g, NODE_THING_SECRET, "ns", "x", "n1"));
    node_graph_free(g);
}

static void pods_without_node(void **state)
{
    (void)state;
    struct node_graph *g = node_graph_new();
    set(g, NODE_THING_POD, "ns", "p",
        "{'metadata':{'namespace':'ns'},'spec':{'imagePullSecrets':[{'name':'x'}]}}");
    assert_int_equal(node_graph_size(g).things, 0);
    assert_false(leads(g, NODE_THING_SECRET, "ns", "x", ""));
    node_graph_free(g);
}

#define POD_OF_CLAIM                                                     \
    "{'metadata':{'name':'p','namespace':'ns'},'spec':{'nodeName':'n1'," \
    "'volumes':[{'persistentVolumeClaim':{'claimName':'c'}}]}}"

static void volumes_lead_over_claims(void **state)
{
    static const struct {
        const char *source, *ns, *name;
    } rows[] = {
        { "'csi':{'nodePublishSecretRef':{'name':'x','namespace':'far'}}", "far", "x" },
        { "'csi':{'nodeStageSecretRef':{'name':'x','namespace':'far'}}", "far", "x" },
        { "'csi':{'nodeExpandSecretRef':{'name':'x','namespace':'far'}}", "far", "x" },
        { "'rbd':{'secretRef':{'name':'x'}}", "ns", "x" },
        { "'iscsi':{'secretRef':{'name':'x','namespace':'far'}}", "far", "x" },
        { "'azureFile':{'secretName':'x'}", "ns", "x" },
        { "'azureFile':{'secretName':'x','secretNamespace':'far'}", "far", "x" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct node_graph *g = node_graph_new();
        struct arena a;
        arena_init(&a);
        struct str volume = arena_printf(
            &a, "{'spec':{'claimRef':{'namespace':'ns','name':'c'},%s}}", rows[i].source);
        set(g, NODE_THING_VOLUME, "", "v", str_cstr(&a, volume));
        assert_false(leads(g, NODE_THING_VOLUME, "", "v", "n1"));
        set(g, NODE_THING_POD, "ns", "p", POD_OF_CLAIM);
        assert_true(leads(g, NODE_THING_VOLUME, "", "v", "n1"));
        assert_true(leads(g, NODE_THING_SECRET, rows[i].ns, rows[i].name, "n1"));
        assert_false(leads(g, NODE_THING_SECRET, rows[i].ns, rows[i].name, "n2"));
        set(g, NODE_THING_VOLUME, "", "v", "{'spec':{}}");
        assert_false(leads(g, NODE_THING_VOLUME, "", "v", "n1"));
        assert_false(leads(g, NODE_THING_SECRET, rows[i].ns, rows[i].name, "n1"));
        assert_true(leads(g, NODE_THING_CLAIM, "ns", "c", "n1"));
        arena_done(&a);
        node_graph_free(g);
    }
}

static void controllers_keep_their_secrets(void **state)
{
    (void)state;
    struct node_graph *g = node_graph_new();
    set(g, NODE_THING_VOLUME, "", "v",
        "{'spec':{'claimRef':{'namespace':'ns','name':'c'},'csi':{"
        "'controllerPublishSecretRef':{'name':'x','namespace':'ns'}}}}");
    set(g, NODE_THING_POD, "ns", "p", POD_OF_CLAIM);
    assert_true(leads(g, NODE_THING_VOLUME, "", "v", "n1"));
    assert_false(leads(g, NODE_THING_SECRET, "ns", "x", "n1"));
    node_graph_free(g);
}

static void objects_of_a_node(void **state)
{
    static const enum node_thing things[] = { NODE_THING_ATTACHMENT, NODE_THING_SLICE,
                                              NODE_THING_CERTIFICATE_REQUEST };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(things); i++) {
        struct node_graph *g = node_graph_new();
        set(g, things[i], "", "x", "{'spec':{'nodeName':'n1'}}");
        assert_true(leads(g, things[i], "", "x", "n1"));
        assert_false(leads(g, things[i], "", "x", "n2"));
        set(g, things[i], "", "x", "{'spec':{'nodeName':'n2'}}");
        assert_false(leads(g, things[i], "", "x", "n1"));
        assert_true(leads(g, things[i], "", "x", "n2"));
        set(g, things[i], "", "x", "{'spec':{}}");
        assert_int_equal(node_graph_size(g).things, 0);
        node_graph_free(g);
    }
}

/* ---- Random changes ---- */

enum { PODS = 12, VOLUMES = 6, NAMES = 4, NODES = 3, ROUNDS = 3000, NONE = -1 };

/* The cluster as the model has it: numbers are names. */
struct model {
    struct {
        int node, secret, map, claim; /* NONE: not there */
    } pods[PODS];
    struct {
        int claim, secret;
    } volumes[VOLUMES];
};

static int pick(unsigned *seed, int n)
{
    return rand_r(seed) % (n + 1) - 1; /* NONE, too */
}

static bool sees_claim(const struct model *m, int claim, int node)
{
    for (int i = 0; i < PODS; i++)
        if (m->pods[i].node == node && m->pods[i].claim == claim)
            return true;
    return false;
}

static bool sees_secret(const struct model *m, int secret, int node)
{
    for (int i = 0; i < PODS; i++)
        if (m->pods[i].node == node && m->pods[i].secret == secret)
            return true;
    for (int i = 0; i < VOLUMES; i++)
        if (m->volumes[i].claim != NONE && m->volumes[i].secret == secret &&
            sees_claim(m, m->volumes[i].claim, node))
            return true;
    return false;
}

static bool sees_map(const struct model *m, int map, int node)
{
    for (int i = 0; i < PODS; i++)
        if (m->pods[i].node == node && m->pods[i].map == map)
            return true;
    return false;
}

static const char *numbered(struct arena *a, const char *prefix, int n)
{
    return n == NONE ? "" : str_cstr(a, arena_printf(a, "%s%d", prefix, n));
}

static void change_pod(struct node_graph *g, struct model *m, struct arena *a, unsigned *seed)
{
    int i = rand_r(seed) % PODS;
    const char *name = numbered(a, "p", i);
    bool gone = rand_r(seed) % 3 == 0;
    m->pods[i].node = gone ? NONE : pick(seed, NODES);
    m->pods[i].secret = pick(seed, NAMES);
    m->pods[i].map = pick(seed, NAMES);
    m->pods[i].claim = pick(seed, NAMES);
    struct str obj = arena_printf(
        a,
        "{'metadata':{'name':'%s','namespace':'ns'},'spec':{'nodeName':'%s','imagePullSecrets':[{"
        "'name':'%s'}],'volumes':[{'configMap':{'name':'%s'}},{'persistentVolumeClaim':{"
        "'claimName':'%s'}},{'secret':{'secretName':'%s'}}]}}",
        name, numbered(a, "n", m->pods[i].node), numbered(a, "s", m->pods[i].secret),
        numbered(a, "m", m->pods[i].map), numbered(a, "c", m->pods[i].claim),
        numbered(a, "s", m->pods[i].secret));
    set(g, NODE_THING_POD, "ns", name, gone ? NULL : str_cstr(a, obj));
}

static void change_volume(struct node_graph *g, struct model *m, struct arena *a, unsigned *seed)
{
    int i = rand_r(seed) % VOLUMES;
    m->volumes[i].claim = pick(seed, NAMES);
    m->volumes[i].secret = pick(seed, NAMES);
    struct str obj = arena_printf(
        a,
        "{'spec':{'claimRef':{'namespace':'ns','name':'%s'},'csi':{'nodeStageSecretRef':{"
        "'namespace':'ns','name':'%s'}}}}",
        numbered(a, "c", m->volumes[i].claim), numbered(a, "s", m->volumes[i].secret));
    set(g, NODE_THING_VOLUME, "", numbered(a, "v", i),
        m->volumes[i].claim == NONE ? NULL : str_cstr(a, obj));
}

static void compare(struct node_graph *g, const struct model *m, struct arena *a)
{
    for (int node = 0; node < NODES; node++) {
        const char *on = numbered(a, "n", node);
        for (int i = 0; i < NAMES; i++) {
            assert_int_equal(leads(g, NODE_THING_SECRET, "ns", numbered(a, "s", i), on),
                             sees_secret(m, i, node));
            assert_int_equal(leads(g, NODE_THING_CONFIG_MAP, "ns", numbered(a, "m", i), on),
                             sees_map(m, i, node));
            assert_int_equal(leads(g, NODE_THING_CLAIM, "ns", numbered(a, "c", i), on),
                             sees_claim(m, i, node));
        }
        for (int i = 0; i < PODS; i++)
            assert_int_equal(leads(g, NODE_THING_POD, "ns", numbered(a, "p", i), on),
                             m->pods[i].node == node);
        for (int i = 0; i < VOLUMES; i++)
            assert_int_equal(leads(g, NODE_THING_VOLUME, "", numbered(a, "v", i), on),
                             m->volumes[i].claim != NONE &&
                                 sees_claim(m, m->volumes[i].claim, node));
    }
}

static void random_changes(void **state)
{
    (void)state;
    unsigned seed = 7;
    struct model m;
    struct arena a;
    struct node_graph *g = node_graph_new();
    arena_init(&a);
    memset(&m, 0xff, sizeof(m)); /* all NONE */
    for (int i = 0; i < ROUNDS; i++) {
        if (rand_r(&seed) % 3)
            change_pod(g, &m, &a, &seed);
        else
            change_volume(g, &m, &a, &seed);
        compare(g, &m, &a);
        arena_reset(&a);
    }
    for (int i = 0; i < PODS; i++)
        set(g, NODE_THING_POD, "ns", numbered(&a, "p", i), NULL);
    for (int i = 0; i < VOLUMES; i++)
        set(g, NODE_THING_VOLUME, "", numbered(&a, "v", i), NULL);
    assert_int_equal(node_graph_size(g).things, 0); /* nothing is left behind */
    assert_int_equal(node_graph_size(g).links, 0);
    arena_done(&a);
    node_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_refer),
        cmocka_unit_test(mirror_pods_give_nothing),
        cmocka_unit_test(pods_without_node),
        cmocka_unit_test(volumes_lead_over_claims),
        cmocka_unit_test(controllers_keep_their_secrets),
        cmocka_unit_test(objects_of_a_node),
        cmocka_unit_test(random_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
