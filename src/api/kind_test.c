#include "api/kind.h"

#include "api/convert/convert.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct kind_resource *resource(struct str group, struct str plural)
{
    const struct kind_version *v = kind_version_find(group, STR("v1"));
    assert_non_null(v);
    for (size_t i = 0; i < v->n_resources; i++)
        if (str_eq(v->resources[i].plural, plural))
            return &v->resources[i];
    return NULL;
}

static void fields_are_found_by_name_and_number(void **state)
{
    (void)state;
    const struct kind_type *spec = kind_type_find(STR("apps"), STR("v1"), STR("DeploymentSpec"));
    const struct kind_field *f = kind_field_find(spec, STR("progressDeadlineSeconds"));
    assert_int_equal(f->number, 9);
    assert_int_equal(f->scalar, KIND_INT32);
    assert_true(f->flags & KIND_POINTER);
    assert_ptr_equal(kind_field_numbered(spec, 9), f);
    assert_null(kind_field_numbered(spec, 8));
    assert_null(kind_field_find(spec, STR("Replicas")));
    assert_null(kind_type_find(STR("apps"), STR("v1"), STR("Nothing")));

    const struct kind_field *template = kind_field_find(spec, STR("template"));
    assert_ptr_equal(template->type, kind_type_find(STR(""), STR("v1"), STR("PodTemplateSpec")));
}

static void merge_keys_are_there(void **state)
{
    (void)state;
    const struct kind_type *svc = kind_type_find(STR(""), STR("v1"), STR("ServiceSpec"));
    const struct kind_field *ports = kind_field_find(svc, STR("ports"));
    assert_int_equal(ports->merge, KIND_MERGE_MAP);
    assert_int_equal(ports->n_list_keys, 2);
    assert_true(str_eq(ports->list_keys[0], STR("port")));
    assert_true(str_eq(ports->list_keys[1], STR("protocol")));
    assert_true(str_eq(ports->patch_key, STR("port")));
    const struct kind_field *type = kind_field_find(svc, STR("type"));
    assert_true(type->flags & KIND_CLOSED);
    assert_int_equal(type->n_values, 4);
}

static void resources_have_what_discovery_says(void **state)
{
    (void)state;
    const struct kind_resource *deploy = resource(STR("apps"), STR("deployments"));
    assert_true(deploy->namespaced);
    assert_true(str_eq(deploy->singular, STR("deployment")));
    assert_true(str_eq(deploy->short_names[0], STR("deploy")));
    assert_int_equal(deploy->verbs, 0xff);
    assert_int_equal(deploy->n_subresources, 2);
    assert_true(str_eq(deploy->subresources[0].type->name, STR("Scale")));
    assert_true(str_eq(deploy->list->name, STR("DeploymentList")));
    assert_int_equal(deploy->n_columns, 8);
    assert_true(str_eq(deploy->columns[2].name, STR("Up-to-date")));
    assert_int_equal(deploy->columns[4].priority, 0);
    assert_int_equal(deploy->columns[5].priority, 1);

    const struct kind_resource *events = resource(STR(""), STR("events"));
    assert_true(str_eq(events->columns[4].name, STR("Subobject")));
    assert_int_equal(events->columns[4].priority, 1);
    assert_int_equal(events->columns[6].priority, 0);
    assert_null(resource(STR(""), STR("bindings"))->list);
}

static void order_indexes_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_kind_types; i++) {
        const struct kind_type *t = &kind_types[i];
        for (size_t j = 0; j < t->n_fields; j++) {
            const struct kind_field *f = &t->fields[j];
            if (!(f->flags & KIND_INLINE))
                assert_ptr_equal(kind_field_find(t, f->name), f);
            if (f->number)
                assert_ptr_equal(kind_field_numbered(t, f->number), f);
            assert_true((f->scalar == KIND_STRUCT) == (f->type != NULL));
        }
    }
}

