/* banned.h - libc calls that may not be used. Every .c file includes it last, because a system
 * header after it could not declare them. */
#pragma once

#undef alloca

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok strncpy strncat
#pragma GCC poison alloca setjmp longjmp system popen tmpnam mktemp
#pragma GCC poison atoi atol atoll atof rand srand
