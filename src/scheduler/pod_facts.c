#include "scheduler/pod_facts.h"

#include <stdlib.h>

#include "api/pod_phase.h"
#include "api/quantity.h"
#include "api/resource_name.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

/* What counts for scores where a container asks for nothing, as upstream. */
enum { SCORED_CPU = 100, SCORED_MEMORY = 200 * 1024 * 1024 };

/* ---- Requests ---- */

/* Amounts by the number of their resource; `has` where a container says something. */
struct sums {
    int64_t n[RESOURCE_TABLE_MAX];
    bool has[RESOURCE_TABLE_MAX];
};

static int64_t units(int id, struct str text)
{
    int64_t n = 0;
    if (text.n && !quantity_units(text, id == RESOURCE_CPU, &n))
        return INT64_MAX / 4; /* more than any node has, and still summable */
    return n < INT64_MAX / 4 ? n : INT64_MAX / 4;
}

/* Remembers a resource that has no number: no node has it either. */
static void note_unknown(struct pod_facts *f, struct str name)
{
    struct pod_amount *more = arena_array(&f->mem, struct pod_amount, f->n_amounts + 1);
    if (f->n_amounts)
        memcpy(more, f->amounts, f->n_amounts * sizeof(*more));
    more[f->n_amounts++] =
        (struct pod_amount){ .id = -1, .n = 1, .name = arena_str(&f->mem, name) };
    f->amounts = more;
}

static struct sums read_list(struct pod_facts *f, struct resource_table *t,
                             const struct value *list)
{
    struct sums s = { 0 };
    value_each_field (field, list) {
        int id = resource_table_id(t, field->key);
        if (id < 0) {
            note_unknown(f, field->key);
            continue;
        }
        s.n[id] = units(id, value_str(&field->val));
        s.has[id] = true;
    }
    return s;
}

static void fill_scored(struct sums *s)
{
    if (!s->has[RESOURCE_CPU])
        s->n[RESOURCE_CPU] = SCORED_CPU;
    if (!s->has[RESOURCE_MEMORY])
        s->n[RESOURCE_MEMORY] = SCORED_MEMORY;
}

static void add(struct sums *to, const struct sums *s)
{
    for (int i = 0; i < RESOURCE_TABLE_MAX; i++)
        to->n[i] += s->n[i];
}

static void raise_to(struct sums *to, const struct sums *s)
{
    for (int i = 0; i < RESOURCE_TABLE_MAX; i++)
        if (to->n[i] < s->n[i])
            to->n[i] = s->n[i];
}

/* What all containers come to: init containers run one by one beside the sidecars before them. */
static struct sums sum_containers(struct pod_facts *f, struct resource_table *t,
                                  const struct value *spec, bool scored)
{
    struct sums all = { 0 }, sidecars = { 0 }, init = { 0 };
    value_each_item (c, value_get(spec, STR("containers"))) {
        struct sums s = read_list(f, t, value_dig(c, "resources", "requests"));
        if (scored)
            fill_scored(&s);
        add(&all, &s);
    }
    value_each_item (c, value_get(spec, STR("initContainers"))) {
        struct sums s = read_list(f, t, value_dig(c, "resources", "requests"));
        if (scored)
            fill_scored(&s);
        if (str_eq(value_text(c, "restartPolicy"), STR("Always"))) {
            add(&all, &s);
            add(&sidecars, &s);
            s = sidecars;
        } else {
            add(&s, &sidecars);
        }
        raise_to(&init, &s);
    }
    raise_to(&all, &init);
    return all;
}

/* What the pod says as a whole counts instead of what its containers say. */
static void apply_pod_level(struct pod_facts *f, struct resource_table *t, const struct value *spec,
                            struct sums *all)
{
    const struct value *list = value_dig(spec, "resources", "requests");
    struct sums s = read_list(f, t, list);
    value_each_field (field, list) {
        int id = resource_table_id(t, field->key);
        if (id >= 0 && resource_is_pod_level(field->key))
            all->n[id] = s.n[id];
    }
    struct sums overhead = read_list(f, t, value_get(spec, STR("overhead")));
    add(all, &overhead);
}

