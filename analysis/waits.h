/* SPDX-License-Identifier: MIT */
/* What a waiting thread waits for, as far as its system call and the arguments say. */
#ifndef TY_WAITS_H
#define TY_WAITS_H

#include "explain.h"
#include "stalls.h"

#define TY_WAIT_OBJECT 96 /* bytes */

struct ty_wait_for {
	uint8_t kind;  /* enum ty_stall_kind */
	uint8_t class; /* enum ty_wait_class */
	bool has_args;
	int64_t fd;    /* -1: no descriptor */
	bool guessed;  /* the descriptor and the kind are concluded from what the thread did next */
	bool shared;   /* futex: its word may be that of other processes, too */
	bool path;     /* the object is the path that the call is about */
	bool opened;   /* the descriptor was opened by a path: a file, a FIFO, a device */
	bool by_waker; /* its own call is not recorded: that of the one that ended it tells */
	bool by_value; /* a lock because of the value alone, which a counter can have, too */
	bool spins;    /* a lock that the kernel waits for on the CPU, too, while its holder runs */
	uint64_t word; /* futex: its address; 0 */
	int32_t holder; /* a lock word that names its owner's tid; 0 */
	char object[TY_WAIT_OBJECT];
};

/* The value of a futex word that by convention is a lock's that is waited for. */
#define TY_WAIT_IS_LOCKED(value) ((value) == 2 || (value) == 3)

/* A wait (sleeping or uninterruptible) of the thread inside `call`; TY_NONE: in no call (user mode:
 * a page fault). */
struct ty_wait_for ty_wait_for(const struct ty_explain *x, const struct ty_span *s, uint32_t call);
/* Its object alone, of a wait in `call`: arguments are read where the call has one. */
void ty_wait_object(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
		    char out[TY_WAIT_OBJECT]);
/* The call that the thread waits in: the span's; or, where its begin was lost, or the span's is one
 * whose end was lost, the one whose end is the next that the thread is known to have done. TY_NONE:
 * in none, or not known. */
uint32_t ty_wait_call(const struct ty_explain *x, const struct ty_span *s);
/* An uninterruptible wait that began outside of any system call, for certain: the calls around it
 * are recorded. It is for a page. */
bool ty_wait_is_page(const struct ty_model *m, const struct ty_span *s);
/*
 * After a wait for several descriptors, or one that is not told (poll's are behind a pointer,
 * epoll's were told before): what the thread does at once, as a rule on the one that was ready. It
 * takes from fd or accepts there; or gives, when it waited for room. What the call says
 * (syscall_ipc.h); 0: none such.
 */
unsigned ty_wait_next_fd(const struct ty_explain *x, uint32_t thread, uint32_t call, bool room,
			 int64_t *fd);
/* Where w says no more than "a descriptor": what it is; and the name of one that was open before
 * the recording (fds.h; dear, for findings only). call: TY_NONE for the name alone. room: it is
 * known that who ended the wait took something; what the thread waited for was to give. */
void ty_wait_look_at_fd(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			bool room, struct ty_wait_for *w);
/* The path that a call on a path is about, as the wait's object, where it has none; for findings.
 */
void ty_wait_look_at_path(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			  struct ty_wait_for *w);
/* May both be waits for the same thing? Descriptors and words of memory are those of a process: its
 * children inherit descriptors, and share words that are not private. */
bool ty_wait_same(const struct ty_model *m, uint32_t thread_a, const struct ty_wait_for *a,
		  uint32_t thread_b, const struct ty_wait_for *b);
/* The futex word that a call waits on, the two of a condition variable (glibc) as one; 0: it is no
 * such call, or one on several words. */
uint64_t ty_wait_word(const struct ty_explain *x, uint32_t call);
/* Did the one that ended a wait serve a page (userfaultfd)? */
bool ty_wait_page_served(const struct ty_explain *x, const struct ty_waker *k);
/* The same of what is waited for in the call, or, by_waker, in one that is not recorded. */
uint64_t ty_wait_word_of(const struct ty_explain *x, const struct ty_wait_for *w, uint32_t call);
/* What a call does with a futex word: waits on it (a pair: on either of two, as ty_wait_word has
 * it), or wakes who waits on this very one. One read of its arguments. */
enum ty_futex_use { TY_FUTEX_WAITS, TY_FUTEX_WAITS_PAIR, TY_FUTEX_WAKES, TY_FUTEX_NONE };
enum ty_futex_use ty_wait_futex_use(const struct ty_explain *x, uint32_t call, uint64_t *word);
/* Is the call a wait on this very word? With which value? */
bool ty_wait_value(const struct ty_explain *x, uint32_t call, uint64_t word, uint32_t *value);
/* Does the call wake who waits on a futex word? w: which, for ty_wait_same (0: the second of two);
 * kind LOCK: it lets a lock go of which the kernel knows the holder. */
bool ty_wait_wakes(const struct ty_explain *x, uint32_t call, struct ty_wait_for *w);
/* Did the call end because its time was up? */
bool ty_wait_timed_out(const struct ty_explain *x, uint32_t call);
bool ty_wait_ended_by_timeout(const struct ty_explain *x, const struct ty_syscall *c);

#endif
