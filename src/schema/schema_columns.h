/* schema_columns.h - what `kubectl get` prints of a custom kind: additionalPrinterColumns.
 *
 * The first column is the name, then come those of the definition, each with a JSONPath; without
 * any there is the age. A path that cannot be read ends the list, as upstream has it. There may be
 * any number of columns, but what they cost together is bounded for each row
 * (LIMIT_TABLE_ROW_VALUES, LIMIT_TABLE_ROW_BYTES), since rows are made where others wait. Rules
 * only: no I/O, and the time is an argument. */
#pragma once

#include "schema/jsonpath.h"

struct schema_column {
    struct str name, type, format, description;
    int64_t priority;
    const struct jsonpath *path;
};

struct schema_columns {
    struct schema_column *list; /* without the name */
    size_t n;
};

/* `columns` is additionalPrinterColumns, or NULL. Nothing of it is needed afterwards. */
const struct schema_columns *schema_columns_compile(struct arena *a, const struct value *columns);

/* As columns_row() and columns_definitions(). Cells for which there is no budget left, of values
 * that are looked at or of text, are null, like those of a path that fails. */
struct value schema_columns_row(struct arena *a, const struct schema_columns *c,
                                const struct value *obj, int64_t now_ns, size_t *work);
struct value schema_columns_definitions(struct arena *a, const struct schema_columns *c);