static void read_requests(struct pod_facts *f, struct resource_table *t, const struct value *spec)
{
    struct sums scored = sum_containers(f, t, spec, true);
    apply_pod_level(f, t, spec, &scored);
    f->n_amounts = 0; /* names without a number are noted below, once */
    struct sums all = sum_containers(f, t, spec, false);
    apply_pod_level(f, t, spec, &all);
    size_t n = 0, known = 0;
    for (int i = 0; i < RESOURCE_TABLE_MAX; i++)
        known += all.n[i] > 0;
    struct pod_amount *amounts = arena_array(&f->mem, struct pod_amount, f->n_amounts + known + 1);
    for (int i = 0; i < RESOURCE_TABLE_MAX; i++) {
        if (all.n[i] <= 0)
            continue;
        amounts[n].id = i;
        amounts[n].n = all.n[i];
        n++;
    }
    for (size_t i = 0; i < f->n_amounts; i++)
        amounts[n++] = f->amounts[i];
    f->amounts = amounts;
    f->n_amounts = n;
    f->scored_cpu = scored.n[RESOURCE_CPU];
    f->scored_memory = scored.n[RESOURCE_MEMORY];
    f->plain_cpu = all.n[RESOURCE_CPU];
    f->plain_memory = all.n[RESOURCE_MEMORY];
}

/* ---- Ports and images ---- */

static void add_port(struct pod_facts *f, const struct value *port)
{
    int64_t number = 0;
    if (!value_to_int(value_get(port, STR("hostPort")), &number) || number <= 0)
        return;
    struct str protocol = value_text(port, "protocol"), ip = value_text(port, "hostIP");
    struct pod_port *more = arena_array(&f->mem, struct pod_port, f->n_ports + 1);
    if (f->n_ports)
        memcpy(more, f->ports, f->n_ports * sizeof(*more));
    more[f->n_ports++] = (struct pod_port){
        .protocol = protocol.n ? arena_str(&f->mem, protocol) : STR("TCP"),
        .ip = ip.n ? arena_str(&f->mem, ip) : STR("0.0.0.0"),
        .number = number,
    };
    f->ports = more;
}

static void read_ports(struct pod_facts *f, const struct value *spec)
{
    value_each_item (c, value_get(spec, STR("containers")))
        value_each_item (p, value_get(c, STR("ports")))
            add_port(f, p);
    value_each_item (c, value_get(spec, STR("initContainers")))
        if (str_eq(value_text(c, "restartPolicy"), STR("Always")))
            value_each_item (p, value_get(c, STR("ports")))
                add_port(f, p);
}

/* Nodes name images with a tag. */
static struct str with_tag(struct arena *a, struct str image)
{
    size_t from = 0;
    for (size_t i = 0; i < image.n; i++)
        if (image.p[i] == '/')
            from = i;
    if (str_find(str_skip(image, from), ':') >= 0)
        return arena_str(a, image);
    return arena_printf(a, STR_FMT ":latest", STR_ARG(image));
}

static size_t length_of(const struct value *list)
{
    return value_is(list, VALUE_ARRAY) ? list->n : 0;
}

static void read_images(struct pod_facts *f, const struct value *spec)
{
    const struct value *init = value_get(spec, STR("initContainers"));
    const struct value *main = value_get(spec, STR("containers"));
    const struct value *volumes = value_get(spec, STR("volumes"));
    struct str *images = arena_array(&f->mem, struct str,
                                     length_of(init) + length_of(main) + length_of(volumes) + 1);
    value_each_item (c, init)
        images[f->n_images++] = with_tag(&f->mem, value_text(c, "image"));
    value_each_item (c, main)
        images[f->n_images++] = with_tag(&f->mem, value_text(c, "image"));
    value_each_item (v, volumes)
        if (value_get(v, STR("image")))
            images[f->n_images++] =
                with_tag(&f->mem, value_str(value_dig(v, "image", "reference")));
    f->images = images;
}

/* ---- Affinity ---- */

static void read_node_rules(struct pod_facts *f, const struct value *spec)
{
    const struct value *selector = value_get(spec, STR("nodeSelector"));
    const struct value *affinity = value_dig(spec, "affinity", "nodeAffinity");
    const struct value *required =
        value_get(affinity, STR("requiredDuringSchedulingIgnoredDuringExecution"));
    f->node_selector = label_set_read(&f->mem, selector);
    f->has_required_terms = value_is(required, VALUE_OBJECT);
    f->required = node_terms_read(&f->mem, value_get(required, STR("nodeSelectorTerms")), false);
    f->preferred = node_terms_read(
        &f->mem, value_get(affinity, STR("preferredDuringSchedulingIgnoredDuringExecution")), true);
    f->has_node_rules = f->node_selector.n || f->has_required_terms;
}

