/*
 * core/prompt.h - the two messages of a call, rendered when it is sent; never kept: the same bytes can be had again at any time.
 *
 * A template text (config/prompts/LANG/ROLE.txt) is a static part, a line "--- user ---", and a part for the job. Static
 * variables: {{rubric}} {{categories}} {{pass_score}} {{score_max}} {{severity_threshold}} {{reply}} {{schema}}. Job variables:
 * {{task}} {{variables}} {{constraints}} {{sources}} {{draft}} {{other}} {{checks}} {{issues}} {{approach}} {{again}}. The static part (the system
 * message) is byte-identical for all jobs of a profile, so that prefix caches work. Any other {{name}}, one in the wrong part, or a
 * job variable named twice is refused at load. What is put in is never read as a template.
 *
 * {{pass_score}} is on the critic's scale. {{reply}} tells the critic what its reply consists of. {{schema}} is the form of a reply that is
 * JSON, a sentence and the JSON Schema (both: core/form.h); of a reply that is text: nothing. {{other}} is the second of two drafts that are
 * compared. {{approach}} is how this one of two candidates is to be written, in the profile's own words; of one alone nothing. {{again}} is nothing, or a line
 * "again: 1" and a sentence on the last reply. Any other job variable without a value says so: "(none)". A line with nothing but a
 * variable that gives nothing is left out.
 *
 * Everything that a job, a source or a model wrote stands between two fence lines "<<<KEY" and "KEY>>>", KEY being 24 hex
 * digits of SHA-256(label "draftmill/fence/1", salt, call number, counter) as canonical fields; the counter rises from 0 while KEY
 * occurs in the material, so no text can close its own fence. The sentences of checks stand there too: they quote job variables.
 */
#ifndef CORE_PROMPT_H
#define CORE_PROMPT_H

#include "core/answer.h"
#include "core/critique.h"
#include "core/job.h"
#include "core/wire.h"

enum { PROMPT_BYTES_MAX = 8 << 20, ANSWER_SCHEMA_BYTES_MAX = 1 << 20 };
/* Of a request's body: each byte of both messages written as \u00xx, the schema, and the rest. */
enum { REQUEST_BYTES_MAX = 2 * 6 * PROMPT_BYTES_MAX + 2 * ANSWER_SCHEMA_BYTES_MAX };

/* A prompt to be written. */
#define PROMPT                                                                                     \
	((struct prompt){BUF(PROMPT_BYTES_MAX), BUF(PROMPT_BYTES_MAX), WANT_TEXT,                  \
			 BUF(ANSWER_SCHEMA_BYTES_MAX)})
void prompt_release(struct prompt *);

struct prompt_parts {		   /* what the roles see besides the job; all borrowed */
	struct str draft;	   /* critic, refiner */
	const struct field *field; /* of that draft */
	int n_field;
	const struct check_result *result; /* of that draft */
	int n_result;
	const struct critique *examination; /* by tools, of all drafts */
	int n_examination, draft_no;
	const struct issue *issue; /* refiner: the actionable ones */
	int n_issue;
	bool again;	  /* asked once more: the last reply could not be used */
	bool compares;	  /* the critic: two drafts */
	struct str other; /* the second of them */
	const struct field *other_field;
	struct str approach; /* generator, of two candidates */
};

/* ST_INVALID: *err names the variable and its line. */
enum status prompt_check(struct str template_text, struct err *err) MUST_CHECK;

/* The rubric is five lines, "5: .." to "1: ..", each with an example behind "Example: " or 例: by @language. ST_INVALID: *err names the line. It
 * is one file a language for all profiles, prompts_dir/LANG/rubric.txt; a profile sets the severity_threshold on it, never its words. */
enum status prompt_check_rubric(struct str rubric, enum language language,
				struct err *err) MUST_CHECK;

/* Fills *out, a PROMPT. A message left `full` is
 * over the maximum: it has lost a part and may not be sent. The profile's templates have passed prompt_check(). */
void prompt_write(const struct profile *, const struct job *, enum role, int call_no,
		  const struct prompt_parts *, struct prompt *out);

#endif
