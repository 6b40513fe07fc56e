/* A case file as text: forms of app/page.h, filled with the members that casefile.c selects. */
#include "app/ask.h"
#include "app/casefile.h"
#include "base/text.h"
#include "core/compare.h"
#include "core/refine.h"
#include "core/similarity.h"
#include "core/unwrap.h"

#define RECORD "{topic} partition {partition} offset {offset}"

/* ---- what was asked for ---- */

static const char job_form[] = "*JOB {job_no}*\n"
			       "[  id          {id}\n]"
			       "[  source      {source}\n]"
			       "[  revision    {revision}\n]"
			       "[  batch       {batch}\n]"
			       "[  tenant      {tenant}\n]"
			       "[  subject     {subject}\n]"
			       "  profile     {profile} {profile_sha.12}\n"
			       "[  arm         {arm}\n]"
			       "[  stakes      {stakes}\n]"
			       "[  set by      {stakes_by}\n]"
			       "[  not after   {not_after@}\n]"
			       "  received    {at@} from " RECORD "\n";

static void put_text(struct page *p, struct str text)
{
	page_text(p, text);
	page_text_end(p);
}

static void put_request(struct page *p, const struct json *request)
{
	const struct json *variables = json_get(request, "variables"), *value;
	const struct json *constraints = json_get(request, "constraints");
	const struct json *sources = json_get(request, "sources");
	struct str name;

	page_fill(p, request, "\n*TASK*\n");
	if (json_kind(request) != JSON_OBJECT)
		page_printf(p, "  (erased)\n");
	put_text(p, ask_text(request, "task"));
	for (size_t i = 0; i < json_size(variables) && json_member(variables, i, &name, &value);
	     i++) {
		page_printf(p, "  ");
		page_line(p, name);
		page_fill(p, value, ": {}\n");
	}
	if (json_size(constraints))
		page_fill(p, request, "\n*CONSTRAINTS OF ITS OWN*\n");
	page_fill_each(p, constraints, "  - {}\n");
	for (size_t i = 0; i < json_size(sources); i++) {
		const struct json *source = json_item(sources, i);
		page_ink(p, INK_BOLD);
		page_printf(p, "\nSOURCE DOCUMENT %zu", i + 1);
		page_ink(p, INK_PLAIN);
		page_fill(p, source, "\n[  id          {id}\n]");
		put_text(p, ask_text(source, "text"));
	}
}

/* ---- drafts ---- */

static void put_marked(struct page *p, struct str text, enum ink ink, const char *before,
		       const char *after)
{
	page_ink(p, ink);
	page_text(p, str_c(p->colour ? "" : before));
	page_text(p, text);
	page_text(p, str_c(p->colour ? "" : after));
	page_ink(p, INK_PLAIN);
}

static void put_changes(struct page *p, struct str before, struct str after)
{
	struct arena *a = arena_new();
	int n;
	const struct diff *run = diff_words(a, before, after, &n);

	for (int i = 0; i < n; i++) {
		if (run[i].kind == DIFF_KEPT)
			page_text(p, run[i].text);
		else if (run[i].kind == DIFF_CUT)
			put_marked(p, run[i].text, INK_RED, "[-", "-]");
		else
			put_marked(p, run[i].text, INK_GREEN, "{+", "+}");
	}
	arena_free(a);
}

static void put_version(struct page *p, struct str before, struct str after)
{
	if (before.p)
		put_changes(p, before, after);
	else
		page_text(p, after);
	page_text_end(p);
}

/* The part of a draft's text that `fields` gives as [first byte, bytes]. */
static struct str part(const struct json *draft, const char *name)
{
	const struct json *place = json_get(json_get(draft, "fields"), name);

	if (json_kind(place) != JSON_ARRAY)
		return str_c(NULL);
	return str_sub(ask_text(draft, "text"), (size_t)json_int(json_item(place, 0)),
		       (size_t)json_int(json_item(place, 1)));
}

static void put_fields(struct page *p, const struct json *from, const struct json *d)
{
	const struct json *fields = json_get(d, "fields"), *place;
	struct str name;

	for (size_t i = 0; json_member(fields, i, &name, &place); i++) {
		page_printf(p, "  %.*s:\n", STR_ARG(name));
		put_version(p, part(from, name.p), part(d, name.p));
	}
}

