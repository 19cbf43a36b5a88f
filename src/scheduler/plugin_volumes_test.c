/* Which volumes a pod gets, and on which nodes it can have them. */
#include "base/idiom.h"
#include "scheduler/cluster_test.h"

/* Claims, volumes and classes by name, as one tree of lists. */
static const struct value *find(void *arg, const char *list, struct str name)
{
    value_each_item (it, value_get(arg, str_of(list)))
        if (str_eq(value_str(value_dig(it, "metadata", "name")), name))
            return it;
    return NULL;
}

static const struct value *claim(void *arg, struct arena *a, struct str ns, struct str name)
{
    (void)a;
    (void)ns;
    return find(arg, "claims", name);
}

static const struct value *volume(void *arg, struct arena *a, struct str name)
{
    (void)a;
    return find(arg, "volumes", name);
}

static const struct value *storage_class(void *arg, struct arena *a, struct str name)
{
    (void)a;
    return find(arg, "classes", name);
}

static const struct value *driver(void *arg, struct arena *a, struct str name)
{
    (void)a;
    return find(arg, "drivers", name);
}

static size_t capacities(void *arg, struct arena *a, const struct value ***ret)
{
    const struct value *list = value_get(arg, STR("capacities"));
    size_t n = 0;
    *ret = arena_array(a, const struct value *, value_is(list, VALUE_ARRAY) ? list->n + 1 : 1);
    value_each_item (it, list)
        (*ret)[n++] = it;
    return n;
}

static const struct value *csi_node(void *arg, struct arena *a, struct str name)
{
    (void)a;
    return find(arg, "csi_nodes", name);
}

static size_t attachments(void *arg, struct arena *a, struct str node, const struct value ***ret)
{
    const struct value *list = value_get(arg, STR("attachments"));
    size_t n = 0;
    *ret = arena_array(a, const struct value *, value_is(list, VALUE_ARRAY) ? list->n + 1 : 1);
    value_each_item (it, list)
        if (str_eq(value_str(value_dig(it, "spec", "nodeName")), node))
            (*ret)[n++] = it;
    return n;
}

static size_t volumes(void *arg, struct arena *a, struct str class, const struct value ***ret)
{
    const struct value *list = value_get(arg, STR("volumes"));
    size_t n = 0;
    *ret = arena_array(a, const struct value *, value_is(list, VALUE_ARRAY) ? list->n + 1 : 1);
    value_each_item (it, list)
        if (str_eq(value_str(value_dig(it, "spec", "storageClassName")), class))
            (*ret)[n++] = it;
    return n;
}

#define ON(node)                                                                        \
    "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'h'," \
    "'operator':'In','values':['" node "']}]}]}}"
#define VOLUME(name, size, node)                                                       \
    "{'metadata':{'name':'" name "'},'spec':{'storageClassName':'late','accessModes':" \
    "['ReadWriteOnce'],'capacity':{'storage':'" size                                   \
    "'}," ON(node) "},'status':{'phase':'Available'}}"
#define OPEN                                                                    \
    "{'metadata':{'name':'c'},'spec':{'storageClassName':'late','accessModes':" \
    "['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}"
#define BOUND(mode)                                                                     \
    "{'metadata':{'name':'c','annotations':{'pv.kubernetes.io/bind-completed':'yes'}}," \
    "'spec':{'volumeName':'v','accessModes':['" mode "']}}"
#define LATE(by)                                                              \
    "{'metadata':{'name':'late'},'provisioner':'" by "','volumeBindingMode':" \
    "'WaitForFirstConsumer'}"
#define DRIVER "{'metadata':{'name':'disk'},'spec':{'storageCapacity':true}}"
#define ROOM(node, size)                                                          \
    "{'storageClassName':'late','nodeTopology':{'matchLabels':{'h':'" node "'}}," \
    "'capacity':'" size "'}"
#define NONE "kubernetes.io/no-provisioner"
#define NOT_HELPFUL \
    " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."

#define DISK(name, handle)                                                                         \
    "{'metadata':{'name':'" name "'},'spec':{'csi':{'driver':'disk','volumeHandle':'" handle "'}}" \
    "}"
#define OTHER(name)                                                                            \
    "{'metadata':{'name':'" name "','annotations':{'pv.kubernetes.io/bind-completed':'yes'}}," \
    "'spec':{'volumeName':'" name "'}}"
#define LIMIT(node, n)                                                                 \
    "{'metadata':{'name':'" node "'},'spec':{'drivers':[{'name':'disk','allocatable':" \
    "{'count':" n "}}]}}"
#define USER(node, claim)                                                                          \
    "{'name':'x','on':'" node "','spec':{'volumes':[{'persistentVolumeClaim':{'claimName':'" claim \
    "'}}]}}"
#define FULL "node(s) exceed max volume count. preemption: 0/2 nodes are available: "

