"""What a person runs: each command by its own words."""
import datetime
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading

import pytest
import verify
from jobs import QUICK_MODEL, demo_batch, drain, ends, expected_end, job
from stack import DRAFTMILL, ROOT, Stack

COMMANDS = ["work", "submit", "try", "show", "report", "check config", "check text", "migrate", "profile new", "profile test", "help"]
PROFILE = ["--profile", "customer-letter"]


def lines(*rows):
    return "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def bare(id, case="clean", **fields):
    """A job that leaves its profile to the command line."""
    return {key: value for key, value in job(id, case, **fields).items() if key != "profile"}


@pytest.fixture
def run(stack):
    def run(*words, input=None, status=0, env=None):
        done = stack.draftmill(*words[0].split(), *words[1:], "--config", stack.config, input=input, env=env, check=False)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert "Sanitizer" not in done.stderr
        return done

    return run


def counts(done):
    return [int(number) for number in re.findall(r"read (\d+), sent (\d+), duplicates (\d+), invalid (\d+)", done.stdout)[0]]


# --- without anything


@pytest.fixture(scope="module")
def alone():
    """Nothing is started."""
    with Stack() as nothing:
        yield nothing


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_everywhere(alone, command):
    done = alone.draftmill(*command.split(), "--help")
    assert done.stdout.startswith("usage: draftmill") and not done.stderr
    for one in COMMANDS:
        assert command or one in done.stdout


def test_version_names_the_libraries(alone):
    told = alone.draftmill("--version").stdout
    assert told.startswith("draftmill ")
    for library in ("librdkafka", "libcurl", "libmicrohttpd", "libpq", "libuv", "PCRE2", "json-c", "OpenSSL", "utf8proc", "yaml"):
        assert library in told


def test_the_man_page_tells_every_command_and_setting(alone, tmp_path):
    page = alone.draftmill("help", "--man").stdout
    (tmp_path / "draftmill.1").write_text(page)
    lint = subprocess.run(["man", "--warnings", "-l", tmp_path / "draftmill.1"], capture_output=True, text=True,
                          env={**os.environ, "MANWIDTH": "120", "MANROFFOPT": "-ww", "LC_ALL": "C.UTF-8"}, check=True)
    assert not lint.stderr
    for one in COMMANDS:
        assert re.search(r"draftmill\s+" + one.replace(" ", r"\s+") + r"\s", lint.stdout)
    for key in re.findall(r"^  ([a-z]+\.[a-zA-Z_.]+)$", alone.draftmill("check", "config", "--help").stdout, re.M):
        assert f" {key}\n" in lint.stdout


def test_the_readme_has_the_exit_statuses_of_the_man_page(alone):
    page = alone.draftmill("help", "--man").stdout.replace("\\-", "-")
    statuses = re.findall(r"^\.TP\n\\fB(\d+)\\fR\n(.*)$", page, re.M)
    assert len(statuses) > 5
    with open(f"{ROOT}/README.md", encoding="utf-8") as readme:
        assert re.findall(r"^\| (\d+) \| (.*) \|$", readme.read(), re.M)[:len(statuses)] == statuses


@pytest.mark.parametrize("line, wanted", [
    ("draftmill re", ["report"]), ("draftmill check ", ["config", "text"]), ("draftmill check config --o", ["--offline"]),
    ("draftmill submit --w", ["--wait"]), ("draftmill report --config READ", ["README.md"]),
])
def test_bash_completes(alone, line, wanted):
    words = line.split(" ")
    script = 'source /dev/stdin; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _draftmill 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", *words], input=alone.draftmill("help", "--bash").stdout,
                          capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == wanted


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["help", "--man"], ["work", "--help"], ["migrate", "--print"],
                                   ["check", "config", "--offline"]])
