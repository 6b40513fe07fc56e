#include "app/settings.h"

#include "app/file.h"

#include <stdlib.h>

enum { CONNECT_TIMEOUT_MS = 10000 };

/* Absent: the provider wants none. A credential is never part of a message. */
static enum status read_credential(struct arena *a, const struct provider *provider,
				   struct str *out, struct err *err)
{
	const char *value = provider->key_env ? getenv(provider->key_env) : NULL;

	*out = (struct str){NULL, 0};
	if (value && *value)
		*out = str_c(value);
	else if (provider->key_file && file_read(a, provider->key_file, out, err) != ST_OK)
		return ST_INVALID;
	else if (provider->key_env && !provider->key_file)
		return err_set(err, ST_INVALID,
			       "the environment variable %s is not set; put the credential there",
			       provider->key_env);
	if (!out->p)
		return ST_OK;
	if (out->n > 0 && out->p[out->n - 1] == '\n')
		out->n--;
	if (out->n > 0 && out->p[out->n - 1] == '\r')
		out->n--;
	for (size_t i = 0; i < out->n; i++) {
		if ((unsigned char)out->p[i] <= 0x20 || out->p[i] == 0x7F)
			return err_set(
				err, ST_INVALID,
				"the credential holds white space or a control character; mend %s",
				value && *value ? provider->key_env : provider->key_file);
	}
	return out->n ? ST_OK
		      : err_set(err, ST_INVALID, "%s is empty; put the credential there",
				provider->key_file);
}

enum status settings_endpoint(const struct settings *s, struct arena *a, const struct model *model,
			      struct endpoint *out, struct err *err)
{
	const struct provider *provider = settings_provider(s, model->provider);
	const char **header = arena_array(a, const char *, 2);
	struct str credential;

	if (!provider)
		return err_set(err, ST_INVALID,
			       "models.%.*s: the settings have no provider \"%.*s\"; add it",
			       STR_ARG(model->name), STR_ARG(model->provider));
	if (read_credential(a, provider, &credential, err) != ST_OK) {
		err_at(err, "providers.%.*s: ", STR_ARG(provider->name));
		return ST_INVALID;
	}
	if (credential.p)
		header[0] = arena_printf(a, "%s: %s%.*s", provider->auth_header,
					 provider->auth_prefix, STR_ARG(credential))
				    .p;
	*out = (struct endpoint){
		.url = arena_printf(a, "%s%s", provider->base_url, model->wire->path).p,
		.header = header,
		.ca_file = provider->ca_file,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
	};
	return ST_OK;
}
