/* typed_read() over external vectors: the filled object of every kind that Go wrote, byte for byte;
 * what a real server said of every body that a client sent it; and real manifests, in which nothing
 * may be unknown or wrong but what is listed here. */
#include "api/typed.h"

#include "api/codec/round_trip_test.h"
#include "base/idiom.h"

enum suite {
    SUITE_JSON_TO_JSON,
    SUITE_JSON_TO_YAML,
    SUITE_YAML_TO_JSON,
    SUITE_YAML_TO_YAML,
    SUITE_REFUSED,
    SUITE_NOTED,
    SUITE_ACCEPTED,
    SUITE_MANIFESTS,
    SUITE_COUNT,
};

static struct vectors_count counts[SUITE_COUNT] = {
    [SUITE_JSON_TO_JSON] = { .name = "JSON to JSON, byte for byte" },
    [SUITE_JSON_TO_YAML] = { .name = "JSON to YAML, byte for byte" },
    [SUITE_YAML_TO_JSON] = { .name = "YAML to JSON, byte for byte" },
    [SUITE_YAML_TO_YAML] = { .name = "YAML to YAML, byte for byte" },
    [SUITE_REFUSED] = { .name = "golden, refused" },
    [SUITE_NOTED] = { .name = "golden, noted" },
    [SUITE_ACCEPTED] = { .name = "golden, accepted" },
    [SUITE_MANIFESTS] = { .name = "manifests" },
};

#define GO_NAME "Go's name of a string type is not in the tables"
#define BY_YAML "the YAML reader reports duplicates in its own words"

/* Golden steps that come out otherwise here. */
static const struct {
    const char *id, *reason;
} exclusions[] = {
    { "validation/Namespace/object 7", GO_NAME },
    { "validation/Namespace/object 13", GO_NAME },
    { "verbs/fieldvalidation/yaml-duplicates-strict 0", BY_YAML },
    { "verbs/fieldvalidation/yaml-duplicates-warn 0", BY_YAML },
};

/* Manifests with mistakes that a real server would refuse or warn about too. */
#define PLACEHOLDER "illegal base64 data at input byte 0"

static const struct {
    const char *file, *mistake;
} known_mistakes[] = {
    { "kubernetes-examples/_archived/volumes/fibre_channel/fc.yaml",
      "json: cannot unmarshal string into Go struct field FCVolumeSource.spec.volumes.fc.lun of "
      "type int32" },
    { "kubernetes-examples/_archived/volumes/rbd/rbd.yaml",
      "unknown field \"spec.volumes[0].rbd.imageformat\"" },
    { "kubernetes-examples/_archived/volumes/rbd/rbd.yaml",
      "unknown field \"spec.volumes[0].rbd.imagefeatures\"" },
    { "kubernetes-examples/_archived/volumes/scaleio/pod.yaml",
      "unknown field \"spec.volumes[0].scaleIO.protectionDoamin\"" },
    { "kubernetes-examples/_archived/volumes/storageos/storageos-pod.yaml",
      "unknown field \"spec.volumes[0].storageos.pool\"" },
    { "kubernetes-examples/_archived/volumes/storageos/storageos-pv.yaml",
      "unknown field \"spec.storageos.secretName\"" },
    { "kubernetes-website/content/en/examples/access/manifest-admission-control/"
      "validating-webhook.yaml",
      PLACEHOLDER },
    { "kubernetes-website/content/en/examples/secret/tls-auth-secret.yaml",
      "illegal base64 data at input byte 7" },
    { "kubernetes-website/content/en/examples/service/networking/dual-stack-ipv6-svc.yaml",
      "unknown field \"spec.ipFamily\"" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/serviceloadbalancer/netexecsvc.yaml",
      "unknown field \"spec.Type\"" },
    { "kubernetes-ingress-nginx/docs/examples/auth/oauth-external-auth/vouch-proxy.yaml",
      "json: cannot unmarshal bool into Go struct field "
      "EnvVar.spec.template.spec.containers.env.value of type string" },
    { "kubernetes-ingress-nginx/docs/examples/customization/ssl-dh-param/ssl-dh-param.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-aks.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-autodiscover.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-standard-control-plane.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-standard-msi.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-standard.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-vmss-control-plane.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-vmss-msi.yaml",
      PLACEHOLDER },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-vmss.yaml",
      PLACEHOLDER },
};

static const struct kind_type *type_of(const struct value *v)
{
    return kind_find(value_str(value_get(v, STR("apiVersion"))),
                     value_str(value_get(v, STR("kind"))));
}

static bool contains(struct str s, struct str part, size_t *ret_end)
{
    const char *at = s.n ? memmem(s.p, s.n, part.p, part.n) : NULL;
    if (at)
        *ret_end = (size_t)(at - s.p) + part.n;
    return at;
}