bool pod_facts_fit_node(const struct pod_facts *f, struct str node_name, struct label_set labels)
{
    for (size_t i = 0; i < f->node_selector.n; i++) {
        struct str v = label_get(labels, f->node_selector.items[i].key);
        if (!v.p || !str_eq(v, f->node_selector.items[i].value))
            return false;
    }
    return !f->has_required_terms || node_terms_hold(f->required, node_name, labels);
}

static struct labels_selector read_selector(struct arena *a, const struct value *v)
{
    struct labels_selector s = { 0 };
    struct err err = ERR_INIT(a);
    if (labels_from_value(a, v, &s, &err) < 0)
        s = (struct labels_selector){ .nothing = true };
    return s;
}

static void read_term_namespaces(struct pod_facts *f, const struct value *v, struct pod_term *t)
{
    const struct value *names = value_get(v, STR("namespaces"));
    const struct value *selector = value_get(v, STR("namespaceSelector"));
    struct str *items = arena_array(&f->mem, struct str, length_of(names) + 1);
    value_each_item (it, names)
        items[t->n_namespaces++] = value_str(it);
    if (!t->n_namespaces && !value_is(selector, VALUE_OBJECT))
        items[t->n_namespaces++] = f->ns;
    t->namespaces = items;
    t->ns_selector = read_selector(&f->mem, selector);
}

static struct pod_terms read_terms(struct pod_facts *f, const struct value *affinity, bool soft)
{
    struct pod_terms all = { 0 };
    const struct value *list =
        value_get(affinity, soft ? STR("preferredDuringSchedulingIgnoredDuringExecution")
                                 : STR("requiredDuringSchedulingIgnoredDuringExecution"));
    if (!length_of(list))
        return all;
    struct pod_term *terms = arena_array(&f->mem, struct pod_term, list->n);
    value_each_item (it, list) {
        struct pod_term *t = &terms[all.n++];
        const struct value *v = soft ? value_get(it, STR("podAffinityTerm")) : it;
        int64_t weight = 0;
        (void)value_to_int(value_get(it, STR("weight")), &weight);
        t->weight = (int32_t)weight;
        t->topology_key = value_text(v, "topologyKey");
        t->selector = read_selector(&f->mem, value_get(v, STR("labelSelector")));
        read_term_namespaces(f, v, t);
    }
    all.items = terms;
    return all;
}

static void read_affinity(struct pod_facts *f, const struct value *spec)
{
    const struct value *with = value_dig(spec, "affinity", "podAffinity");
    const struct value *anti = value_dig(spec, "affinity", "podAntiAffinity");
    f->affinity = read_terms(f, with, false);
    f->soft_affinity = read_terms(f, with, true);
    f->anti = read_terms(f, anti, false);
    f->soft_anti = read_terms(f, anti, true);
}

bool pod_term_matches(const struct pod_term *t, const struct pod_facts *pod,
                      struct label_set ns_labels)
{
    bool in = labels_match(&t->ns_selector, ns_labels.items, ns_labels.n);
    for (uint32_t i = 0; !in && i < t->n_namespaces; i++)
        in = str_eq(t->namespaces[i], pod->ns);
    return in && labels_match(&t->selector, pod->labels.items, pod->labels.n);
}

/* ---- Spreading ---- */

/* The pod's own labels of these keys narrow the selector further. */
static void add_label_keys(struct pod_facts *f, const struct value *keys, struct labels_selector *s)
{
    if (!length_of(keys) || s->nothing)
        return;
    struct labels_req *reqs = arena_array(&f->mem, struct labels_req, s->n + keys->n);
    size_t n = 0;
    value_each_item (k, keys) {
        struct str v = label_get(f->labels, value_str(k));
        if (!v.p)
            continue;
        struct str *one = arena_new(&f->mem, struct str);
        *one = v;
        reqs[n++] = (struct labels_req){
            .key = value_str(k), .values = one, .n_values = 1, .op = LABELS_IN
        };
    }
    if (s->n)
        memcpy(reqs + n, s->reqs, s->n * sizeof(*reqs));
    s->reqs = reqs;
    s->n += n;
}

static int32_t small_int(const struct value *v, int32_t otherwise)
{
    int64_t n;
    return value_to_int(v, &n) ? (int32_t)n : otherwise;
}

