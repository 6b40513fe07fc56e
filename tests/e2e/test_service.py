"""A worker as a service: what it tells its manager, SIGHUP with good and bad files, and the unit that is installed."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest
from jobs import QUICK_GROUP, events, job, send, wait_ended
from stack import BUILD, ROOT, Stack, wait_until

UNIT = f"{ROOT}/config/systemd/draftmill.service"
WATCHDOG_MS = 500
KEY = "sim-key"


class Manager:
    """The receiving end of sd_notify(3): everything that was told, in order, with its time."""

    def __init__(self, path):
        self.path, self.told = path, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.setblocking(False)

    def read(self):
        while True:
            try:
                self.told.append((time.monotonic(), self.socket.recv(4096).decode()))
            except BlockingIOError:
                return self.told

    def states(self):
        return [text for _, text in self.read() if text != "WATCHDOG=1"]

    def n_alive(self):
        return sum(text == "WATCHDOG=1" for _, text in self.read())


@pytest.fixture(scope="module")
def stack():
    """A worker under a manager, with a configuration of its own that tests change. It begins with a key that the model refuses."""
    with Stack() as stack:
        stack.config = f"{stack.folder}/config/draftmill.yaml"
        shutil.copytree(f"{ROOT}/config", f"{stack.folder}/config", ignore=lambda folder, names: [
            name for name in names if folder.endswith("/profiles") and not name.startswith("customer-letter")])
        stack.settings.update(QUICK_GROUP, DRAFTMILL_DATABASE_SQL_DIR=f"{ROOT}/sql")
        stack.start_pg()
        stack.start_broker()
        stack.start_model(generator_ms=300, critic_ms=5, refiner_ms=5, key=KEY)
        stack.migrate()
        change(stack, "draftmill.yaml", "key_env: OPENAI_API_KEY", f"key_file: {stack.folder}/key")
        write(f"{stack.folder}/key", "an-old-key\n")
        stack.manager = Manager(f"{stack.folder}/notify")
        stack.worker = stack.start_worker(env={"NOTIFY_SOCKET": stack.manager.path, "WATCHDOG_USEC": str(WATCHDOG_MS * 1000)})
        yield stack
        stack.manager.socket.close()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def change(stack, name, old, new):
    """Replaces the one place in a file of the configuration; gives its text as it was."""
    path = f"{stack.folder}/config/{name}"
    with open(path) as file:
        text = file.read()
    assert text.count(old) == 1, f"{name} has {text.count(old)} times {old}"
    write(path, text.replace(old, new))
    return text


def reload(stack):
    """SIGHUP; the lines of the log since, when the manager has heard of its end."""
    n_told, n_logged = len(stack.manager.states()), len(events(stack.worker))
    stack.worker.send(signal.SIGHUP)
    wait_until(lambda: len(stack.manager.states()) >= n_told + 2, what="the end of a reload")
    assert stack.manager.states()[n_told:] == ["RELOADING=1", "READY=1"]
    return [e for e in events(stack.worker)[n_logged:] if e["event"].startswith(("reload", "setting"))]


def pinned(stack, id):
    return stack.sql("SELECT encode(profile_sha, 'hex') FROM draftmill.job WHERE id = %s", [id])[0][0]


def run(stack, id):
    send(stack, job(id))
    return wait_ended(stack, id)[id]


def test_ready_is_told_when_it_takes_work(stack):
    wait_until(lambda: stack.manager.states(), what="the first word")
    assert stack.manager.states() == ["READY=1"]
    assert events(stack.worker, "worker_ready")


def test_the_loop_says_twice_in_the_watchdogs_time_that_it_turns(stack):
    stack.manager.read()
    begin = len(stack.manager.told)
    wait_until(lambda: stack.manager.n_alive() >= 8, what="eight beats")
    at = [when for when, text in stack.manager.told[begin:] if text == "WATCHDOG=1"]
    # The times are those of reading, every 50 ms.
    assert max(later - sooner for sooner, later in zip(at, at[1:])) < WATCHDOG_MS / 1000


def test_a_stopped_loop_says_nothing(stack):
    stack.worker.sigstop()
    try:
        time.sleep(0.1)
        before = stack.manager.n_alive()
        time.sleep(3 * WATCHDOG_MS / 1000)
        assert stack.manager.n_alive() == before
    finally:
        stack.worker.sigcont()
    wait_until(lambda: stack.manager.n_alive() > before, what="a beat after the stop")


def test_a_job_in_flight_goes_on_with_a_new_key(stack):
    send(stack, job("locked-out"))
    wait_until(lambda: [e for e in events(stack.worker, "call_failed") if e["class"] == "credentials"], what="a refused key")
    write(f"{stack.folder}/key", f"{KEY}\n")
    assert [e["event"] for e in reload(stack)] == ["reloaded"]
    assert wait_ended(stack, "locked-out")["locked-out"] == ("passed", "no_issues")


def test_a_job_keeps_the_profile_that_it_began_under(stack):
    """The new one has no critic; its price is tenfold, and the model's name is another."""
    stack.model.control(latency_ms=2000)
    send(stack, job("before"))
    wait_until(lambda: stack.model.stats()["in_flight"] > 0, what="its first call")
    change(stack, "profiles/customer-letter.yaml", "mode: critic_refiner ", "mode: oneshot ")
    change(stack, "draftmill.yaml", "id: gpt-6.2-sol", "id: gpt-7")
    change(stack, "draftmill.yaml", "out_usd_per_mtok: 10.00", "out_usd_per_mtok: 100.00")
    (line,) = reload(stack)
    assert (line["event"], line["n_profile"], line["n_model"]) == ("reloaded", 1, 2)
    assert stack.model.stats()["in_flight"] > 0, "the call ended before the reload: nothing was shown"
    stack.model.control(latency_ms=-1)
    assert run(stack, "after") == ("direct", "oneshot")
    assert wait_ended(stack, "before")["before"] == ("passed", "no_issues")
    assert pinned(stack, "before") == pinned(stack, "locked-out") != pinned(stack, "after")
    asked = {id: models for id, models in stack.sql(
        "SELECT id, array_agg(model ORDER BY step_no) FROM draftmill.job JOIN draftmill.step USING (job_no) "
        "WHERE step_no > 0 AND id IN ('before', 'after') GROUP BY id")}
    assert asked == {"before": ["gpt-6.2-sol", "gpt-6-luna"], "after": ["gpt-7"]}
    cost = dict(stack.sql("SELECT id, cost_micro_usd FROM draftmill.job JOIN draftmill.outcome USING (job_no)"))
    assert abs(cost["before"] - cost["locked-out"]) < 100 and cost["after"] > 5 * cost["before"]