static void check_round_trip(struct round_trip *r)
{
    static const struct {
        enum suite suite;
        enum round_trip_form from, to;
    } ways[] = {
        { SUITE_JSON_TO_JSON, ROUND_TRIP_JSON, ROUND_TRIP_JSON },
        { SUITE_JSON_TO_YAML, ROUND_TRIP_JSON, ROUND_TRIP_YAML },
        { SUITE_YAML_TO_JSON, ROUND_TRIP_YAML, ROUND_TRIP_JSON },
        { SUITE_YAML_TO_YAML, ROUND_TRIP_YAML, ROUND_TRIP_YAML },
    };
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        vectors_score(&counts[ways[i].suite], round_trip_passes(r, ways[i].from, ways[i].to),
                      r->name);
}

/* ---- Golden traces ---- */

static bool is_excluded(struct str id)
{
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        if (str_eq(str_of(exclusions[i].id), id))
            return true;
    return false;
}

/* The body as the server would parse it; false where it is no object of a kind that we have. */
static bool body_of(struct arena *a, const struct value *step, struct value *ret)
{
    const struct value *body = value_get(step, STR("body"));
    if (!value_is(body, VALUE_STRING)) {
        if (value_is(body, VALUE_OBJECT))
            *ret = *body;
        return value_is(body, VALUE_OBJECT);
    }
    struct str type = value_str(value_dig(step, "headers", "Content-Type"));
    size_t end;
    int r = contains(type, STR("yaml"), &end) ? yaml_read(a, value_str(body), NULL, ret, NULL)
                                              : json_read(a, value_str(body), NULL, ret, NULL);
    return r == 0 && ret->type == VALUE_OBJECT;
}

static struct str joined(struct arena *a, const struct typed_notes *notes)
{
    autobuf all = { 0 };
    for (size_t i = 0; i < notes->n && i < TYPED_NOTES_MAX; i++)
        buf_printf(&all, "%s" STR_FMT, i ? ", " : "", STR_ARG(notes->notes[i]));
    return arena_str(a, buf_str(&all));
}

static bool refuses_as(struct arena *a, const struct value *body, struct str want)
{
    struct typed_notes notes;
    struct err err = ERR_INIT(a);
    struct value out;
    struct str got, strict = STR("strict decoding error: ");
    int r = typed_read(a, type_of(body), body, &notes, &out, &err);
    if (str_starts(want, strict)) {
        want = str_skip(want, strict.n);
        got = r < 0 ? err.msg : joined(a, &notes);
    } else {
        got = r < 0 ? err.msg : STR("(none)");
    }
    if (!str_eq(got, want))
        printf("want: " STR_FMT "\n got: " STR_FMT "\n", STR_ARG(want), STR_ARG(got));
    return str_eq(got, want);
}

/* `299 - "unknown field \"x\""`: sorted, so each note is looked for. */
static bool has_warning(struct arena *a, const struct value *warnings, struct str note)
{
    autobuf quoted = { 0 };
    json_write_string(&quoted, note);
    value_each_item (w, warnings) {
        if (str_ends(value_str(w), arena_str(a, buf_str(&quoted))))
            return true;
    }
    return false;
}

static size_t count_field_warnings(const struct value *warnings)
{
    size_t n = 0, end;
    value_each_item (w, warnings)
        n += contains(value_str(w), STR("unknown field"), &end) ||
             contains(value_str(w), STR("duplicate field"), &end);
    return n;
}

static bool accepts(struct arena *a, const struct value *step, const struct value *body,
                    bool *ret_noted)
{
    struct typed_notes notes;
    struct err err = ERR_INIT(a);
    struct value out;
    const struct value *warnings = value_dig(step, "expect", "warnings");
    if (typed_read(a, type_of(body), body, &notes, &out, &err) < 0) {
        printf(STR_FMT "\n", STR_ARG(err.msg));
        return false;
    }
    size_t end;
    struct str path = value_str(value_get(step, STR("path")));
    if (contains(path, STR("fieldValidation=Ignore"), &end))
        return true;
    *ret_noted = notes.n;
    bool good = notes.n == count_field_warnings(warnings);
    for (size_t i = 0; i < notes.n && i < TYPED_NOTES_MAX; i++)
        good = good && has_warning(a, warnings, notes.notes[i]);
    if (!good)
        printf(STR_FMT "\n", STR_ARG(joined(a, &notes)));
    return good;
}

