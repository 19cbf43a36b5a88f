/* xray_print.h - the way of a request (admission/xray.h) as a picture for a terminal. */
#pragma once

#include "base/buf.h"
#include "base/value.h"

struct xray_style {
    bool has_colours;
    bool shows_managers; /* metadata.managedFields, too */
};

/* `report` is what the server gave. */
void xray_print(struct buf *out, const struct value *report, const struct xray_style *style);
