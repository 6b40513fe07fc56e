"""verify - holds what a stack's workers left behind against what they promise; shares no code with them.

    verify.everything(stack)             everything; AssertionError with all faults found
    verify.everything(stack, lost=True)  the same after crashes: answers may have been lost, each with an intent to show for it

Recomputed from the rows: the hash chain of each job, salted hashes, digests of what each step made, prices, event ids. Held against it:
sql/invariants.sql, the records on Kafka with config/schema/*.json, and the scripted model's own ledger.
"""
import collections
import hashlib
import json
import re
import struct
import uuid

import jsonschema
from stack import ROOT

# --- canonical bytes: each field is its length as a big-endian int32 and its bytes; null is the length -1


def field(value):
    if value is None:
        return struct.pack(">i", -1)
    if isinstance(value, (bool, int)):
        return struct.pack(">iq", 8, value)
    if isinstance(value, str):
        value = value.encode()
    return struct.pack(">i", len(value)) + bytes(value)


def digest(label, *values):
    return hashlib.sha256(b"".join(map(field, (label, *values)))).digest()


def sha256(data):
    return hashlib.sha256(data or b"").digest()


def salted(salt, text):
    return sha256(bytes(salt) + ((text.encode() if isinstance(text, str) else text) or b""))


# What enters the chain, in this order. Texts of persons do not: their salted hashes do.
HASHED = {
    "job": "job_no source id revision batch tenant traceparent profile profile_sha arm stakes stakes_by not_after cluster topic part offset "
           "worker_id at payload_sha",
    "step": "job_no step_no fact profile_sha call_no worker_id at active_ms stop lost n_maybe_billed intents role model_asked model request_id "
            "class finish_reason http_status headers whole tokens_in tokens_cached tokens_out cost_micro_usd latency_ms n_kept n_reverted rejected better "
            "chosen_draft_no chosen_by reply_sha action digest",
    "draft": "job_no draft_no step_no from_draft_no body_sha checks_sha n_hard_failed n_failed changed_permille confidence_permille fields",
    "critique": "job_no step_no draft_no valid fault score verdict text_sha n_issue n_ignored shape n_cut n_unconsidered",
    "issue": "job_no step_no n category severity at length text_sha",
    "outcome": "job_no outcome stop_reason draft_no score n_iterations n_calls tokens_in tokens_cached tokens_out cost_micro_usd "
               "active_ms worker_id at",
}


def row_digest(table, row, previous=None):
    return digest(f"draftmill/{table}/1", previous, *(row[name] for name in HASHED[table].split()))


EVENT_SPACE = bytes.fromhex("5b0c1e7a93d44c8fa621f03b6d58e947")


def event_uuid(label, *values):
    """UUID version 5 over the digest of the fields."""
    sha1 = hashlib.sha1(EVENT_SPACE + digest(label, *values)).digest()
    return str(uuid.UUID(bytes=sha1[:16], version=5))


# --- rows


def rows(stack, table, order, role=None):
    """All rows as objects; times as Unix milliseconds, bytea as bytes."""
    columns = stack.sql("SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'draftmill' "
                        "AND table_name = %s ORDER BY ordinal_position", [table])
    words = [f'(extract(epoch FROM "{name}") * 1000)::bigint' if kind.startswith("timestamp") else f'"{name}"'
             for name, kind in columns]
    found = stack.sql(f"SELECT {', '.join(words)} FROM draftmill.{table} ORDER BY {order}", role=role)
    return [{name: bytes(value) if isinstance(value, memoryview) else value for (name, _), value in zip(columns, row)}
            for row in found]


class Trail:
    """The whole trail, read once, by job."""

    def __init__(self, stack):
        def by_job(table, order):
            groups = collections.defaultdict(list)
            for row in rows(stack, table, f"job_no, {order}"):
                groups[row["job_no"]].append(row)
            return groups

        self.jobs = rows(stack, "job", "job_no")
        self.steps, self.attempts = by_job("step", "step_no"), by_job("attempt", "call_no, attempt_no")
        self.drafts, self.critiques, self.issues = by_job("draft", "draft_no"), by_job("critique", "step_no"), by_job("issue", "step_no, n")
        self.outcomes = {row["job_no"]: row for row in rows(stack, "outcome", "job_no")}
        self.profiles = {row["profile_sha"]: row for row in rows(stack, "profile", "name")}
        self.letters = rows(stack, "dead_letter", "letter_no")
        self.outbox = rows(stack, "outbox", "job_no, kind")
        self.sent = {(row["job_no"], row["kind"]): row for row in rows(stack, "outbox_sent", "job_no")}
        self.todo = rows(stack, "todo", "job_no")
        self.strikes = rows(stack, "strike", "incident")