static void check_step(struct arena *a, const struct value *step, struct str id)
{
    struct str method = value_str(value_get(step, STR("method")));
    struct value body;
    int64_t code = 0;
    size_t end;
    if ((!str_eq(method, STR("POST")) && !str_eq(method, STR("PUT"))) || is_excluded(id) ||
        !body_of(a, step, &body) || !type_of(&body))
        return;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    struct str message = value_str(value_dig(step, "expect", "body", "message"));
    bool noted = false, good;
    if (contains(message, STR(" cannot be handled as a "), &end)) {
        struct str want = str_skip(message, end);
        (void)str_cut(&want, ' ');
        if (!str_ends(want, STR(": unknown conversion"))) /* another kind: not for this module */
            vectors_score(&counts[SUITE_REFUSED], refuses_as(a, &body, want), str_cstr(a, id));
    } else if (code == 200 || code == 201 || code == 422) {
        good = accepts(a, step, &body, &noted);
        vectors_score(&counts[noted ? SUITE_NOTED : SUITE_ACCEPTED], good, str_cstr(a, id));
    }
}

static void check_golden(struct arena *a, const char *name)
{
    struct str text = vectors_read(a, vectors_path(a, "golden", name));
    while (text.p && text.n) {
        struct arena scratch;
        arena_init(&scratch);
        struct value c;
        if (json_read(&scratch, str_cut(&text, '\n'), NULL, &c, NULL) < 0)
            exit(1);
        size_t i = 0;
        value_each_item (step, value_get(&c, STR("steps")))
            check_step(&scratch, step,
                       arena_printf(&scratch, STR_FMT " %zu",
                                    STR_ARG(value_str(value_get(&c, STR("id")))), i++));
        arena_done(&scratch);
    }
}

/* ---- Manifests ---- */

static size_t known_met;

static bool is_known_mistake(struct str file, struct str mistake)
{
    for (size_t i = 0; i < ARRAY_LEN(known_mistakes); i++)
        if (str_eq(str_of(known_mistakes[i].file), file) &&
            str_eq(str_of(known_mistakes[i].mistake), mistake))
            return true;
    return false;
}

static bool is_expected(struct str file, struct str mistake)
{
    bool known = is_known_mistake(file, mistake);
    if (!known)
        printf(STR_FMT "\n", STR_ARG(mistake));
    known_met += known;
    return known;
}

static void check_object(struct arena *a, const struct value *doc, struct str file)
{
    const struct kind_type *t = type_of(doc);
    if (!t || doc->type != VALUE_OBJECT)
        return;
    struct typed_notes notes;
    struct err err = ERR_INIT(a);
    struct value out;
    bool good = true;
    if (typed_read(a, t, doc, &notes, &out, &err) < 0)
        good = is_expected(file, err.msg);
    for (size_t i = 0; err.code == ERR_OK && i < notes.n && i < TYPED_NOTES_MAX; i++)
        good = is_expected(file, notes.notes[i]) && good;
    vectors_score(&counts[SUITE_MANIFESTS], good, str_cstr(a, file));
}

static void check_manifest(struct str file)
{
    struct arena a;
    arena_init(&a);
    struct value doc;
    struct str text = vectors_read(&a, vectors_path(&a, "manifests", str_cstr(&a, file)));
    struct yaml_stream *s = yaml_stream_new(&a, text, NULL);
    while (yaml_stream_next(s, &doc, NULL) > 0) {
        value_drop_duplicates(&a, &doc); /* as kubectl does, before it sends JSON */
        check_object(&a, &doc, file);
    }
    s = yaml_stream_free(s);
    arena_done(&a);
}

/* The index names each object; its lines stand together by file. */
static void check_manifests(struct arena *a)
{
    struct str text = vectors_read(a, vectors_path(a, "manifests", "index.jsonl"));
    struct str last = { 0 };
    while (text.p && text.n) {
        struct value row;
        if (json_read(a, str_cut(&text, '\n'), NULL, &row, NULL) < 0)
            exit(1);
        struct str file = value_str(value_get(&row, STR("file")));
        if (!str_eq(file, last))
            check_manifest(file);
        last = file;
    }
}

int main(void)
{
    struct arena a;
    arena_init(&a);
    if (!vectors_are_there(&a, "k8s-roundtrip") || !vectors_are_there(&a, "golden")) {
        arena_done(&a);
        return VECTORS_SKIPPED;
    }
    round_trips_each(check_round_trip);
    static const char *const files[] = { "verbs.jsonl", "validation.jsonl", "defaults.jsonl",
                                         "updates.jsonl" };
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        check_golden(&a, files[i]);
    check_manifests(&a);
    bool good = vectors_report(counts, SUITE_COUNT);
    printf("manifests: %zu known mistakes met\n", known_met);
    good = good && known_met >= ARRAY_LEN(known_mistakes);
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        printf("left out: %s: %s\n", exclusions[i].id, exclusions[i].reason);
    arena_done(&a);
    return good ? 0 : 1;
}
