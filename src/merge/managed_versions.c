/* Managers of other versions of the API: what changed is seen by each in its own version. */
#include "merge/managed_internal.h"

#include "api/convert/convert.h"
#include "api/typed.h"

#include "base/banned.h"

/* ---- kind tables ---- */

static bool find_kind(struct ownership_place place, struct str api_version,
                      struct ownership_place *ret)
{
    const struct kind_type *type = place.at;
    struct str version = api_version, group = STR("");
    if (str_find(api_version, '/') >= 0)
        group = str_cut(&version, '/');
    const struct kind_type *other = kind_type_find(group, version, type->name);
    if (!other || !convert_same_kind(type, other))
        return false;
    *ret = ownership_kind(other);
    return true;
}

/* What was merged or pruned may have nulls where a field has gone, so it is read as its kind. */
static int convert_kind(struct arena *a, struct ownership_place from, struct ownership_place to,
                        const struct value *obj, struct value *ret, struct err *err)
{
    struct value settled;
    int r = typed_read_made(a, from.at, obj, NULL, &settled, err);
    if (r < 0)
        return r;
    return convert_object(a, from.at, to.at, &settled, ret, err);
}

const struct managed_versions managed_kinds = { find_kind, convert_kind };

/* ---- objects ---- */

bool managed__is_known(const struct managed_request *req, struct str api_version)
{
    struct ownership_place ignored;
    return !req->versions || str_eq(api_version, req->api_version) ||
           req->versions->find(req->place, api_version, &ignored);
}

/* Upstream takes such a version for a mistake of its own, not for one that is gone. */
static int check_version(struct str api_version, struct err *err)
{
    struct str rest = api_version;
    (void)str_cut(&rest, '/');
    if (str_find(rest, '/') < 0)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "unexpected GroupVersion string: " STR_FMT,
                   STR_ARG(api_version));
}

int managed__to_version(struct arena *a, const struct managed_request *req,
                        const struct managed_object *from, struct str api_version,
                        struct managed_object *ret, struct err *err)
{
    if (!req->versions || str_eq(api_version, from->api_version)) {
        *ret = *from;
        return 0;
    }
    struct managed_object to = { .api_version = api_version };
    int r = check_version(api_version, err);
    if (r < 0)
        return r;
    if (str_eq(api_version, req->api_version))
        to.place = req->place;
    else if (!req->versions->find(req->place, api_version, &to.place))
        return err_set(err, ERR_NOT_FOUND, "no such version: " STR_FMT, STR_ARG(api_version));
    r = req->versions->convert(a, from->place, to.place, &from->v, &to.v, err);
    if (r < 0)
        return r;
    to.v = managed__bare(a, &to.v);
    *ret = to;
    return 0;
}

/* ---- changes ---- */

static int compare(struct managed_compare *c, struct str api_version, struct ownership_changes *ret,
                   struct err *err)
{
    const struct managed_request *req = c->req;
    struct managed_object live = { *c->live, req->api_version, req->place };
    struct managed_object obj = { *c->obj, req->api_version, req->place };
    int r = managed__to_version(c->arena, req, &live, api_version, &live, err);
    if (r < 0)
        return r;
    r = managed__to_version(c->arena, req, &obj, api_version, &obj, err);
    if (r < 0)
        return r;
    r = ownership_compare(c->arena, req->schema, obj.place, &live.v, &obj.v, ret, err);
    if (r < 0)
        return r;
    ret->removed = fieldset_without(c->arena, ret->removed, req->reset);
    ret->modified = fieldset_without(c->arena, ret->modified, req->reset);
    ret->added = fieldset_without(c->arena, ret->added, req->reset);
    return 0;
}

int managed__changes(struct managed_compare *c, struct str api_version,
                     struct ownership_changes *ret, struct err *err)
{
    if (!c->req->versions)
        api_version = c->req->api_version;
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->seen[i].api_version, api_version)) {
            *ret = c->seen[i].changes;
            return 0;
        }
    int r = compare(c, api_version, ret, err);
    if (r < 0)
        return r;
    if (c->n < MANAGED_VERSIONS_MAX)
        c->seen[c->n++] = (struct managed_seen){ api_version, *ret };
    return 0;
}