static void put_check(struct page *p, const struct json *c)
{
	bool ok = ask_true(c, "ok");

	page_printf(p, "  ");
	page_ink(p, ok ? INK_GREEN : INK_RED);
	page_printf(p, "%-5s", ok ? "green" : "red");
	page_ink(p, INK_PLAIN);
	page_fill(p, c,
		  ok			? " {name}\n"
		  : ask_true(c, "hard") ? " {name} (hard, severity {severity}): {detail}\n"
					: " {name} (soft, severity {severity}): {detail}\n");
}

static const struct json *draft_numbered(const struct json *drafts, int64_t draft_no)
{
	for (size_t i = 0; i < json_size(drafts); i++)
		if (ask_number(json_item(drafts, i), "draft_no") == draft_no)
			return json_item(drafts, i);
	return NULL;
}

static void put_draft(struct page *p, const struct json *drafts, const struct json *d)
{
	const struct json *checks = json_get(d, "checks");
	const struct json *from = draft_numbered(drafts, ask_number(d, "from_draft_no"));
	struct str text = ask_text(d, "text");

	page_fill(p, d,
		  from ? "\n*DRAFT {draft_no}, draft {from_draft_no} refined: "
			 "{changed_permille/1} % changed*\n"
		       : "\n*DRAFT {draft_no}*\n");
	if (!text.p)
		page_printf(p, "  (erased)\n");
	else if (json_kind(json_get(d, "fields")) == JSON_OBJECT)
		put_fields(p, from, d);
	else
		put_version(p, ask_text(from, "text"), text);
	page_fill(p, d,
		  "[  taken       {n_kept#change} of what was flagged\n]"
		  "[  reverted    {n_reverted#change} of what nobody flagged\n]");
	if (ask_number(d, "confidence_permille") >= 0)
		page_fill(p, d, "  confidence {confidence_permille/1} %\n");
	for (size_t i = 0; i < json_size(checks); i++)
		put_check(p, json_item(checks, i));
}

/* ---- critiques, and what tools found ---- */

#define ISSUE                                                                                      \
	"  severity {severity}, {category}[, source {source}][, citing {miscited}, which is no "   \
	"source of the job]: "

static const char *critique_form(const struct json *c)
{
	const bool valid = ask_true(c, "valid");

	if (ask_text(c, "tool").p)
		return valid ? "\n*{tool} on draft {draft_no}: {n_issue#finding}*\n"
			     : "\n*{tool} on draft {draft_no}: no answer*\n[  fault       {fault}\n]";
	return valid ? "\n*CRITIQUE of draft {draft_no}: {verdict}, score {score|not asked for}*\n"
		     : "\n*CRITIQUE of draft {draft_no}: cannot be read*\n[  fault       {fault}\n]";
}

static const char *issue_form(const struct json *issue)
{
	if (ask_number(issue, "at") >= 0)
		return ISSUE "\"{snippet}\" -> {suggestion}\n";
	return text_trim(ask_text(issue, "snippet")).n ? ISSUE
		       "\"{snippet}\" (not in the draft) -> {suggestion}\n"
						       : ISSUE "(the whole text) {suggestion}\n";
}

static void put_critique(struct page *p, const struct json *c)
{
	const struct json *issues = json_get(c, "issues");
	const struct str shape = ask_text(c, "shape");

	page_fill(p, c, critique_form(c));
	if (shape.p && !str_is(shape, shape_name(SHAPE_whole)) &&
	    !str_is(shape, shape_name(SHAPE_copied)))
		page_fill(p, c, "  repaired    taken out of its {shape}\n");
	page_fill(p, c,
		  "[  left out    {n_cut#issue} over five, the least severe\n]"
		  "[  silent      on {n_unconsidered} of the categories\n]");
	put_text(p, ask_text(c, "reasons"));
	for (size_t i = 0; i < json_size(issues); i++)
		page_fill(p, json_item(issues, i), issue_form(json_item(issues, i)));
}

