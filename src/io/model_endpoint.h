/* model_endpoint.h - how a provider is reached, as options of a libcurl handle; private to io/model.h's port. */
#ifndef IO_MODEL_ENDPOINT_H
#define IO_MODEL_ENDPOINT_H

#include "io/model.h"

#include <curl/curl.h>

/* A refused option is a bug: their values were checked. */
void easy_must(CURLcode);

/* URL, protocol, certificates, proxy and times of a checked endpoint; not its headers. libcurl copies the texts. */
void endpoint_apply(const struct endpoint *, CURL *easy);
/* The proxy's login of now, which endpoint_apply() applies too. */
void endpoint_apply_login(const struct endpoint *, CURL *easy);

/* What became of a request without a reply; @was_sent: libcurl began to send it. @why is libcurl's text, CURL_ERROR_SIZE bytes; what a
 * proxy said takes its place. The endpoint is NULL if it was forgotten meanwhile. */
enum sent endpoint_sent(const struct endpoint *, CURL *easy, bool was_sent, char *why);

#endif
