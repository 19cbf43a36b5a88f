/* What upstream declares of the kinds of resource.k8s.io. Fields behind gates that are off are
 * dropped before anything is checked, and have no row here. */
#include "api/validate/kinds/validate_resource.h"
#include "base/banned.h"

#define MODES                         \
    {                                 \
        STR("All"), STR("ExactCount") \
    }
#define EFFECTS                                          \
    {                                                    \
        STR("NoExecute"), STR("NoSchedule"), STR("None") \
    }
#define OPERATORS                   \
    {                               \
        STR("Equal"), STR("Exists") \
    }
#define SOURCES                            \
    {                                      \
        STR("FromClaim"), STR("FromClass") \
    }
#define BY_NAME .flags = DECLARED_UNIQUE, .keys = { STR("name") }
#define DRIVER  .flags = DECLARED_REQUIRED, .format = DECLARED_LONG_NAME_CASELESS, .max_chars = 63
#define CONDITIONS                                      \
    { STR("bindingConditions"), .max_items = 4 },       \
    {                                                   \
        STR("bindingFailureConditions"), .max_items = 4 \
    }

DECLARED_TYPE(toleration, { STR("key"), .format = DECLARED_LABEL_KEY },
              { STR("operator"), .flags = DECLARED_REQUIRED, .values = OPERATORS },
              { STR("effect"), .values = EFFECTS });
DECLARED_TYPE(opaque, { STR("driver"), DRIVER });
DECLARED_TYPE(exact_request, { STR("selectors"), .max_items = 32 },
              { STR("allocationMode"), .values = MODES },
              { STR("tolerations"), .type = &toleration });
DECLARED_TYPE(sub_request,
              { STR("deviceClassName"), .flags = DECLARED_REQUIRED, .format = DECLARED_LONG_NAME },
              { STR("selectors"), .max_items = 32 }, { STR("allocationMode"), .values = MODES },
              { STR("tolerations"), .type = &toleration });
DECLARED_TYPE(request, { STR("exactly"), .type = &exact_request },
              { STR("firstAvailable"), .max_items = 8, BY_NAME, .type = &sub_request });
DECLARED_TYPE(constraint, { STR("requests"), .flags = DECLARED_UNIQUE, .max_items = 32 },
              { STR("matchAttribute"), .format = DECLARED_FULL_NAME },
              { STR("distinctAttribute"), .format = DECLARED_FULL_NAME });
DECLARED_TYPE(claim_config, { STR("requests"), .flags = DECLARED_UNIQUE, .max_items = 32 },
              { STR("opaque"), .type = &opaque });
DECLARED_TYPE(devices, { STR("requests"), .max_items = 32, BY_NAME, .type = &request },
              { STR("constraints"), .max_items = 32, .type = &constraint },
              { STR("config"), .max_items = 32, .type = &claim_config });
DECLARED_TYPE(claim_spec, { STR("devices"), .type = &devices });

DECLARED_TYPE(result, { STR("driver"), DRIVER },
              { STR("pool"), .flags = DECLARED_REQUIRED, .format = DECLARED_POOL_NAME },
              { STR("tolerations"), .type = &toleration }, CONDITIONS,
              { STR("shareID"), .format = DECLARED_UUID });
DECLARED_TYPE(result_config, { STR("source"), .flags = DECLARED_REQUIRED, .values = SOURCES },
              { STR("requests"), .flags = DECLARED_UNIQUE, .max_items = 32 },
              { STR("opaque"), .type = &opaque });
DECLARED_TYPE(results, { STR("results"), .max_items = 32, .type = &result },
              { STR("config"), .max_items = 64, .type = &result_config });
DECLARED_TYPE(allocation, { STR("devices"), .type = &results });
DECLARED_TYPE(network_data, { STR("interfaceName"), .max_bytes = 256 },
              { STR("ips"), .flags = DECLARED_UNIQUE, .max_items = 16 },
              { STR("hardwareAddress"), .max_bytes = 128 });