static const struct {
    const char *storage; /* claims, volumes, classes */
    const char *pods;
    const char *node, *volume; /* what the pod gets; an empty volume: one is made */
    const char *message;
} cases[] = {
    { "{}", "[]", NULL, NULL,
      "0/2 nodes are available: persistentvolumeclaim \"c\" not found. not found" },
    { "{'claims':[{'metadata':{'name':'c'}}]}", "[]", NULL, NULL,
      "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found" },
    { "{'claims':[{'metadata':{'name':'c','deletionTimestamp':'2026-01-01T00:00:00Z'}}]}", "[]",
      NULL, NULL,
      "0/2 nodes are available: persistentvolumeclaim \"c\" is being deleted. not found" },
    { "{'claims':[" BOUND("ReadWriteOnce") "],'volumes':[" VOLUME("v", "1Gi", "b") "]}", "[]", "b",
      NULL, NULL },
    { "{'claims':[" BOUND("ReadWriteOnce") "],'volumes':[" VOLUME("v", "1Gi", "z") "]}", "[]", NULL,
      NULL,
      "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node "
      "affinity." NOT_HELPFUL },
    { "{'claims':[" BOUND("ReadWriteOnce") "]}", "[]", NULL, NULL,
      "0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to "
      "non-existent pv(s)." NOT_HELPFUL },
    { "{'claims':[" BOUND("ReadWriteOncePod") "],'volumes':[" VOLUME("v", "1Gi", "b") "]}",
      "[{'name':'x','on':'b','spec':{'volumes':[{'persistentVolumeClaim':{'claimName':'c'}}]}}]",
      NULL, NULL,
      "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with "
      "ReadWriteOncePod access mode already in-use by another pod. preemption: 0/2 nodes are "
      "available: 2 No preemption victims found for incoming pod." },
    /* The smallest that is large enough. */
    { "{'claims':[" OPEN "],'classes':[" LATE(NONE) "],'volumes':[" VOLUME(
          "s", "1Mi", "b") "," VOLUME("l", "9Gi", "b") "," VOLUME("m", "2Gi", "b") "]}",
      "[]", "b", "m", NULL },
    { "{'claims':[" OPEN "],'classes':[" LATE(NONE) "],'volumes':[" VOLUME("s", "1Mi", "b") "]}",
      "[]", NULL, NULL,
      "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to "
      "bind." NOT_HELPFUL },
    { "{'claims':[" OPEN "],'classes':[" LATE("example.com/disk") "]}",
      "[{'name':'x','on':'a','cpu':'4'}]", "b", "", NULL },
    /* Where the driver has room. */
    { "{'claims':[" OPEN
      "],'classes':[" LATE("disk") "],'drivers':[" DRIVER
                                   "],'capacities':[" ROOM("b", "1Gi") "," ROOM("a", "1Mi") "]}",
      "[]", "b", "", NULL },
    { "{'claims':[" OPEN "],'classes':[" LATE("disk") "],'drivers':[" DRIVER
                                                      "],'capacities':[" ROOM("b", "1Mi") "]}",
      "[]", NULL, NULL,
      "0/2 nodes are available: 2 node(s) did not have enough free storage." NOT_HELPFUL },
    /* So many of a driver as a node can have: others of it, the same one, one that is left. */
    { "{'claims':[" BOUND("ReadWriteOnce") "," OTHER("o") "],'volumes':[" DISK("v", "1") "," DISK(
          "o", "2") "],'csi_nodes':[" LIMIT("a", "1") "," LIMIT("b", "2") "]}",
      "[" USER("a", "o") "]", "b", NULL, NULL },
    { "{'claims':[" BOUND("ReadWriteOnce") "," OTHER("o") "],'volumes':[" DISK("v", "1") "," DISK(
          "o", "1") "],'csi_nodes':[" LIMIT("a", "1") "," LIMIT("b", "0") "]}",
      "[" USER("a", "o") "]", "a", NULL, NULL },
    { "{'claims':[" BOUND("ReadWriteOnce") "],'volumes':[" DISK("v", "1") "," DISK(
          "o", "2") "],"
                    "'csi_nodes':[" LIMIT("a", "1") "," LIMIT(
                        "b", "1") "],'attachments':[{'spec':{'nodeName':"
                                  "'b','attacher':'disk','source':{'persistentVolumeName':'o'}}}]}",
      "[]", "a", NULL, NULL },
    { "{'claims':[" BOUND("ReadWriteOnce") "],'volumes':[" DISK(
          "v", "1") "],"
                    "'csi_nodes':[" LIMIT("a", "0") "," LIMIT("b", "0") "]}",
      "[]", NULL, NULL,
      "0/2 nodes are available: 2 " FULL "2 No preemption victims found for incoming pod." },
    { "{'claims':[" OPEN "],'classes':[" LATE("disk") "],'csi_nodes':[" LIMIT("a", "0") "]}", "[]",
      "b", "", NULL },
};

static void test_volumes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        struct cursor at = { 0 };
        struct decision d;
        struct cycle_env env = { .arg = read_tree(cases[i].storage),
                                 .claim = claim,
                                 .volume = volume,
                                 .storage_class = storage_class,
                                 .volumes = volumes,
                                 .driver = driver,
                                 .capacities = capacities,
                                 .csi_node = csi_node,
                                 .attachments = attachments };
        world_init(&w);
        add_nodes(&w, "[{'name':'a','labels':{'h':'a'}},{'name':'b','labels':{'h':'b'}}]");
        value_each_item (p, read_tree(cases[i].pods))
            add_pod(&w, p);
        struct sched_pod *pod = add_pod(
            &w, read_tree("{'name':'p','cpu':'1','spec':{'volumes':[{'persistentVolumeClaim':"
                          "{'claimName':'c'}}]}}"));
        cycle_run(&w, &profiles.items[0], &env, &arena, &at, pod, &d);
        if (cases[i].node)
            assert_string_equal(d.node ? str_cstr(&arena, d.node->name) : "", cases[i].node);
        else
            assert_string_equal(str_cstr(&arena, d.message), cases[i].message);
        assert_int_equal(d.n_volumes, cases[i].volume ? 1 : 0);
        if (cases[i].volume)
            assert_string_equal(str_cstr(&arena, d.volumes[0].volume), cases[i].volume);
        world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_volumes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
