/* SPDX-License-Identifier: MIT */
/*
 * Data behind the pointers of system calls (section.h, TY_SEC_EVIDENCE), by call. A record is
 * attributed to a call only when time, thread, number and pointer all match.
 */
#ifndef TY_EVIDENCE_INDEX_H
#define TY_EVIDENCE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "evidence_record.h"
#include "syscall_pair.h"

struct ty_evidence_index;

struct ty_evidence_item {
	const char *p; /* borrowed from the section, a string with its NUL; NULL: unknown */
	unsigned len;  /* for a string without the NUL */
	uint8_t kind;  /* enum ty_ev_kind */
	uint8_t flags; /* enum ty_ev_flag */
};

/*
 * Indexes the section's n bytes, which are borrowed; damaged records are skipped. NULL: out of
 * memory. Memory: 16 bytes per record.
 */
struct ty_evidence_index *ty_evidence_index_new(const void *section, size_t n);
void ty_evidence_index_free(struct ty_evidence_index *x);
/* Number of records, of those lost while recording, and a lower bound of pieces missing from the
 * file. */
struct ty_evidence_counts {
	uint64_t records, lost, pieces_missing;
	uint64_t newer; /* skipped: of kinds that this version does not know */
	bool damaged;
} ty_evidence_counts(const struct ty_evidence_index *x);

/*
 * Finds what the call's arguments pointed to, as item[0..5]. after_ns: the end of the thread's
 * previous call, or of a loss of events since then; 0: there is no previous call.
 */
void ty_evidence_of(const struct ty_evidence_index *x, const struct ty_call *c, uint64_t after_ns,
		    struct ty_evidence_item item[6]);
/* Structures and bytes that the call's arguments point to: as its enter and its exit found them
 * (evidence_record.h, TY_EVK_VALUES). x, call are borrowed. */
struct ty_evidence_values {
	const struct ty_evidence_index *x;
	const struct ty_call *call;
	uint64_t after_ns;
	struct ty_evidence_item in[6], out[6];
};
/* after_ns: as above. */
void ty_evidence_values(const struct ty_evidence_index *x, const struct ty_call *c,
			uint64_t after_ns, struct ty_evidence_values *v);
/* Memory at ptr, to which a structure behind argument arg points. p is NULL: not recorded. */
struct ty_evidence_item ty_evidence_memory(const struct ty_evidence_values *v, unsigned arg,
					   uint64_t ptr, bool at_exit);
/* All records of a kind that were not faults: `each` gets them by thread, then by time; not 0 ends
 * it. Returns the last result of `each`. */
int ty_evidence_each(const struct ty_evidence_index *x, enum ty_ev_kind kind,
		     int (*each)(void *ctx, int32_t tid, uint64_t ns, const char *bytes, size_t n),
		     void *ctx);
/* The command line of a successful exec, a NUL after each part (the last one may be truncated). */
struct ty_evidence_item ty_evidence_argv(const struct ty_evidence_index *x,
					 const struct ty_call *c);

/*
 * Maintains after_ns for callers that process all calls in order: record the end of a thread's call
 * or of a loss, query it when the thread's next call begins.
 */
void ty_evidence_over(struct ty_evidence_index *x, int32_t tid, uint64_t end_ns);
void ty_evidence_gap(struct ty_evidence_index *x, uint64_t to_ns);
uint64_t ty_evidence_after(const struct ty_evidence_index *x, int32_t tid);

/* Appends a string as is, or an address in the short form used for descriptors (TY_SEC_FDS):
 * "socket:[127.0.0.1:80]", "socket:[->[::1]:80]" (to: of a peer), "UNIX:[/run/x]",
 * "UNIX:[@abstract]". False when it is neither, or an unspecific address. */
bool ty_evidence_short(const struct ty_evidence_item *i, bool to, struct ty_buf *out);
/* Descriptor i (0 or 1) described by an FDS item; false: there is no such. */
bool ty_evidence_fd(const struct ty_evidence_item *it, unsigned i, struct ty_ev_fd *out);
/* Appends the descriptor as strace -yy prints it: "pipe:[4711]", "TCP:[127.0.0.1:4711->[..]:80]",
 * "UNIX-STREAM:[12->13,"/run/x"]"; in addition whether it listens, the peer's path, and the peer
 * process known to the kernel. 0 or -TY_E... */
int ty_evidence_fd_text(const struct ty_ev_fd *fd, struct ty_buf *out);
/* Appends the data as strace prints it: "/etc/pa\"sswd", {sa_family=AF_INET, ...}, ["ls", "-l"]. */
int ty_evidence_text(const struct ty_evidence_item *i, struct ty_buf *out);

#endif