DECLARED_TYPE(device_status, { STR("shareID"), .format = DECLARED_UUID },
              { STR("networkData"), .type = &network_data });
DECLARED_TYPE(claim_status, { STR("allocation"), .flags = DECLARED_NO_MODIFY, .type = &allocation },
              { STR("reservedFor"), .flags = DECLARED_UNIQUE, .max_items = 256,
                .keys = { STR("uid") } },
              { STR("devices"), .flags = DECLARED_UNIQUE,
                .keys = { STR("driver"), STR("device"), STR("pool"), STR("shareID") },
                .type = &device_status });

static const struct declared_field claim_fields[] = {
    { STR("spec"), .flags = DECLARED_IMMUTABLE, .type = &claim_spec },
    { STR("status"), .type = &claim_status },
    { .name = { NULL, 0 } },
};
const struct declared_type validate__claim = { .fields = claim_fields };

DECLARED_TYPE(claim_template_spec, { STR("spec"), .type = &claim_spec });
static const struct declared_field claim_template_fields[] = {
    { STR("spec"), .type = &claim_template_spec },
    { .name = { NULL, 0 } },
};
const struct declared_type validate__claim_template = { .fields = claim_template_fields };

DECLARED_TYPE(class_config, { STR("opaque"), .type = &opaque });
DECLARED_TYPE(class_spec, { STR("selectors"), .max_items = 32 },
              { STR("config"), .max_items = 32, .type = &class_config },
              { STR("extendedResourceName"), .format = DECLARED_EXTENDED_NAME });
static const struct declared_field class_fields[] = {
    { STR("spec"), .type = &class_spec },
    { .name = { NULL, 0 } },
};
const struct declared_type validate__class = { .fields = class_fields };

static const struct declared_union attribute_values = {
    { STR("int"), STR("bool"), STR("string"), STR("version"), STR("ints"), STR("bools"),
      STR("strings"), STR("versions") },
};
static const struct declared_field attribute_fields[] = {
    { STR("strings"), .max_item_bytes = 64 },
    { .name = { NULL, 0 } },
};
static const struct declared_type attribute = { .one_of = &attribute_values,
                                                .fields = attribute_fields };
DECLARED_TYPE(counters,
              { STR("counterSet"), .flags = DECLARED_REQUIRED, .format = DECLARED_SHORT_NAME },
              { STR("counters"), .flags = DECLARED_REQUIRED | DECLARED_MAP,
                .format = DECLARED_SHORT_NAME });
DECLARED_TYPE(taint, { STR("effect"), .flags = DECLARED_REQUIRED, .values = EFFECTS });
DECLARED_TYPE(device, { STR("attributes"), .flags = DECLARED_MAP, .type = &attribute },
              { STR("consumesCounters"), .flags = DECLARED_UNIQUE, .max_items = 2,
                .keys = { STR("counterSet") }, .type = &counters },
              { STR("taints"), .type = &taint }, CONDITIONS);
DECLARED_TYPE(counter_set,
              { STR("name"), .flags = DECLARED_REQUIRED, .format = DECLARED_SHORT_NAME },
              { STR("counters"), .flags = DECLARED_REQUIRED | DECLARED_MAP,
                .format = DECLARED_SHORT_NAME });
DECLARED_TYPE(slice_spec, { STR("devices"), .type = &device },
              { STR("sharedCounters"), .max_items = 8, BY_NAME, .type = &counter_set });
static const struct declared_field slice_fields[] = {
    { STR("spec"), .type = &slice_spec },
    { .name = { NULL, 0 } },
};
const struct declared_type validate__slice = { .fields = slice_fields };

DECLARED_TYPE(taint_rule_spec, { STR("taint"), .flags = DECLARED_STRUCT, .type = &taint });
static const struct declared_field taint_rule_fields[] = {
    { STR("spec"), .flags = DECLARED_STRUCT, .type = &taint_rule_spec },
    { .name = { NULL, 0 } },
};
const struct declared_type validate__taint_rule = { .fields = taint_rule_fields };
