"""What a worker tells its monitors: /metrics agrees with the trail, /readyz with the world, and no client holds it up."""
import collections
import http.client
import re
import signal
import socket
import subprocess
import time
from decimal import Decimal

import pytest
from jobs import QUICK_GROUP, QUICK_MODEL, demo_batch, events, job, send, wait_ended
from stack import BUILD, ROOT, Stack, wait_until

ANY_PORT = {"DRAFTMILL_WEB_LISTEN": "127.0.0.1:0"}
MODEL_IDS = dict(re.findall(r"^  (\w+):\n(?:    .*\n)*?    id: (\S+)", open(f"{ROOT}/config/draftmill.yaml").read(), re.M))


def port_of(worker):
    return wait_until(lambda: events(worker, "web_listening"), what="a port")[0]["port"]


def ask(port, path, method="GET", **request):
    """Status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, **request)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def metrics(port):
    """{name: {label values in their order: number}}; exact, and no sample twice."""
    status, headers, text = ask(port, "/metrics")
    assert status == 200 and headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = collections.defaultdict(dict)
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, number = re.fullmatch(r"draftmill_(\w+?)(?:\{(.*)\})? (\S+)", line).groups()
        key = tuple(re.findall(r'\w+="([^"]*)"', labels or ""))
        assert key not in found[name], line
        found[name][key] = Decimal(number)
    return found


def without_zeros(samples):
    return {key: number for key, number in samples.items() if number}


def wait_ready(port, status=200, *says, timeout_s=30):
    def ready():
        got, _, body = ask(port, "/readyz")
        return got == status and all(f"{word}\n" in body for word in says)

    wait_until(ready, timeout_s, what=f"/readyz {status} {says}")


@pytest.fixture(scope="module")
def stack():
    with Stack() as started:
        started.settings.update(QUICK_GROUP, **ANY_PORT)
        started.start_pg()
        started.start_broker()
        started.start_model(**QUICK_MODEL)
        started.migrate()
        yield started


@pytest.fixture(scope="module")
def port(stack):
    """Of a worker that has run a batch with a duplicate, a dead letter, and failed attempts among its calls."""
    port = port_of(stack.start_worker())
    wait_ready(port)
    before = metrics(port)
    assert not any(before["jobs_ended_total"].values())
    assert {reason for _, reason in before["jobs_ended_total"]} == {name for name, in stack.sql("SELECT name FROM draftmill.stop_reason")}
    assert not without_zeros({**before["messages_total"], **before["calls_total"], **before["tokens_total"]})
    batch = [*demo_batch("web"), *(job(f"web-{case}", case) for case in ("refused", "rejected", "truncated", "nonsense"))]
    stack.model.control("429", count=3)
    send(stack, *batch)
    wait_ended(stack, *(one["id"] for one in batch))
    send(stack, batch[0])
    stack.produce("draftmill.jobs", b"no job")
    wait_until(lambda: all(metrics(port)["messages_total"].values()))
    wait_until(lambda: stack.sql("SELECT count(*) FROM draftmill.todo") == [(0,)])
    return port


def test_ends_agree_with_the_trail(stack, port):
    trail = {(outcome, reason): n for outcome, reason, n in stack.sql(
        "SELECT outcome, stop_reason, count(*) FROM draftmill.outcome GROUP BY 1, 2")}
    assert len(trail) > 5
    told = metrics(port)
    assert without_zeros(told["jobs_ended_total"]) == trail
    assert told["messages_total"] == {("job",): sum(trail.values()), ("duplicate",): 1, ("dead_letter",): 1}
    assert told["stage_seconds_count"]["job",] == sum(trail.values())
    assert told["stage_seconds_sum"]["job",] * 1000 == stack.sql("SELECT sum(active_ms) FROM draftmill.outcome")[0][0]


def test_calls_agree_with_the_trail(stack, port):
    """A call's end is a step; an attempt that was tried again is told by the row of the next."""
    trail = collections.Counter()
    rows = stack.sql("SELECT model_asked, role, class FROM draftmill.step WHERE call_no IS NOT NULL UNION ALL "
                     "SELECT s.model_asked, s.role, a.why FROM draftmill.attempt a JOIN draftmill.step s USING (job_no, call_no) "
                     "WHERE a.why <> 'waited'")
    names = {id: name for name, id in MODEL_IDS.items()}
    for model, role, result in rows:
        trail[names[model], role, result] += 1
    assert sum(n for (_, _, result), n in trail.items() if result == "rate_limited") == 3
    told = metrics(port)
    assert told["calls_total"] == trail
    for role in ("generator", "critic", "refiner"):
        assert told["stage_seconds_count"][role,] == sum(n for (_, of, _), n in trail.items() if of == role) > 0
    assert told["stage_seconds_count"]["slot",] == sum(trail.values())