struct spread_rule spread_rule_read(const struct value *c)
{
    return (struct spread_rule){
        .topology_key = value_text(c, "topologyKey"),
        .max_skew = small_int(value_get(c, STR("maxSkew")), 1),
        .min_domains = small_int(value_get(c, STR("minDomains")), 1),
        .is_hard = str_eq(value_text(c, "whenUnsatisfiable"), STR("DoNotSchedule")),
        .honors_affinity = !str_eq(value_text(c, "nodeAffinityPolicy"), STR("Ignore")),
        .honors_taints = str_eq(value_text(c, "nodeTaintsPolicy"), STR("Honor")),
    };
}

static void read_spread(struct pod_facts *f, const struct value *spec)
{
    const struct value *list = value_get(spec, STR("topologySpreadConstraints"));
    if (!length_of(list))
        return;
    f->spread = arena_array(&f->mem, struct spread_rule, list->n);
    value_each_item (it, list) {
        struct spread_rule *r = &f->spread[f->n_spread++];
        *r = spread_rule_read(it);
        r->selector = read_selector(&f->mem, value_get(it, STR("labelSelector")));
        add_label_keys(f, value_get(it, STR("matchLabelKeys")), &r->selector);
    }
}

/* ---- Volumes ---- */

/* Volumes that cannot be used twice at once. */
static bool can_clash(const struct value *volume)
{
    static const struct str kinds[] = { STR("gcePersistentDisk"), STR("awsElasticBlockStore"),
                                        STR("iscsi"), STR("rbd") };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (value_get(volume, kinds[i]))
            return true;
    return false;
}

static void read_volumes(struct pod_facts *f, const struct value *spec)
{
    const struct value *list = value_get(spec, STR("volumes"));
    if (!length_of(list))
        return;
    f->volumes = arena_array(&f->mem, struct pod_volume, list->n);
    value_each_item (v, list) {
        struct pod_volume *to = &f->volumes[f->n_volumes];
        to->claim = value_str(value_dig(v, "persistentVolumeClaim", "claimName"));
        if (value_get(v, STR("ephemeral"))) {
            to->is_ephemeral = true;
            to->claim = arena_printf(&f->mem, STR_FMT "-" STR_FMT, STR_ARG(f->name),
                                     STR_ARG(value_text(v, "name")));
        }
        to->source = can_clash(v) ? v : NULL;
        f->n_volumes += to->claim.n || to->source;
    }
}

/* ---- Devices ---- */

/* Where the status says which claim was made; NULL: none was. */
static const struct value *made_claim(const struct value *pod, struct str name)
{
    value_each_item (s, value_dig(pod, "status", "resourceClaimStatuses"))
        if (str_eq(value_text(s, "name"), name))
            return s;
    return NULL;
}

static void read_devices(struct pod_facts *f, const struct value *pod)
{
    const struct value *list = value_dig(pod, "spec", "resourceClaims");
    if (!length_of(list) || f->node_name.n)
        return;
    f->devices = arena_array(&f->mem, struct pod_device, list->n);
    value_each_item (it, list) {
        struct pod_device *to = &f->devices[f->n_devices];
        struct str named = value_text(it, "resourceClaimName");
        const struct value *made = made_claim(pod, value_text(it, "name"));
        struct str claim = named.n ? named : value_text(made, "resourceClaimName");
        if (!named.n && made && !claim.n)
            continue; /* it needs none */
        *to = (struct pod_device){ .claim = arena_str(&f->mem, claim), .is_made = !named.n };
        f->n_devices++;
    }
}

/* ---- All of it ---- */

static void read_meta(struct pod_facts *f, const struct value *meta)
{
    f->ns = arena_str(&f->mem, value_text(meta, "namespace"));
    f->name = arena_str(&f->mem, value_text(meta, "name"));
    f->uid = arena_str(&f->mem, value_text(meta, "uid"));
    f->version = arena_str(&f->mem, value_text(meta, "resourceVersion"));
    f->key = arena_printf(&f->mem, STR_FMT "/" STR_FMT, STR_ARG(f->ns), STR_ARG(f->name));
    f->is_deleting = value_get(meta, STR("deletionTimestamp"));
    (void)value_to_int(value_get(meta, STR("generation")), &f->generation);
    struct value *labels = arena_new(&f->mem, struct value);
    *labels = value_null();
    if (value_get(meta, STR("labels")))
        *labels = value_clone(&f->mem, value_get(meta, STR("labels")));
    f->labels = label_set_read(&f->mem, labels);
    value_each_item (o, value_get(meta, STR("ownerReferences"))) {
        if (!value_is_true(value_get(o, STR("controller"))))
            continue;
        f->owner_version = arena_str(&f->mem, value_text(o, "apiVersion"));
        f->owner_kind = arena_str(&f->mem, value_text(o, "kind"));
        f->owner_name = arena_str(&f->mem, value_text(o, "name"));
    }
}

