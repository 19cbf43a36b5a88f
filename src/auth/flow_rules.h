/* flow_rules.h - which flow a request belongs to: FlowSchemas and PriorityLevelConfigurations, read
 * once so that they can be asked often.
 *
 * Built with new, add and seal; sealed it never changes, so any number of threads may ask it. As
 * upstream, a schema that names a level which is not there is passed over, and the schemas and
 * levels `exempt` and `catch-all` are imagined if nobody has made them: every request has a flow.
 */
#pragma once

#include "auth/access.h"
#include "base/value.h"

enum flow_distinguisher { FLOW_BY_NOTHING, FLOW_BY_USER, FLOW_BY_NAMESPACE };

enum {
    FLOW_HAND_MAX = 15,         /* queues that one flow is dealt */
    FLOW_ENTROPY_BITS_MAX = 60, /* of a hash that dealing may use up */
};

struct flow_level_spec {
    struct str name, uid;
    bool is_exempt;                       /* no limit */
    uint32_t shares;                      /* of all seats, against those of the other levels */
    uint32_t lendable_percent;            /* of its seats */
    int32_t borrowing_percent;            /* of its seats; -1: no limit */
    uint32_t n_queues, hand_size, length; /* n_queues 0: nobody waits */
    void *state;                          /* whoever serves the level; set before sealing */
};

struct flow_rule;

struct flow_schema {
    struct str name, uid;
    int64_t precedence; /* the lowest one that matches wins, then the first by name */
    enum flow_distinguisher by;
    struct flow_level_spec *level;
    struct str level_name;
    struct flow_rule *rules;
    size_t n_rules;
    void *state; /* as above */
};

struct flow_rules;

struct flow_rules *flow_rules_new(void);
struct flow_rules *flow_rules_free(struct flow_rules *r);
/* Objects as they are stored; text is copied. Levels that contradict themselves are passed over. */
void flow_rules_add_level(struct flow_rules *r, const struct value *obj);
void flow_rules_add_schema(struct flow_rules *r, const struct value *obj);
void flow_rules_seal(struct flow_rules *r);

size_t flow_rules_levels(const struct flow_rules *r, struct flow_level_spec **ret);
/* In the order in which they are asked. */
size_t flow_rules_schemas(const struct flow_rules *r, struct flow_schema **ret);
const struct flow_level_spec *flow_rules_level(const struct flow_rules *r, struct str name);

/* Never NULL. */
const struct flow_schema *flow_rules_find(const struct flow_rules *r, const struct access *q);

/* What tells the flows of a schema apart: the user's name, the namespace, or nothing. */
struct str flow_schema_distinguish(const struct flow_schema *s, const struct access *q);
/* The flow as a number that decides about its queues. */
uint64_t flow_hash(struct arena *a, struct str schema, struct str distinguisher);
/* Deals `hand_size` different cards of a deck, chosen by the hash. */
void flow_deal(uint64_t hash, size_t deck, size_t hand_size, size_t ret[static FLOW_HAND_MAX]);
