#include "client/typed/typed_item.h"

#include "base/banned.h"

size_t typed_item_size(const struct spn_field *f)
{
    switch ((enum spn_what)f->what) {
    case SPN_IS_TEXT:
    case SPN_IS_BYTES:
        return sizeof(struct spn_text);
    case SPN_IS_BOOL:
        return sizeof(bool);
    case SPN_IS_INT:
        return sizeof(int64_t);
    case SPN_IS_NUMBER:
        return sizeof(struct spn_number);
    case SPN_IS_INT_OR_TEXT:
        return sizeof(struct spn_int_or_text);
    case SPN_IS_VALUE:
        return sizeof(const struct spn_value *);
    case SPN_IS_STRUCT:
        return f->type->size;
    case SPN_IS_NESTED:
        return sizeof(struct typed_items);
    }
    return 0;
}

size_t typed_stride(const struct spn_field *f)
{
    size_t n = typed_item_size(f);
    if (f->shape != SPN_MAP)
        return n;
    return (TYPED_NAME_BYTES + n + alignof(void *) - 1) & ~(alignof(void *) - 1);
}