class Faults(list):
    def want(self, fits, what):
        if not fits:
            self.append(what)

    def raise_any(self):
        assert not self, f"{len(self)} faults:\n" + "\n".join(map(str, self[:20]))


# --- the trail by itself


def made_digest(trail, job_no, step_no):
    made = [row_digest(table, row) for table, group in (("draft", trail.drafts), ("critique", trail.critiques), ("issue", trail.issues))
            for row in group[job_no] if row["step_no"] == step_no]
    step = next(row for row in trail.steps[job_no] if row["step_no"] == step_no)
    chosen = [step[name] for name in ("better", "chosen_draft_no") if step[name] is not None]
    return digest("draftmill/made/1", *made, *chosen)


def check_texts(trail, job, faults):
    job_no, salt = job["job_no"], job["salt"]
    for row in trail.steps[job_no]:
        faults.want(row["reply_sha"] == salted(salt, row["reply"]), f"{job_no}: reply_sha of step {row['step_no']}")
    for row in trail.drafts[job_no]:
        faults.want(row["body_sha"] == salted(salt, row["body"]), f"{job_no}: body_sha of draft {row['draft_no']}")
        faults.want(row["checks_sha"] == salted(salt, row["checks"]), f"{job_no}: checks_sha of draft {row['draft_no']}")
    for row in trail.critiques[job_no]:
        faults.want(row["text_sha"] == salted(salt, row["reasons"]), f"{job_no}: text_sha of critique {row['step_no']}")
    for row in trail.issues[job_no]:
        text = f"{row['snippet'] or ''}\n{row['suggestion'] or ''}\n{row['source'] or ''}\n{row['miscited'] or ''}"
        faults.want(row["text_sha"] == salted(salt, text), f"{job_no}: text_sha of issue {row['step_no']}/{row['n']}")


def check_chain(trail, job, faults):
    """Every link from the job's row to the outcome's head."""
    job_no = job["job_no"]
    faults.want(job["payload_sha"] == sha256(job["payload"]), f"{job_no}: payload_sha")
    previous = row_digest("job", job)
    for number, step in enumerate(trail.steps[job_no]):
        faults.want(step["step_no"] == number, f"{job_no}: step {step['step_no']} in the place of {number}")
        faults.want(step["profile_sha"] == job["profile_sha"], f"{job_no}: version of step {number}")
        faults.want(step["digest"] == made_digest(trail, job_no, number), f"{job_no}: digest of step {number}")
        faults.want(step["hash"] == row_digest("step", step, previous), f"{job_no}: hash of step {number}")
        previous = step["hash"]
    outcome = trail.outcomes.get(job_no)
    if outcome:
        faults.want(outcome["head"] == row_digest("outcome", outcome, previous), f"{job_no}: head of the outcome")


