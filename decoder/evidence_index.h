/* SPDX-License-Identifier: MIT */
/*
 * What lay behind the pointers of system calls (section.h, TY_SEC_EVIDENCE), found by call. Nothing
 * is taken for a call's that time, thread, number and pointer do not all agree on.
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
	const char *p; /* borrowed from the section, a string with its NUL; NULL: not known */
	unsigned len;  /* of a string without it */
	uint8_t kind;  /* enum ty_ev_kind: STRING, SOCKADDR, STRINGS, ARGV, FDS */
	uint8_t flags; /* enum ty_ev_flag */
};

/*
 * Of the section's n bytes, which are borrowed; damaged records are left out. NULL: out of memory.
 * Memory: 16 bytes per record.
 */
struct ty_evidence_index *ty_evidence_index_new(const void *section, size_t n);
void ty_evidence_index_free(struct ty_evidence_index *x);
/* Records in all, those lost while they were recorded, and those that the file has no longer:
 * at least so many pieces of it. */
struct ty_evidence_counts {
	uint64_t records, lost, pieces_missing;
	bool damaged;
} ty_evidence_counts(const struct ty_evidence_index *x);

/*
 * What the call's arguments pointed to, into item[0..5]. after_ns: the end of the thread's call
 * before, or of a loss of events since then; 0: there is no call before.
 */
void ty_evidence_of(const struct ty_evidence_index *x, const struct ty_call *c, uint64_t after_ns,
		    struct ty_evidence_item item[6]);
/* The command line with which a successful exec began, a NUL behind each part (the last one may be
 * cut). */
struct ty_evidence_item ty_evidence_argv(const struct ty_evidence_index *x,
					 const struct ty_call *c);

/*
 * after_ns, for who looks at all calls in order: note the end of a thread's call, or of a loss; ask
 * when the thread's next call begins.
 */
void ty_evidence_over(struct ty_evidence_index *x, int32_t tid, uint64_t end_ns);
void ty_evidence_gap(struct ty_evidence_index *x, uint64_t to_ns);
uint64_t ty_evidence_after(const struct ty_evidence_index *x, int32_t tid);

/* A string as it is, or an address in short, as descriptors are named (TY_SEC_FDS):
 * "socket:[127.0.0.1:80]", "socket:[->[::1]:80]" (to: of a peer), "UNIX:[/run/x]",
 * "UNIX:[@abstract]"; appended. false: it is neither, or an address that says nothing. */
bool ty_evidence_short(const struct ty_evidence_item *i, bool to, struct ty_buf *out);
/* Descriptor i (0 or 1) that the item is about (FDS); false: there is no such. */
bool ty_evidence_fd(const struct ty_evidence_item *it, unsigned i, struct ty_ev_fd *out);
/* What it is, as strace -yy prints it, appended: "pipe:[4711]", "TCP:[127.0.0.1:4711->[..]:80]",
 * "UNIX-STREAM:[12->13,"/run/x"]"; further: that it listens, the path of the other end, and the
 * process that the kernel has for it. 0 or -TY_E... */
int ty_evidence_fd_text(const struct ty_ev_fd *fd, struct ty_buf *out);
/* As strace prints it: "/etc/pa\"sswd", {sa_family=AF_INET, ...}, ["ls", "-l"]; appended. */
int ty_evidence_text(const struct ty_evidence_item *i, struct ty_buf *out);

#endif
