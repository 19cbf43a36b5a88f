/* names.h - how JSON, Go and C call the same thing. All results lie in the arena. */
#pragma once

#include "base/arena.h"

/* "podIPs" → "pod_ips", "HTTPGetAction" → "http_get_action"; what C cannot have becomes _. */
struct str names_snake(struct arena *a, struct str name);
/* The name of a member: a word that C or C++ keeps for itself gets a _ behind it, and "namespace"
 * is "ns", as everywhere in the library. */
struct str names_member(struct arena *a, struct str json);
/* "node_port" → "nodePort" and "NodePort". */
struct str names_camel(struct arena *a, struct str snake);
struct str names_pascal(struct arena *a, struct str snake);
/* "routes" → "route", "policies" → "policy"; a word without a plural stays. */
struct str names_singular(struct str plural, struct arena *a);
/* "network" → "networks", "policy" → "policies". */
struct str names_plural(struct arena *a, struct str singular);
struct str names_lower(struct arena *a, struct str s);
/* What generated names of a built-in version start with: "apps", "v1" → "apps_v1". */
struct str names_version_prefix(struct arena *a, struct str group, struct str version);
/* The built-in type whose struct is called so: "meta_v1_condition". NULL if there is none, or if it
 * has no struct because its JSON is no object. */
struct kind_type;
const struct kind_type *names_built_in(struct arena *a, struct str name);
/* Whether it can be the name of a struct: no word that C or C++ keeps for itself. */
bool names_is_identifier(struct str s);
