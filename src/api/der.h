/* der.h - the elements of DER (X.690), one after the other. Reads only what stands there: lengths
 * of up to three bytes, tags of one. */
#pragma once

#include "base/str.h"

enum {
    DER_BOOLEAN = 0x01,
    DER_INTEGER = 0x02,
    DER_BITS = 0x03,
    DER_OCTETS = 0x04,
    DER_OID = 0x06,
    DER_UTC_TIME = 0x17,
    DER_LONG_TIME = 0x18,
    DER_SEQUENCE = 0x30,
    DER_SET = 0x31,
    DER_NAME_EMAIL = 0x81, /* of the subject's other names */
    DER_NAME_DNS = 0x82,
    DER_NAME_URI = 0x86,
    DER_NAME_IP = 0x87,
    DER_VERSION = 0xa0,    /* of a certificate */
    DER_ATTRIBUTES = 0xa0, /* of a request for one */
    DER_EXTENSIONS = 0xa3, /* of a certificate */
};

/* Eats the next element and returns its tag; 0 at the end or if it is broken. */
unsigned der_next(struct str *in, struct str *ret);
/* Eats the next element, which has to have this tag. */
bool der_expect(struct str *in, unsigned tag, struct str *ret);
/* Eats the next element if it has this tag. */
bool der_maybe(struct str *in, unsigned tag, struct str *ret);