/* What the critic preferred of two candidates, and which was chosen. */
static void put_comparison(struct page *p, const struct json *c)
{
	const struct str better = ask_text(c, "better"), by = ask_text(c, "chosen_by");

	if (better.p)
		page_fill(p, c, "\n*COMPARISON of the candidates: {better}*\n");
	put_text(p, ask_text(c, "better_reasons"));
	if (by.p) {
		page_fill(p, c, "\n*CHOSEN: draft {chosen_draft_no}, {chosen_by}*\n  ");
		page_line(p, str_c(choice_sentence(by)));
		page_printf(p, "\n");
	}
}

static int64_t step_of(const struct json *list, size_t i)
{
	return i < json_size(list) ? ask_number(json_item(list, i), "step_no") : INT64_MAX;
}

/* Drafts, comparisons and critiques as they were made. */
static void put_story(struct page *p, const struct json *file)
{
	const struct json *drafts = json_get(file, "drafts");
	const struct json *compared = json_get(file, "comparisons");
	const struct json *critiques = json_get(file, "critiques");
	size_t d = 0, m = 0, c = 0;

	while (d < json_size(drafts) || m < json_size(compared) || c < json_size(critiques)) {
		const int64_t draft = step_of(drafts, d), comparison = step_of(compared, m);
		const int64_t critique = step_of(critiques, c);

		if (draft <= comparison && draft <= critique)
			put_draft(p, drafts, json_item(drafts, d++));
		else if (comparison <= critique)
			put_comparison(p, json_item(compared, m++));
		else
			put_critique(p, json_item(critiques, c++));
	}
}

/* ---- calls ---- */

static const char attempt_form[] = "     again at {at@}, after {why}[ (HTTP {http_status})]"
				   " in {latency_ms} ms[: {detail}]\n";

static void put_call(struct page *p, const struct json *call)
{
	const struct json *attempts = json_get(call, "attempts");
	struct str asked = ask_text(call, "model_asked"), answered = ask_text(call, "model");
	struct str class = ask_text(call, "class"), rejected = ask_text(call, "rejected");

	page_fill(p, call,
		  "{call_no:4}  {role:-9}{tokens_in:10}{tokens_cached:7}{tokens_out:11}"
		  "{cost_micro_usd:10}{latency_ms:8}{n_attempts:9}  ");
	page_fill(p, call, class.p ? "{model_asked}" : "no answer yet, asked at {opened_at@}");
	if (class.p && answered.p && !str_eq(asked, answered))
		page_fill(p, call, ", answered by {model}");
	if (class.p && !str_is(class, "complete"))
		page_fill(p, call, ": {class}");
	if (rejected.p) {
		page_fill(p, call, ": revision rejected ({rejected}), ");
		page_line(p, str_c(rejection_sentence(rejected)));
	}
	page_printf(p, "\n");
	for (size_t i = 0; i < json_size(attempts); i++) {
		if (!str_is(ask_text(json_item(attempts, i), "why"), "waited"))
			page_fill(p, json_item(attempts, i), attempt_form);
	}
}

static void put_calls(struct page *p, const struct json *file)
{
	const struct json *calls = json_get(file, "calls");

	page_fill(p, file, "\n*CALLS*\n");
	page_printf(p, json_size(calls) ? "  no  role      tokens in cached tokens out micro-USD"
					  "      ms attempts  model\n"
					: "  none\n");
	for (size_t i = 0; i < json_size(calls); i++)
		put_call(p, json_item(calls, i));
	page_fill_each(p, json_get(file, "takeovers"),
		       "  worker {worker_id} took the job over at {at@}: {n_lost#attempt} lost, "
		       "{cost_micro_usd} micro-USD charged for them\n");
}

/* ---- the end ---- */

static const char end_form[] =
	"\n*OUTCOME {outcome}: {stop_reason}*\n"
	"[  why         {why}\n]"
	"  best draft  {draft_no}, score {score}\n"
	"  in all      {n_calls#call}, {n_iterations#iteration}, {tokens_in#token} in ({tokens_cached} cached), "
	"{tokens_out} out, {cost_micro_usd/6} USD, {active_ms} ms active\n"
	"[  at          {at@}\n]"
	"[  chain head  {chain_head}\n]";

