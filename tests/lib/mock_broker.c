/*
 * mock_broker - librdkafka's mock cluster as a process of its own.
 *
 *   mock_broker [--port-file FILE] TOPIC:PARTITIONS ...
 *
 * Prints the bootstrap servers on one line (and writes them to FILE, whole or not at all), then serves until SIGTERM, SIGINT
 * or the death of its parent. It keeps everything in memory: a partition its newest 5 MiB or 100,000 batches, then it drops
 * the oldest without a word, and a record over 5 MiB vanishes though its delivery report is good. A topic that nobody
 * named is made when asked for, with 4 partitions. Consumer groups need a session timeout of 3 s or more.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void die(const char *what, const char *why)
{
	fprintf(stderr, "mock_broker: %s: %s\n", what, why);
	exit(1);
}

static void make_topic(rd_kafka_mock_cluster_t *cluster, char *spec)
{
	char *colon = strrchr(spec, ':');
	int n_partitions = colon ? atoi(colon + 1) : 0;
	rd_kafka_resp_err_t error;

	if (n_partitions < 1)
		die(spec, "wanted TOPIC:PARTITIONS");
	*colon = '\0';
	error = rd_kafka_mock_topic_create(cluster, spec, n_partitions, 1);
	if (error)
		die(spec, rd_kafka_err2str(error));
}

/* Under another name first, so that whoever sees the file sees all of it. */
static void write_port_file(const char *path, const char *servers)
{
	char draft[4096];
	FILE *file;

	snprintf(draft, sizeof draft, "%s.new", path);
	file = fopen(draft, "w");
	if (!file || fprintf(file, "%s\n", servers) < 0 || fclose(file) || rename(draft, path))
		die(path, "cannot be written");
}

int main(int argc, char **argv)
{
	pid_t parent = getppid();
	const char *port_file = NULL, *servers;
	int first = 1, number;
	char error[512];
	sigset_t ends;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 0;
	if (argc > 2 && !strcmp(argv[1], "--port-file")) {
		port_file = argv[2];
		first = 3;
	}
	/* Blocked before librdkafka starts its threads, which inherit it. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	rd_kafka_t *handle =
		rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), error, sizeof error);
	if (!handle)
		die("librdkafka", error);
	rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(handle, 1);
	if (!cluster)
		die("mock cluster", "cannot be made");
	for (int i = first; i < argc; i++)
		make_topic(cluster, argv[i]);
	servers = rd_kafka_mock_cluster_bootstraps(cluster);
	if (port_file)
		write_port_file(port_file, servers);
	puts(servers);
	fflush(stdout);
	sigwait(&ends, &number);
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(handle);
	return 0;
}