def test_limits_hold_from_now_on(stack):
    def most_at_once(prefix):
        stack.model.reset()
        ids = [f"{prefix}-{i}" for i in range(4)]
        send(stack, *map(job, ids))
        wait_ended(stack, *ids)
        return stack.model.stats()["max_in_flight"]

    assert most_at_once("free") > 1
    change(stack, "draftmill.yaml", "concurrency: 128", "concurrency: 1")
    reload(stack)
    assert most_at_once("one-by-one") == 1


def refusal(stack):
    (line,) = reload(stack)
    assert (line["event"], line["level"]) == ("reload_refused", "error")
    return line["why"]


@pytest.mark.parametrize("name, old, new, what", [
    ("profiles/customer-letter.yaml", "pass_score: 80", "pass_scor: 80", "pass_scor"),
    ("draftmill.yaml", "  level: info", "  level: loud", "log.level"),
    ("draftmill.yaml", " key_file: /tmp", " key_file: /nowhere", "providers.openai: "),
    ("prompts/en/generator.txt", "{{task}}", "{{tasks}}", "tasks"),
])
def test_what_is_bad_is_named_with_its_place_and_changes_nothing(stack, name, old, new, what):
    text = change(stack, name, old, new)
    try:
        why = refusal(stack)
        assert what in why
        if not what.startswith("providers"):  # a file that is not there is the place itself
            assert re.match(rf"{re.escape(stack.folder)}/config/{re.escape(name)}:( line )?\d+: ", why), why
        id = f"after-bad-{re.sub('[^a-z]', '', what)}"
        assert run(stack, id) == ("direct", "oneshot")
        assert pinned(stack, id) == pinned(stack, "after")
    finally:
        write(f"{stack.folder}/config/{name}", text)


