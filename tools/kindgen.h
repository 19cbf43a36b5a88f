/* kindgen.h - what kindgen_write.c makes of the files of kinds/. */
#pragma once

#include "generate/kinds_file.h"

void kinds_write(FILE *to);
