#include "app/ask.h"
#include "app/casefile.h"
#include "base/clock.h"
#include "core/row.h"
#include "core/similarity.h"

/* ---- parts of lines ---- */

static void put_name(struct page *p, const char *name)
{
	page_printf(p, "  %-11s ", name);
}

static void put_field(struct page *p, const char *name, struct str value)
{
	if (!value.p || !value.n)
		return;
	put_name(p, name);
	page_line(p, value);
	page_printf(p, "\n");
}

/* In a column; "-" for what is not known. */
static void put_number(struct page *p, int width, int64_t n)
{
	if (n < 0)
		page_printf(p, "%*s", width, "-");
	else
		page_printf(p, "%*lld", width, (long long)n);
}

static void put_place(struct page *p, const struct json *j)
{
	page_line(p, ask_text(j, "topic"));
	page_printf(p, " partition %lld offset %lld", (long long)ask_number(j, "partition"),
		    (long long)ask_number(j, "offset"));
}

/* PostgreSQL's spelling of a time made ours. */
static void put_time(struct page *p, const struct json *j, const char *key)
{
	struct buf text = BUF(64);
	int64_t unix_ms;

	if (time_read(ask_text(j, key), &unix_ms))
		time_write(&text, unix_ms);
	page_line(p, buf_view(&text));
	buf_release(&text);
}

static void put_time_field(struct page *p, const char *name, const struct json *j, const char *key)
{
	if (!ask_text(j, key).p)
		return;
	put_name(p, name);
	put_time(p, j, key);
	page_printf(p, "\n");
}

/* ---- what was asked for ---- */

static void put_head(struct page *p, const struct json *job)
{
	page_title(p, "JOB %.*s", STR_ARG(ask_text(job, "job_no")));
	put_field(p, "id", ask_text(job, "id"));
	put_field(p, "source", ask_text(job, "source"));
	if (ask_number(job, "revision") > 0) {
		put_name(p, "revision");
		page_printf(p, "%lld\n", (long long)ask_number(job, "revision"));
	}
	put_field(p, "batch", ask_text(job, "batch"));
	put_field(p, "tenant", ask_text(job, "tenant"));
	put_field(p, "subject", ask_text(job, "subject"));
	put_name(p, "profile");
	page_line(p, ask_text(job, "profile"));
	page_printf(p, " %.12s\n", ask_text(job, "profile_sha").p);
	put_field(p, "stakes", ask_text(job, "stakes"));
	put_time_field(p, "not after", job, "not_after");
	put_name(p, "received");
	put_time(p, job, "at");
	page_printf(p, " from ");
	put_place(p, job);
	page_printf(p, "\n");
}

static void put_texts(struct page *p, const struct json *list, const char *title)
{
	if (json_size(list))
		page_title(p, "%s", title);
	for (size_t i = 0; i < json_size(list); i++) {
		page_printf(p, "  - ");
		page_line(p, json_str(json_item(list, i)));
		page_printf(p, "\n");
	}
}

