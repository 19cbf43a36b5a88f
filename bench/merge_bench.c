/* merge_bench - a Deployment of about 4 KB: what each type of patch takes to be applied to it, and
 * a strategic one to be made. No I/O: documents are parsed before.
 *
 * The best of many rounds counts, so that a busy machine disturbs little. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "measure.h"
#include "merge/json_patch.h"
#include "merge/managed.h"
#include "merge/merge_patch.h"
#include "merge/strategic.h"

static const char deployment_text[] =
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"orders\","
    "\"namespace\":\"shop\",\"uid\":\"5b0f6c1e-8f1d-4c58-9a57-0f1c9c5d3b7e\",\"resourceVersion\":"
    "\"184467\",\"generation\":7,\"creationTimestamp\":\"2026-03-01T08:15:42Z\",\"labels\":{"
    "\"app\":\"orders\",\"app.kubernetes.io/component\":\"backend\","
    "\"app.kubernetes.io/part-of\":\"shop\"},\"annotations\":{"
    "\"deployment.kubernetes.io/revision\":\"7\",\"team\":\"checkout\"},\"finalizers\":["
    "\"shop.example/orders\"]},\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"app\":"
    "\"orders\"}},\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":"
    "\"25%\",\"maxSurge\":\"25%\"}},\"revisionHistoryLimit\":10,\"progressDeadlineSeconds\":600,"
    "\"template\":{\"metadata\":{\"labels\":{\"app\":\"orders\",\"app.kubernetes.io/component\":"
    "\"backend\"},\"annotations\":{\"prometheus.io/port\":\"9090\",\"prometheus.io/scrape\":"
    "\"true\"}},\"spec\":{\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":"
    "\"orders-config\",\"defaultMode\":420}},{\"name\":\"cache\",\"emptyDir\":{\"sizeLimit\":"
    "\"256Mi\"}},{\"name\":\"tls\",\"secret\":{\"secretName\":\"orders-tls\",\"defaultMode\":420"
    "}}],\"initContainers\":[{\"name\":\"migrate\",\"image\":"
    "\"registry.example/shop/orders-migrate:1.42.0\",\"command\":[\"/bin/migrate\"],\"env\":[{"
    "\"name\":\"DATABASE_HOST\",\"value\":\"orders-db.shop.svc\"}],\"resources\":{},"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
    "\"imagePullPolicy\":\"IfNotPresent\"}],\"containers\":[{\"name\":\"server\",\"image\":"
    "\"registry.example/shop/orders:1.42.0\",\"args\":[\"--listen=0.0.0.0:8080\","
    "\"--log-level=info\",\"--cache-dir=/var/cache/orders\"],\"ports\":[{\"name\":\"http\","
    "\"containerPort\":8080,\"protocol\":\"TCP\"},{\"name\":\"metrics\",\"containerPort\":9090,"
    "\"protocol\":\"TCP\"}],\"env\":[{\"name\":\"DATABASE_HOST\",\"value\":\"orders-db.shop.svc\""
    "},{\"name\":\"DATABASE_PASSWORD\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"orders-db\","
    "\"key\":\"password\"}}},{\"name\":\"POD_IP\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":"
    "\"v1\",\"fieldPath\":\"status.podIP\"}}},{\"name\":\"CURRENCY\",\"value\":\"EUR\"}],"
    "\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"250m\","
    "\"memory\":\"512Mi\"}},\"volumeMounts\":[{\"name\":\"config\",\"readOnly\":true,"
    "\"mountPath\":\"/etc/orders\"},{\"name\":\"cache\",\"mountPath\":\"/var/cache/orders\"},{"
    "\"name\":\"tls\",\"mountPath\":\"/etc/tls\"}],\"livenessProbe\":{\"httpGet\":{\"path\":"
    "\"/livez\",\"port\":8080,\"scheme\":\"HTTP\"},\"initialDelaySeconds\":10,\"timeoutSeconds\":"
    "1,\"periodSeconds\":10,\"successThreshold\":1,\"failureThreshold\":3},\"readinessProbe\":{"
    "\"httpGet\":{\"path\":\"/readyz\",\"port\":8080,\"scheme\":\"HTTP\"},\"timeoutSeconds\":1,"
    "\"periodSeconds\":5,\"successThreshold\":1,\"failureThreshold\":3},"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\","
    "\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{\"runAsUser\":1000,"
    "\"runAsNonRoot\":true,\"readOnlyRootFilesystem\":true,\"allowPrivilegeEscalation\":false}},{"
    "\"name\":\"proxy\",\"image\":\"registry.example/mesh/proxy:2.7.1\",\"ports\":[{\"name\":"
    "\"admin\",\"containerPort\":15000,\"protocol\":\"TCP\"}],\"resources\":{\"requests\":{"
    "\"cpu\":\"50m\",\"memory\":\"64Mi\"}},\"terminationMessagePath\":\"/dev/termination-log\","
    "\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"IfNotPresent\"}],"
    "\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":"
    "\"ClusterFirst\",\"serviceAccountName\":\"orders\",\"serviceAccount\":\"orders\","
    "\"securityContext\":{\"fsGroup\":2000},\"schedulerName\":\"default-scheduler\","
    "\"tolerations\":[{\"key\":\"dedicated\",\"operator\":\"Equal\",\"value\":\"shop\","
    "\"effect\":\"NoSchedule\"}]}}},\"status\":{\"observedGeneration\":7,\"replicas\":3,"
    "\"updatedReplicas\":3,\"readyReplicas\":3,\"availableReplicas\":3,\"conditions\":[{\"type\":"
    "\"Available\",\"status\":\"True\",\"lastUpdateTime\":\"2026-03-01T08:16:02Z\","
    "\"lastTransitionTime\":\"2026-03-01T08:16:02Z\",\"reason\":\"MinimumReplicasAvailable\","
    "\"message\":\"Deployment has minimum availability.\"},{\"type\":\"Progressing\",\"status\":"
    "\"True\",\"lastUpdateTime\":\"2026-03-01T08:16:02Z\",\"lastTransitionTime\":"
    "\"2026-03-01T08:15:42Z\",\"reason\":\"NewReplicaSetAvailable\",\"message\":"
    "\"ReplicaSet orders has successfully progressed.\"}]}}";

/* As `kubectl apply` makes one of several changes. */
static const char strategic_text[] =
    "{\"metadata\":{\"annotations\":{\"deployment.kubernetes.io/revision\":\"8\",\"team\":null}},"
    "\"spec\":{\"replicas\":5,\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\","
    "\"rollingUpdate\":null},\"template\":{\"spec\":{\"$setElementOrder/containers\":[{\"name\":"
    "\"server\"},{\"name\":\"proxy\"}],\"containers\":[{\"name\":\"server\",\"image\":"
    "\"registry.example/shop/orders:1.43.0\",\"$setElementOrder/env\":[{\"name\":"
    "\"DATABASE_HOST\"},{\"name\":\"POD_IP\"},{\"name\":\"CURRENCY\"},{\"name\":\"LOCALE\"}],"
    "\"env\":[{\"name\":\"CURRENCY\",\"value\":\"CHF\"},{\"name\":\"LOCALE\",\"value\":\"de\"},{"
    "\"name\":\"DATABASE_PASSWORD\",\"$patch\":\"delete\"}]}],\"volumes\":[{\"name\":\"cache\","
    "\"$retainKeys\":[\"name\",\"hostPath\"],\"hostPath\":{\"path\":\"/var/cache\"},\"emptyDir\":"
    "null}]}}}}";

