/* SPDX-License-Identifier: MIT */
/* SANITIZED: a build with AddressSanitizer (clang): it forbids to read the stack as bytes, its
 * backtrace() has frames of its own, and its allocator counts nothing for mallinfo2(). */
#ifndef TY_SANITIZED_H
#define TY_SANITIZED_H

#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

#endif
