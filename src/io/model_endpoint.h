/* model_endpoint.h - how a provider is reached, as options of a libcurl handle; private to io/model.h's port. */
#ifndef IO_MODEL_ENDPOINT_H
#define IO_MODEL_ENDPOINT_H

#include "io/model.h"

#include <curl/curl.h>

/* A refused option is a bug: their values were checked. */
void easy_must(CURLcode);

/* URL, protocol, certificates, proxy and times of a checked endpoint; not its headers. libcurl copies the texts. */
void endpoint_apply(const struct endpoint *, CURL *easy);

#endif
