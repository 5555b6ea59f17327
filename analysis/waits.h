/* SPDX-License-Identifier: MIT */
/* What a waiting thread waits for, according to its system call and arguments. */
#ifndef TY_WAITS_H
#define TY_WAITS_H

#include <string.h>

#include "explain.h"
#include "stalls.h"

#define TY_WAIT_OBJECT 192 /* bytes */

struct ty_fd_table;

struct ty_wait_for {
	uint8_t kind;  /* enum ty_stall_kind */
	uint8_t class; /* enum ty_wait_class */
	bool has_args;
	int64_t fd;	/* -1: no descriptor */
	bool guessed;	/* descriptor and kind are concluded from the thread's next call */
	bool ready;	/* or fd was, by the record of its own call, the only one ready */
	bool room;	/* a poll for room to write */
	bool shared;	/* futex: its word may be shared with other processes */
	bool path;	/* the object is the call's path */
	bool of_call;	/* the object is of this very call: others of the wait may have another */
	bool opened;	/* the descriptor was opened by path: a file, a FIFO, a device */
	bool by_waker;	/* its own call is not recorded: taken from the waker's call */
	bool by_value;	/* a lock according to the value alone, which a counter can have, too */
	bool spins;	/* a lock that the kernel spins for while its holder runs */
	uint64_t word;	/* futex: its address; 0 */
	int32_t holder; /* the owner's tid in the lock word; 0 */
	char object[TY_WAIT_OBJECT];
};

/* Values of a futex word that mean "locked with waiters" by convention. */
#define TY_WAIT_IS_LOCKED(value) ((value) == 2 || (value) == 3)

/* For a wait (sleeping or uninterruptible) of the thread inside `call`; TY_NONE: in no call (user
 * mode: a page fault). */
struct ty_wait_for ty_wait_for(const struct ty_explain *x, const struct ty_span *s, uint32_t call);
/* Only the object of a wait in `call`: reads its arguments if it has an object. */
void ty_wait_object(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
		    char out[TY_WAIT_OBJECT]);
/* "fd 3", as an object. */
void ty_wait_name_fd(char object[TY_WAIT_OBJECT], int32_t fd);
/* The object as an argument of the call: futex(0x7f..), not futex(futex 0x7f..). */
static inline const char *ty_wait_argument(const char *call, const char *object)
{
	size_t n = strlen(call);

	return n && !strncmp(object, call, n) && object[n] == ' ' ? object + n + 1 : object;
}
/* One made by the other, or both by one, so that what fork copies is the same in both. Others
 * never wait for the same object. */
bool ty_wait_akin(const struct ty_thread *a, const struct ty_thread *b);
/* True when both may be waits for the same object. Descriptors and memory words belong to a
 * process: its children inherit descriptors, and share words that are not private. */
bool ty_wait_same(const struct ty_model *m, uint32_t thread_a, const struct ty_wait_for *a,
		  uint32_t thread_b, const struct ty_wait_for *b);
/* The futex word that a call waits on, treating the two of a condition variable (glibc) as one; 0:
 * not such a call, or one on several words. */
uint64_t ty_wait_word(const struct ty_explain *x, uint32_t call);
/* The same for the wait in the call, or, by_waker, in one that is not recorded. */
uint64_t ty_wait_word_of(const struct ty_explain *x, const struct ty_wait_for *w, uint32_t call);
/* Effect of a call on a futex word: waits on it (PAIR: on either of two, as in ty_wait_word), or
 * wakes its waiters. Reads the arguments once. */
enum ty_futex_use { TY_FUTEX_WAITS, TY_FUTEX_WAITS_PAIR, TY_FUTEX_WAKES, TY_FUTEX_NONE };
enum ty_futex_use ty_wait_futex_use(const struct ty_explain *x, uint32_t call, uint64_t *word);
/* True when the call waits on this very word. value: the expected value. */
bool ty_wait_value(const struct ty_explain *x, uint32_t call, uint64_t word, uint32_t *value);
/* True when the call wakes waiters of a futex word. w: which word, for ty_wait_same (0: the second
 * of two); kind LOCK: it releases a lock whose holder the kernel knows. */
bool ty_wait_wakes(const struct ty_explain *x, uint32_t call, struct ty_wait_for *w);
/* True when the call timed out. */
bool ty_wait_timed_out(const struct ty_explain *x, uint32_t call);
bool ty_wait_ended_by_timeout(const struct ty_explain *x, const struct ty_syscall *c);

#endif
