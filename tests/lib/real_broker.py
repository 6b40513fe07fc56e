"""real_broker - an Apache Kafka of one node, by scripts/kafka-up, for a stack: what the mock cannot show, and all the rest on it too."""
import json
import os
import shlex
import signal
import subprocess
import time

import confluent_kafka.admin

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def dotted(config):
    return {name.replace("_", "."): str(value) for name, value in config.items()}


def has_leader(consumer, name, number):
    """What metadata say is ahead of what the broker does."""
    try:
        return consumer.get_watermark_offsets(confluent_kafka.TopicPartition(name, number), timeout=10)
    except confluent_kafka.KafkaException:
        return None


class RealBroker:
    """Ends with the stack; `brokers` is the plain listener's address, see scripts/kafka-up for the others."""

    def __init__(self, folder, version):
        self.folder, self.version = folder, version
        os.mkdir(folder)
        self.start()
        self.admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": self.brokers, "log_level": 2})

    def start(self):
        """Also again, with the same data on the same ports."""
        script = subprocess.run([f"{ROOT}/scripts/kafka-up", self.folder, self.version], text=True, capture_output=True)
        assert script.returncode == 0, script.stderr
        self.__dict__.update(line.split("=", 1) for line in script.stdout.splitlines())
        with open(f"{self.folder}/pid") as file:
            self.pid = int(file.read())

    def stop(self, mode):
        """fast: in an orderly way; immediate: kill -9."""
        subprocess.run([f"{ROOT}/scripts/kafka-down", self.folder, mode], check=True)

    def end(self):
        self.admin = None
        self.stop("immediate")

    def sigstop(self):
        os.kill(self.pid, signal.SIGSTOP)

    def sigcont(self):
        os.kill(self.pid, signal.SIGCONT)

    # --- what an administrator does

    def make_topics(self, topics, **config):
        """Partitions by name; options with _ for the dots."""
        wishes = [confluent_kafka.admin.NewTopic(name, n, replication_factor=1, config=dotted(config)) for name, n in topics.items()]
        for future in self.admin.create_topics(wishes).values():
            future.result(30)
        self._wait(lambda found: topics.keys() <= found.keys())
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.brokers, "group.id": "outside"})
        for name, n in topics.items():
            for number in range(n):
                self._wait(lambda _: has_leader(consumer, name, number))
        consumer.close()

    def set_topic(self, name, **config):
        """These options, and defaults for all others."""
        kind = confluent_kafka.admin.ConfigResource.Type.TOPIC
        (future,) = self.admin.alter_configs([confluent_kafka.admin.ConfigResource(kind, name, set_config=dotted(config))]).values()
        future.result(30)

    def delete_topic(self, name):
        self.admin.delete_topics([name])[name].result(30)
        self._wait(lambda found: name not in found)

    def grow_topic(self, name, n_partitions):
        (future,) = self.admin.create_partitions([confluent_kafka.admin.NewPartitions(name, n_partitions)]).values()
        future.result(30)

    def _wait(self, condition):
        """Of the topics that there are. The controller has answered; the broker follows a little later."""
        while not condition(self.admin.list_topics(timeout=10).topics):
            time.sleep(0.05)

    def delete_records(self, topic, partition, before):
        """All of the partition below the offset `before`, as retention does."""
        path = f"{self.folder}/delete.json"
        with open(path, "w") as file:
            json.dump({"version": 1, "partitions": [{"topic": topic, "partition": partition, "offset": before}]}, file)
        self._run(self.delete_records_tool, "--offset-json-file", path)

    def change_acls(self, verb, operations, resources):
        """`verb` is --add or --remove; resources as the command's words: ["--topic", "a", "--group", "b"]."""
        words = [word for operation in operations for word in ("--operation", operation)]
        force = ["--force"] if verb == "--remove" else []
        self._run(self.acls, verb, "--allow-principal", f"User:{self.user}", *words, *resources, *force)

    @staticmethod
    def _run(tool, *words):
        subprocess.run([*shlex.split(tool), *words], check=True, stdout=subprocess.DEVNULL)