static void put_waits(struct page *p, const struct json *file)
{
	const struct json *waits = json_get(file, "waits"), *calls = json_get(file, "calls");

	page_fill(p, file, "\n*STILL RUNNING*\n");
	if (json_kind(waits) != JSON_OBJECT) {
		page_printf(p, "  it is not in the queue: run sql/0003_requeue.sql\n");
		return;
	}
	if (!ask_true(waits, "alive")) {
		page_printf(p, "  waits for a worker to take it over\n");
		return;
	}
	page_fill(p, waits, "  at worker {worker_id} on {host}\n");
	for (size_t i = 0; i < json_size(calls); i++) {
		const struct json *call = json_item(calls, i);
		if (!ask_text(call, "class").p)
			page_fill(p, call,
				  ask_number(call, "n_attempts")
					  ? "  waits for the answer of call {call_no} ({role})\n"
					  : "  waits for a slot for call {call_no} ({role})\n");
	}
}

static void put_events(struct page *p, const struct json *file)
{
	const struct json *events = json_get(file, "events");
	const struct json *conflicts = json_get(file, "conflicts");

	if (json_size(events))
		page_fill(p, file, "\n*EVENTS*\n");
	for (size_t i = 0; i < json_size(events); i++) {
		const struct json *event = json_item(events, i);
		page_fill(p, event,
			  ask_text(event, "at").p
				  ? "  {kind:-11} {event_id}  " RECORD " at {at@}\n"
				  : "  {kind:-11} {event_id}  {topic}: not sent yet\n");
	}
	if (json_size(conflicts))
		page_fill(p, file, "\n*MESSAGES OF THE SAME IDENTITY WITH OTHER BYTES*\n");
	page_fill_each(p, conflicts, "  dead letter {letter_no}, " RECORD "\n");
}

/* ---- what is not one job ---- */

static const char letter_form[] = "*DEAD LETTER {letter_no}: {reason}*\n"
				  "[  why         {detail}\n]"
				  "[  id          {id}\n]"
				  "[  source      {source}\n]"
				  "  received    {at@} from " RECORD "\n"
				  "  value       {n_bytes#byte|null}";
static const char letter_end_form[] = "\n[  first job   {first_job_no}\n]"
				      "[  its SHA-256 {first_sha}\n]"
				      "[  event       {event_id}\n]"
				      "[  sent        {sent_at@}\n]";

static void put_letter(struct page *p, const struct json *letter)
{
	page_fill(p, letter, letter_form);
	if (ask_number(letter, "n_bytes") >= 0)
		page_fill(p, letter, ", SHA-256 {value_sha}");
	page_fill(p, letter, letter_end_form);
}

#define CANDIDATE "{at@}  source \"{source}\" id \"{id}\" revision {revision}  "

static void put_candidates(struct page *p, const struct json *jobs, const struct json *letters)
{
	page_ink(p, INK_BOLD);
	page_count(p, (int64_t)json_size(jobs), "job");
	page_printf(p, ", ");
	page_count(p, (int64_t)json_size(letters), "dead letter");
	page_printf(p, "\n");
	page_ink(p, INK_PLAIN);
	page_fill_each(p, jobs, "  {job_no}  " CANDIDATE "{outcome|still running}\n");
	page_fill_each(p, letters, "  {letter_no}  " CANDIDATE "{reason}\n");
}

void casefile_text(const struct json *file, struct page *p)
{
	const struct json *jobs = json_get(file, "jobs"), *letters = json_get(file, "dead_letters");
	enum casefile kind = casefile_kind(file);

	if (kind == CASEFILE_LETTER) {
		put_letter(p, json_item(letters, 0));
		return;
	}
	if (kind != CASEFILE_JOB) {
		put_candidates(p, jobs, letters);
		return;
	}
	page_fill(p, json_get(file, "job"), job_form);
	if (str_is(ask_text(json_get(file, "job"), "mode"), "reflect"))
		page_printf(p, "  judged by   the model that wrote it (mode reflect), "
			       "which is weak evidence: see the README\n");
	put_request(p, json_get(file, "request"));
	put_story(p, file);
	put_calls(p, file);
	if (json_kind(json_get(file, "outcome")) == JSON_OBJECT)
		page_fill(p, json_get(file, "outcome"), end_form);
	else
		put_waits(p, file);
	put_events(p, file);
}