static void objects_say_what_they_are(void **state)
{
    (void)state;
    static const struct {
        struct str api_version, kind, group; /* no group: not found */
    } rows[] = {
        { STR("v1"), STR("Pod"), STR("") },
        { STR("apps/v1"), STR("Deployment"), STR("apps") },
        { STR("apps/v1"), STR("DeploymentSpec"), { 0 } }, /* does not stand alone */
        { STR("apps/v1"), STR("Pod"), { 0 } },
        { STR("apps/v9"), STR("Deployment"), { 0 } },
        { STR("/v1"), STR("Pod"), STR("") },
        { STR(""), STR("Pod"), { 0 } },
        { STR("v1"), STR("DeleteOptions"), STR("meta") },
        { STR("apps/v1"), STR("DeleteOptions"), STR("meta") },
        { STR("example.com/v9"), STR("WatchEvent"), STR("meta") },
        { STR("v1"), STR("Status"), STR("meta") },
        { STR("apps/v1"), STR("Status"), { 0 } },
        { STR("meta/v1"), STR("Status"), { 0 } },
        { STR("meta.k8s.io/v1"), STR("Table"), STR("meta") },
        { STR("meta.k8s.io/v1"), STR("Status"), { 0 } },
        { STR("v1"), STR("Table"), { 0 } },
        { STR("v1"), STR("ObjectMeta"), { 0 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_type *t = kind_find(rows[i].api_version, rows[i].kind);
        assert_int_equal(t != NULL, rows[i].group.p != NULL);
        if (t)
            assert_true(str_eq(t->name, rows[i].kind) && str_eq(t->group, rows[i].group));
    }
}

static void versions_may_be_known_and_not_served(void **state)
{
    (void)state;
    const struct kind_type *old = kind_find(STR("extensions/v1beta1"), STR("Deployment"));
    assert_non_null(old);
    assert_true(str_eq(old->group, STR("extensions")) && str_eq(old->version, STR("v1beta1")));
    assert_non_null(kind_find(STR("resource.k8s.io/v1beta1"), STR("ResourceClaim")));
    assert_null(kind_version_find(STR("resource.k8s.io"), STR("v1beta1")));
    assert_null(kind_group_find(STR("imagepolicy.k8s.io")));
    assert_non_null(kind_find(STR("policy/v1beta1"), STR("PodSecurityPolicy")));
    assert_null(kind_find(STR("policy/v1"), STR("PodSecurityPolicy")));
}

static void old_versions_are_served_by_choice(void **state)
{
    (void)state;
    const struct kind_version *old = kind_version_find(STR("apps"), STR("v1beta1"));
    assert_true(kind_version_is(old, KIND_ALL_VERSIONS));
    assert_false(kind_version_is(old, KIND_CURRENT_VERSIONS));
    assert_false(kind_version_is(NULL, KIND_ALL_VERSIONS));
    /* Clients take the first version that they see, and the first group that has a resource. */
    bool before_was_old = false;
    for (size_t i = 0; i < n_kind_versions; i++) {
        const struct kind_version *v = &kind_versions[i], *first = kind_group_find(v->group);
        bool gone = first->is_old;
        assert_true(v->is_old || !gone);
        assert_true(!before_was_old || gone);
        before_was_old = gone;
    }
}

/* Whatever an object was written as, it is stored once. */
static void versions_share_their_storage(void **state)
{
    (void)state;
    static const struct {
        const char *group, *version, *plural, *stored_group, *stored_version;
    } rows[] = {
        { "extensions", "v1beta1", "deployments", "apps", "v1" },
        { "apps", "v1beta2", "deployments", "apps", "v1" },
        { "apps", "v1", "deployments", "apps", "v1" },
        { "extensions", "v1beta1", "ingresses", "networking.k8s.io", "v1" },
        { "extensions", "v1beta1", "podsecuritypolicies", "policy", "v1beta1" },
        { "policy", "v1beta1", "podsecuritypolicies", "policy", "v1beta1" },
        { "autoscaling", "v1", "horizontalpodautoscalers", "autoscaling", "v2" },
        { "autoscaling", "v2beta1", "horizontalpodautoscalers", "autoscaling", "v2" },
        { "events.k8s.io", "v1beta1", "events", "", "v1" },
        { "events.k8s.io", "v1", "events", "", "v1" },
        { "apiextensions.k8s.io", "v1beta1", "customresourcedefinitions", "apiextensions.k8s.io",
          "v1" },
        { "settings.k8s.io", "v1alpha1", "podpresets", "settings.k8s.io", "v1alpha1" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_version *v =
            kind_version_find(str_of(rows[i].group), str_of(rows[i].version));
        const struct kind_resource *r = kind_resource_find(v, str_of(rows[i].plural));
        assert_true(str_eq(kind_stored(r)->group, str_of(rows[i].stored_group)));
        assert_true(str_eq(kind_stored(r)->version, str_of(rows[i].stored_version)));
        assert_true(str_eq(kind_stored(r)->storage_hash, r->storage_hash));
    }
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; i < kind_versions[v].n_resources; i++) {
            const struct kind_resource *r = &kind_versions[v].resources[i];
            assert_ptr_equal(kind_stored(kind_stored(r)), kind_stored(r));
            assert_true(str_eq(kind_stored(r)->etcd_prefix, r->etcd_prefix));
            if (r->etcd_prefix.n && r->verbs)
                assert_ptr_equal(convert_hub(r->type), kind_stored(r)->type);
        }
}

static void deprecations_are_told_in_upstreams_words(void **state)
{
    (void)state;
    static const struct {
        const char *group, *version, *plural, *text;
    } rows[] = {
        { "extensions", "v1beta1", "deployments",
          "extensions/v1beta1 Deployment is deprecated in v1.8+, unavailable in v1.16+; use "
          "apps/v1 Deployment" },
        { "policy", "v1beta1", "podsecuritypolicies",
          "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+" },
        { "", "v1", "componentstatuses", "v1 ComponentStatus is deprecated in v1.19+" },
        { "", "v1", "endpoints",
          "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" },
        { "apps", "v1", "deployments", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kind_version *v =
            kind_version_find(str_of(rows[i].group), str_of(rows[i].version));
        const struct kind_resource *r = kind_resource_find(v, str_of(rows[i].plural));
        assert_true(str_eq(r->deprecation, str_of(rows[i].text)));
    }
    for (size_t v = 0; v < n_kind_versions; v++)
        for (size_t i = 0; kind_versions[v].is_old && i < kind_versions[v].n_resources; i++)
            if (kind_versions[v].resources[i].verbs)
                assert_true(kind_versions[v].resources[i].deprecation.n);
}

/* A custom kind may be named as one of ours. */
static void only_ours_show_what_was_deleted(void **state)
{
    static const struct {
        const char *group, *plural;
        bool shown;
    } cases[] = {
        { "", "pods", true },
        { "example.com", "pods", false },
        { "example.com", "services", false },
        { "", "configmaps", false },
        { "storage.k8s.io", "csinodes", true },
        { "", "csinodes", false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct kind_resource r = { .group = str_of(cases[i].group),
                                         .plural = str_of(cases[i].plural) };
        assert_int_equal(kind_shows_deleted(&r), cases[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_ours_show_what_was_deleted),
        cmocka_unit_test(fields_are_found_by_name_and_number),
        cmocka_unit_test(merge_keys_are_there),
        cmocka_unit_test(resources_have_what_discovery_says),
        cmocka_unit_test(order_indexes_are_sorted),
        cmocka_unit_test(objects_say_what_they_are),
        cmocka_unit_test(versions_may_be_known_and_not_served),
        cmocka_unit_test(old_versions_are_served_by_choice),
        cmocka_unit_test(versions_share_their_storage),
        cmocka_unit_test(deprecations_are_told_in_upstreams_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