static void read_status(struct pod_facts *f, const struct value *status)
{
    f->phase = arena_str(&f->mem, value_text(status, "phase"));
    f->nominated = arena_str(&f->mem, value_text(status, "nominatedNodeName"));
    f->started = arena_str(&f->mem, value_text(status, "startTime"));
    f->is_final = pod_phase_is_final(f->phase);
    value_each_item (c, value_get(status, STR("conditions"))) {
        if (str_eq(value_text(c, "type"), STR("PodScheduled"))) {
            f->cond_status = arena_str(&f->mem, value_text(c, "status"));
            f->cond_reason = arena_str(&f->mem, value_text(c, "reason"));
            f->cond_message = arena_str(&f->mem, value_text(c, "message"));
        }
        f->is_victim |= str_eq(value_text(c, "type"), STR("DisruptionTarget")) &&
                        str_eq(value_text(c, "status"), STR("True")) &&
                        str_eq(value_text(c, "reason"), STR("PreemptionByScheduler"));
    }
}

/* Of most volumes the scheduler has nothing to say. */
static struct value kept_volumes(struct pod_facts *f, const struct value *list)
{
    struct value kept = value_array();
    value_each_item (v, list)
        if (value_get(v, STR("persistentVolumeClaim")) || value_get(v, STR("ephemeral")) ||
            can_clash(v))
            value_put_item(&f->mem, &kept, value_clone(&f->mem, v));
    return kept;
}

/* Only these parts of a spec are looked at again, so only they are kept; of a pod that has its node
 * only what others have to look at. */
static struct value *kept_spec(struct pod_facts *f, const struct value *spec)
{
    static const struct {
        struct str name;
        bool is_for_choosing;
    } parts[] = {
        { STR("affinity"), false },
        { STR("nodeSelector"), true },
        { STR("tolerations"), true },
        { STR("topologySpreadConstraints"), true },
    };
    struct value *kept = arena_new(&f->mem, struct value);
    *kept = value_object();
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const struct value *v = value_get(spec, parts[i].name);
        if (v && !(parts[i].is_for_choosing && f->node_name.n))
            value_put_new(&f->mem, kept, parts[i].name, value_clone(&f->mem, v));
    }
    value_put_new(&f->mem, kept, STR("volumes"), kept_volumes(f, value_get(spec, STR("volumes"))));
    return kept;
}

static void read_spec(struct pod_facts *f, const struct value *spec, struct resource_table *t)
{
    f->node_name = arena_str(&f->mem, value_text(spec, "nodeName"));
    f->scheduler = arena_str(&f->mem, value_text(spec, "schedulerName"));
    f->priority = small_int(value_get(spec, STR("priority")), 0);
    f->never_preempts = str_eq(value_text(spec, "preemptionPolicy"), STR("Never"));
    f->is_gated = length_of(value_get(spec, STR("schedulingGates"))) > 0;
    read_requests(f, t, spec);
    read_ports(f, spec);
    if (!f->node_name.n)
        read_images(f, spec);
    const struct value *kept = kept_spec(f, spec);
    read_node_rules(f, kept);
    f->tolerations = tolerations_read(&f->mem, value_get(kept, STR("tolerations")));
    read_affinity(f, kept);
    read_spread(f, kept);
    read_volumes(f, kept);
}

enum { USUAL_BYTES = 1 << 10 }; /* of a pod without affinity and so on */

struct pod_facts *pod_facts_new(const struct value *pod, struct resource_table *resources)
{
    struct pod_facts *f = mem_new(struct pod_facts);
    arena_init(&f->mem);
    arena_expect(&f->mem, USUAL_BYTES);
    read_meta(f, value_get(pod, STR("metadata")));
    read_status(f, value_get(pod, STR("status")));
    read_spec(f, value_get(pod, STR("spec")), resources);
    read_devices(f, pod);
    return f;
}

struct pod_facts *pod_facts_free(struct pod_facts *f)
{
    if (f)
        arena_done(&f->mem);
    free(f);
    return NULL;
}
