/* unstructured.h - values as Go prints them where a message shows what was sent.
 *
 *     map: map[image:x] does not contain declared merge key: name
 *
 * Objects are `map[...]` in the order of names, lists `[...]`, texts bare, null `<nil>`. Works at
 * any depth. */
#pragma once

#include "base/buf.h"
#include "base/value.h"

void unstructured_print(struct buf *out, const struct value *v); /* as %v prints it */
/* The same as text in the arena, or as %s has it, which names the type of what is not text:
 * "%!s(int64=1)". */
struct str unstructured_text(struct arena *a, const struct value *v);
struct str unstructured_as_string(struct arena *a, const struct value *v);

/* The Go type that a value has: "map[string]interface {}", "int64", "%!s(<nil>)". */
const char *unstructured_type(const struct value *v);