def test_tokens_and_money_agree_with_the_trail(stack, port):
    told = metrics(port)
    for name, id in MODEL_IDS.items():
        *tokens, cost = stack.sql("SELECT coalesce(sum(tokens_in), 0), coalesce(sum(tokens_cached), 0), coalesce(sum(tokens_out), 0), "
                                  "coalesce(sum(cost_micro_usd), 0) FROM draftmill.step WHERE model_asked = %s", [id])[0]
        assert [told["tokens_total"].get((name, kind), 0) for kind in ("input", "cached", "output")] == tokens
        assert told["cost_usd_total"][name,] * 1000000 == cost
    assert sum(told["cost_usd_total"].values()) * 1000000 == stack.sql("SELECT sum(cost_micro_usd) FROM draftmill.outcome")[0][0] > 0


def test_all_is_idle_afterwards(stack, port):
    told = metrics(port)
    for name in ("jobs_in_flight", "jobs_parked", "events_unpublished", "trail_waiting_bytes", "jobs_orphaned"):
        assert told[name] == {(): 0}, name
    assert told["queue_lag_records"] == {("draftmill.jobs",): 0} and told["partitions_assigned"] == {("draftmill.jobs",): 8}
    assert told["workers_alive"] == {(): 1} and set(told["ready"].values()) == {1}
    assert not any([*told["calls_open"].values(), *told["breaker"].values()])
    n_events = stack.sql("SELECT count(*) FROM draftmill.outbox_sent")[0][0]
    assert told["stage_seconds_count"]["publish",] == n_events
    assert told["commit_writes_count"][()] == told["stage_seconds_count"]["commit",] > 10
    n_writes = stack.sql("SELECT (SELECT count(*) FROM draftmill.step) + (SELECT count(*) FROM draftmill.attempt) + 1 + 1")[0][0]
    assert told["commit_writes_sum"][()] == n_writes  # and the duplicate and the dead letter


def test_histograms_are_cumulative(port):
    for name in ("stage_seconds", "commit_writes"):
        told = metrics(port)
        rows = collections.defaultdict(list)
        for (*labels, bound), n in told[f"{name}_bucket"].items():
            rows[tuple(labels)].append((Decimal(bound.replace("+Inf", "Infinity")), n))
        for labels, buckets in rows.items():
            assert buckets == sorted(buckets) and [n for _, n in buckets] == sorted(n for _, n in buckets)
            assert buckets[-1] == (Decimal("Infinity"), told[f"{name}_count"][labels])


