"""stack - starts what a worker needs, and workers, for one test; ends all of it by pid and removes its folder.

    with Stack() as stack:
        stack.start_pg()
        stack.start_broker()
        stack.start_model(generator_ms=5)
        stack.migrate()
        worker = stack.start_worker()
        stack.produce("draftmill.jobs", json.dumps(job))
        wait_until(lambda: stack.sql("SELECT count(*) FROM draftmill.outcome")[0][0] == 1)

Everything is private: a folder of its own below /tmp (kept with KEEP=1 in the environment), free ports, no system service.
BUILD names the folder of the build (build); DRAFTMILL another program than BUILD/test/draftmill. KAFKA=4.4.0 takes a real Kafka of
that version for the mock broker.
"""
import collections
import ctypes
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

import confluent_kafka
import psycopg2
from real_broker import RealBroker

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
DRAFTMILL = os.environ.get("DRAFTMILL", f"{BUILD}/test/draftmill")
KAFKA = os.environ.get("KAFKA")

# Partitions by topic. A group join on the mock takes 3 s, whatever their number.
TOPICS = {"draftmill.jobs": 8, "draftmill.results": 4, "draftmill.review": 4, "draftmill.jobs.dlq": 2, "draftmill.urgent": 1}
RECORD_BYTES_MAX = 20 << 20  # of a real broker's topics; the mock has no limit

Record = collections.namedtuple("Record", "topic partition offset key value headers")  # headers: [(name, bytes or None)]

_libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def wait_until(condition, timeout_s=30, every_s=0.05, what=None):
    """Calls `condition` until it gives something true, and returns that; AssertionError when the time is over."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {timeout_s} s: {what or condition}"
        time.sleep(every_s)


def tool(name):
    """The path of a program of tests/lib."""
    path = f"{BUILD}/test/lib/{name}"
    assert os.access(path, os.X_OK), f"{path} is not built; run: make tools"
    return path


class Process:
    """A child with a log file; dies with this program, unless it was ended before."""

    def __init__(self, command, log_path, env=None, cwd=ROOT, stdin=None, stdout=None):
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self.child = subprocess.Popen(command, env=env, cwd=cwd, stdin=stdin or subprocess.DEVNULL, stdout=stdout or log,
                                          stderr=log, preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        self.pid = self.child.pid

    @property
    def alive(self):
        return self.child.poll() is None

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def send(self, number):
        if self.alive:
            self.child.send_signal(number)

    def kill(self):
        """kill -9, and waits."""
        self.send(signal.SIGKILL)
        return self.child.wait()

    def sigstop(self):
        self.send(signal.SIGSTOP)

    def sigcont(self):
        self.send(signal.SIGCONT)

    def terminate(self, timeout_s=30):
        """SIGTERM, and waits; the exit status. AssertionError if it does not end."""
        self.send(signal.SIGTERM)
        return self.wait(timeout_s)

    def wait(self, timeout_s=60):
        try:
            return self.child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"process {self.pid} did not end in {timeout_s} s:\n{self.log()[-3000:]}") from None

    def end(self):
        """Ends it in any case, stopped or not."""
        self.kill()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe:
                pipe.close()


class Model(Process):
    """tests/lib/model_sim.c; keyword arguments are its options: generator_ms=5, fail_429=0.1, key="k", shares="clean=1"."""

    def __init__(self, folder, **options):
        self.ledger_path = f"{folder}/model-ledger.jsonl"
        options = {"ledger": self.ledger_path, **options}
        words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), str(value))]
        super().__init__([tool("model_sim"), *words], f"{folder}/model.log", stdout=subprocess.PIPE)
        line = self.child.stdout.readline()
        assert line, f"no model server: {self.log()}"
        self.port = json.loads(line)["port"]
        self.url = f"http://127.0.0.1:{self.port}"

    def _ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data), timeout=30) as answer:
            return json.load(answer)

    def control(self, fail=None, count=-1, of=None, retry_after=None, latency_ms=None):
        """`fail`: 429 500 503 504 529 401 quota filter cut drop hang html garbage none; `count` requests, -1 until changed; only those
        with the text `of` in them."""
        wishes = {"fail": fail, "count": count if fail else None, "of": of, "retry_after": retry_after, "latency_ms": latency_ms}
        self._ask("/control", {name: wish for name, wish in wishes.items() if wish is not None})

    def ledger(self):
        """Every answer given whole since its start or reset, in order."""
        return self._ask("/ledger")

    def ledger_file(self):
        """The same from the file, over all servers of this stack; can be read when the server is dead."""
        with open(self.ledger_path) as lines:
            return [json.loads(line) for line in lines]

    def stats(self):
        return self._ask("/stats")

    def reset(self):
        self._ask("/reset", {})


class Proxy(Process):
    """tests/lib/pg_proxy.c; see there for the edges."""

    def __init__(self, folder, upstream, app):
        command = [tool("pg_proxy"), "--upstream", upstream, "--app", app]
        super().__init__(command, f"{folder}/proxy.log", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = json.loads(self.child.stdout.readline())["port"]
        self._fired, self._replies = queue.Queue(), queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            word = json.loads(line)
            (self._fired if "fired" in word else self._replies).put(word)

    def _tell(self, **command):
        self.child.stdin.write(json.dumps(command).encode() + b"\n")
        self.child.stdin.flush()
        reply = self._replies.get(timeout=10)
        assert "error" not in reply, reply
        return reply

    def arm(self, strike, edge=None, n=1, pid=0, ms=0):
        """kill, cut or hold at the n-th Sync from now; "none" disarms."""
        self._tell(arm=strike, edge=edge, n=n, pid=pid, ms=ms)

    def wait_fired(self, timeout_s=30):
        try:
            return self._fired.get(timeout=timeout_s)
        except queue.Empty:
            raise AssertionError(f"the proxy did not strike in {timeout_s} s") from None

    def has_fired(self):
        return not self._fired.empty()

    def count(self):
        return self._tell(count=True)["syncs"]


class Stack:
    def __init__(self, config="config/draftmill.yaml", topics=None):
        self.config, self.topics = config, topics or TOPICS
        self.folder = tempfile.mkdtemp(prefix="draftmill-", dir="/tmp")
        os.chmod(self.folder, 0o711)  # PostgreSQL runs as another user and has a folder in it
        # DRAFTMILL_*, for all that is run after
        self.settings = {"DRAFTMILL_WORKER_STATE_DIR": f"{self.folder}/state", "DRAFTMILL_WEB_LISTEN": "", "OPENAI_API_KEY": "test-key"}
        self.broker = self.model = self.proxy = self.brokers = self.conninfo = None
        self.workers = []
        self._processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self._processes):
            process.end()
        if self.conninfo:
            self.stop_pg()
        if os.environ.get("KEEP"):
            print(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _own(self, process):
        self._processes.append(process)
        return process

    # --- PostgreSQL

    def start_pg(self):
        """Also starts again what stop_pg() stopped, on the same port. `conninfo` is the owner's."""
        os.makedirs(f"{self.folder}/pg", exist_ok=True)
        script = subprocess.run([f"{ROOT}/scripts/pg-up", f"{self.folder}/pg"], check=True, text=True, stdout=subprocess.PIPE)
        self.conninfo = script.stdout.strip()
        self.settings["DRAFTMILL_DATABASE_CONNINFO"] = self.conninfo_of("draftmill_worker")

    def stop_pg(self, mode="immediate"):
        subprocess.run([f"{ROOT}/scripts/pg-down", f"{self.folder}/pg", mode], check=True)

    def conninfo_of(self, role, through_proxy=False):
        """The same database for another role."""
        way = f" host=127.0.0.1 port={self.proxy.port}" if through_proxy else ""
        return f"{self.conninfo} user={role}{way}"  # of words given twice, libpq takes the last

    def start_proxy(self, app="draftmill-trail"):
        """From here on, workers reach the database through it."""
        words = dict(word.split("=", 1) for word in self.conninfo.split())
        self.proxy = self._own(Proxy(self.folder, f"{words['host']}:{words['port']}", app))
        self.settings["DRAFTMILL_DATABASE_CONNINFO"] = self.conninfo_of("draftmill_worker", through_proxy=True)
        return self.proxy

    def connect(self, role=None):
        """A connection in autocommit mode; the caller closes it."""
        connection = psycopg2.connect(self.conninfo_of(role) if role else self.conninfo)
        connection.autocommit = True
        return connection

    def sql(self, query, parameters=None, role=None):
        """The rows of a query (the owner's, unless a role is named); None for a statement without rows."""
        connection = self.connect(role)
        try:
            with connection.cursor() as cursor:
                cursor.execute(query, parameters)
                return cursor.fetchall() if cursor.description is not None else None  # () of no columns
        finally:
            connection.close()

    # --- the broker

    def start_broker(self, topics=None, version=KAFKA):
        """The mock, or a real one of this version."""
        topics = topics or self.topics
        if version:
            self.broker = self._own(RealBroker(f"{self.folder}/kafka", version))
            self.broker.make_topics(topics, max_message_bytes=RECORD_BYTES_MAX)
            self.brokers = self.broker.brokers
        else:
            names = [f"{name}:{partitions}" for name, partitions in topics.items()]
            self.broker = self._own(Process([tool("mock_broker"), *names], f"{self.folder}/broker.log", stdout=subprocess.PIPE))
            self.brokers = self.broker.child.stdout.readline().decode().strip()
            assert self.brokers, f"no broker: {self.broker.log()}"
        self.settings["DRAFTMILL_KAFKA_BROKERS"] = self.brokers

    def produce(self, topic, *values, key=None, headers=None, partition=-1):
        """Sends records (None stays null, headers as [(name, value)]) and waits for all delivery reports."""
        failures = []
        producer = confluent_kafka.Producer({"bootstrap.servers": self.brokers, "message.max.bytes": RECORD_BYTES_MAX})
        extra = {} if partition < 0 else {"partition": partition}
        for value in values:
            producer.produce(topic, value, key, headers=headers, **extra,
                             on_delivery=lambda error, _: error and failures.append(error))
            producer.poll(0)
        assert producer.flush(30) == 0 and not failures, failures

    def consume(self, topic):
        """All records of the topic from the first to the end that it has now, by partition and offset."""
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.brokers, "group.id": "outside", "enable.auto.commit": False,
                                             "enable.partition.eof": True, "fetch.wait.max.ms": 50,
                                             "fetch.message.max.bytes": RECORD_BYTES_MAX})
        records, waiting = [], set()
        try:
            for number in consumer.list_topics(topic, timeout=10).topics[topic].partitions:
                low, high = consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, number), timeout=10)
                assert low == 0, f"the mock broker has dropped records of {topic}"
                if high > 0:
                    waiting.add(number)
            consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in waiting])
            while waiting:
                message = consumer.poll(10)
                assert message is not None, f"nothing more comes from {topic}, partitions {waiting}"
                if message.error():
                    assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, message.error()
                    waiting.discard(message.partition())
                else:
                    records.append(Record(topic, message.partition(), message.offset(), message.key(), message.value(),
                                          message.headers() or []))
        finally:
            consumer.close()
        return sorted(records, key=lambda record: record[1:3])

    # --- the model

    def start_model(self, **options):
        self.model = self._own(Model(self.folder, **options))
        self.settings["DRAFTMILL_PROVIDERS_OPENAI_BASE_URL"] = f"{self.model.url}/v1"
        self.settings["OPENAI_API_KEY"] = str(options.get("key", "test-key"))
        return self.model

    # --- draftmill

    def environment(self, **more):
        """What draftmill is run with: ours without its settings, the stack's, then `more`."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("DRAFTMILL_", "OPENAI_"))}
        return {**clean, **self.settings, **more}

    def draftmill(self, *words, input=None, env=None, check=True, timeout_s=120):
        """Runs a command to its end and returns it with stdout and stderr as text; `check` wants exit status 0."""
        done = subprocess.run([DRAFTMILL, *words], cwd=ROOT, env=self.environment(**(env or {})), input=input,
                              text=True, capture_output=True, timeout=timeout_s)
        assert not check or done.returncode == 0, f"draftmill {' '.join(words)}: {done.returncode}\n{done.stderr[-3000:]}"
        return done

    def migrate(self):
        return self.draftmill("migrate", "--config", self.config, "--database.conninfo", self.conninfo)

    def start_worker(self, *words, env=None):
        """`draftmill work` with further words; its log is in the stack's folder."""
        command = [DRAFTMILL, "work", "--config", self.config, *words]
        log_path = f"{self.folder}/worker-{len(self.workers)}.log"
        worker = self._own(Process(command, log_path, env=self.environment(**(env or {}))))
        self.workers.append(worker)
        return worker
