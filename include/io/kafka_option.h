/*
 * io/kafka_option.h - properties of librdkafka, as its manual names them: which may be set, and which meet a fault of an older
 * librdkafka. One table each in kafka_option.c.
 */
#ifndef IO_KAFKA_OPTION_H
#define IO_KAFKA_OPTION_H

#include "base/arena.h"
#include "base/err.h"

struct kafka_option { /* any property but those that draftmill must set itself */
	const char *key, *value;
};

/* ST_INVALID: draftmill sets it itself, there is no such property, it takes no such value, or this librdkafka would lose records by it. */
enum status kafka_option_check(const struct kafka_option *, struct err *err) MUST_CHECK;

/* The names of all properties, in @a. */
const char *const *kafka_option_names(struct arena *a, int *n);

/* A fault of librdkafka that an option meets. */
struct kafka_fault {
	const char *key, *part; /* option, and what its value contains */
	int mended_in;		/* version, as 0xMMmmrrff */
	bool is_fatal;		/* else it depends on the broker */
	const char *text, *mend;
};

/* Of librdkafka @version; NULL: none. */
const struct kafka_fault *kafka_fault_of(const struct kafka_option *, int version);
/* As one sentence: "kafka.options.KEY: ...; ..."; false: this librdkafka has none. */
bool kafka_option_fault(const struct kafka_option *, struct err *out);

/* What a person does about trouble with login, TLS, address, rights or size, by librdkafka's words for it; "" if only waiting helps. */
const char *kafka_mend(const char *text);

#endif