def test_promtool_accepts(port):
    promtool = subprocess.run([f"{ROOT}/scripts/fetch-promtool", f"{BUILD}/prometheus"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
    check = subprocess.run([promtool, "check", "metrics"], input=ask(port, "/metrics")[2], text=True, capture_output=True)
    assert (check.returncode, check.stdout, check.stderr) == (0, "", "")
    for words in (["check", "config", "--syntax-only", "prometheus.yml"], ["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        check = subprocess.run([promtool, *words], cwd=f"{ROOT}/config/prometheus", text=True, capture_output=True)
        assert check.returncode == 0, check.stdout + check.stderr


def test_other_paths_and_methods(port):
    assert ask(port, "/healthz")[::2] == (200, "ok\n")
    assert ask(port, "/metrics?a=b")[0] == 200
    assert ask(port, "/")[0] == ask(port, "/metrics/")[0] == ask(port, "/../etc/passwd")[0] == 404
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, headers, _ = ask(port, "/metrics", method, body=b"x" * 100000 if method in ("POST", "PUT") else None)
        assert (status, headers["Allow"]) == (405, "GET, HEAD")
    status, headers, body = ask(port, "/metrics", "HEAD")
    assert status == 200 and body == "" and int(headers["Content-Length"]) > 5000
    with pytest.raises(ConnectionError), socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        assert 400 <= int(raw.makefile().readline().split()[1]) if raw.sendall(b"GET /" + b"x" * 20000) else True
        while raw.recv(4096):
            pass
        raise ConnectionError


def test_silent_clients_hold_up_nothing(stack, port):
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    try:
        for client in clients[::2]:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
        start = time.monotonic()
        send(stack, job("web-beside"))
        wait_ended(stack, "web-beside", timeout_s=8)
        assert metrics(port)["jobs_in_flight"] == {(): 0}  # as soon as the silent ones are thrown out
        assert time.monotonic() - start < 20
    finally:
        for client in clients:
            client.close()


def test_who_says_a_byte_now_and_then_is_ended_too(port):
    clients = [socket.create_connection(("127.0.0.1", port), timeout=0.01) for _ in range(32)]
    start, ended = time.monotonic(), set()
    while len(ended) < len(clients):
        assert time.monotonic() - start < 40
        for client in set(clients) - ended:
            try:
                client.sendall(b"G")
                if not client.recv(1):
                    ended.add(client)
            except TimeoutError:
                pass
            except ConnectionError:
                ended.add(client)
        time.sleep(1)
    assert time.monotonic() - start > 15
    assert ask(port, "/healthz")[0] == 200


def test_readyz_follows_the_database(stack, port):
    stack.stop_pg()
    wait_ready(port, 503, "database: not connected", "broker: ok", "months: ok", "worker: ok", timeout_s=5)
    assert metrics(port)["ready"] == {("database",): 0, ("broker",): 1, ("months",): 1, ("worker",): 1}
    assert ask(port, "/healthz")[0] == 200
    stack.start_pg()
    wait_ready(port)
    send(stack, job("web-after"))
    wait_ended(stack, "web-after")


def test_breaker_and_parked_jobs(stack, port):
    stack.model.control("500")
    try:
        send(stack, *(job(f"web-parked-{i}") for i in range(6)))
        wait_until(lambda: max(metrics(port)["breaker"].values()) == 2)
        wait_until(lambda: metrics(port)["jobs_parked"][()] == 6, every_s=0.01)
        assert metrics(port)["jobs_in_flight"] == {(): 6}
    finally:
        stack.model.control("none")
    wait_ended(stack, *(f"web-parked-{i}" for i in range(6)))
    assert not any(metrics(port)["breaker"].values())


def test_a_taken_port_stops_no_worker(stack, port):
    with socket.create_connection(("127.0.0.1", port)):
        assert stack.workers[0].terminate() == 0
    taken = {"DRAFTMILL_WEB_LISTEN": f"127.0.0.1:{port}"}
    first = stack.start_worker(env=taken)
    assert port_of(first) == port
    wait_ready(port)
    second = stack.start_worker(env=taken)
    wait_until(lambda: events(second, "web_not_listening") and events(second, "worker_ready"))
    wait_until(lambda: metrics(port)["workers_alive"] == {(): 2})
    first.kill()
    assert port_of(second) == port and len(events(second, "web_not_listening")) == 1
    wait_until(lambda: metrics(port)["fences_total"] == {(): 1}, what="the dead worker is ended")
    wait_ready(port)
    assert second.terminate() == 0


def test_not_ready_without_months_broker_and_while_stopping(stack):
    stack.sql("REVOKE EXECUTE ON FUNCTION draftmill.ensure_months(int) FROM draftmill_worker")
    worker = stack.start_worker()
    port = port_of(worker)
    wait_ready(port, 503, "database: ok", "months: next month's partitions are missing", "worker: starting")
    stack.sql("GRANT EXECUTE ON FUNCTION draftmill.ensure_months(int) TO draftmill_worker")
    wait_ready(port, 503, "broker: the group has assigned nothing yet", "months: ok", "worker: ok")
    wait_ready(port)
    stack.model.control("hang")
    send(stack, job("web-hangs"))
    wait_until(lambda: sum(metrics(port)["calls_open"].values()) == 1)
    worker.send(signal.SIGTERM)
    wait_ready(port, 503, "worker: told to stop")
    assert ask(port, "/healthz")[0] == 200
    worker.kill()


def test_not_ready_without_a_broker(stack):
    """It says so when the group's session is over; no sooner, the broker may be back in a moment."""
    port = port_of(stack.start_worker())
    wait_ready(port)
    stack.broker.kill()
    wait_ready(port, 503, "database: ok", "broker: the group has assigned nothing yet", "months: ok", "worker: ok")
