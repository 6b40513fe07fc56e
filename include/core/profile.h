/*
 * core/profile.h - a profile, resolved: everything but the job that the loop's decisions depend on.
 *
 * A profile is a file until loaded (app/profiles.h). Resolved, it is one canonical JSON text, integers only, in which
 * prompt texts, capability rows and price rows are written out; its SHA-256 names it. So the hash alone says what a
 * job ran under, and the `profile` table alone can run it again. Immutable; lives in its own arena until the process ends.
 */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include "base/digest.h"
#include "base/fault.h"
#include "core/check.h"

/* reflect: the generator's model is critic and refiner too. */
enum mode { MODE_ONESHOT, MODE_CRITIC_REFINER, MODE_REFLECT, N_MODES };
/* The first are a model's; a tool's run is a call, too. */
enum role { ROLE_GENERATOR, ROLE_CRITIC, ROLE_REFINER, N_ROLES, ROLE_TOOL = N_ROLES, ROLE_NONE };
enum stakes { STAKES_LOW, STAKES_NORMAL, STAKES_HIGH, N_STAKES };
enum language { LANG_EN, LANG_JA, N_LANGUAGES };
enum sampling { SAMPLING_SEND, SAMPLING_OMIT, SAMPLING_REJECT }; /* of temperature */
enum schema_mode {
	SCHEMA_MODE_JSON_SCHEMA,
	SCHEMA_MODE_JSON_OBJECT,
	SCHEMA_MODE_OPENAPI,
	SCHEMA_MODE_NONE
};
/* What the schema of a draft may say to a model beyond its form, see core/hint.h. */
enum schema_says {
	SCHEMA_SAYS_FORM,	/* names and kinds of its parts alone */
	SCHEMA_SAYS_VALUES,	/* texts to choose from, patterns */
	SCHEMA_SAYS_ALL,	/* lengths, too */
	SCHEMA_SAYS_ALL_WRITTEN /* all, to a server that reads patterns as llama.cpp does */
};
/* Whose calls have the checks said by their schema. */
enum draft_schema { DRAFT_SCHEMA_OFF, DRAFT_SCHEMA_REFINE, DRAFT_SCHEMA_ALWAYS };
/* How much of JSON Schema may be said: all that we want; that without bounds; in the words of OpenAPI 3.0, where enums are of texts. */
enum dialect { DIALECT_FULL, DIALECT_UNBOUNDED, DIALECT_OPENAPI, N_DIALECTS };
/* What a reply is to be. */
enum want {
	WANT_TEXT,
	WANT_CRITIQUE,
	WANT_DRAFT,
	WANT_COMPARISON
}; /* all but a text: a JSON object */
/* What the critic answers: JSON whose issues are objects; JSON whose issues are texts, each about the whole draft; a text. */
enum critique_kind { CRITIQUE_JSON, CRITIQUE_PLAIN_ISSUES, CRITIQUE_TEXT };
/* What passes, besides green checks: no actionable issue, a verdict and a score that say so; or no actionable issue alone. */
enum pass_rule { PASS_VERDICT_AND_SCORE, PASS_NO_ACTIONABLE_ISSUES };
/* By the values of their enums; NULL at the end. max_tokens_names: what max_tokens_field may be. */
extern const char *const stakes_names[],
	*const sampling_names[], *const schema_mode_names[], *const schema_says_names[],
								     *const max_tokens_names[];
const char *role_name(enum role);
const char *stakes_name(enum stakes);
const char *language_name(enum language); /* "en" "ja" */

struct price {		       /* micro-USD per million tokens = micro-micro-USD a token */
	int64_t valid_from_ms; /* Unix time */
	int64_t in, cached, out, cache_write;
};

struct wire;	    /* core/wire.h */
struct tool;	    /* core/tool.h */
struct stakes_rule; /* core/stakes.h */

