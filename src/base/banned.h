/* banned.h - libc calls that have no place here. Included last by every .c file: a system header
 * read after it could not name them either. */
#pragma once

#undef alloca

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok strncpy strncat
#pragma GCC poison alloca setjmp longjmp system popen tmpnam mktemp
#pragma GCC poison atoi atol atoll atof rand srand
