"""jobs - the jobs that tests send, what the scripted model makes of them, and workers that run them."""
import json
import subprocess
import sys

from stack import ROOT, wait_until

# How each case of the scripted model ends under the shipped profile (two iterations).
ENDS = {
    "clean": ("passed", "no_issues"),
    "forbidden": ("passed", "no_issues"),
    "missing": ("passed", "no_issues"),
    "tone": ("passed", "no_issues"),
    "minor": ("passed", "no_issues"),
    "nonsense_once": ("passed", "no_issues"),
    "truncated_once": ("passed", "no_issues"),
    "slow": ("passed", "no_issues"),
    "fragment": ("passed", "no_issues"),
    "wrapped": ("passed", "no_issues"),
    "meddling": ("passed", "no_issues"),
    "stubborn": ("escalated", "max_iterations"),
    "loop": ("escalated", "max_iterations"),
    "nagging": ("escalated", "repeated_critique"),
    "echo": ("escalated", "no_progress"),
    "nonsense": ("escalated", "critique_invalid"),
    "contradiction": ("escalated", "unactionable"),
    "refused": ("escalated", "refused"),
    "truncated": ("escalated", "truncated"),
    "rejected": ("escalated", "request_failed"),
}

# A join on the mock broker takes its session timeout; these are the shortest that work. Fetches wait for records no longer than this.
QUICK_GROUP = {"DRAFTMILL_KAFKA_OPTIONS_SESSION_TIMEOUT_MS": "3000", "DRAFTMILL_KAFKA_OPTIONS_HEARTBEAT_INTERVAL_MS": "500",
               "DRAFTMILL_KAFKA_OPTIONS_FETCH_WAIT_MAX_MS": "50"}
QUICK_MODEL = {"generator_ms": 5, "critic_ms": 3, "refiner_ms": 4}


def job(id, case="clean", variables=None, **fields):
    """A job of the shipped profile; its reference is made of its id, so that the model's ledger tells jobs apart."""
    given = {"customer": "Baker", "plan": "Team", "reference": f"R-{id}", "segment": "new", "case": case, **(variables or {})}
    return {"id": id, "profile": "customer-letter", "task": "Confirm the change of plan.", "variables": given, **fields}


def demo_batch(prefix):
    """The demo's batch with ids and references of its own."""
    lines = subprocess.run([sys.executable, f"{ROOT}/scripts/demo-batch", "--scripted"], check=True, text=True, capture_output=True)
    for line in lines.stdout.splitlines():
        one = json.loads(line)
        one["variables"]["reference"] += f"-{prefix}"
        yield {**one, "id": f"{prefix}-{one['id']}", "profile": "customer-letter", "batch": prefix}


def expected_end(one):
    outcome, reason = ENDS[one["variables"]["case"]]
    return ("escalated", "high_stakes") if one.get("stakes") == "high" and outcome == "passed" else (outcome, reason)


def send(stack, *jobs, **where):
    stack.produce("draftmill.jobs", *(json.dumps(one, ensure_ascii=False) for one in jobs), **where)


def drain(stack, *words, n=1, env=None, timeout_s=90):
    """Runs @n workers until all is drained."""
    workers = [stack.start_worker("--drain", *words, env=env) for _ in range(n)]
    for worker in workers:
        status = worker.wait(timeout_s)
        assert status == 0, f"exit status {status}\n{worker.log()[-4000:]}"
    return workers


def ends(stack, prefix=""):
    """Outcome and stop reason by id, of the jobs whose id begins so."""
    found = stack.sql("SELECT id, outcome, stop_reason FROM draftmill.job JOIN draftmill.outcome USING (job_no) "
                      "WHERE starts_with(id, %s)", [prefix])
    by_id = {id: (outcome, reason) for id, outcome, reason in found}
    assert len(by_id) == len(found), "a job has two outcomes, or two jobs have one id"
    return by_id


def wait_ended(stack, *ids, timeout_s=60):
    """Until these jobs have their outcomes and all events are out; gives the outcomes."""
    def ended():
        got = ends(stack)
        left = stack.sql("SELECT count(*) FROM draftmill.todo")[0][0]
        return not left and all(id in got for id in ids) and {id: got[id] for id in ids}

    return wait_until(ended, timeout_s, 0.1, f"the ends of {ids}")


def events(worker, name=None):
    """The lines of a worker's log, of one event if it is named."""
    lines = [json.loads(line) for line in worker.log().splitlines()]
    return [line for line in lines if name in (None, line["event"])]
