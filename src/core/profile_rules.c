#include "profile_rules.h"

#include "core/copied.h"
#include "core/form.h"
#include "role_time.h"

#include <inttypes.h>

enum { NAME_BYTES_MAX = 64, FIELD_BYTES_MAX = 40, ITERATIONS_UNASKED_MAX = 3 };

/* Who is to reply in named parts must be told their names. */
static void check_form(const struct reader *r, const struct profile *p, enum language lang,
		       enum role role)
{
	if ((p->n_field || form_says_checks(p, role)) && role != ROLE_CRITIC &&
	    str_find(p->prompt[lang][role], STR_OF("{{schema}}"), 0) < 0)
		REFUSE(r,
		       "prompts.%s.%s: {{schema}} is not shown, which names the parts; put it where "
		       "the form of the reply is told",
		       language_name(lang), role_name(role));
}

void profile_check_fields(const struct reader *r, const struct profile *p)
{
	if (p->n_field > FIELDS_MAX)
		REFUSE(r, "fields: more than %d; a draft of so many is several jobs", FIELDS_MAX);
	for (int i = 0; i < p->n_field; i++) {
		struct profile before = {.field = p->field, .n_field = i};

		if (p->field[i].n > FIELD_BYTES_MAX ||
		    !str_only(p->field[i], "abcdefghijklmnopqrstuvwxyz0123456789_") ||
		    str_is(p->field[i], "confidence") || profile_has_field(&before, p->field[i]))
			REFUSE(r,
			       "fields[%d]: give each its own name of 1 to %d characters of a-z 0-9 _, "
			       "not \"confidence\"",
			       i, FIELD_BYTES_MAX);
	}
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		for (int role = 0; role < N_ROLES; role++)
			check_form(r, p, (enum language)lang, (enum role)role);
	for (int i = 0; i < p->n_check; i++)
		if (p->check[i].field.p && !profile_has_field(p, p->check[i].field))
			REFUSE(r, "checks[%d].field: there is no \"%.*s\" among the fields", i,
			       STR_ARG(p->check[i].field));
}

/* Who judges: another model than the writer's, whatever rows and providers name it, or in mode reflect the same. */
static void check_judge(const struct reader *r, const struct profile *p)
{
	const struct model *m = p->model;
	const bool same = str_eq(m[ROLE_CRITIC].id, m[ROLE_GENERATOR].id);

	if (p->mode == MODE_CRITIC_REFINER && model_same(&m[ROLE_CRITIC], &m[ROLE_GENERATOR]))
		REFUSE(r,
		       "%s: the generator's model may not judge its own drafts; give the critic "
		       "another one, or set mode: reflect",
		       "models.critic.id");
	if (p->mode == MODE_REFLECT && (!same || !str_eq(m[ROLE_REFINER].id, m[ROLE_GENERATOR].id)))
		REFUSE(r, "%s: in mode reflect one model plays all roles; name the generator alone",
		       "models");
}

/* Who is to cite sources needs a member to do it in, and has to see them. */
static void check_citing(const struct reader *r, const struct profile *p)
{
	if (p->critique != CRITIQUE_JSON)
		REFUSE(r, "%s: only an issue of critique: json can name its source; take it out",
		       "cite_sources");
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		if (str_find(p->prompt[lang][ROLE_CRITIC], STR_OF("{{sources}}"), 0) < 0)
			REFUSE(r,
			       "cite_sources: the critic's prompt in %s does not show {{sources}}; put "
			       "it there, or name one that does, as prompts: {critic: critic-sources}",
			       language_name((enum language)lang));
}

/* A critic who only copies must not pass. */
static void check_example(const struct reader *r, const struct profile *p)
{
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		if (copied_would_pass(p, p->prompt[lang][ROLE_CRITIC]))
			REFUSE(r,
			       "prompts.%s.critic: it shows a whole verdict that passes, which a critic could "
			       "copy; show one that fails, or leave it out: {{schema}} tells the form",
			       language_name((enum language)lang));
}

