#include "controllers/autoscale/behavior.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "controllers/common/fields.h"
#include "base/banned.h"

enum { DOWN_WINDOW_SEC = 300, UP_FACTOR = 2, UP_LEAST = 4 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- What was ---- */

void hpa_history_done(struct hpa_history *h)
{
    free(h->wanted.items);
    free(h->ups.items);
    free(h->downs.items);
    *h = (struct hpa_history){ 0 };
}

/* In the place of the last one that is before `cutoff_ns`, if there is one. */
static void put(struct hpa_marks *all, int64_t n, int64_t now_ns, int64_t cutoff_ns)
{
    size_t place = all->n;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].at_ns < cutoff_ns)
            place = i;
    if (place == all->n)
        all->items = mem_resize(all->items, ++all->n, sizeof(*all->items));
    all->items[place] = (struct hpa_mark){ n, now_ns };
}

void hpa_history_begin(struct hpa_history *h, int64_t current, int64_t now_ns)
{
    if (!h->wanted.n)
        put(&h->wanted, current, now_ns, INT64_MIN);
}

static int64_t longest_period(const struct spn_value *rules)
{
    const struct spn_value *policies = spn_value_get(rules, "policies");
    int64_t sec = 0;
    for (size_t i = 0; i < spn_value_count(policies); i++)
        sec = most(sec, field_int(spn_value_get(spn_value_at(policies, i), "periodSeconds"), 0));
    return sec;
}

void hpa_history_scaled(struct hpa_history *h, const struct spn_value *behavior, int64_t before,
                        int64_t after, int64_t now_ns)
{
    const bool is_up = after > before;
    const struct spn_value *rules = spn_value_get(behavior, is_up ? "scaleUp" : "scaleDown");
    if (behavior)
        put(is_up ? &h->ups : &h->downs, is_up ? after - before : before - after, now_ns,
            now_ns - longest_period(rules) * NS_PER_SEC);
}

static int64_t changed_within(const struct hpa_marks *all, int64_t sec, int64_t now_ns)
{
    int64_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->items[i].at_ns > now_ns - sec * NS_PER_SEC ? all->items[i].n : 0;
    return n;
}

/* ---- Without rules of its own ---- */

static void say_range(struct hpa_verdict *v)
{
    v->limit_reason = "DesiredWithinRange";
    v->limit_message = "the desired count is within the acceptable range";
}

static void limit(struct hpa_verdict *v, int64_t to, const char *reason, const char *message)
{
    v->replicas = to;
    v->is_limited = true;
    v->limit_reason = reason;
    v->limit_message = message;
}

static const char too_fast_up[] =
    "the desired replica count is increasing faster than the maximum scale rate";
static const char too_many[] = "the desired replica count is more than the maximum replica count";
static const char too_fast_down[] =
    "the desired replica count is decreasing faster than the maximum scale rate";
static const char too_few[] = "the desired replica count is less than the minimum replica count";
static const char were_higher[] =
    "recent recommendations were higher than current one, applying the highest recent "
    "recommendation";
static const char were_lower[] =
    "recent recommendations were lower than current one, applying the lowest recent "
    "recommendation";

static void say_able(struct hpa_verdict *v, const struct hpa_wish *wish, const char *reason,
                     const char *message)
{
    const bool is_same = v->replicas == wish->desired;
    v->able_reason = is_same ? "ReadyForNewScale" : reason;
    v->able_message = is_same ? "recommended size matches current size" : message;
}

/* The most that was wanted lately. */
static int64_t stabilize(struct hpa_history *h, const struct hpa_wish *wish, int64_t now_ns)
{
    const int64_t cutoff = now_ns - DOWN_WINDOW_SEC * NS_PER_SEC;
    int64_t n = wish->desired;
    for (size_t i = 0; i < h->wanted.n; i++)
        if (h->wanted.items[i].at_ns >= cutoff)
            n = most(n, h->wanted.items[i].n);
    put(&h->wanted, wish->desired, now_ns, cutoff);
    return n;
}

static struct hpa_verdict judge_plainly(struct hpa_history *h, const struct hpa_wish *wish,
                                        int64_t now_ns)
{
    struct hpa_verdict v = { .replicas = stabilize(h, wish, now_ns) };
    const int64_t up_limit = most(wish->current * UP_FACTOR, UP_LEAST);
    say_able(&v, wish, "ScaleDownStabilized", were_higher);
    say_range(&v);
    if (v.replicas < wish->min)
        limit(&v, wish->min, "TooFewReplicas", too_few);
    else if (v.replicas > up_limit && wish->max > up_limit)
        limit(&v, up_limit, "ScaleUpLimit", too_fast_up);
    else if (v.replicas > wish->max)
        limit(&v, wish->max, "TooManyReplicas", too_many);
    return v;
}

/* ---- With rules ---- */