def price(profile, model_id, step):
    """Micro-USD of a reply by the profile's price rows, or None: no model of that id."""
    for model in profile["models"].values():
        if model["id"] != model_id:
            continue
        row = [p for p in model["prices"] if p["valid_from_ms"] <= step["at"]][-1:] or model["prices"][:1]
        cached = step["tokens_cached"]
        micro = (step["tokens_in"] - cached) * row[0]["in"] + cached * row[0]["cached"] + step["tokens_out"] * row[0]["out"]
        return -(-micro // 1_000_000)
    return None


def check_money(trail, job, faults):
    job_no, profile = job["job_no"], json.loads(trail.profiles[job["profile_sha"]]["body"])
    for step in trail.steps[job_no]:
        if step["fact"] == "replied" and step["tokens_in"] is not None and not step["n_maybe_billed"]:
            cost = price(profile, step["model"], step)
            faults.want(cost == step["cost_micro_usd"], f"{job_no}: step {step['step_no']} costs {cost}, not {step['cost_micro_usd']}")


def check_trail(stack, trail, faults):
    for sha, profile in trail.profiles.items():
        faults.want(sha == sha256(profile["body"].encode()), f"profile {profile['name']}: its SHA-256")
    for job in trail.jobs:
        check_chain(trail, job, faults)
        check_texts(trail, job, faults)
        check_money(trail, job, faults)
    for letter in trail.letters:
        faults.want(letter["value_sha"] == sha256(letter["value"]), f"dead letter {letter['letter_no']}: value_sha")
    with open(f"{ROOT}/sql/invariants.sql") as file:
        statements = re.sub(r"--[^\n]*", "", file.read()).split(";")
    connection = stack.connect()
    with connection.cursor() as cursor:
        for statement in filter(str.strip, statements):
            cursor.execute(statement)
            for breach in cursor.fetchall() if cursor.description else []:
                faults.append(breach)
    connection.close()


# --- Kafka


def schema(name):
    with open(f"{ROOT}/config/schema/{name}.schema.json") as file:
        return jsonschema.Draft202012Validator(json.load(file), format_checker=jsonschema.FormatChecker())


def headers_of(record):
    """As an object: name to text; of a name that stands twice the last one counts."""
    return {name: None if value is None else value.decode("utf-8", "replace") for name, value in record.headers}


def parts_of(draft):
    """Its named parts, or None."""
    places = json.loads(draft["fields"]) if draft["fields"] else {}
    return {name: draft["body"].encode()[at:at + n].decode() for name, (at, n) in places.items()} or None


def check_opened(trail, event, job_no, what, faults):
    """The drafts of the case, and what became of the refiner's changes."""
    rows = sorted(trail.drafts[job_no], key=lambda row: row["draft_no"])
    steps = {step["step_no"]: step for step in trail.steps[job_no]}
    faults.want([draft["text"] for draft in event["drafts"]] == [row["body"] for row in rows], f"{what}: drafts")
    faults.want([draft.get("fields") for draft in event["drafts"]] == [parts_of(row) for row in rows], f"{what}: parts of drafts")
    for draft, row in zip(event["drafts"], rows):
        step = steps[row["step_no"]]
        faults.want((draft.get("n_kept"), draft.get("n_reverted")) == (step["n_kept"], step["n_reverted"]),
                    f"{what}: changes of draft {row['draft_no']}")


def check_event_content(trail, event, job, row, faults):
    what, outcome = f"{job['job_no']}/{row['kind']}", trail.outcomes[job["job_no"]]
    drafts = {draft["draft_no"]: draft["body"] for draft in trail.drafts[job["job_no"]]}
    faults.want(event["event_id"] == row["event_id"], f"{what}: event_id")
    faults.want(event["chain_head"] == outcome["head"].hex(), f"{what}: chain_head")
    faults.want((event["outcome"], event["stop_reason"]) == (outcome["outcome"], outcome["stop_reason"]), f"{what}: outcome")
    faults.want(event["profile"] == {"name": job["profile"], "sha256": job["profile_sha"].hex(), **({"arm": job["arm"]} if job["arm"] else {})},
                f"{what}: profile")
    faults.want(event["cost_micro_usd"] == outcome["cost_micro_usd"], f"{what}: cost")
    faults.want(event["usage"] == {key: outcome[key] for key in ("tokens_in", "tokens_cached", "tokens_out")}, f"{what}: usage")
    faults.want([event["job"][key] for key in ("source", "id", "revision")] == [job[key] for key in ("source", "id", "revision")],
                f"{what}: identity")
    if row["kind"] == "outcome" and "texts_omitted" not in event:
        faults.want(event.get("text", event.get("best_draft")) == drafts.get(outcome["draft_no"]), f"{what}: text")
        parts = {draft["draft_no"]: parts_of(draft) for draft in trail.drafts[job["job_no"]]}
        faults.want(event.get("fields", event.get("best_draft_fields")) == parts.get(outcome["draft_no"]), f"{what}: parts")
        faults.want(("text" in event) == (outcome["outcome"] in ("passed", "direct")), f"{what}: text of an unfit draft")
    if row["kind"] == "opened" and "texts_omitted" not in event:
        check_opened(trail, event, job["job_no"], what, faults)


def check_event(trail, record, job, row, schemas, faults):
    what = f"{row['job_no']}/{row['kind']}"
    headers = headers_of(record)
    identity = (job["source"], job["id"], job["revision"])
    faults.want(row["event_id"] == event_uuid("draftmill/event/1", *identity, row["kind"], 0), f"{what}: event id is not of its identity")
    faults.want(record.key == job["id"].encode(), f"{what}: key {record.key}")
    faults.want(record.value == row["payload"] and sha256(record.value) == row["payload_sha"], f"{what}: other bytes on the topic")
    faults.want((headers.get("ce_specversion"), headers.get("ce_type")) == ("1.0", f"draftmill.{row['kind']}"), f"{what}: headers {headers}")
    faults.want(headers.get("traceparent") == job["traceparent"], f"{what}: traceparent")
    event = json.loads(record.value)
    faults += [f"{what}: {fault.json_path}: {fault.message[:200]}" for fault in schemas[row["kind"]].iter_errors(event)]
    check_event_content(trail, event, job, row, faults)


def check_letter(record, letter, row, schemas, faults):
    """A dead letter is on its topic as received, with our headers behind its own."""
    what, headers = f"dead letter {letter['letter_no']}", headers_of(record)
    place = (letter["cluster"], letter["topic"], letter["part"], letter["offset"], letter["value_sha"])
    faults.want(row["event_id"] == event_uuid("draftmill/dead_letter/1", *place), f"{what}: event id is not of its place")
    faults += [f"{what}: {fault.json_path}: {fault.message[:200]}" for fault in schemas["dead_letter"].iter_errors(headers)]
    faults.want(headers.get("reason") == letter["reason"], f"{what}: reason {headers.get('reason')}")
    received = [[name, None if value is None else value.hex()] for name, value in record.headers]
    kept = json.loads(letter["headers"]) if letter["headers"] else []
    faults.want(received[:len(kept)] == kept, f"{what}: its own headers")
    faults.want(record.key == letter["key"], f"{what}: key")
    if headers.get("value_omitted") != "true":
        faults.want(record.value == letter["value"], f"{what}: value")


def check_topics(stack, trail, faults):
    """Each event is on its topic, where outbox_sent says, and nothing else is; copies of an event are equal."""
    schemas = {"outcome": schema("outcome"), "opened": schema("review-opened"), "dead_letter": schema("dead-letter")}
    jobs, letters = {job["job_no"]: job for job in trail.jobs}, {letter["letter_no"]: letter for letter in trail.letters}
    by_id = collections.defaultdict(list)
    for topic in ("draftmill.results", "draftmill.review", "draftmill.jobs.dlq"):
        for record in stack.consume(topic):
            by_id[headers_of(record).get("event_id" if topic.endswith("dlq") else "ce_id")].append(record)
    for row in trail.outbox:
        what, sent = f"{row['job_no']}/{row['kind']}", trail.sent.get((row["job_no"], row["kind"]))
        records = [record for record in by_id.pop(row["event_id"], []) if record.topic == row["topic"]]
        faults.want(records, f"{what}: not on {row['topic']}")
        faults.want(sent and any(record[1:3] == (sent["part"], sent["offset"]) for record in records), f"{what}: not where outbox_sent says")
        for record in records:
            if row["kind"] == "dead_letter":
                check_letter(record, letters[row["job_no"]], row, schemas, faults)
            else:
                check_event(trail, record, jobs[row["job_no"]], row, schemas, faults)
    faults += [f"{records[0][:3]}: event {event_id} that nobody stored" for event_id, records in by_id.items()]


# --- the model


def intents(trail, job_no):
    """By call: how often it may have been sent."""
    counts, roles = collections.Counter(), {}
    for step in trail.steps[job_no]:
        opened = re.findall(r"(\w+) (\d+)", step["action"]) if step["action"].startswith("call ") else []
        for bit, (role, number) in enumerate(opened):
            roles[int(number)] = role
            counts[int(number)] += (step["intents"] or 0) >> bit & 1
    for attempt in trail.attempts[job_no]:
        counts[attempt["call_no"]] += 1
    return counts, roles


def check_ledger(stack, trail, lost, faults):
    """No answer is stored that was not given, none stored twice; an answer that is not stored has an intent to show for it."""
    ledger = {line["id"]: line for line in stack.model.ledger_file()}
    stored = collections.Counter()
    unanswered = collections.Counter()  # intents without a reply, by reference and role
    for job in trail.jobs:
        payload = json.loads(job["payload"])
        reference = payload.get("data", payload).get("variables", {}).get("reference", "")
        counts, roles = intents(trail, job["job_no"])
        for number, count in counts.items():
            unanswered[reference, roles[number]] += count
        for step in trail.steps[job["job_no"]]:
            if step["fact"] != "replied":
                continue
            if step["http_status"] != 200:  # a filter's refusal: an error, and no answer of the ledger
                unanswered[reference, step["role"]] -= 1
                continue
            reply = json.loads(step["reply"])
            id = reply.get("id") or reply["responseId"]
            line = ledger.get(id)
            stored[id] += 1
            unanswered[reference, step["role"]] -= 1
            faults.want(line and (line["prompt_tokens"], line["completion_tokens"]) == (step["tokens_in"], step["tokens_out"]),
                        f"{job['job_no']}: step {step['step_no']} is not what the model answered")
    faults += [f"reply {id} is stored {count} times" for id, count in stored.items() if count > 1]
    extra = collections.Counter((line["reference"], line["role"]) for id, line in ledger.items() if id not in stored)
    faults.want(lost or not extra, f"answers that nobody stored, without a fault: {dict(extra)}")
    faults += [f"{count} answers to {who} are not stored, with {unanswered[who]} intents" for who, count in extra.items()
               if count > unanswered[who]]
    return sum(extra.values())


def everything(stack, lost=False, drained=True):
    """Everything. Gives the trail and the number of answers that were lost."""
    trail, faults = Trail(stack), Faults()
    check_trail(stack, trail, faults)
    if drained:
        faults += [f"left in todo: {row}" for row in trail.todo]
        check_topics(stack, trail, faults)
    trail.n_lost = check_ledger(stack, trail, lost, faults) if stack.model else 0
    faults.raise_any()
    return trail