/* A schema that says more needs a model that follows it. */
static void check_draft_schema(const struct reader *r, const struct profile *p)
{
	if (p->draft_schema == DRAFT_SCHEMA_OFF || form_says_checks(p, ROLE_GENERATOR) ||
	    form_says_checks(p, ROLE_REFINER))
		return;
	if (p->draft_schema == DRAFT_SCHEMA_REFINE && p->mode == MODE_ONESHOT)
		REFUSE(r, "%s: in mode oneshot nobody refines; give always, or off",
		       "draft_schema");
	else
		REFUSE(r,
		       "%s: no model that writes here follows such a schema; give schema_says in "
		       "the model's row once you have tried it (values or all), or off here",
		       "draft_schema");
}

/* What is asked of the critic, and what its prompt says. */
static void check_critique(const struct reader *r, const struct profile *p)
{
	struct err err;

	if (p->critique == CRITIQUE_TEXT && p->pass_rule == PASS_VERDICT_AND_SCORE)
		REFUSE(r, "%s: a text has neither; give no_actionable_issues", "pass_rule");
	if (p->cite_sources)
		check_citing(r, p);
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		if (form_check(p, p->prompt[lang][ROLE_CRITIC], &err) != ST_OK)
			REFUSE(r, "prompts.%s.critic: %s", language_name((enum language)lang),
			       err.text);
	check_example(r, p);
	for (int i = 0; i < p->n_category; i++)
		for (int k = 0; k < i; k++)
			if (str_eq(p->category[i], p->category[k]))
				REFUSE(r, "categories[%d]: \"%.*s\" stands there already", i,
				       STR_ARG(p->category[i]));
}

/* Two candidates are for a critic to compare, and their texts are to differ. */
static void check_candidates(const struct reader *r, const struct profile *p)
{
	if (p->candidates == 1)
		return;
	if (p->mode == MODE_ONESHOT || p->gate)
		REFUSE(r, "%s: %s; leave it out, or that", "candidates",
		       p->gate ? "a gate passes a draft that no critic has seen"
			       : "in mode oneshot there is no critic to compare them");
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		if (str_find(p->prompt[lang][ROLE_GENERATOR], STR_OF("{{approach}}"), 0) < 0)
			REFUSE(r,
			       "prompts.%s.generator: {{approach}} is not shown, by which the "
			       "candidates differ; put it where the text is asked for",
			       language_name((enum language)lang));
}

void profile_check_rules(const struct reader *r, const struct json *o, const struct profile *p)
{
	bool over_3;

	if (!json_get_bool(o, "iterations_over_3", &over_3))
		member_unfit(r, o, "iterations_over_3", "true or false");
	else if (p->limits.iterations > ITERATIONS_UNASKED_MAX && !over_3)
		REFUSE(r,
		       "limits.iterations: over %d seldom pays; lower it, or set "
		       "iterations_over_3: true",
		       ITERATIONS_UNASKED_MAX);
	if (p->name.n > NAME_BYTES_MAX ||
	    !str_only(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_-"))
		member_unfit(r, o, "name", "1 to 64 characters of a-z 0-9 - _");
	if (p->score_max != 10 && p->score_max != 100)
		member_unfit(r, o, "score_max", "10 or 100");
	check_judge(r, p);
	check_critique(r, p);
	check_draft_schema(r, p);
	check_candidates(r, p);
	if (role_time_end_ms(p, &p->limits, ROLE_GENERATOR, false, 0) <
	    (p->role_ms[ROLE_GENERATOR] ? p->role_ms[ROLE_GENERATOR] : 1))
		REFUSE(r, "%s: draft, critique and mend exceed limits.active_ms; lower them",
		       "role_ms");
	for (int i = 0; i < N_ROLES; i++) {
		const struct model *m = &p->model[i];
		if (m->id.p && p->output_tokens[i] > m->max_output_tokens)
			REFUSE(r,
			       "output_tokens.%s: over the model's max_output_tokens; at most %" PRId64,
			       role_name((enum role)i), m->max_output_tokens);
		if (m->id.p && p->output_tokens[i] <= model_thinking_tokens(m))
			REFUSE(r,
			       "output_tokens.%s: the model may use them all for thinking; give "
			       "more than its thinking tokens, %" PRId64,
			       role_name((enum role)i), model_thinking_tokens(m));
	}
}
