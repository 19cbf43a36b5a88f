/* resource.k8s.io/v1beta1: what a request asks for, and what a device is, stood a level elsewhere.
 */
#include "api/convert/convert_internal.h"
#include "base/idiom.h"
#include "base/banned.h"

static const struct str request_fields[] = {
    STR("deviceClassName"), STR("selectors"),   STR("allocationMode"), STR("count"),
    STR("adminAccess"),     STR("tolerations"), STR("capacity"),       STR("derivedAttributes"),
};

enum { N_REQUEST_FIELDS = ARRAY_LEN(request_fields) };

static bool is_said(const struct value *v)
{
    int64_t number;
    if (value_is(v, VALUE_STRING))
        return v->n;
    return convert__given(v) && !(value_to_int(v, &number) && !number);
}

static void request_in(struct arena *a, struct value *request)
{
    struct value exactly = value_object();
    bool any = false;
    for (size_t i = 0; i < N_REQUEST_FIELDS; i++) {
        any = any || is_said(value_get(request, request_fields[i]));
        convert__copy(a, &exactly, request_fields[i], request, request_fields[i]);
    }
    if (any)
        value_put(a, request, STR("exactly"), exactly);
}

static void request_out(struct arena *a, struct value *request)
{
    const struct value *exactly = value_get(request, STR("exactly"));
    for (size_t i = 0; i < N_REQUEST_FIELDS; i++)
        convert__copy(a, request, request_fields[i], exactly, request_fields[i]);
}

static struct value *edit_devices(struct arena *a, struct value *obj)
{
    return convert__edit(a, convert__edit(a, obj, STR("spec")), STR("devices"));
}

int convert__resource_claim_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert__each(a, edit_devices(a, obj), STR("requests"), request_in);
    return 0;
}

int convert__resource_claim_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert__each(a, edit_devices(a, obj), STR("requests"), request_out);
    return 0;
}

int convert__claim_template_in(struct arena *a, struct value *obj, struct err *err)
{
    struct value *spec = convert__edit(a, obj, STR("spec"));
    return spec ? convert__resource_claim_in(a, spec, err) : 0;
}

int convert__claim_template_out(struct arena *a, struct value *obj, struct err *err)
{
    struct value *spec = convert__edit(a, obj, STR("spec"));
    return spec ? convert__resource_claim_out(a, spec, err) : 0;
}

/* ---- Devices ---- */

static void device_in(struct arena *a, struct value *device)
{
    const struct value *basic = value_get(device, STR("basic"));
    struct value out = value_object();
    value_each_field (f, basic)
        value_put_new(a, &out, f->key, value_borrow(&f->val));
    convert__copy(a, &out, STR("name"), device, STR("name"));
    *device = out;
}

static void device_out(struct arena *a, struct value *device)
{
    struct value out = value_object(), basic = value_object();
    value_each_field (f, device)
        value_put_new(a, str_eq(f->key, STR("name")) ? &out : &basic, f->key,
                      value_borrow(&f->val));
    value_put_new(a, &out, STR("basic"), basic);
    *device = out;
}

static void convert_devices(struct arena *a, struct value *obj,
                            void (*change)(struct arena *a, struct value *device))
{
    convert__each(a, convert__edit(a, obj, STR("spec")), STR("devices"), change);
}

int convert__resource_slice_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert_devices(a, obj, device_in);
    return 0;
}

int convert__resource_slice_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert_devices(a, obj, device_out);
    return 0;
}
