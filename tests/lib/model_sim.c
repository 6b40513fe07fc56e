/*
 * model_sim - a scripted model server: OpenAI chat completions, Gemini's generateContent and Anthropic's Messages over HTTP/1.1 on
 * 127.0.0.1, one thread.
 *
 *   model_sim [--port N] [--seed N] [--key KEY] [--keep 1] [--ledger FILE] [--prompts FILE] [--shares CASE=N,CASE=N,..]
 *             [--generator-ms N] [--critic-ms N] [--refiner-ms N] [--scale F] [--retry-after TEXT] [--fail-429 P] [--fail-500 P]
 *             [--cut P] [--drop P] [--hang P] [--html P] [--garbage P]
 *
 * Prints {"port":N} when it listens; ends on SIGTERM, SIGINT, and when its parent dies (not with --keep 1).
 *
 *   POST .../chat/completions, .../models/MODEL:generateContent, .../messages
 *                               what model_script.h says; unknown fields are refused; the model alias-X answers as X
 *   GET  .../models             an empty list, for the right key
 *   POST /control               {"fail":"429|500|503|504|529|401|quota|filter|cut|drop|hang|html|garbage|none","count":N,"of":"TEXT",
 *                                "retry_after":"2","latency_ms":M}
 *                               "of": of requests with this text alone; count -1 (the default) lasts until changed; latency_ms replaces every latency, -1 gives them back
 *   GET  /ledger                every answer given whole, in order; --ledger FILE has the same as JSON lines, each written before its
 *                               answer is sent; --prompts FILE has role, system and user of every prompt, written when it comes
 *   GET  /stats                 counts
 *   POST /reset                 forgets ledger, counts and control
 *
 * Faults with a probability P are drawn by a hash of seed, request body and how often this body came: a retry may succeed,
 * and an equal run has equal faults.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "model_dialect.h"
#include "model_http.h"
#include "model_ledger.h"
#include "model_script.h"

enum fault {
	NO_FAULT,
	F429,
	F500,
	F503,
	F504,
	F529,
	F401,
	QUOTA,
	FILTER,
	CUT,
	DROP,
	HANG,
	HTML,
	GARBAGE,
	N_FAULTS
};

/* clang-format off */
static const struct {
	const char *name;
	enum delivery delivery;
	int status;
	const char *type, *code;
} faults[N_FAULTS] = {
	[NO_FAULT] = {.name = "none"},
	[F429] = {.name = "429", .status = 429, .type = "requests", .code = "rate_limit_exceeded"},
	[F500] = {.name = "500", .status = 500, .type = "server_error", .code = "internal_error"},
	[F503] = {.name = "503", .status = 503, .type = "server_error", .code = "slow_down"},
	[F504] = {.name = "504", .status = 504, .type = "timeout", .code = "upstream_timeout"},
	[F529] = {.name = "529", .status = 529, .type = "overloaded_error"},
	[F401] = {.name = "401", .status = 401, .type = "invalid_request_error", .code = "invalid_api_key"},
	[QUOTA] = {.name = "quota", .status = 429, .type = "insufficient_quota", .code = "insufficient_quota"},
	[FILTER] = {.name = "filter", .status = 400, .type = "invalid_request_error", .code = "content_filter"},
	[CUT] = {.name = "cut", .delivery = HALF},
	[DROP] = {.name = "drop", .delivery = CLOSED},
	[HANG] = {.name = "hang", .delivery = SILENT},
	[HTML] = {.name = "html"},
	[GARBAGE] = {.name = "garbage"},
};
/* clang-format on */

static struct {
	double port, seed, keep, scale, role_ms[N_ROLES], share[N_FAULTS];
	const char *key, *ledger, *prompts, *shares, *retry_after;
} options = {.seed = 1, .scale = 1, .role_ms = {60, 25, 40, 1}};

static struct {
	enum fault fault;
	long count;	 /* how many more; -1 = until changed */
	long latency_ms; /* -1 = each role's own */
	char retry_after[64], of[64];
} control = {.latency_ms = -1};

static enum dialect dialect; /* of the request in hand */

static struct {
	long n_requests, by_role[N_ROLES], by_fault[N_FAULTS];
} stats;

/* --- refusals --- */