struct model {		     /* capability row */
	struct str name;     /* the settings' key: models.NAME */
	struct str id;	     /* as sent and as priced: "gpt-5.4" */
	struct str provider; /* the settings' key: providers.NAME */
	const struct wire *wire;
	int64_t tokens_per_kb;	   /* upper estimate of input tokens for 1,000 bytes of prompt */
	int64_t max_output_tokens; /* the model's ceiling */
	int64_t timeout_ms;	   /* of one call; a job's remaining active time may lower it */
	enum sampling sampling;
	int64_t temperature_milli; /* sent where sampling says so */
	enum schema_mode schema_mode;
	enum schema_says schema_says;
	struct str max_tokens_field; /* "max_completion_tokens" or "max_tokens" */
	struct str thinking;	     /* a level's word, or tokens in digits; absent = not sent */
	const struct price *price;   /* by valid_from, at least one */
	int n_price;
	/* Of the settings, no part of a profile; 0: none */
	int64_t sunset_ms; /* Unix time from which on it is not served */
	int64_t requests_per_minute, tokens_per_minute,
		concurrency; /* limits of all workers together, of one worker */
};

/* `thinking` as a number of tokens; -1: it is none. */
int64_t model_thinking_tokens(const struct model *);

struct limits {
	int64_t iterations; /* critiques that count; 1..5 */
	int64_t tokens;	    /* in + out, all calls of a job */
	int64_t micro_usd;
	int64_t active_ms;
};

enum { ITERATIONS_MAX = 5, FIELDS_MAX = 8, CANDIDATES_MAX = 2 };

struct candidate_texts {		     /* in one language */
	struct str approach[CANDIDATES_MAX]; /* how each is to be written */
	struct str compare;		     /* template, see core/prompt.h */
};

struct profile {
	uint8_t sha[SHA_BYTES];
	struct str json; /* the canonical text */
	struct str name;
	enum mode mode;
	struct limits limits;
	enum draft_schema draft_schema;
	enum critique_kind critique;
	enum pass_rule pass_rule;
	bool cite_sources;	    /* an issue of the critic may name the source it rests on */
	int64_t severity_threshold; /* 1..5 */
	int64_t pass_score;	    /* 0..100 */
	int64_t score_max;	    /* the critic's scale is 0..score_max: 10 or 100 */
	bool gate;		    /* ask the generator for its confidence */
	int64_t gate_permille;	    /* at or over it the gate opens */
	enum stakes stakes;	    /* unless the job or a rule says higher */
	const struct stakes_rule *stakes_rule;
	int n_stakes_rule;
	struct model model[N_ROLES];
	int64_t output_tokens[N_ROLES]; /* first cap of a call, up to the model's */
	int64_t role_ms
		[N_ROLES]; /* longest active time of one call; 0: not named, see role_time.h */
	struct str prompt[N_LANGUAGES][N_ROLES]; /* template texts, see core/prompt.h */
	struct str rubric[N_LANGUAGES];
	int64_t candidates; /* first drafts, 1 or 2; of two the better one is taken, see core/compare.h */
	struct candidate_texts candidate[N_LANGUAGES]; /* of two */
	const struct str *category;
	int n_category;
	const struct str *constraint; /* sentences that generator and critic both see */
	int n_constraint;
	const struct check *check;
	int n_check;
	const struct str *
		field; /* names of a draft's parts, [a-z0-9_]{1,40}, in their order; none: it is one text */
	int n_field;
	const struct tool *tool; /* core/tool.h; run in this order */
	int n_tool;
};

/* Reads a resolved profile; lives in @a. NULL: there are faults, each "models.critic.id: what is wrong; the mend". Checks rules among
 * keys too: critic and generator of one id are refused but in mode reflect, which wants one id for all, iterations over 3 need "iterations_over_3": true, temperature_milli is
 * 0..2000, a model has a price, output tokens leave room beside a thinking budget, role_ms fit into limits.active_ms, unknown template variables. */
const struct profile *profile_read(struct arena *a, struct str canonical_json,
				   struct faults *) MUST_CHECK;

bool profile_has_field(const struct profile *, struct str name);

/* A row as it stands in a profile's JSON. */
void model_put(struct json_out *, const char *key, const struct model *);

#endif