static void put_request(struct page *p, const struct json *request)
{
	const struct json *variables = json_get(request, "variables"), *value;
	const struct json *sources = json_get(request, "sources");
	struct str name;

	page_title(p, "TASK");
	if (json_kind(request) != JSON_OBJECT)
		page_printf(p, "  (erased)\n");
	page_text(p, ask_text(request, "task"));
	page_text_end(p);
	for (size_t i = 0; i < json_size(variables) && json_member(variables, i, &name, &value);
	     i++) {
		page_printf(p, "  ");
		page_line(p, name);
		page_printf(p, ": ");
		page_line(p, json_str(value));
		page_printf(p, "\n");
	}
	put_texts(p, json_get(request, "constraints"), "CONSTRAINTS OF ITS OWN");
	for (size_t i = 0; i < json_size(sources); i++) {
		page_title(p, "SOURCE DOCUMENT %zu", i + 1);
		put_field(p, "id", ask_text(json_item(sources, i), "id"));
		page_text(p, ask_text(json_item(sources, i), "text"));
		page_text_end(p);
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

static void put_check(struct page *p, const struct json *c)
{
	bool ok = ask_true(c, "ok");

	page_printf(p, "  ");
	page_ink(p, ok ? INK_GREEN : INK_RED);
	page_printf(p, "%-5s", ok ? "green" : "red");
	page_ink(p, INK_PLAIN);
	page_printf(p, " ");
	page_line(p, ask_text(c, "name"));
	if (!ok) {
		page_printf(p, " (%s, severity %lld): ", ask_true(c, "hard") ? "hard" : "soft",
			    (long long)ask_number(c, "severity"));
		page_line(p, ask_text(c, "detail"));
	}
	page_printf(p, "\n");
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
	int64_t changed = ask_number(d, "changed_permille");
	int64_t confidence = ask_number(d, "confidence_permille");

	if (from)
		page_title(p, "DRAFT %lld, draft %lld refined: %lld.%lld %% changed",
			   (long long)ask_number(d, "draft_no"),
			   (long long)ask_number(from, "draft_no"), (long long)changed / 10,
			   (long long)changed % 10);
	else
		page_title(p, "DRAFT %lld", (long long)ask_number(d, "draft_no"));
	if (!text.p)
		page_printf(p, "  (erased)\n");
	else if (from && ask_text(from, "text").p)
		put_changes(p, ask_text(from, "text"), text);
	else
		page_text(p, text);
	page_text_end(p);
	if (confidence >= 0)
		page_printf(p, "  confidence %lld.%lld %%\n", (long long)confidence / 10,
			    (long long)confidence % 10);
	for (size_t i = 0; i < json_size(checks); i++)
		put_check(p, json_item(checks, i));
}

/* ---- critiques ---- */

static void put_issue(struct page *p, const struct json *issue)
{
	struct str snippet = ask_text(issue, "snippet");

	page_printf(p, "  severity %lld, ", (long long)ask_number(issue, "severity"));
	page_line(p, ask_text(issue, "category"));
	page_printf(p, ": ");
	if (snippet.n) {
		page_printf(p, "\"");
		page_line(p, snippet);
		page_printf(p, "\"%s -> ",
			    ask_number(issue, "at") < 0 ? " (not in the draft)" : "");
	}
	page_line(p, ask_text(issue, "suggestion"));
	page_printf(p, "\n");
}

static void put_critique(struct page *p, const struct json *c)
{
	const struct json *issues = json_get(c, "issues");
	int64_t draft_no = ask_number(c, "draft_no");

	if (ask_true(c, "valid")) {
		page_title(p, "CRITIQUE of draft %lld: %.*s, score %lld", (long long)draft_no,
			   STR_ARG(ask_text(c, "verdict")), (long long)ask_number(c, "score"));
	} else {
		page_title(p, "CRITIQUE of draft %lld: cannot be read", (long long)draft_no);
		put_field(p, "fault", ask_text(c, "fault"));
	}
	page_text(p, ask_text(c, "reasons"));
	page_text_end(p);
	for (size_t i = 0; i < json_size(issues); i++)
		put_issue(p, json_item(issues, i));
}

/* Drafts and critiques as they were made. */
static void put_story(struct page *p, const struct json *file)
{
	const struct json *drafts = json_get(file, "drafts");
	const struct json *critiques = json_get(file, "critiques");
	size_t d = 0, c = 0;

	while (d < json_size(drafts) || c < json_size(critiques)) {
		if (c == json_size(critiques) ||
		    (d < json_size(drafts) &&
		     ask_number(json_item(drafts, d), "step_no") <=
			     ask_number(json_item(critiques, c), "step_no")))
			put_draft(p, drafts, json_item(drafts, d++));
		else
			put_critique(p, json_item(critiques, c++));
	}
}

/* ---- calls ---- */

static void put_attempt(struct page *p, const struct json *attempt)
{
	struct str why = ask_text(attempt, "why");

	if (str_is(why, "waited"))
		return;
	page_printf(p, "     again at ");
	put_time(p, attempt, "at");
	page_printf(p, ", after ");
	page_line(p, why);
	if (ask_number(attempt, "http_status") > 0)
		page_printf(p, " (HTTP %lld)", (long long)ask_number(attempt, "http_status"));
	page_printf(p, " in %lld ms", (long long)ask_number(attempt, "latency_ms"));
	if (ask_text(attempt, "detail").n) {
		page_printf(p, ": ");
		page_line(p, ask_text(attempt, "detail"));
	}
	page_printf(p, "\n");
}

static void put_models(struct page *p, const struct json *call)
{
	struct str asked = ask_text(call, "model_asked"), answered = ask_text(call, "model");
	struct str class = ask_text(call, "class");

	page_printf(p, "  ");
	if (!class.p) {
		page_printf(p, "no answer yet, asked at ");
		put_time(p, call, "opened_at");
		return;
	}
	page_line(p, asked);
	if (answered.p && !str_eq(asked, answered)) {
		page_printf(p, ", answered by ");
		page_line(p, answered);
	}
	if (!str_is(class, "complete")) {
		page_printf(p, ": ");
		page_line(p, class);
	}
}

static void put_call(struct page *p, const struct json *call)
{
	static const struct {
		const char *key;
		int width;
	} columns[] = {{"tokens_in", 10},      {"tokens_cached", 7}, {"tokens_out", 11},
		       {"cost_micro_usd", 10}, {"latency_ms", 8},    {"n_attempts", 9}};
	const struct json *attempts = json_get(call, "attempts");

	put_number(p, 4, ask_number(call, "call_no"));
	page_printf(p, "  %-9.*s", STR_ARG(ask_text(call, "role")));
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		put_number(p, columns[i].width, ask_number(call, columns[i].key));
	put_models(p, call);
	page_printf(p, "\n");
	for (size_t i = 0; i < json_size(attempts); i++)
		put_attempt(p, json_item(attempts, i));
}

static void put_calls(struct page *p, const struct json *file)
{
	const struct json *calls = json_get(file, "calls");
	const struct json *takeovers = json_get(file, "takeovers");

	page_title(p, "CALLS");
	if (json_size(calls))
		page_printf(p, "  no  role      tokens in cached tokens out micro-USD      ms"
			       " attempts  model\n");
	else
		page_printf(p, "  none\n");
	for (size_t i = 0; i < json_size(calls); i++)
		put_call(p, json_item(calls, i));
	for (size_t i = 0; i < json_size(takeovers); i++) {
		const struct json *t = json_item(takeovers, i);
		page_printf(p, "  worker %lld took the job over at ",
			    (long long)ask_number(t, "worker_id"));
		put_time(p, t, "at");
		page_printf(p, ": %lld attempts lost, %lld micro-USD charged for them\n",
			    (long long)ask_number(t, "n_lost"),
			    (long long)ask_number(t, "cost_micro_usd"));
	}
}

/* ---- the end ---- */

static void put_end(struct page *p, const struct json *end)
{
	int64_t cost = ask_number(end, "cost_micro_usd");

	page_title(p, "OUTCOME %.*s: %.*s", STR_ARG(ask_text(end, "outcome")),
		   STR_ARG(ask_text(end, "stop_reason")));
	put_field(p, "why", ask_text(end, "why"));
	put_name(p, "best draft");
	put_number(p, 0, ask_number(end, "draft_no"));
	page_printf(p, ", score ");
	put_number(p, 0, ask_number(end, "score"));
	page_printf(p, "\n");
	put_name(p, "in all");
	page_printf(p,
		    "%lld calls, %lld iterations, %lld tokens in (%lld cached), %lld out, "
		    "%lld.%06lld USD, %lld ms active\n",
		    (long long)ask_number(end, "n_calls"),
		    (long long)ask_number(end, "n_iterations"),
		    (long long)ask_number(end, "tokens_in"),
		    (long long)ask_number(end, "tokens_cached"),
		    (long long)ask_number(end, "tokens_out"), (long long)cost / 1000000,
		    (long long)cost % 1000000, (long long)ask_number(end, "active_ms"));
	put_time_field(p, "at", end, "at");
	put_field(p, "chain head", ask_text(end, "chain_head"));
}

static void put_waits(struct page *p, const struct json *file)
{
	const struct json *waits = json_get(file, "waits"), *calls = json_get(file, "calls");

	page_title(p, "STILL RUNNING");
	if (json_kind(waits) != JSON_OBJECT) {
		page_printf(p, "  it is not in the queue: run sql/0003_requeue.sql\n");
		return;
	}
	if (!ask_true(waits, "alive")) {
		page_printf(p, "  waits for a worker to take it over\n");
		return;
	}
	page_printf(p, "  at worker %lld on ", (long long)ask_number(waits, "worker_id"));
	page_line(p, ask_text(waits, "host"));
	page_printf(p, "\n");
	for (size_t i = 0; i < json_size(calls); i++) {
		const struct json *call = json_item(calls, i);
		if (ask_text(call, "class").p)
			continue;
		page_printf(p, "  waits for %s call %lld (%.*s)\n",
			    ask_number(call, "n_attempts") ? "the answer of" : "a slot for",
			    (long long)ask_number(call, "call_no"),
			    STR_ARG(ask_text(call, "role")));
	}
}

static void put_event(struct page *p, const struct json *event)
{
	put_name(p, ask_text(event, "kind").p);
	page_line(p, ask_text(event, "event_id"));
	page_printf(p, "  ");
	if (ask_text(event, "at").p) {
		put_place(p, event);
		page_printf(p, " at ");
		put_time(p, event, "at");
	} else {
		page_line(p, ask_text(event, "topic"));
		page_printf(p, ": not sent yet");
	}
	page_printf(p, "\n");
}

static void put_events(struct page *p, const struct json *file)
{
	const struct json *events = json_get(file, "events");
	const struct json *conflicts = json_get(file, "conflicts");

	if (json_size(events))
		page_title(p, "EVENTS");
	for (size_t i = 0; i < json_size(events); i++)
		put_event(p, json_item(events, i));
	if (json_size(conflicts))
		page_title(p, "MESSAGES OF THE SAME IDENTITY WITH OTHER BYTES");
	for (size_t i = 0; i < json_size(conflicts); i++) {
		page_printf(p, "  dead letter %.*s, ",
			    STR_ARG(ask_text(json_item(conflicts, i), "letter_no")));
		put_place(p, json_item(conflicts, i));
		page_printf(p, "\n");
	}
}

/* ---- what is not one job ---- */

static void put_letter(struct page *p, const struct json *l)
{
	page_title(p, "DEAD LETTER %.*s: %.*s", STR_ARG(ask_text(l, "letter_no")),
		   STR_ARG(ask_text(l, "reason")));
	put_field(p, "why", ask_text(l, "detail"));
	put_field(p, "id", ask_text(l, "id"));
	put_field(p, "source", ask_text(l, "source"));
	put_name(p, "received");
	put_time(p, l, "at");
	page_printf(p, " from ");
	put_place(p, l);
	page_printf(p, "\n");
	put_name(p, "value");
	if (ask_number(l, "n_bytes") == ROW_NULL)
		page_printf(p, "null\n");
	else
		page_printf(p, "%lld bytes, SHA-256 %s\n", (long long)ask_number(l, "n_bytes"),
			    ask_text(l, "value_sha").p);
	put_field(p, "first job", ask_text(l, "first_job_no"));
	put_field(p, "its SHA-256", ask_text(l, "first_sha"));
	put_field(p, "event", ask_text(l, "event_id"));
	put_time_field(p, "sent", l, "sent_at");
}

static void put_candidates(struct page *p, const struct json *list, const char *number,
			   const char *end)
{
	for (size_t i = 0; i < json_size(list); i++) {
		const struct json *x = json_item(list, i);
		page_printf(p, "  %.*s  ", STR_ARG(ask_text(x, number)));
		put_time(p, x, "at");
		page_printf(p, "  source \"");
		page_line(p, ask_text(x, "source"));
		page_printf(p, "\" id \"");
		page_line(p, ask_text(x, "id"));
		page_printf(p, "\" revision ");
		put_number(p, 0, ask_number(x, "revision"));
		page_printf(p, "  ");
		page_line(p, ask_text(x, end).p ? ask_text(x, end) : STR_OF("still running"));
		page_printf(p, "\n");
	}
}

void casefile_text(const struct json *file, struct page *p)
{
	const struct json *jobs = json_get(file, "jobs"), *letters = json_get(file, "dead_letters");

	if (casefile_kind(file) == CASEFILE_LETTER) {
		put_letter(p, json_item(letters, 0));
		return;
	}
	if (casefile_kind(file) != CASEFILE_JOB) {
		page_title(p, "%zu jobs, %zu dead letters", json_size(jobs), json_size(letters));
		put_candidates(p, jobs, "job_no", "outcome");
		put_candidates(p, letters, "letter_no", "reason");
		return;
	}
	put_head(p, json_get(file, "job"));
	put_request(p, json_get(file, "request"));
	put_story(p, file);
	put_calls(p, file);
	if (json_kind(json_get(file, "outcome")) == JSON_OBJECT)
		put_end(p, json_get(file, "outcome"));
	else
		put_waits(p, file);
	put_events(p, file);
}
