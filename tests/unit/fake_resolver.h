/*
 * tests/unit/fake_resolver.h - getaddrinfo() in the place of libc's, also for libraries: as libc's, but for one host, whose name server
 * is silent.
 */
#ifndef TESTS_FAKE_RESOLVER_H
#define TESTS_FAKE_RESOLVER_H

#define SILENT_HOST "silent.invalid"
enum { SILENT_S = 3 }; /* then it fails for now */

#endif
