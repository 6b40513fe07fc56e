/*
 * app/run_service.c - the models that jobs in memory call: where they are reached, and their limits; also when the settings are read
 * again.
 */
#include "run_private.h"

static bool is_same(const struct model *a, const struct model *b)
{
	return str_eq(a->name, b->name) && str_eq(a->id, b->id) &&
	       str_eq(a->provider, b->provider) && a->wire == b->wire;
}

static struct service *service_same(const struct runs *rs, const struct model *m)
{
	struct service *v;

	TAILQ_FOREACH(v, &rs->services, link)
	if (is_same(v->model, m))
		return v;
	return NULL;
}

struct service *service_of(const struct runs *rs, const struct model *m)
{
	struct service *v = service_same(rs, m);

	if (v)
		return v;
	TAILQ_FOREACH_REVERSE(v, &rs->services, services, link)
	if (str_eq(v->model->name, m->name))
		return v;
	return NULL;
}

const struct limit *runs_limit(const struct runs *rs, int i, const struct model **model)
{
	const struct service *v = TAILQ_FIRST(&rs->services);

	while (v && i-- > 0)
		v = TAILQ_NEXT(v, link);
	*model = v ? v->model : NULL;
	return v ? v->limit : NULL;
}

void runs_set_fleet(struct runs *rs, int n_workers)
{
	struct service *v;

	rs->n_workers = n_workers;
	TAILQ_FOREACH(v, &rs->services, link)
	limit_set_fleet(v->limit, n_workers);
}

static bool is_one_model(const struct model *a, const struct model *b)
{
	return str_eq(a->id, b->id) && str_eq(a->provider, b->provider);
}

/* Rows of one model, as with another `thinking`, share its limit and its breaker. */
static struct limit *shared_limit(const struct runs *rs, const struct model *m)
{
	struct service *v;

	TAILQ_FOREACH(v, &rs->services, link)
	if (is_one_model(v->model, m))
		return v->limit;
	return NULL;
}

static void tighten(int64_t *most, int64_t other)
{
	if (other && (!*most || other < *most))
		*most = other;
}

/* The strictest numbers of all rows of the model. */
static struct rates rates_of(const struct settings *s, const struct model *m)
{
	struct rates most = {0};

	for (int i = 0; i < s->n_model; i++) {
		if (!is_one_model(&s->model[i], m))
			continue;
		tighten(&most.requests_per_minute, s->model[i].requests_per_minute);
		tighten(&most.tokens_per_minute, s->model[i].tokens_per_minute);
		tighten(&most.concurrency, s->model[i].concurrency);
	}
	return most;
}

static struct service *service_new(struct runs *rs, const struct model *m, const struct rates *most)
{
	struct service *v = arena_alloc(rs->arena, sizeof(*v));
	struct model *own = arena_alloc(rs->arena, sizeof(*own));

	own->name = arena_str(rs->arena, m->name);
	own->id = arena_str(rs->arena, m->id);
	own->provider = arena_str(rs->arena, m->provider);
	own->wire = m->wire;
	v->model = own;
	v->limit = shared_limit(rs, own);
	v->owns_limit = !v->limit;
	if (v->owns_limit)
		v->limit = limit_new(rs->c.reactor, own->name.p, most);
	limit_set_fleet(v->limit, rs->n_workers);
	return v;
}

static void move(struct runs *rs, struct service *v, struct profiles *p, const struct endpoint *e)
{
	model_forget(rs->c.models, &v->endpoint);
	profiles_hold(p);
	profiles_free(v->profiles);
	v->profiles = p;
	v->endpoint = *e;
}

/* Those that the settings do not have any more follow their provider, for a key may be another: jobs in memory need them. */
static void move_gone(struct runs *rs, struct profiles *p)
{
	const struct settings *s = profiles_settings(p);
	struct endpoint e;
	struct service *v;
	struct err err;

	TAILQ_FOREACH(v, &rs->services, link)
	if (v->profiles != p && settings_endpoint(s, s->arena, v->model, &e, &err) == ST_OK)
		move(rs, v, p, &e);
}

enum status runs_use(struct runs *rs, struct profiles *p, struct err *err)
{
	const struct settings *s = profiles_settings(p);
	struct endpoint *e = arena_array(s->arena, struct endpoint, s->n_model);

	for (int i = 0; i < s->n_model; i++)
		if (settings_endpoint(s, s->arena, &s->model[i], &e[i], err) != ST_OK)
			return ST_INVALID;
	for (int i = 0; i < s->n_model; i++) {
		const struct model *m = &s->model[i];
		const struct rates most = rates_of(s, m);
		struct service *v = service_same(rs, m);

		if (v)
			TAILQ_REMOVE(&rs->services, v, link);
		else
			v = service_new(rs, m, &most);
		TAILQ_INSERT_TAIL(&rs->services, v, link);
		limit_set(v->limit, &most);
		move(rs, v, p, &e[i]);
	}
	move_gone(rs, p);
	profiles_hold(p);
	profiles_free(rs->c.profiles);
	rs->c.profiles = p;
	return ST_OK;
}

void services_free(struct runs *rs)
{
	struct service *v;

	TAILQ_FOREACH(v, &rs->services, link)
	{
		if (v->owns_limit)
			limit_free(v->limit);
		profiles_free(v->profiles);
	}
}
