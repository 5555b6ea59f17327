/* SPDX-License-Identifier: MIT */
/*
 * Data behind the pointers of system calls (section.h, TY_SEC_CALL_DATA), by call. A record is
 * attributed to a call only when time, thread, number and pointer all match.
 */
#ifndef TY_CALL_DATA_INDEX_H
#define TY_CALL_DATA_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "call_data_record.h"
#include "syscall_pair.h"

struct ty_call_data_index;

struct ty_call_data_item {
	const char *p; /* borrowed from the section, a string with its NUL; NULL: unknown */
	unsigned len;  /* for a string without the NUL */
	uint8_t kind;  /* enum ty_ev_kind */
	uint8_t flags; /* enum ty_ev_flag */
};

/*
 * Indexes the section's n bytes, which are borrowed; damaged records are skipped. NULL: out of
 * memory. Memory: 16 bytes per record, twice that while they are sorted; what exceeds its part of
 * memory_bytes (0: no limit) is in a mapped file (paged_bytes.h).
 */
struct ty_call_data_index *ty_call_data_index_new(const void *section, size_t n,
						  uint64_t memory_bytes);
void ty_call_data_index_free(struct ty_call_data_index *x);
/* Number of records, of those lost while recording, and a lower bound of pieces missing from the
 * file. */
struct ty_call_data_counts {
	uint64_t records, lost, pieces_missing;
	uint64_t received;     /* descriptors */
	uint64_t newer;	       /* skipped: of kinds that this version does not know */
	uint64_t cut_inferred; /* strings that are probably truncated (TY_EVF_INFERRED) */
	bool damaged;
} ty_call_data_counts(const struct ty_call_data_index *x);

/*
 * Finds what the call's arguments pointed to, as item[0..5]. after_ns: the end of the thread's
 * previous call, or of a loss of events since then; 0: there is no previous call.
 */
void ty_call_data_of(const struct ty_call_data_index *x, const struct ty_call *c, uint64_t after_ns,
		     struct ty_call_data_item item[6]);
/* True when the path, an argument of c, is longer than recorded. CUT may also be one of exactly the
 * kernel's most bytes, which it then took. */
bool ty_call_data_path_cut(const struct ty_call_data_item *i, const struct ty_call *c);
/* Structures and bytes that the call's arguments point to: as its enter and its exit found them
 * (call_data_record.h, TY_EVK_VALUES). x, call are borrowed. */
struct ty_call_data_values {
	const struct ty_call_data_index *x;
	const struct ty_call *call;
	uint64_t after_ns;
	struct ty_call_data_item in[6], out[6];
};
/* after_ns: as above. */
void ty_call_data_values(const struct ty_call_data_index *x, const struct ty_call *c,
			 uint64_t after_ns, struct ty_call_data_values *v);
/* Memory at ptr, to which a structure behind argument arg points. p is NULL: not recorded. */
struct ty_call_data_item ty_call_data_memory(const struct ty_call_data_values *v, unsigned arg,
					     uint64_t ptr, bool at_exit);
/* Descriptor i < TY_EV_RECEIVED_CALL that the call received, and its name (empty: unknown). False:
 * there is no such. Searches all records of the call. */
bool ty_call_data_received(const struct ty_call_data_index *x, const struct ty_call *c, unsigned i,
			   struct ty_ev_fd *fd, struct ty_buf *name);
/* All records of a kind that were not faults: `each` gets them by thread, then by time; not 0 ends
 * it. Returns the last result of `each`. */
int ty_call_data_each(const struct ty_call_data_index *x, enum ty_ev_kind kind,
		      int (*each)(void *ctx, int32_t tid, uint64_t ns, const char *bytes, size_t n),
		      void *ctx);

/*
 * Maintains after_ns for callers that process all calls in order: record the end of a thread's call
 * or of a loss, query it when the thread's next call begins.
 */
void ty_call_data_over(struct ty_call_data_index *x, int32_t tid, uint64_t end_ns);
void ty_call_data_gap(struct ty_call_data_index *x, uint64_t to_ns);
uint64_t ty_call_data_after(const struct ty_call_data_index *x, int32_t tid);

/* Appends a string as is, or an address in the short form used for descriptors (TY_SEC_FDS):
 * "socket:[127.0.0.1:80]", "socket:[->[::1]:80]" (to: of a peer), "UNIX:[/run/x]",
 * "UNIX:[@abstract]". False when it is neither, or an unspecific address. */
bool ty_call_data_short(const struct ty_call_data_item *i, bool to, struct ty_buf *out);
/* Descriptor i (0 or 1) described by an FDS item; false: there is no such. */
bool ty_call_data_fd(const struct ty_call_data_item *it, unsigned i, struct ty_ev_fd *out);
/* Appends the descriptor as strace -yy prints it: "pipe:[4711]", "TCP:[127.0.0.1:4711->[..]:80]",
 * "UNIX-STREAM:[12->13,"/run/x"]"; in addition whether it listens, the peer's path, and the peer
 * process known to the kernel. 0 or -TY_E... */
int ty_call_data_fd_text(const struct ty_ev_fd *fd, struct ty_buf *out);
/* Appends the path whose parts are there, the innermost first, a NUL behind each. */
int ty_call_data_path(const char *parts, size_t n, bool deleted, struct ty_buf *out);
/* Appends the data as strace prints it: "/etc/pa\"sswd", {sa_family=AF_INET, ...}, ["ls", "-l"]. */
int ty_call_data_text(const struct ty_call_data_item *i, struct ty_buf *out);

#endif
