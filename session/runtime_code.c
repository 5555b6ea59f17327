/* SPDX-License-Identifier: MIT */
/* See runtime_code.h. */
#include "runtime_code.h"

#include <string.h>

#include "base_name.h"

/* By the start of the file's name. */
bool ty_is_runtime_file(const char *path)
{
	static const char *const names[] = {
		"libc.so",    "libc-",	   "ld-linux",	 "ld-2",      "ld-musl",  "libpthread",
		"librt.so",   "libm.so",   "libstdc++",	 "libc++",    "libgcc_s", "[vdso]",
		"libpython3", "libjvm.so", "libuv.so",	 "libglib-2", "libruby",  "liblua",
		"libnode.so", "libevent",  "libasan.so", "libtsan.so"};
	const char *base = ty_base_name(path);

	for (size_t i = 0; base && i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

/* In a program that holds its libraries itself, or has them inlined. A source line of the program
 * outweighs a name that resembles a library's. */
bool ty_is_runtime_function(const char *name, const char *source)
{
	/* By the source's path, which has `path` and behind it `part`; without them: of a function
	 * without a source. */
	static const struct {
		const char *path, *part, *name;
	} starts[] = {
		{.name = "__"},
		{.name = "_IO_"},
		{.name = "pthread_"},
		{.name = "std::"},
		{.name = "core::"},
		{.name = "alloc::"},
		{.name = "runtime."},
		{"/src/runtime", "/", "runtime."},
		{"/include", "/c++/", ""},
		{"/usr/include", "/bits/", ""},
		{"/rust", "/library/std/src/", ""},
		{"/rust", "/library/core/src/", ""},
		{"/rust", "/library/alloc/src/", ""},
	};
	static const char *const names[] = {"nanosleep", "clock_nanosleep", "usleep", "sleep",
					    "syscall",	 "clone",	    "clone3", "_start"};

	for (size_t i = 0; name && i < sizeof(starts) / sizeof(*starts); i++) {
		const char *at = source && starts[i].path ? strstr(source, starts[i].path) : NULL;

		if ((starts[i].path ? at && strstr(at + strlen(starts[i].path), starts[i].part)
				    : !source) &&
		    !strncmp(name, starts[i].name, strlen(starts[i].name)))
			return true;
	}
	for (size_t i = 0; name && !source && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
