/* format.h - how a client wants its answer: in which encoding, and whether the object itself, a
 * Table or its metadata alone.
 *
 * Chosen from Accept before anything else is done, so that a write whose answer nobody could read
 * does not happen. Rules only: no I/O. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum format_media { FORMAT_JSON, FORMAT_YAML, FORMAT_PROTO, FORMAT_CBOR };

enum format_as {
    FORMAT_OBJECT,
    FORMAT_TABLE,
    FORMAT_PARTIAL,      /* PartialObjectMetadata */
    FORMAT_PARTIAL_LIST, /* PartialObjectMetadataList */
};

/* Whether answers show metadata.managedFields. Not an option of upstream's, whose servers ignore
 * parameters that they do not know. */
enum format_managers { FORMAT_MANAGERS_UNSAID, FORMAT_MANAGERS_SHOWN, FORMAT_MANAGERS_HIDDEN };

struct format {
    enum format_media media;
    enum format_as as;
    enum format_managers managers;
    bool beta;   /* meta.k8s.io/v1beta1 instead of v1 */
    bool pretty; /* JSON with white space */
};

enum format_endpoint {
    FORMAT_OF_ONE,        /* an object */
    FORMAT_OF_COLLECTION, /* a list, which could also have been watched */
    FORMAT_OF_WATCH,
    FORMAT_OF_ANYTHING, /* what a node says; in which form is its own matter */
};

/* Upstream has a router before it looks closer, which knows whole media types and anything, and no
 * parameters; custom kinds do not pass it. ERR_NOT_ACCEPTABLE in its words. */
int format_route(struct str accept, enum format_endpoint endpoint, struct err *err);

/* An empty `accept` means JSON. Objects of custom kinds have no protobuf form; their Tables and
 * metadata do. ERR_NOT_ACCEPTABLE in upstream's words. */
int format_choose(struct arena *a, struct str accept, enum format_endpoint endpoint, bool has_proto,
                  struct format *ret, struct err *err);

/* Of what comes as itself only: discovery. ERR_NOT_ACCEPTABLE. */
int format_choose_plain(struct arena *a, struct str accept, struct format *ret, struct err *err);
/* Of a refusal, which comes in any case: in JSON if nothing else is acceptable. */
struct format format_of_refusal(struct arena *a, struct str accept);

/* The form of a document that has another kind, which clients ask for by name; they may want it
 * less than the plain one and get it. False if none of the kinds is asked for, else which. */
struct format_kind {
    struct str group, version, name;
};
bool format_choose_kind(struct arena *a, struct str accept, const struct format_kind *kinds,
                        size_t n, struct format *ret, size_t *ret_kind);

/* Whether JSON is to be indented. `pretty` is the parameter, a NULL pointer if it is not there:
 * then people who look with curl, Wget or a browser get white space, programs do not. */
bool format_pretty(struct str pretty, struct str user_agent);

/* The encoding of a body; false if it is none that we read. Empty is JSON. */
bool format_of_content(struct str content_type, enum format_media *ret);

struct str format_content_type(enum format_media media, bool stream);