/* Prepares an error as the API words it. */
static void prepare_error(struct client *c, int status, const char *type, const char *code,
			  const char *param, const char *message)
{
	json_object *root = json_object_new_object(), *error = add_object(root, "error");
	const char *wait = *control.retry_after ? control.retry_after : options.retry_after;
	bool says_wait = wait && (status == 429 || status == 503 || status == 529);
	char *extra = format("x-request-id: req_sim_e%ld\r\n%s%s%s", stats.n_requests,
			     says_wait ? "Retry-After: " : "", says_wait ? wait : "",
			     says_wait ? "\r\n" : "");

	add_text(error, "message", message);
	add_text(error, "type", type);
	add_text(error, "param", param);
	add_text(error, "code", code);
	root = dialect_error(dialect, status, root);
	client_prepare(c, status, extra, json_text(root));
	json_object_put(root);
	free(extra);
}

static void refuse(struct client *c, const char *code, const char *param, const char *message)
{
	prepare_error(c, 400, "invalid_request_error", code, param, message);
	client_send(c);
}

/* Has the right key; else refuses. */
static bool authorized(struct client *c)
{
	static const char *const names[] = {"Authorization", "x-goog-api-key", "x-api-key"};
	char *given = header(c->head, names[dialect]);
	const char *key =
		given && dialect == CHAT && !strncmp(given, "Bearer ", 7) ? given + 7 : given;
	bool is = key && *key && (!options.key || !strcmp(key, options.key)) &&
		  (dialect != CHAT || key != given);

	free(given);
	if (is && dialect == ANTHROPIC && !header_is(c->head, "anthropic-version", "2023-06-01")) {
		refuse(c, "missing_header", NULL, "anthropic-version: header is required");
		return false;
	}
	if (!is) {
		prepare_error(c, 401, "invalid_request_error", "invalid_api_key", NULL,
			      "Incorrect API key provided");
		client_send(c);
	}
	return is;
}

/* --- chat completions --- */

/* A hash as a number from 0 to below 1. */
static double unit(uint64_t hash)
{
	return (double)(mix(hash) >> 11) * 0x1p-53;
}

static enum fault choose_fault(uint64_t request, const char *body)
{
	double u = unit(request + (uint64_t)options.seed +
			0x9e3779b97f4a7c15u * ++seen_row(request)->n_tries);

	if (control.count && strstr(body, control.of)) {
		control.count -= control.count > 0;
		return control.fault;
	}
	for (enum fault fault = NO_FAULT + 1; fault < N_FAULTS; fault++) {
		if (u < options.share[fault])
			return fault;
		u -= options.share[fault];
	}
	return NO_FAULT;
}

/* The name of the first field that the real API would not know, or NULL. */
static const char *unknown_field(json_object *root)
{
	static const char known[] =
		" messages model max_completion_tokens max_tokens temperature response_format seed n user"
		" store metadata reasoning_effort service_tier ";

	json_object_object_foreach(root, name, value)
	{
		char *word = format(" %s ", name);
		bool found = strstr(known, word) != NULL;

		(void)value;
		free(word);
		if (!found)
			return name;
	}
	return NULL;
}

static bool is_type(json_object *root, const char *name, enum json_type type)
{
	return json_object_is_type(json_object_object_get(root, name), type);
}

static bool response_format_is_sound(json_object *f)
{
	const char *type = json_object_get_string(json_object_object_get(f, "type"));
	json_object *schema = json_object_object_get(f, "json_schema");

	if (!type || strcmp(type, "json_schema"))
		return type && (!strcmp(type, "json_object") || !strcmp(type, "text"));
	return is_type(schema, "name", json_type_string) &&
	       is_type(schema, "strict", json_type_boolean) &&
	       is_type(schema, "schema", json_type_object);
}

/* The prompts by role name; false when a message is not {role, content} with both of them texts. */
static bool read_messages(json_object *messages, struct question *q)
{
	size_t n = json_object_is_type(messages, json_type_array)
			   ? json_object_array_length(messages)
			   : 0;

	q->system = q->user = "";
	for (size_t i = 0; i < n; i++) {
		json_object *m = json_object_array_get_idx(messages, i);

		if (!is_type(m, "role", json_type_string) ||
		    !is_type(m, "content", json_type_string))
			return false;
		const char *role = json_object_get_string(json_object_object_get(m, "role"));
		const char *content = json_object_get_string(json_object_object_get(m, "content"));
		if (!strcmp(role, "user"))
			q->user = content;
		else if (!strcmp(role, "system") || !strcmp(role, "developer"))
			q->system = content;
		else if (strcmp(role, "assistant"))
			return false;
	}
	return n > 0;
}

