/* SPDX-License-Identifier: MIT */
/* Command lines of processes, and the part of each that distinguishes it from others of its name.
 * Not part of the index file: session/ adds them. */
#ifndef TY_PROCESS_TITLES_H
#define TY_PROCESS_TITLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cgroup_name.h"
#include "model.h"

/* A process had this command line from from_ns on. */
struct ty_title {
	uint64_t from_ns;
	uint32_t process;   /* index of its first thread */
	uint32_t whole;	    /* offset in the text: arguments, with blanks between them */
	uint32_t brief;	    /* offset of the distinguishing part; TY_NONE: its name is enough */
	uint32_t placeless; /* the same without the container; TY_NONE: nothing else is in it */
	bool replaces_name; /* the part is a title of the process' own ("nginx: worker process") */
};
struct ty_titles {
	struct ty_title *v; /* by process, then by time */
	size_t n;
	char *text;
};
enum { TY_TITLE_BRIEF = 32, TY_TITLE_OWN = 44 }; /* most bytes of the part */

static inline void ty_titles_free(struct ty_titles *t)
{
	if (t) {
		free(t->v);
		free(t->text);
	}
	free(t);
}
/* The model owns t, and frees the ones before. The first ones may be set while other threads look
 * names up. */
void ty_model_set_titles(struct ty_model *m, struct ty_titles *t);

/* The command line of the thread's process at t, that of its parent where it has executed nothing
 * since; NULL: unknown. */
const char *ty_model_command_line(const struct ty_model *m, uint32_t thread, uint64_t t_ns);

/* The short name of the thread's cgroup (cgroup_name.h), as it was when recording began. A thread
 * that was born later inherits its parent's: only a container is certain then, because service
 * managers move their children. */
enum ty_cgroup_kind ty_model_cgroup(const struct ty_model *m, uint32_t thread,
				    char out[TY_CGROUP_NAME_MAX]);
/* The path itself; NULL: unknown. */
const char *ty_model_cgroup_path(const struct ty_model *m, uint32_t thread);

/* The process' first recorded exec in (from, to]; UINT64_MAX: none. */
uint64_t ty_model_executed(const struct ty_model *m, uint32_t process, uint64_t from_ns,
			   uint64_t to_ns);

/* Instead of a name that is not recorded. */
#define TY_NO_NAME "[no name]"

/* sh/12, and where that does not distinguish it: python3/12 "worker.py", nginx/12 "worker process";
 * in the quotes, " and \ have a \ before them. A thread with a name of its own has only that. */
#define TY_WHO_MAX 96
const char *ty_model_who(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
			 char out[TY_WHO_MAX]);
/* The same in a buffer that lives as long as the block around it. */
#define ty_who(m, thread, t_ns) ty_model_who(m, thread, t_ns, (char[TY_WHO_MAX]){0})
/* The same at its end, where it is best known. */
const char *ty_model_who_last(const struct ty_model *m, uint32_t thread, char out[TY_WHO_MAX]);
/* The same with the number of its process. */
const char *ty_model_who_process(const struct ty_model *m, uint32_t thread, char out[TY_WHO_MAX]);
#define ty_who_last(m, thread)	  ty_model_who_last(m, thread, (char[TY_WHO_MAX]){0})
#define ty_who_process(m, thread) ty_model_who_process(m, thread, (char[TY_WHO_MAX]){0})
/* The same with another number; below 0: without one. */
const char *ty_model_who_numbered(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
				  int32_t number, char out[TY_WHO_MAX]);
/* ty_model_who in so many bytes, at least 12: the whole number, then what fits of the name, then of
 * the words; what is cut ends with ~. */
const char *ty_model_who_within(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
				unsigned columns, char out[TY_WHO_MAX]);
/* The bytes of a name to print: without blanks at its end ("starman worker "), if it has others. */
int ty_comm_shown(const char *comm);
/* Threads or processes of a name: "java (34 threads)". what: "threads". Returns as snprintf does.
 */
int ty_comm_several(char *out, size_t size, const char *comm, uint32_t n, const char *what);
/* Of a thread that the text names several times, only the first name keeps its words. */
void ty_who_once(char *text);
/* For a row with its number elsewhere: python3 worker.py, nginx: worker process. Where `columns`
 * are too few, the distinguishing part alone, and of a longer one its start and its end:
 * cpp_std~p.12345. An option does not stand alone: valgrind ~e=/tmp/2, or valgrind. Where hardly a
 * byte fits, the caller cuts. Never the container: it is no name of a process. columns <
 * TY_WHO_MAX. */
const char *ty_model_who_short(const struct ty_model *m, uint32_t thread, unsigned columns,
			       char out[TY_WHO_MAX]);

#endif