def test_what_waits_for_a_restart_is_told_by_its_key(stack):
    text = change(stack, "draftmill.yaml", "in_flight: 2000", "in_flight: 1999")
    change(stack, "draftmill.yaml", "job_topics: [jobs]", "job_topics: [jobs, urgent]")
    change(stack, "draftmill.yaml", "  level: info", "  level: warn")  # not that: it is taken
    lines = reload(stack)
    assert [(e["event"], e["key"]) for e in lines] == [("setting_waits_for_restart", "kafka.job_topics"),
                                                       ("setting_waits_for_restart", "worker.in_flight")]
    write(f"{stack.folder}/config/draftmill.yaml", text)
    assert [e["event"] for e in reload(stack)] == ["reloaded"]


def test_a_model_that_is_gone_serves_those_who_have_it(stack):
    stack.model.control(latency_ms=1500)
    send(stack, job("has-it"))
    wait_until(lambda: stack.model.stats()["in_flight"] > 0, what="its call")
    stack.model.control("503", count=1)  # it asks again, when its model is no more
    change(stack, "draftmill.yaml", "  drafting:\n", "  writing:\n")
    change(stack, "profiles/customer-letter.yaml", "generator: drafting", "generator: writing")
    assert [e["event"] for e in reload(stack)] == ["reloaded"]
    stack.model.control(latency_ms=-1)
    assert wait_ended(stack, "has-it")["has-it"] == ("direct", "oneshot")
    assert run(stack, "has-the-new") == ("direct", "oneshot")


def test_stopping_is_told_and_nothing_is_read_after(stack):
    n = len(stack.manager.states())
    stack.model.control(latency_ms=1000)
    send(stack, job("last"))
    wait_until(lambda: stack.model.stats()["in_flight"] > 0, what="a call to wait for")
    stack.worker.send(signal.SIGTERM)
    wait_until(lambda: len(stack.manager.states()) > n, what="the word of its end")
    stack.worker.send(signal.SIGHUP)
    assert stack.worker.wait() == 0
    assert stack.manager.states()[n:] == ["STOPPING=1"]
    assert not [e for e in events(stack.worker)[-5:] if e["event"] == "reloaded"]


# ---- the unit

@pytest.fixture
def unit(tmp_path):
    """The unit with the program that was built."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze here")
    with open(UNIT) as file:
        text = file.read()
    assert text.count("/usr/local/bin/draftmill") == 1
    path = tmp_path / "draftmill.service"
    path.write_text(text.replace("/usr/local/bin/draftmill", f"{BUILD}/draftmill"))
    return str(path)


def analyze(*words):
    return subprocess.run(["systemd-analyze", *words], text=True, capture_output=True)


def test_systemd_finds_nothing_to_say_about_the_unit(unit):
    done = analyze("verify", "--man=no", unit)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_sandbox_leaves_little_open(unit):
    done = analyze("security", "--offline=yes", "--threshold=15", unit)  # 1.5 of 10
    assert done.returncode == 0, done.stdout


def test_the_unit_goes_where_the_program_goes(tmp_path):
    """As `make install` does it, without building: -n prints the commands."""
    with open(UNIT) as file:
        asked = re.search(r"^ExecStart=(\S+)", file.read(), re.M)[1]
    words = ["make", "-n", "-s", "-o", "all", f"BUILD={os.path.relpath(BUILD, ROOT)}", "PREFIX=/opt/d", f"DESTDIR={tmp_path}", "install"]
    lines = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=True).stdout.splitlines()
    (line,) = [line for line in lines if "draftmill.service" in line]
    os.makedirs(f"{tmp_path}/opt/d/lib/systemd/system")
    subprocess.run(["sh", "-c", line], cwd=ROOT, check=True)
    with open(f"{tmp_path}/opt/d/lib/systemd/system/draftmill.service") as file:
        assert f"ExecStart={asked.replace('/usr/local', '/opt/d')} work\n" in file.read()