/* The schema asked for, or NULL. */
static json_object *schema_wanted(json_object *format_wanted)
{
	return json_object_object_get(json_object_object_get(format_wanted, "json_schema"),
				      "schema");
}

static bool read_question(struct client *c, json_object *root, struct question *q)
{
	json_object *format_wanted = json_object_object_get(root, "response_format");
	const char *stranger;

	if (!json_object_is_type(root, json_type_object))
		refuse(c, "invalid_json", NULL, "the body is not a JSON object");
	else if ((stranger = unknown_field(root)))
		refuse(c, "unknown_parameter", stranger, "Unrecognized request argument supplied");
	else if (!is_type(root, "model", json_type_string))
		refuse(c, "missing_required_parameter", "model",
		       "you must provide a model parameter");
	else if (!read_messages(json_object_object_get(root, "messages"), q))
		refuse(c, "invalid_type", "messages", "messages must be a list of {role, content}");
	else if (format_wanted && !response_format_is_sound(format_wanted))
		refuse(c, "invalid_value", "response_format",
		       "json_schema needs name, strict and schema");
	else {
		json_object *cap = json_object_object_get(root, "max_completion_tokens");

		q->seed = (uint64_t)options.seed;
		q->wants_json = format_wanted != NULL;
		q->schema = schema_wanted(format_wanted);
		q->max_tokens = (long)json_object_get_int64(
			cap ? cap : json_object_object_get(root, "max_tokens"));
		return true;
	}
	return false;
}

static json_object *completion(long number, const char *model, const struct question *q,
			       const struct answer *a)
{
	long prompt = count_tokens(q->system) + count_tokens(q->user) + 8,
	     reply = count_tokens(a->text);
	json_object *root = json_object_new_object(), *choices = json_object_new_array();
	json_object *choice = json_object_new_object(), *message, *usage;
	char *id = format("chatcmpl-sim-%d-%ld", (int)getpid(), number);

	add_text(root, "id", id);
	add_text(root, "object", "chat.completion");
	add_int(root, "created", time(NULL));
	add_text(root, "model", strncmp(model, "alias-", 6) ? model : model + 6);
	add_text(root, "service_tier", "default");
	json_object_object_add(root, "choices", choices);
	json_object_array_add(choices, choice);
	add_int(choice, "index", 0);
	message = add_object(choice, "message");
	add_text(message, "role", "assistant");
	add_text(message, "content", a->text);
	add_text(message, "refusal", NULL);
	json_object_object_add(choice, "logprobs", NULL);
	add_text(choice, "finish_reason", a->finish_reason);
	usage = add_object(root, "usage");
	add_int(usage, "prompt_tokens", prompt);
	add_int(usage, "completion_tokens", reply);
	add_int(usage, "total_tokens", prompt + reply);
	/* The static part of the prompt is cached, in steps of 128. (The real one begins at 1024.) */
	add_int(add_object(usage, "prompt_tokens_details"), "cached_tokens",
		count_tokens(q->system) / 128 * 128);
	add_int(add_object(usage, "completion_tokens_details"), "reasoning_tokens", 0);
	json_object_object_add(root, "system_fingerprint", NULL);
	free(id);
	return root;
}

/* Milliseconds until the answer: the role's latency, a quarter more or less by the request's hash. */
static uint64_t latency_ms(uint64_t request, enum fault fault, const struct answer *a)
{
	double jitter = 0.75 + 0.5 * unit(request);
	double ms = options.role_ms[a->role] * options.scale * jitter + a->delay_ms;

	if (faults[fault].status)
		return 1;
	return control.latency_ms >= 0 ? (uint64_t)control.latency_ms : (uint64_t)ms;
}

static void prepare_completion(struct client *c, json_object *root, uint64_t request,
			       const struct question *q, const struct answer *a)
{
	static long n_completions;
	const char *model = json_object_get_string(json_object_object_get(root, "model"));
	char *extra =
		format("x-request-id: req_sim_%ld\r\nopenai-processing-ms: 1\r\n", ++n_completions);
	json_object *reply = completion(n_completions, model, q, a);

	c->note = note_for(request, reply, a, q->schema);
	reply = dialect_reply(dialect, reply);
	client_prepare(c, 200, extra, json_text(reply));
	json_object_put(reply);
	free(extra);
}

