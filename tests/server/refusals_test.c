/* What is refused and what is taken, by rules that depend on how a request came. */
#include "script.h"

static struct script script;

#define MAPS   "/api/v1/namespaces/default/configmaps"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"
#define AN_EVENT                                                                                 \
    "eventTime: 2020-01-01T00:00:00.000000Z, reportingController: a.b/c, reportingInstance: i, " \
    "action: a, reason: r, type: Normal, regarding: {namespace: default}}"

static void revisions_of_new_objects(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS "?dryRun=All", NULL, NULL, "{metadata: {name: a, resourceVersion: '5'}}",
          201, "\"resourceVersion\":\"5\"", NULL },
        { "POST", MAPS, NULL, NULL, "{metadata: {name: a, resourceVersion: '5'}}", 500,
          "resourceVersion should not be set on objects to be created", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void names_of_events(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", EVENTS, NULL, NULL, "{metadata: {name: Bad_Name}, " AN_EVENT, 422,
          "metadata.name: Invalid value: \\\"Bad_Name\\\": a lowercase RFC 1123 subdomain", NULL },
        { "POST", EVENTS, NULL, NULL, "{metadata: {name: good}, " AN_EVENT, 201, NULL, NULL },
        { "POST", "/api/v1/namespaces/default/events", NULL, NULL,
          "{metadata: {name: Bad_Name}, involvedObject: {namespace: default}}", 201, NULL, NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define MERGE  "application/merge-patch+json"
#define WIDGET "/apis/refusals.example.com/v1/namespaces/default/widgets/w"
#define SCALE  "/apis/apps/v1/namespaces/default/deployments/d/scale"

static const char definition[] =
    "{metadata: {name: widgets.refusals.example.com}, spec: {group: refusals.example.com, scope: "
    "Namespaced, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, "
    "storage: true, schema: {openAPIV3Schema: {type: object, "
    "x-kubernetes-preserve-unknown-fields: true}}}]}}";

static void patches(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS, NULL, NULL, "{metadata: {name: p}}", 201, NULL, NULL },
        { "PATCH", MAPS "/p", MERGE, NULL, "null", 400, "\"Invalid JSON Patch\"", NULL },
        { "PATCH", MAPS "/p", MERGE, NULL, "[]", 400, "error decoding patch: json: cannot", NULL },
        { "PATCH", MAPS "/p?fieldValidation=Ignore", MERGE, NULL, "1", 400, "Invalid JSON Patch",
          NULL },
        { "PATCH", MAPS "/p?fieldValidation=Ignore", MERGE, NULL, "[]", 422,
          "couldn't get version/kind", NULL },
        { "PATCH", MAPS "/p", "application/strategic-merge-patch+json", NULL, "null", 200, NULL,
          NULL },
        { "PATCH", MAPS "/p", "APPLICATION/MERGE-PATCH+JSON", NULL, "{}", 415,
          "415: Unsupported Media Type", NULL },
        { "PATCH", MAPS "/p", "application/merge-patch+json; charset=UTF-8", NULL, "{}", 200, NULL,
          NULL },
        { "PUT", MAPS "/p", "Application/JSON", NULL, "{\"metadata\":{\"name\":\"p\"}}", 200, NULL,
          NULL },
        { "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", NULL, NULL, definition,
          201, NULL, NULL },
        { "POST", "/apis/refusals.example.com/v1/namespaces/default/widgets", NULL, NULL,
          "{apiVersion: refusals.example.com/v1, kind: Widget, metadata: {name: w}}", 201, NULL,
          NULL },
        { "PATCH", WIDGET, "Application/Merge-Patch+JSON", NULL, "{}", 415,
          "accepted media types include: application/json-patch+json, ", NULL },
        { "PATCH", WIDGET, NULL, NULL, "{kind: Gadget}", 422,
          "Gadget.refusals.example.com \\\"w\\\" is invalid: kind: Invalid value: "
          "\\\"Gadget\\\": must be Widget\"",
          NULL },
        { "PATCH", WIDGET, NULL, NULL, "{apiVersion: other.example.com/v1}", 422,
          "Widget.other.example.com \\\"w\\\" is invalid: apiVersion: Invalid value: "
          "\\\"other.example.com/v1\\\": must be refusals.example.com/v1\"",
          NULL },
        { "PUT", WIDGET, NULL, NULL,
          "{apiVersion: refusals.example.com/v1, kind: Gadget, metadata: {name: w}}", 422,
          "must be Widget\"", NULL },
        { "PUT", WIDGET "x", NULL, NULL,
          "{apiVersion: refusals.example.com/v1, kind: Gadget, metadata: {name: wx}}", 404,
          "widgets.refusals.example.com \\\"wx\\\" not found", NULL },
        { "PATCH", WIDGET, NULL, NULL, "{kind: null}", 422, "Object 'Kind' is missing in '{",
          NULL },
        { "PATCH", WIDGET, NULL, NULL, "{apiVersion: null}", 500,
          "Object 'apiVersion' is missing in 'object has no apiVersion field'", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define CLASSES "/apis/node.k8s.io/v1/runtimeclasses"
#define SLICES  "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
#define SERVICE_OF(version)                                                                        \
    "{metadata: {name: v1.api.example.com}, spec: {group: api.example.com, version: " version ", " \
    "groupPriorityMinimum: 1000, versionPriority: 10, service: {name: a, namespace: b}}}"

/* Methods of custom kinds have words of their own. */
static void methods(void **state)
{
    (void)state;
#define NO_METHOD(verb) \
    "\"" verb " is not supported on resources of kind \\\"tools.refusals.example.com\\\"\""
#define TOOLS "/apis/refusals.example.com/v1/namespaces/default/tools"
    static const struct script_step steps[] = {
        { "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", NULL, NULL,
          "{metadata: {name: tools.refusals.example.com}, spec: {group: refusals.example.com, "
          "scope: Namespaced, names: {plural: tools, kind: Tool}, versions: [{name: v1, served: "
          "true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: "
          "object}}}]}}",
          201, NULL, NULL },
        { "POST", TOOLS, NULL, NULL,
          "{apiVersion: refusals.example.com/v1, kind: Tool, metadata: {name: t}}", 201, NULL,
          NULL },
        { "POST", TOOLS "/t/status", NULL, NULL, "{}", 405, NO_METHOD("create"), NULL },
        { "DELETE", TOOLS "/t/status", NULL, NULL, NULL, 405, NO_METHOD("delete"), NULL },
        { "OPTIONS", TOOLS "/t", NULL, NULL, NULL, 405, NO_METHOD(""), NULL },
        { "HEAD", TOOLS "/t", NULL, NULL, NULL, 200, NULL, NULL },
        { "POST", TOOLS "/t/scale", NULL, NULL, "{}", 404,
          "tools.refusals.example.com \\\"t\\\" not found", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void updates(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", CLASSES, NULL, NULL, "{metadata: {name: r}, handler: h}", 201, NULL, NULL },
        { "PATCH", CLASSES "/r", NULL, NULL, "{handler: ''}", 422,
          "[handler: Invalid value: \\\"\\\": field is immutable, handler: Required value]", NULL },
        { "POST", "/apis/apiregistration.k8s.io/v1/apiservices", NULL, NULL, SERVICE_OF("v1"), 201,
          NULL, NULL },
        { "PATCH", "/apis/apiregistration.k8s.io/v1/apiservices/v1.api.example.com", NULL, NULL,
          "{spec: {version: v2}}", 422,
          "metadata.name: Invalid value: \\\"v1.api.example.com\\\": must be "
          "`spec.version+\\\".\\\"+spec.group`: \\\"v2.api.example.com\\\"",
          NULL },
        { "POST", SLICES, NULL, NULL,
          "{metadata: {name: e}, addressType: IPv4, endpoints: [{addresses: [1.2.3.4], "
          "deprecatedTopology: {a: b}}]}",
          201, "\"generation\":1", "deprecatedTopology" },
        { "PATCH", SLICES "/e", NULL, NULL,
          "{endpoints: [{addresses: [1.2.3.4], deprecatedTopology: {a: c}}]}", 200,
          "\"generation\":2", "deprecatedTopology" },
        { "PATCH", SLICES "/e", NULL, NULL, "{endpoints: [{addresses: [1.2.3.4]}]}", 200,
          "\"generation\":2", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define A_POD(bundle)                                                                              \
    "{metadata: {name: projected}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, " \
    "projected: {sources: [{clusterTrustBundle: {path: p, name: '" bundle "'}}]}}]}}"

static void names_of_bundles(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", "/api/v1/namespaces/default/pods?dryRun=All", NULL, NULL, A_POD(":a"), 422,
          "not a valid clustertrustbundlename: ClusterTrustBundle without signer name must not "
          "have \\\":\\\" in its name",
          NULL },
        { "POST", "/api/v1/namespaces/default/pods?dryRun=All", NULL, NULL, A_POD("e.com:x:a"), 201,
          NULL, NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void patches_of_a_scale(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", "/apis/apps/v1/namespaces/default/deployments", NULL, NULL,
          "{metadata: {name: d}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: "
          "{labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}",
          201, NULL, NULL },
        { "PATCH", SCALE, NULL, NULL, "{metadata: {uid: other}, spec: {replicas: 3}}", 409,
          "Operation cannot be fulfilled on deployments/scale.apps \\\"d\\\": Precondition failed: "
          "UID in precondition: other, UID in object meta: ",
          NULL },
        { "PATCH", SCALE, NULL, NULL, "{spec: {replicas: 3}}", 200, "\"replicas\":3", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define PROTO "application/vnd.kubernetes.protobuf"
#define JSON  "application/json"
#define SCHEME \
    "in scheme \\\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\\\"\""

/* Faults of options are told without more; unknown fields are none. */
static void options_of_a_delete(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS, NULL, NULL, "{metadata: {name: o}}", 201, NULL, NULL },
        { "DELETE", MAPS "/o", JSON, NULL, "{", 400,
          "\"couldn't get version/kind; json parse error: unexpected end of JSON input\"", NULL },
        { "DELETE", MAPS "/o", JSON, NULL, "[]", 400,
          "\"couldn't get version/kind; json parse error: json: cannot unmarshal array into ",
          NULL },
        { "DELETE", MAPS "/o", JSON, NULL, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", 400,
          "\"no kind \\\"Pod\\\" is registered for version \\\"v1\\\" " SCHEME, NULL },
        { "DELETE", MAPS "/o", JSON, NULL, "{\"gracePeriodSeconds\":\"x\"}", 400,
          "\"json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds "
          "of "
          "type int64\"",
          NULL },
        { "DELETE", MAPS, JSON, NULL, "{\"dryRun\":\"All\"}", 400,
          "\"json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type "
          "[]string\"",
          NULL },
        { "DELETE", MAPS "/o", PROTO, NULL, "{}", 400,
          "\"provided data does not appear to be a protobuf message, expected prefix [107 56 115 "
          "0]\"",
          NULL },
        { "DELETE", MAPS "/o?gracePeriodSeconds=x", NULL, NULL, NULL, 400,
          "\"strconv.ParseInt: parsing \\\"x\\\": invalid syntax\"", NULL },
        { "DELETE", MAPS "/o?gracePeriodSeconds=99999999999999999999", NULL, NULL, NULL, 400,
          "\"strconv.ParseInt: parsing \\\"99999999999999999999\\\": value out of range\"", NULL },
        { "DELETE", MAPS "/o?gracePeriodSeconds=", NULL, NULL, NULL, 400,
          "\"strconv.ParseInt: parsing \\\"\\\": invalid syntax\"", NULL },
        { "DELETE", MAPS "/o", JSON, NULL, "{\"apiVersion\":\"apps/v1\",\"zzz\":1}", 200, NULL,
          NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void bodies(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", MAPS, PROTO, NULL, "abc", 400,
          "the object provided is unrecognized (must be of type ConfigMap): provided data does not "
          "appear to be a protobuf message, expected prefix [107 56 115 0] (616263)",
          NULL },
        { "POST", MAPS, PROTO, NULL, "", 400, "ConfigMap): empty data (<empty>)", NULL },
        { "DELETE", MAPS, PROTO, NULL, "k8", 400, "expected prefix [107 56 115 0]\"", NULL },
        { "POST", "/api/v1/namespaces/default/serviceaccounts", NULL, NULL,
          "{metadata: {name: robot}}", 201, NULL, NULL },
        { "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", NULL, NULL,
          "{metadata: {namespace: other}}", 400,
          "the namespace of the provided object does not match the namespace sent on the request",
          NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

static void paths(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "GET", "/apis//apps/v1/deployments", NULL, NULL, NULL, 404, NULL, "Status" },
        { "GET", "/apis//v1", NULL, NULL, NULL, 404, NULL, "Status" },
        { "GET", "/apis//", NULL, NULL, NULL, 404, NULL, "Status" },
        { "GET", "/api/v1//pods", NULL, NULL, NULL, 404, "\"kind\":\"Status\"", NULL },
        { "GET", "/apis/batch/v1/jobs?fieldSelector=spec.x%3D1", NULL, NULL, NULL, 400,
          "\"field label \\\"spec.x\\\" not supported for Job\"", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

#define SERVICES "/api/v1/namespaces/default/services"
#define TWO_PORTS(name, first, second)                                                   \
    "{metadata: {name: " name "}, spec: {type: NodePort, ports: [{name: a, " first "}, " \
    "{name: b, " second "}]}}"
#define TAKEN "spec.ports[1].nodePort: Invalid value: 31006: provided port is already allocated"

/* One port number under two protocols shares its node port; two port numbers do not. */
static void node_ports(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        { "POST", SERVICES "?dryRun=All", NULL, NULL,
          TWO_PORTS("np", "port: 80, nodePort: 31006", "port: 81, protocol: UDP, nodePort: 31006"),
          422, TAKEN, NULL },
        { "POST", SERVICES, NULL, NULL,
          TWO_PORTS("np", "port: 80, nodePort: 31006", "port: 81, nodePort: 31006"), 422, TAKEN,
          NULL },
        { "POST", SERVICES, NULL, NULL,
          TWO_PORTS("np", "port: 80", "port: 80, protocol: UDP, nodePort: 31006"), 201, NULL,
          NULL },
        { "PATCH", SERVICES "/np", NULL, NULL,
          "{spec: {ports: [{name: a, port: 80, nodePort: 31007}, {name: b, port: 81, nodePort: "
          "31007}]}}",
          500, "duplicate nodePort: {TCP 31007}", NULL },
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_a_delete),
        cmocka_unit_test(bodies),
        cmocka_unit_test(paths),
        cmocka_unit_test(node_ports),
        cmocka_unit_test(methods),
        cmocka_unit_test(names_of_bundles),
        cmocka_unit_test(updates),
        cmocka_unit_test(patches),
        cmocka_unit_test(patches_of_a_scale),
        cmocka_unit_test(revisions_of_new_objects),
        cmocka_unit_test(names_of_events),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