static int64_t window_ns(const struct spn_value *behavior, const char *which, int64_t otherwise)
{
    return field_int(spn_value_dig(behavior, which, "stabilizationWindowSeconds"), otherwise) *
           NS_PER_SEC;
}

/* Between the least that was wanted lately, for more, and the most, for fewer. */
static int64_t stabilize_by_rules(struct hpa_history *h, const struct hpa_wish *wish,
                                  int64_t now_ns)
{
    const int64_t up_since = now_ns - window_ns(wish->behavior, "scaleUp", 0);
    const int64_t down_since = now_ns - window_ns(wish->behavior, "scaleDown", DOWN_WINDOW_SEC);
    int64_t up = wish->desired, down = up;
    for (size_t i = 0; i < h->wanted.n; i++) {
        const struct hpa_mark *m = &h->wanted.items[i];
        if (m->at_ns > up_since)
            up = least(up, m->n);
        if (m->at_ns > down_since)
            down = most(down, m->n);
    }
    put(&h->wanted, wish->desired, now_ns, least(up_since, down_since));
    return least(most(wish->current, up), down);
}

static int64_t proposed_by(const struct spn_value *policy, int64_t start, bool is_up)
{
    const int64_t value = field_int(spn_value_get(policy, "value"), 0);
    if (spn_text_eq(spn_value_text(spn_value_get(policy, "type")), SPN_TEXT("Pods")))
        return is_up ? start + value : start - value;
    if (is_up) /* rounded up, or it would never start */
        return (int64_t)ceil((double)start * (1 + (double)value / 100));
    return (int64_t)((double)start * (1 - (double)value / 100));
}

/* How far policies let it go now. */
static int64_t policy_limit(const struct hpa_history *h, const struct hpa_wish *wish, bool is_up,
                            int64_t now_ns)
{
    const struct spn_value *rules = spn_value_get(wish->behavior, is_up ? "scaleUp" : "scaleDown");
    const struct spn_value *policies = spn_value_get(rules, "policies");
    const struct spn_text select = spn_value_text(spn_value_get(rules, "selectPolicy"));
    if (spn_text_eq(select, SPN_TEXT("Disabled")))
        return wish->current;
    /* The smallest change is the lowest limit for more, and the highest for fewer. */
    const bool is_lowest = spn_text_eq(select, SPN_TEXT("Min")) == is_up;
    int64_t result = is_lowest ? INT32_MAX : INT32_MIN;
    for (size_t i = 0; i < spn_value_count(policies); i++) {
        const struct spn_value *policy = spn_value_at(policies, i);
        const int64_t sec = field_int(spn_value_get(policy, "periodSeconds"), 0);
        const int64_t start = wish->current - changed_within(&h->ups, sec, now_ns) +
                              changed_within(&h->downs, sec, now_ns);
        const int64_t n = proposed_by(policy, start, is_up);
        result = is_lowest ? least(result, n) : most(result, n);
    }
    return result;
}

static void limit_up(const struct hpa_history *h, const struct hpa_wish *wish, int64_t now_ns,
                     struct hpa_verdict *v)
{
    const int64_t up_limit = most(policy_limit(h, wish, true, now_ns), wish->current);
    if (wish->max > up_limit && v->replicas > up_limit)
        limit(v, up_limit, "ScaleUpLimit", too_fast_up);
    else if (wish->max <= up_limit && v->replicas > wish->max)
        limit(v, wish->max, "TooManyReplicas", too_many);
}

static void limit_down(const struct hpa_history *h, const struct hpa_wish *wish, int64_t now_ns,
                       struct hpa_verdict *v)
{
    const int64_t down_limit = least(policy_limit(h, wish, false, now_ns), wish->current);
    if (wish->min < down_limit && v->replicas < down_limit)
        limit(v, down_limit, "ScaleDownLimit", too_fast_down);
    else if (wish->min >= down_limit && v->replicas < wish->min)
        limit(v, wish->min, "TooFewReplicas", too_few);
}

static struct hpa_verdict judge_by_rules(struct hpa_history *h, const struct hpa_wish *wish,
                                         int64_t now_ns)
{
    struct hpa_verdict v = { .replicas = stabilize_by_rules(h, wish, now_ns) };
    if (wish->desired >= wish->current)
        say_able(&v, wish, "ScaleUpStabilized", were_lower);
    else
        say_able(&v, wish, "ScaleDownStabilized", were_higher);
    say_range(&v);
    if (v.replicas > wish->current)
        limit_up(h, wish, now_ns, &v);
    else if (v.replicas < wish->current)
        limit_down(h, wish, now_ns, &v);
    return v;
}

struct hpa_verdict hpa_judge(struct hpa_history *h, const struct hpa_wish *wish, int64_t now_ns)
{
    return wish->behavior ? judge_by_rules(h, wish, now_ns) : judge_plainly(h, wish, now_ns);
}