static void complete(struct client *c, const char *path, const char *body)
{
	json_object *root = dialect_request(dialect, path, json_tokener_parse(body));
	uint64_t request = fnv1a(body, strlen(body), 0);
	struct question q;
	struct answer a = {0};
	enum fault fault;

	stats.n_requests++;
	if (!authorized(c) || !read_question(c, root, &q))
		goto out;
	script_answer(&q, &a);
	stats.by_role[a.role]++;
	prompts_note(&q, &a);
	fault = choose_fault(request, body);
	stats.by_fault[fault]++;
	c->delivery = faults[fault].delivery;
	if (faults[fault].status)
		prepare_error(c, faults[fault].status, faults[fault].type, faults[fault].code, NULL,
			      "the script fails here");
	else if (a.refusal)
		prepare_error(c, 400, "invalid_request_error", "invalid_prompt", "messages",
			      a.refusal);
	else if (fault == HTML)
		client_prepare(c, 200, "",
			       "<html><body>Please log in to the network.</body></html>");
	else if (fault == GARBAGE)
		client_prepare(c, 200, "", "{\"hello\":\"world\"}");
	else
		prepare_completion(c, root, request, &q, &a);
	client_send_after(c, latency_ms(request, fault, &a));
out:
	free(a.text);
	free(a.reference);
	json_object_put(root);
}

/* --- the tests' own requests --- */

static int find_fault(const char *name)
{
	for (int i = 0; i < N_FAULTS; i++)
		if (name && !strcmp(name, faults[i].name))
			return i;
	return -1;
}

static void take_control(struct client *c, const char *body)
{
	json_object *root = json_tokener_parse(body), *value;
	int fault = NO_FAULT;

	if (json_object_object_get_ex(root, "fail", &value))
		fault = find_fault(json_object_get_string(value));
	if (!json_object_is_type(root, json_type_object) || fault < 0) {
		refuse(c, "invalid_control", NULL, "not an object, or no such fault");
		goto out;
	}
	if (json_object_object_get_ex(root, "fail", &value)) {
		control.fault = (enum fault)fault;
		control.count = json_object_object_get_ex(root, "count", &value)
					? json_object_get_int64(value)
					: -1;
		value = json_object_object_get(root, "retry_after");
		snprintf(control.retry_after, sizeof control.retry_after, "%s",
			 value ? json_object_get_string(value) : "");
		value = json_object_object_get(root, "of");
		snprintf(control.of, sizeof control.of, "%s",
			 value ? json_object_get_string(value) : "");
	}
	if (json_object_object_get_ex(root, "latency_ms", &value))
		control.latency_ms = json_object_get_int64(value);
	client_answer(c, 200, "{}");
out:
	json_object_put(root);
}

static void tell_stats(struct client *c)
{
	json_object *root = json_object_new_object(), *part;

	add_int(root, "requests", stats.n_requests);
	add_int(root, "answers", ledger.n_answers);
	add_int(root, "answered_again", ledger.n_again);
	add_int(root, "abandoned", http_stats.n_abandoned); /* the client left before its answer */
	add_int(root, "connections", http_stats.n_connections);
	add_int(root, "open", http_stats.n_open);
	add_int(root, "in_flight", http_stats.n_in_flight - 1); /* without this one */
	add_int(root, "max_in_flight", http_stats.max_in_flight);
	part = add_object(root, "roles");
	for (int i = 0; i < N_ROLES; i++)
		add_int(part, role_names[i], stats.by_role[i]);
	part = add_object(root, "faults");
	for (int i = NO_FAULT + 1; i < N_FAULTS; i++)
		add_int(part, faults[i].name, stats.by_fault[i]);
	part = add_object(root, "statuses"); /* of all answers, the control's own included */
	for (int i = 0; i < 600; i++) {
		char name[4];
		snprintf(name, sizeof name, "%d", i % 1000);
		if (http_stats.by_status[i])
			add_int(part, name, http_stats.by_status[i]);
	}
	client_answer(c, 200, json_text(root));
	json_object_put(root);
}

static void reset(void)
{
	long n_connections = http_stats.n_connections, n_open = http_stats.n_open,
	     n_in_flight = http_stats.n_in_flight;

	memset(&stats, 0, sizeof stats);
	memset(&http_stats, 0, sizeof http_stats);
	http_stats.n_connections = n_connections;
	http_stats.n_open = n_open;
	http_stats.n_in_flight = n_in_flight;
	ledger_reset();
	control.count = 0;
	control.latency_ms = -1;
	control.retry_after[0] = control.of[0] = '\0';
}