def test_output_that_does_not_arrive_is_a_fault(alone, words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([DRAFTMILL, *words], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert done.returncode == 74 and "cannot be written" in done.stderr


def test_a_reader_that_has_gone_ends_the_command_quietly(alone):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([DRAFTMILL, "help", "--man"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == -signal.SIGPIPE and not done.stderr


@pytest.mark.parametrize("words, hint", [
    (["report", "--bach", "x"], "batch"), (["check", "confg"], "config"), (["work", "--kafka.broker", "x"], "kafka.brokers"),
])
def test_a_word_misspelt_gets_a_suggestion(alone, words, hint):
    done = alone.draftmill(*words, check=False)
    assert done.returncode in (64, 78) and hint in done.stderr and not done.stdout


# --- check config


@pytest.fixture
def config(tmp_path):
    """A copy of the shipped configuration to be spoilt."""
    shutil.copytree(f"{ROOT}/config", tmp_path / "config")
    return tmp_path / "config"


def spoil(config, name, old, new):
    text = (config / name).read_text()
    assert old in text
    (config / name).write_text(text.replace(old, new, 1))


def test_the_shipped_configuration_is_sound(run):
    told = run("check config").stdout
    assert "0 problems" in told and "0.004000 USD" in told  # 1,000 tokens in at 2 USD, 200 out at 10
    parsed = json.loads(run("check config", "--json").stdout)
    assert parsed["problems"] == [] and {model["name"]: model["reference_call_micro_usd"] for model in parsed["models"]}["drafting"] == 4000


def test_a_models_sunset_is_warned_of_and_then_refused(alone, config):
    soon = datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(days=10)
    spoil(config, "draftmill.yaml", "#sunset: 2027-11-17", f"sunset: {soon}")
    words = ["check", "config", "--offline", "--config", str(config / "draftmill.yaml")]
    (line,) = alone.draftmill(*words).stderr.splitlines()
    told = json.loads(line)
    assert (told["event"], told["model"], told["days_left"]) == ("model_sunset", "drafting", 9)
    spoil(config, "draftmill.yaml", f"sunset: {soon}", "sunset: 2026-01-01")
    done = alone.draftmill(*words, check=False)
    assert done.returncode == 78
    assert f'{config}/profiles/customer-letter.yaml:8: models.generator: "drafting" is past its sunset; ' in done.stdout
    done = alone.draftmill("work", "--config", str(config / "draftmill.yaml"), check=False)
    assert done.returncode == 78 and "past its sunset" in done.stderr


@pytest.mark.parametrize("name, old, new, told", [
    ("draftmill.yaml", "group: draftmill", "gruop: draftmill", ["gruop", "group"]),
    ("draftmill.yaml", "in_flight: 2000", "in_flight: many", ["in_flight", "many"]),
    ("draftmill.yaml", "in_flight: 2000", "in_flight: 0", ["in_flight", "1"]),
    ("draftmill.yaml", "lease_ms: 10000", "lease_ms: 10000\n  lease_ms: 1", ["lease_ms"]),
    ("draftmill.yaml", "in_usd_per_mtok: 2.00", "in_usd_per_mtok: 0.000002", ["in_usd_per_mtok", "0.000002"]),
    ("draftmill.yaml", "    prices:\n        # date", "    prize:\n        # date", ["prize", "prices"]),
    ("draftmill.yaml", "provider: openai", "provider: opnai", ["opnai"]),
    ("draftmill.yaml", "#base_url: https://api.openai.com/v1", "base_url: http://api.example.com/v1", ["base_url", "https"]),
    ("draftmill.yaml", "thinking: low", "thinking: lots", ["models.drafting.thinking", "lots", "low"]),
    ("draftmill.yaml", "sampling: omit", "sampling: reject", ["models.drafting.temperature", "reject"]),
    ("draftmill.yaml", "schema_mode: json_schema", "schema_mode: openapi", ["models.drafting.schema_mode", "openai"]),
    ("profiles/customer-letter.yaml", "critic: critiquing", "critic: drafting", ["customer-letter.yaml", "critic"]),
    ("profiles/customer-letter.yaml", "critic: critiquing", "critic: critiqing", ["critiqing", "critiquing"]),
    ("profiles/customer-letter.yaml", "pass_score: 80", "pass_socre: 80", ["pass_socre", "pass_score"]),
    ("profiles/customer-letter.yaml", "type: graphemes", "type: grafemes", ["grafemes", "graphemes"]),
    ("profiles/customer-letter.yaml", "iterations: 2", "iterations: 9", ["iterations"]),
    ("profiles/customer-letter.yaml", "pattern: '", "pattern: '(", ["pattern"]),
    ("prompts/en/critic.txt", "{{task}}", "{{tsak}}", ["tsak"]),
])
def test_a_fault_of_the_configuration_is_named_with_its_place_and_mend(alone, config, name, old, new, told):
    if not (config / name).exists():
        (name,) = [str(path.relative_to(config)) for path in config.glob("prompts/en/critic*")]
    spoil(config, name, old, new)
    done = alone.draftmill("check", "config", "--offline", "--config", str(config / "draftmill.yaml"), check=False)
    assert done.returncode == 78
    faults = [line for line in done.stdout.splitlines() if all(word in line for word in told)]
    assert faults and str(config / name) in faults[0], done.stdout
    parsed = json.loads(alone.draftmill("check", "config", "--offline", "--json", "--config", str(config / "draftmill.yaml"), check=False).stdout)
    assert any(all(word in fault for word in told) for fault in parsed["problems"])
    work = alone.draftmill("work", "--config", str(config / "draftmill.yaml"), check=False)
    assert work.returncode == 78 and told[0] in work.stderr


def test_prices_are_for_a_million_tokens(alone, config):
    """USD 3 in and 15 out: 1,000 tokens in and 200 out cost 3,000 + 3,000 micro-USD. Written for one token both rows are refused."""
    check = ["check", "config", "--offline", "--config", str(config / "draftmill.yaml")]
    spoil(config, "draftmill.yaml", "in_usd_per_mtok: 2.00", "in_usd_per_mtok: 3.00")
    spoil(config, "draftmill.yaml", "out_usd_per_mtok: 10.00", "out_usd_per_mtok: 15.00")
    assert "a call with 1000 tokens in and 200 out costs 0.006000 USD" in alone.draftmill(*check).stdout
    spoil(config, "draftmill.yaml", "in_usd_per_mtok: 3.00", "in_usd_per_mtok: 0.000003")
    spoil(config, "draftmill.yaml", "out_usd_per_mtok: 15.00", "out_usd_per_mtok: 0.000015")
    done = alone.draftmill(*check, check=False)
    assert done.returncode == 78
    for key in ("prices.in_usd_per_mtok", "prices.out_usd_per_mtok"):
        assert any(f"models.drafting.{key}" in line and "out of range" in line for line in done.stdout.splitlines()), done.stdout


def test_all_faults_are_told_at_once(alone, config):
    spoil(config, "draftmill.yaml", "group: draftmill", "gruop: draftmill")
    spoil(config, "draftmill.yaml", "in_flight: 2000", "in_flight: many")
    done = alone.draftmill("check", "config", "--offline", "--config", str(config / "draftmill.yaml"), check=False)
    assert "gruop" in done.stdout and "in_flight" in done.stdout and "2 problems" in done.stdout


def test_connections_are_tried(run, stack):
    told = run("check config", "--database.conninfo", "host=127.0.0.1 port=1 dbname=x", status=78).stdout
    assert "database" in told and "1 problem" in told
    told = run("check config", "--kafka.brokers", "127.0.0.1:1", status=78).stdout
    assert "broker" in told and "1 problem" in told
    told = run("check config", "--database.conninfo", stack.conninfo, status=78).stdout
    assert "draftmill_worker" in told  # a superuser is no worker
    told = run("check config", status=78, env={"OPENAI_API_KEY": ""}).stdout
    assert "OPENAI_API_KEY" in told


def test_flag_over_environment_over_file_over_default(run):
    def group(*words, env=None):
        return run("check config", "--offline", *words, env=env, status=78).stdout

    assert "from-flag" in group("--log.level", "from-flag", env={"DRAFTMILL_LOG_LEVEL": "from-environment"})
    assert "from-environment" in group(env={"DRAFTMILL_LOG_LEVEL": "from-environment"})


# --- submit


def test_submit_counts_and_names_the_lines(run, stack, tmp_path):
    rows = [bare("s-1"), "", bare("s-2", "forbidden"), '{"id": "s-3"', bare("s-1"), bare("s-4", prioritiy=1), {**bare("s-1"), "task": "Other."},
            {**bare("s-5"), "profile": "customer-emial"}, bare("s-6")]
    path = tmp_path / "jobs.jsonl"
    path.write_text("\ufeff" + lines(*rows))
    done = run("submit", *PROFILE, "--batch", "s", str(path), status=65)
    assert counts(done) == [8, 3, 1, 4]
    told = {int(number): text for number, text in re.findall(rf"^{re.escape(str(path))}:(\d+): (.*)$", done.stderr, re.M)}
    assert sorted(told) == [4, 6, 7, 8]
    assert "not_json" in told[4] and "prioritiy" in told[6] and "conflict" in told[7] and "customer-email" in told[8]
    drain(stack)
    assert ends(stack, "s-") == {id: ("passed", "no_issues") for id in ("s-1", "s-2", "s-6")}
    assert stack.sql("SELECT DISTINCT batch, source FROM draftmill.job WHERE starts_with(id, 's-')") == [("s", "")]
    again = run("submit", *PROFILE, "--batch", "s", "--json", str(path), status=65)
    assert {key: json.loads(again.stdout)[key] for key in ("read", "sent", "duplicates", "invalid")} == \
        {"read": 8, "sent": 0, "duplicates": 4, "invalid": 4}
    drain(stack)
    assert len(ends(stack, "s-")) == 3
    verify.everything(stack)


def test_submit_waits_until_all_have_ended(run, stack):
    worker = stack.start_worker()
    batch = list(demo_batch("wait"))
    done = run("submit", *PROFILE, "--wait", "--timeout", "60", "-", input=lines(*batch))
    assert counts(done) == [72, 72, 0, 0]
    outcomes = [expected_end(one)[0] for one in batch]
    assert f"passed {outcomes.count('passed')}," in done.stdout and f"escalated {outcomes.count('escalated')}," in done.stdout
    assert "still open 0" in done.stdout
    done = run("submit", *PROFILE, "--wait", "--json", "-", input=lines(*batch, bare("wait-new")))
    told = json.loads(done.stdout)
    assert (told["read"], told["sent"], told["duplicates"], told["open"]) == (73, 1, 72, 0)
    assert worker.terminate() == 0


def test_two_submits_at_once_make_each_job_once(run, stack):
    batch = lines(*(bare(f"twice-{number}") for number in range(50)))
    threads = [threading.Thread(target=run, args=("submit", *PROFILE, "-"), kwargs={"input": batch}) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drain(stack)
    assert len(ends(stack, "twice-")) == 50
    verify.everything(stack)


def test_submit_says_what_it_was_called_wrong(run):
    assert "--profile" in run("submit", "-", input="", status=64).stderr
    assert "customer-emial" in run("submit", "--profile", "customer-emial", "-", input="", status=64).stderr
    assert "/none/at/all" in run("submit", *PROFILE, "/none/at/all", status=64).stderr
    assert counts(run("submit", *PROFILE, "-", input="")) == [0, 0, 0, 0]


# --- try


@pytest.fixture(scope="module")
def only_model():
    """Neither Kafka nor a database."""
    with Stack() as stack:
        stack.start_model(**QUICK_MODEL)
        stack.settings.update(DRAFTMILL_DATABASE_CONNINFO="host=127.0.0.1 port=1", DRAFTMILL_KAFKA_BROKERS="127.0.0.1:1",
                              DRAFTMILL_WORKER_STATE_DIR="/proc/none")
        yield stack


def test_try_prints_the_trace(only_model):
    done = only_model.draftmill("try", *PROFILE, "-", input=json.dumps(bare("t-1", "forbidden")))
    steps = re.findall(r"^=> (.*)$", done.stdout, re.M)
    assert steps == ["call generator 0", "call critic 1", "call refiner 2", "call critic 3", "finish passed no_issues"]
    assert "forbidden" in done.stdout and "Dear Baker" in done.stdout


def test_try_of_a_case_that_does_not_pass_has_another_status(only_model, tmp_path):
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job("t-2", "nonsense")))
    done = only_model.draftmill("try", str(path), check=False)
    assert done.returncode == 1 and "critique_invalid" in done.stdout


@pytest.mark.parametrize("text, reason", [("{", "not_json"), ("", "empty"), ('{"id": 4, "profile": "customer-letter"}', "wrong_type"),
                                          ('{"id": "a"}', "missing_field"), ('{"id": "a", "profile": "none"}', "unknown_profile")])
def test_try_of_what_is_no_job_says_why(only_model, text, reason):
    done = only_model.draftmill("try", "-", input=text, check=False)
    assert done.returncode == 65 and reason in done.stderr and "Sanitizer" not in done.stderr


def test_try_shows_text_from_outside_harmlessly(only_model):
    evil = bare("t-3", variables={"customer": "Eve\x1b[31m\u202e"})
    done = only_model.draftmill("try", *PROFILE, "-", input=json.dumps(evil), check=False)
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout


def test_try_ends_when_the_provider_refuses_the_key(only_model):
    only_model.model.control(fail="401", count=1)
    done = only_model.draftmill("try", *PROFILE, "--models.drafting.id", 400 * "m", "-", input=json.dumps(bare("t-4")), check=False, timeout_s=20)
    assert done.returncode == 78 and "refuses the credential" in done.stdout


@pytest.mark.parametrize("fault, n", [("nobody", 8), ("hang", 3), ("429", 1)])
def test_try_ends_when_the_provider_gives_no_answer(only_model, tmp_path, fault, n):
    """Of several jobs, at the first."""
    words = ["--providers.openai.base_url=http://127.0.0.1:1/v1"] if fault == "nobody" else ["--models.drafting.timeout_ms=300"]
    if fault != "nobody":
        only_model.model.control(fault, retry_after="600")
    jobs = tmp_path / "jobs.jsonl"
    jobs.write_text("".join(json.dumps(bare(f"t-{fault}-{number}")) + "\n" for number in range(2)))
    done = only_model.draftmill("try", *PROFILE, *words, str(jobs), check=False, timeout_s=90)
    only_model.model.control("none")
    assert done.returncode == 75 and done.stdout.count("attempt failed") == n, done.stdout
    assert f"provider openai gives no answer, {n} attempt" in done.stdout and "--- job 2" not in done.stdout


class HalfUsage(http.server.BaseHTTPRequestHandler):
    """Tells the tokens of the prompt alone."""

    def do_POST(self):
        body = json.dumps({"choices": [{"message": {"content": "Dear Baker"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5}})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words):
        pass


def test_try_prints_no_count_that_was_not_told(only_model):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), HalfUsage) as server:
        threading.Thread(target=server.serve_forever).start()
        done = only_model.draftmill("try", *PROFILE, "--providers.openai.base_url", f"http://127.0.0.1:{server.server_port}", "-",
                                    input=json.dumps(bare("t-5")), check=False)
        server.shutdown()
    assert re.search(r"call 0: complete, \d+ micro-USD", done.stdout)


def test_try_of_a_csv_is_a_pilot_of_its_first_rows(only_model, tmp_path):
    path = tmp_path / "mails.csv"
    path.write_text("task,customer,plan,reference\n" + "".join(f"Tell of the new price.,Baker {n},Team,R-{n}\n" for n in range(5)))
    done = only_model.draftmill("try", *PROFILE, "--first", "3", str(path))
    assert [f"Dear Baker {n}," in done.stdout for n in range(4)] == [True, True, True, False]
    assert "3 tried: 3 passed or direct, 0 not; 0 invalid" in done.stdout


def test_try_goes_on_after_a_row_that_is_no_job(only_model, tmp_path):
    path = tmp_path / "mails.csv"
    path.write_text("task,customer,plan,reference\na,b\nTell.,Baker,,R-1\nTell.,Baker,Team,R-2\n")
    done = only_model.draftmill("try", *PROFILE, str(path), check=False)
    assert done.returncode == 65 and f"{path}:2: ragged" in done.stderr
    assert "missing_field: #/variables/plan" in done.stderr
    assert "1 tried: 1 passed or direct, 0 not; 2 invalid" in done.stdout


# --- show and report


@pytest.fixture(scope="module")
def shown(stack):
    """A batch of known cases, submitted and drained; job numbers by id."""
    rows = [bare(f"r-{case}", case, tags=["t"]) for case in ("clean", "forbidden", "tone", "stubborn", "nonsense", "minor")]
    stack.draftmill("submit", *PROFILE, "--batch", "shown", "--source", "crm", "--config", stack.config, "-",
                    input=lines(*rows, bare("r-evil\x1b[31m", "stubborn", variables={"customer": "Eve\x1b[31m\u202e"})))
    stack.produce("draftmill.jobs", '{"id": "r-bad", "profile": 4}')
    drain(stack)
    return dict(stack.sql("SELECT id, job_no::text FROM draftmill.job WHERE batch = 'shown'"))


def test_show_tells_the_whole_case(run, stack, shown):
    told = run("show", "r-forbidden").stdout
    for word in ("Confirm the change of plan.", "passed", "no_issues", "the critic found nothing to fix", "guarantee", "forbidden",
                 "gpt-6.2-sol", "gpt-6-luna", "R-r-forbidden", "Dear Baker", "crm"):
        assert word in told, told
    assert run("show", shown["r-forbidden"]).stdout == told
    file = json.loads(run("show", "--json", "r-stubborn").stdout)
    assert (file["outcome"]["outcome"], file["outcome"]["stop_reason"]) == ("escalated", "max_iterations")
    assert len(file["drafts"]) == 2 and len(file["critiques"]) == 2 and len(file["calls"]) == 4
    assert file["outcome"]["chain_head"] and all(call["cost_micro_usd"] > 0 and call["latency_ms"] >= 0 for call in file["calls"])
    assert "max_iterations" in run("show", "r-stubborn").stdout


def test_show_marks_what_the_refiner_changed(run, shown):
    told = run("show", "r-tone").stdout
    assert "You should have read our last message before asking again." in re.sub(r"[\[\]{}+|-]", "", told)
    assert re.search(r"\[-|\{\+|- |\+ ", told)


def test_show_of_a_dead_letter_and_of_nothing(run, shown):
    assert "wrong_type" in run("show", "r-bad").stdout
    assert "no job" in run("show", "r-none", status=65).stderr
    run("show", status=64)


def test_show_of_an_id_that_several_have(run, stack, shown):
    stack.draftmill("submit", *PROFILE, "--source", "shop", "--config", stack.config, "-", input=lines(bare("r-clean")))
    drain(stack)
    done = run("show", "r-clean", status=65)
    assert "--source" in done.stderr and "crm" in done.stdout and "shop" in done.stdout
    assert "passed" in run("show", "r-clean", "--source", "shop").stdout


def test_nothing_shown_steers_a_terminal(run, shown):
    for words in (["show", "r-evil\x1b[31m"], ["report"]):
        told = run(*words).stdout
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", told)


def test_report_counts_what_is_in_the_trail(run, stack, shown):
    told = json.loads(run("report", "--batch", "shown", "--json").stdout)
    assert (told["n_jobs"], told["n_open"]) == (7, 0)
    assert {row["stop_reason"]: row["n"] for row in told["outcomes"]} == {"no_issues": 4, "max_iterations": 2, "critique_invalid": 1}
    assert told["violations"] == {"n_jobs": 7, "n_before": 1, "n_after": 0}
    cost, tokens = stack.sql("SELECT sum(cost_micro_usd)::int, sum(tokens_in)::int FROM draftmill.outcome JOIN draftmill.job USING (job_no) "
                             "WHERE batch = 'shown'")[0]
    assert (told["spent"]["cost_micro_usd"], told["spent"]["tokens_in"]) == (cost, tokens)
    assert {row["role"] for row in told["calls"]} == {"generator", "critic", "refiner"}
    assert told["elapsed"]["p50_ms"] >= 0 and told["own"]["p95_ms"] >= told["own"]["p50_ms"] >= 0
    text = run("report", "--batch", "shown").stdout
    for word in ("max_iterations", "critique_invalid", "generator", "critic", "refiner", "p95", "USD", "before", "after"):
        assert word in text
    for form in ([], ["--json"]):
        unknown = run("report", "--batch", "none of that name", *form, status=65)
        assert "no job of a batch of this name" in unknown.stderr and not unknown.stdout


def test_reading_commands_need_no_more_than_to_read(run, stack, shown):
    """The reader's role is enough, and the key of a model is not asked for."""
    reader = stack.conninfo_of("draftmill_reader")
    for words in (["show", "r-tone"], ["report"]):
        assert run(*words, "--database.conninfo", reader, env={"OPENAI_API_KEY": ""}).stdout