static const char merge_text[] =
    "{\"metadata\":{\"annotations\":{\"deployment.kubernetes.io/revision\":\"8\",\"team\":null}},"
    "\"spec\":{\"replicas\":5,\"template\":{\"metadata\":{\"annotations\":{"
    "\"prometheus.io/port\":\"9091\"}},\"spec\":{\"nodeSelector\":{\"disk\":\"ssd\"}}}}}";

static const char json_text[] =
    "[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":3},{\"op\":\"replace\",\"path\":"
    "\"/spec/replicas\",\"value\":5},{\"op\":\"replace\",\"path\":"
    "\"/spec/template/spec/containers/0/image\",\"value\":\"registry.example/shop/orders:1.43.0\""
    "},{\"op\":\"remove\",\"path\":\"/spec/template/spec/containers/0/env/1\"},{\"op\":\"add\","
    "\"path\":\"/spec/template/spec/containers/0/env/-\",\"value\":{\"name\":\"LOCALE\","
    "\"value\":\"de\"}}]";

/* What one of two managers applies. */
static const char config_text[] =
    "{\"apiVersion\":\"apps/"
    "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"orders\",\"labels\":{"
    "\"tier\":\"gold\"}},\"spec\":{\"replicas\":5,\"template\":{\"spec\":{\"containers\":[{"
    "\"name\":"
    "\"server\",\"image\":\"registry.example/shop/orders:1.43.0\",\"env\":[{\"name\":\"LOCALE\","
    "\"value\":\"de\"},{\"name\":\"CURRENCY\",\"value\":\"CHF\"}]}]}}}}";

static struct arena documents, arena;
static struct value deployment, changed, strategic_patch, merge_patch, json_patch;
static struct value empty, config, owned, owned_twice;
static const struct kind_type *type;

static void once_strategic(void)
{
    arena_reset(&arena);
    struct value doc = value_borrow(&deployment);
    measure_must(strategic_apply(&arena, &strategic_kinds, type, &strategic_patch, &doc, NULL) == 0,
                 "strategic_apply");
}

static void once_two_way(void)
{
    struct value patch;
    arena_reset(&arena);
    measure_must(
        strategic_two_way(&arena, &strategic_kinds, type, &deployment, &changed, &patch, NULL) == 0,
        "strategic_two_way");
}

static void once_three_way(void)
{
    struct value patch;
    arena_reset(&arena);
    measure_must(strategic_three_way(&arena, &strategic_kinds, type, &deployment, &changed,
                                     &deployment, true, &patch, NULL) == 0,
                 "strategic_three_way");
}

static void once_merge(void)
{
    arena_reset(&arena);
    struct value doc = value_borrow(&deployment);
    merge_patch_apply(&arena, &merge_patch, &doc);
}

static void once_json(void)
{
    arena_reset(&arena);
    struct value doc = value_borrow(&deployment);
    measure_must(json_patch_apply(&arena, &json_patch, &doc, NULL) == 0, "json_patch_apply");
}

static struct managed_request request_of(const char *manager)
{
    return (struct managed_request){ .schema = &ownership_kinds,
                                     .place = ownership_kind(type),
                                     .manager = str_of(manager),
                                     .api_version = STR("apps/v1"),
                                     .now = STR("2026-03-01T08:15:42Z"),
                                     .empty = &empty };
}

/* Replaces an object that has two managers by one with several changes. */
static void once_managers(void)
{
    struct managed_request req = request_of("one");
    arena_reset(&arena);
    struct value obj = value_borrow(&changed);
    measure_must(managed_update(&arena, &req, &owned_twice, &obj, NULL) == 0, "managed_update");
}

/* Takes fields from the other manager. */
static void once_apply(void)
{
    struct managed_request req = request_of("two");
    struct value obj;
    arena_reset(&arena);
    measure_must(managed_check(&arena, &req, &config, NULL) == 0 &&
                     managed_apply(&arena, &req, &owned, &config, true, &obj, NULL) == 0,
                 "managed_apply");
}

static void once_apply_again(void)
{
    struct managed_request req = request_of("two");
    struct value obj;
    arena_reset(&arena);
    measure_must(managed_apply(&arena, &req, &owned_twice, &config, false, &obj, NULL) == 0,
                 "managed_apply");
}

static struct value read(const char *text)
{
    struct value v;
    measure_must(json_read(&documents, str_of(text), NULL, &v, NULL) == 0, "json_read");
    return v;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*once)(void);
    } steps[] = {
        { "strategic merge patch (50 us wanted)", once_strategic },
        { "JSON merge patch", once_merge },
        { "JSON patch", once_json },
        { "two-way strategic patch made", once_two_way },
        { "three-way strategic patch made", once_three_way },
        { "managers after an update", once_managers },
        { "server-side apply", once_apply },
        { "server-side apply, nothing new", once_apply_again },
    };
    arena_init(&documents);
    arena_init(&arena);
    type = kind_find(STR("apps/v1"), STR("Deployment"));
    deployment = read(deployment_text);
    strategic_patch = read(strategic_text);
    merge_patch = read(merge_text);
    json_patch = read(json_text);
    changed = value_share(&deployment);
    measure_must(
        strategic_apply(&documents, &strategic_kinds, type, &strategic_patch, &changed, NULL) == 0,
        "strategic_apply");
    empty = value_object();
    config = read(config_text);
    owned = value_share(&deployment);
    struct managed_request one = request_of("one"), two = request_of("two");
    measure_must(managed_update(&documents, &one, NULL, &owned, NULL) == 0 &&
                     managed_apply(&documents, &two, &owned, &config, true, &owned_twice, NULL) ==
                         0,
                 "managed_apply");

    printf("patches of a Deployment of %zu bytes\n", sizeof(deployment_text) - 1);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        printf("  %-36s %6.2f us\n", steps[i].name, measure_us(measure_wall_ns, steps[i].once));
    arena_done(&arena);
    arena_done(&documents);
    return 0;
}
