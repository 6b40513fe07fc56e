"""access - how a program logs in at the broker's TLS listener, and the rights that the README names."""
import json
import re

from stack import BUILD, ROOT

SYSTEM, NEWER = f"{BUILD}/test/draftmill", f"{BUILD}/newer/draftmill"  # with the system's librdkafka, and with a newer one


def shown(word):
    """Of a test's parameters."""
    return {SYSTEM: "system", NEWER: "newer"}.get(word, word)


def login(broker, brokers=None, **options):
    """As environment; an option (with _ for dots) replaces the right one, None leaves it out."""
    given = {"security_protocol": "sasl_ssl", "sasl_mechanism": "PLAIN", "sasl_username": broker.user,
             "sasl_password": broker.password, "ssl_ca_location": broker.ca, **options}
    words = {f"DRAFTMILL_KAFKA_OPTIONS_{name.upper()}": value for name, value in given.items() if value is not None}
    return {"DRAFTMILL_KAFKA_BROKERS": brokers or broker.tls_brokers, **words}


def rights():
    """The rows of the README's table: (program, ["--topic", "draftmill.jobs", ..], [operation, ..])."""
    with open(f"{ROOT}/README.md") as file:
        table = re.search(r"<!-- acl: .*?-->\n(.*?)<!-- end -->", file.read(), re.S)[1]
    for line in table.splitlines()[2:]:
        program, kind, names, operations = (cell.strip() for cell in line.strip("|").split("|"))
        resources = [word for name in re.findall(r"`([^`]+)`", names) for word in (f"--{kind}", name)]
        yield program.strip("`"), resources, re.findall(r"\w+", operations)


def grant(broker, *programs):
    wanted = {}  # resources by operations: each call is a start of Java
    for program, resources, operations in rights():
        if program in programs:
            wanted.setdefault(tuple(operations), []).extend(resources)
    for operations, resources in wanted.items():
        broker.change_acls("--add", operations, resources)


def problems(stack, env):
    """What `check config` finds."""
    done = stack.draftmill("check", "config", "--json", "--config", stack.config, env={"OPENAI_API_KEY": "test-key", **env}, check=False)
    assert done.returncode in (0, 78), done.stderr
    found = json.loads(done.stdout)["problems"]
    assert stack.broker.password not in done.stdout + done.stderr
    return found
