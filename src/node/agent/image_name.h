/* image_name.h - names of images, as the Docker libraries read them. Pure. */
#pragma once

#include "base/err.h"

struct image_name {
    struct str domain; /* "docker.io" if it names none */
    struct str full;   /* as it was written, with ":latest" where it has neither tag nor digest */
};

/* ERR_INVALID with the libraries' words: `invalid reference format: ...`. In the arena. */
int image_name_read(struct arena *a, struct str image, struct image_name *ret, struct err *err);
