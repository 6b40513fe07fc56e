/*
 * core/form.h - the form of a reply that is not just a text: what is sent as response schema and what a prompt says of it, made from
 * the profile in one place. core/critique.h reads by the same profile, so that scale, schema, prompt and reader agree.
 *
 * A critique has, in this order: considered (a line for each category of the profile, before the first issue is named), issues (at most
 * 5; each with source under cite_sources), reasons, and, where the profile's pass_rule looks at them, score and verdict. A draft has the profile's fields, or text (under the gate, or where the
 * schema says what it can of the checks), and under the gate confidence.
 */
#ifndef CORE_FORM_H
#define CORE_FORM_H

#include "core/job.h"

enum { FORM_ISSUES_MAX = 5 };
/* The whole reply, trimmed, of a critic who answers in text and found nothing; see core/critique.h. */
#define FORM_NO_DEFECTS "NO_DEFECTS"

/* What the reply of this role is to be. */
enum want form_want(const struct profile *, enum role);

/* ST_INVALID: the critic's template speaks of a score where the profile asks for none, or of another scale. */
enum status form_check(const struct profile *, struct str critic_template,
		       struct err *err) MUST_CHECK;

/* Whether the schema of this role's drafts says what it can of the checks: the profile wants it, and the role's model allows more than
 * the form. */
bool form_says_checks(const struct profile *, enum role);

/* The JSON Schema of the reply of this role; nothing for WANT_TEXT. With the @job, where form_says_checks(), what core/hint.h says of its
 * checks; NULL: the form alone, the same for all jobs. */
void form_schema(const struct profile *, enum role, const struct job *, enum dialect,
		 struct buf *out);

/* That of a comparison, see core/compare.h. */
void form_comparison_schema(enum dialect, struct buf *out);

/* The parts of a critic's reply and what they mean, as lines for its prompt. */
void form_words(const struct profile *, bool japanese, struct buf *out);

#endif