static bool ends_in(const char *path, const char *end)
{
	return strlen(path) >= strlen(end) && !strcmp(path + strlen(path) - strlen(end), end);
}

static void handle(struct client *c, const char *method, const char *path, const char *body)
{
	bool is_post = !strcmp(method, "POST");

	dialect = is_post ? dialect_of(path) : CHAT;
	if (is_post && (dialect != CHAT || ends_in(path, "/chat/completions"))) {
		complete(c, path, body);
	} else if (is_post && !strcmp(path, "/control")) {
		take_control(c, body);
	} else if (is_post && !strcmp(path, "/reset")) {
		reset();
		client_answer(c, 200, "{}");
	} else if (!strcmp(path, "/ledger")) {
		ledger_tell(c);
	} else if (!strcmp(path, "/stats")) {
		tell_stats(c);
	} else if (ends_in(path, "/models")) {
		if (authorized(c))
			client_answer(c, 200, "{\"object\":\"list\",\"data\":[]}");
	} else {
		prepare_error(c, 404, "invalid_request_error", "unknown_url", NULL,
			      "Unknown request URL");
		client_send(c);
	}
}

/* --- start and end --- */

static void read_shares(const char *list)
{
	char *copy = strdup(list), *rest = NULL;

	memset(scene_shares, 0, sizeof scene_shares);
	for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(item, '=');
		int scene = 0;

		if (equals)
			*equals = '\0';
		while (scene < N_SCENES && strcmp(item, scene_names[scene]))
			scene++;
		if (!equals || scene == N_SCENES) {
			fprintf(stderr, "model_sim: --shares: no such case: %s\n", item);
			exit(2);
		}
		scene_shares[scene] = (unsigned)atoi(equals + 1);
	}
	free(copy);
}

static void read_options(int argc, char **argv)
{
	const struct {
		const char *name;
		double *number;
		const char **text;
	} known[] = {
		{"--port", &options.port, NULL},
		{"--seed", &options.seed, NULL},
		{"--keep", &options.keep, NULL},
		{"--scale", &options.scale, NULL},
		{"--generator-ms", &options.role_ms[GENERATOR], NULL},
		{"--critic-ms", &options.role_ms[CRITIC], NULL},
		{"--refiner-ms", &options.role_ms[REFINER], NULL},
		{"--fail-429", &options.share[F429], NULL},
		{"--fail-500", &options.share[F500], NULL},
		{"--cut", &options.share[CUT], NULL},
		{"--drop", &options.share[DROP], NULL},
		{"--hang", &options.share[HANG], NULL},
		{"--html", &options.share[HTML], NULL},
		{"--garbage", &options.share[GARBAGE], NULL},
		{"--retry-after", NULL, &options.retry_after},
		{"--key", NULL, &options.key},
		{"--ledger", NULL, &options.ledger},
		{"--prompts", NULL, &options.prompts},
		{"--shares", NULL, &options.shares},
	};

	for (int i = 1; i < argc; i += 2) {
		size_t k = 0, n = sizeof known / sizeof *known;

		while (k < n && strcmp(argv[i], known[k].name))
			k++;
		if (k == n || i + 1 == argc) {
			fprintf(stderr, "model_sim: unknown option or no value: %s\n", argv[i]);
			exit(2);
		}
		if (known[k].number)
			*known[k].number = atof(argv[i + 1]);
		else
			*known[k].text = argv[i + 1];
	}
}

static void on_signal(uv_signal_t *signal, int number)
{
	uv_stop(signal->loop);
}

static void end_with_parent(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		exit(0);
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	struct rlimit files;
	uv_tcp_t listener;
	uv_signal_t term, interrupt;
	int port;

	read_options(argc, argv);
	if (options.shares)
		read_shares(options.shares);
	if (options.keep == 0)
		end_with_parent();
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	ledger_open(options.ledger, options.prompts);
	uv_signal_init(loop, &term);
	uv_signal_start(&term, on_signal, SIGTERM);
	uv_signal_init(loop, &interrupt);
	uv_signal_start(&interrupt, on_signal, SIGINT);
	uv_tcp_init(loop, &listener);
	if ((port = http_listen(&listener, (int)options.port)) < 0) {
		fprintf(stderr, "model_sim: port %d: %s\n", (int)options.port, uv_strerror(port));
		return 1;
	}
	printf("{\"port\":%d}\n", port);
	fflush(stdout);
	uv_run(loop, UV_RUN_DEFAULT);
	return 0;
}
