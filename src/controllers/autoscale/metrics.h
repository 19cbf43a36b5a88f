/* metrics.h - asks the servers of metrics: metrics.k8s.io, custom.metrics.k8s.io and
 * external.metrics.k8s.io. May block. Errors are worded as upstream's client words them. */
#pragma once

#include "controllers/autoscale/calc.h"
#include <sampan/controller.h>
#include <sampan/mapper.h>

struct hpa_source {
    struct spn_work *work;
    struct spn_mapper *mapper;
};

/* What went wrong, in the words of Go's client where the server gave none; in the arena. `resource`
 * is "pods.metrics.k8s.io". */
struct spn_text hpa_words(struct spn_arena *a, const struct spn_err *err, struct spn_text resource,
                          struct spn_text name);

/* `selector` is text. `container` is empty: all of a pod. */
int hpa_fetch_resource(const struct hpa_source *s, struct spn_text resource,
                       struct spn_text container, struct spn_text selector, struct hpa_samples *ret,
                       struct spn_err *err);
/* A metric that is no resource. */
struct hpa_metric {
    struct spn_text name, selector; /* as text; empty: all */
};
/* SPN_INVALID: its selector is none. */
int hpa_metric_read(struct spn_arena *a, const struct spn_value *metric, struct hpa_metric *ret,
                    struct spn_err *err);
int hpa_fetch_pods(const struct hpa_source *s, const struct hpa_metric *metric,
                   struct spn_text selector, struct hpa_samples *ret, struct spn_err *err);
/* `ref` is a reference to an object: apiVersion, kind, name. */
int hpa_fetch_object(const struct hpa_source *s, const struct hpa_metric *metric,
                     const struct spn_value *ref, int64_t *ret_milli, struct spn_err *err);
/* The sum of all that match. */
int hpa_fetch_external(const struct hpa_source *s, const struct hpa_metric *metric,
                       int64_t *ret_milli, struct spn_err *err);

/* The resource of a kind, in its preferred version. SPN_NOT_FOUND: there is none. */
int hpa_find_kind(const struct hpa_source *s, struct spn_text group, struct spn_text kind,
                  struct spn_resource *ret, struct spn_err *err);
/* The group of an apiVersion: "apps/v1" is "apps", "v1" is "". */
struct spn_text hpa_group(struct spn_text api_version);

/* ---- What answers say: rules only ---- */

/* Of a list of PodMetrics: pods of which nothing is missing. */
struct hpa_samples hpa_read_resource(struct spn_arena *a, const struct spn_value *list,
                                     struct spn_text resource, struct spn_text container);
/* Of a MetricValueList. */
struct hpa_samples hpa_read_custom(struct spn_arena *a, const struct spn_value *list);
/* Of an ExternalMetricValueList. */
int64_t hpa_read_external(const struct spn_value *list);
