/*
 * app/credential.h - what lets a provider's calls in: its key, from the environment, a file or a command, and the proxy's USER:PASSWORD.
 * It has a state: a file that changed is read again; a command is run again when four fifths of its token's life are over; and both once
 * more when the provider refuses the key. Values are in no message and no log.
 *
 * A command prints the token in one line, or as {"token": TEXT}, with its end as "expires_at" (RFC 3339, or Unix time in seconds) or as
 * "expires_in" (seconds from now).
 */
#ifndef APP_CREDENTIAL_H
#define APP_CREDENTIAL_H

#include "app/settings.h"

struct credential; /* of one provider */

/* @waits: it has its values when this returns, a command has half a minute; else the command runs on the loop, and calls wait for it.
 * @reactor NULL: only to look, nothing is renewed. ST_INVALID: *err says what lacks, without the provider's name. */
enum status credential_open(struct reactor *, const struct provider *, bool waits,
			    struct credential **out, struct err *err) MUST_CHECK;
/* Whether its variables and files have what they should; no command is run. ST_INVALID: likewise. */
enum status credential_look(const struct provider *, struct err *err) MUST_CHECK;
struct credential *credential_hold(struct credential *); /* the same, to be closed once more */
void credential_close(struct credential *);		 /* NULL is fine */

/* Whether @p has its name and its sources. */
bool credential_is_of(const struct credential *, const struct provider *p);

/* False: there is no key, or it was refused, and the command runs for one; to be asked again in a moment. */
bool credential_ready(const struct credential *);

/* Puts the values of now into @e, borrowed until the next call of credential_put(). Gives the key's number: another for each value. */
int credential_put(struct credential *, struct endpoint *e);

/* The provider refused key number @key_no. True: there is another, or soon will be: nothing is wrong but that call, which is to be
 * sent again. False: this is the newest that can be had. A command is asked so once a minute at most. */
bool credential_refused(struct credential *, int key_no);

/* Whether @text has the key in it, or the one before: a provider may quote what it refuses. Keys under 8 bytes are no secrets. */
bool credential_is_quoted(const struct credential *, struct str text);

#endif
