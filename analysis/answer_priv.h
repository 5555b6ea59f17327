/* SPDX-License-Identifier: MIT */
/* Shared by the files of the answer. */
#ifndef TY_ANSWER_PRIV_H
#define TY_ANSWER_PRIV_H

#include "answer.h"
#include "chain.h"
#include "ledger_rows.h"

/* Sum of an item's rows. */
struct ty_answer_sum {
	uint64_t ns, longest_ns, pieces;
	uint32_t span; /* of the longest piece */
	uint32_t who;  /* ty_ledger_key.who */
	uint32_t row;  /* largest of the rows */
	int32_t nr;    /* waits: the system call; -1 */
	uint8_t abi, part;
	bool last; /* shown after the others */
};

/* Input for the texts of items. */
struct ty_answer_work {
	const struct ty_explain *x;
	const struct ty_book *book;
	const struct ty_ledger_group *group_of; /* by thread index */
	const struct ty_path *path;		/* of a command; NULL */
	const uint8_t *mine;		    /* by thread index: member of the command's tree; NULL:
					     * all are */
	const struct ty_requests *requests; /* of the window; NULL: not analysed */
	bool overlap; /* requests of which some overlap: time in two counts twice */
	bool fold;    /* for threads: idle waits are folded into one item, shown last */
};

/* Fills the answer's parts and its largest items, with texts, from the book's rows. 0 or
 * -TY_ENOMEM. answer_items.c */
int ty_answer_items(const struct ty_answer_work *k, struct ty_answer *out);
/* What kind of time a row is. answer_parts.c */
enum ty_answer_part ty_answer_part_of(const struct ty_answer_work *k,
				      const struct ty_ledger_key *r);
/* The kinds of answers: 0, -TY_ENOTFOUND when not applicable, or -TY_E... */
int ty_answer_command(const struct ty_explain *x, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out);
/* True if a command replied to requests of clients outside of it, and waited for messages or a time
 * for most of its path. answer_server.c */
bool ty_answer_is_server(const struct ty_answer_work *k, uint64_t total_ns);
int ty_answer_requests(const struct ty_explain *x, const struct ty_window *w,
		       const struct ty_requests *requests, struct ty_answer *out);
int ty_answer_threads(const struct ty_explain *x, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out);
int ty_answer_machine(const struct ty_explain *x, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out);
/* Adds a note, as printf. answer_parts.c */
void ty_answer_note(struct ty_answer *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* answer_text.c */
void ty_answer_item_text(const struct ty_answer_work *k, const struct ty_answer_sum *s, char *out,
			 size_t size);
/* answer_children.c: reports the command's children on its path. root: the command's process. 0 or
 * -TY_ENOMEM. */
int ty_answer_children(const struct ty_answer_work *k, uint32_t root, uint64_t total_ns, char *out,
		       size_t size);

#endif
