/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD for measuring trace-cmd record where function-tracer files are forbidden: their opens
 * for writing go to /dev/null. Only for benchmarks.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The traced load must not pay for the shim. */
__attribute__((constructor)) static void only_here(void)
{
	unsetenv("LD_PRELOAD");
}

static const char *redirect(const char *path)
{
	return strstr(path, "/set_ftrace_") || strstr(path, "/ftrace_enabled") ? "/dev/null" : path;
}

int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return real(redirect(path), flags, mode);
}

int open64(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return real(redirect(path), flags, mode);
}
