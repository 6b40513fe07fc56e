/*
 * tests/unit/fake_producer.h - a broker that takes what it is told to take: records get offsets 0, 1, 2.. of partition 3, reported
 * by producer_flush().
 */
#ifndef TESTS_FAKE_PRODUCER_H
#define TESTS_FAKE_PRODUCER_H

#include "io/producer.h"

struct fake_record {
	char topic[64], key[64], value[512];
	void *cookie;
};

struct fake_broker {
	struct fake_record record[16];
	int n, n_reported;
	int refuse_offset;	/* this one is reported as failed; -1: none */
	void (*reported)(void); /* after all reports of a flush; may be NULL */
};
extern struct fake_broker fake_broker;

#endif
