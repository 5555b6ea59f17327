/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock_holder.h"

enum { WORD = 0, WORDS = 6, TID = 812 };

static int32_t holder(uint64_t op, uint64_t val, const uint32_t *w, enum ty_lock_kind *kind)
{
	*kind = 0;
	return ty_futex_holder(op, val, w, kind);
}

/* A lock of this libc, as a waiter's futex call would find it: the word at `at`. */
static void words_of(const void *lock, size_t size, size_t at, uint32_t w[WORDS])
{
	const size_t left = size - at, n = WORDS * sizeof(*w);

	memset(w, 0xff, n);
	memcpy(w, (const char *)lock + at, left < n ? left : n);
}

static void mutexes_of_this_libc(void **state)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
	const int32_t self = (int32_t)syscall(SYS_gettid);
	enum ty_lock_kind kind;
	uint32_t w[WORDS];

	for (unsigned i = 0; i < 4; i++) {
		pthread_mutexattr_t a;
		pthread_mutex_t m;

		pthread_mutexattr_init(&a);
		pthread_mutexattr_settype(&a, types[i]);
		pthread_mutex_init(&m, &a);
		pthread_mutex_lock(&m);
		words_of(&m, sizeof(m), 0, w);
		w[WORD] = 2; /* what a waiter makes it */
		assert_int_equal(holder(FUTEX_WAIT_PRIVATE, 2, w, &kind), self);
		assert_int_equal(kind, TY_LOCK_MUTEX);
		/* It is not locked, or not waited for. */
		assert_int_equal(holder(FUTEX_WAIT_PRIVATE, 1, w, &kind), 0);
		pthread_mutex_unlock(&m);
		words_of(&m, sizeof(m), 0, w);
		assert_int_equal(holder(FUTEX_WAIT_PRIVATE, 2, w, &kind), 0);
	}
}

static void robust_and_pi(void **state)
{
	const int32_t self = (int32_t)syscall(SYS_gettid);
	pthread_mutexattr_t a;
	enum ty_lock_kind kind;
	pthread_mutex_t m;
	uint32_t w[WORDS];

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &a);
	pthread_mutex_lock(&m);
	words_of(&m, sizeof(m), 0, w);
	w[WORD] |= FUTEX_WAITERS;
	assert_int_equal(holder(FUTEX_WAIT_PRIVATE, w[WORD], w, &kind), self);
	assert_int_equal(kind, TY_LOCK_ROBUST);
	/* Its owner has died. */
	w[WORD] |= FUTEX_OWNER_DIED;
	assert_int_equal(holder(FUTEX_WAIT_PRIVATE, w[WORD], w, &kind), 0);
	pthread_mutex_unlock(&m);
	memset(w, 0, sizeof(w));
	w[WORD] = FUTEX_WAITERS | TID;
	assert_int_equal(holder(FUTEX_LOCK_PI_PRIVATE, 0, w, &kind), TID);
	assert_int_equal(kind, TY_LOCK_PI);
}

/* Both words that waiters of a rwlock wait on; readers have no names. */
static void rwlocks(void **state)
{
	const int32_t self = (int32_t)syscall(SYS_gettid);
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	enum ty_lock_kind kind;
	uint32_t w[WORDS];

	pthread_rwlock_wrlock(&l);
	for (unsigned at = 8; at <= 12; at += 4) {
		words_of(&l, sizeof(l), at, w);
		w[WORD] = 3;
		assert_int_equal(holder(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 3, w, &kind), self);
		assert_int_equal(kind, TY_LOCK_RWLOCK);
	}
	pthread_rwlock_unlock(&l);
	pthread_rwlock_rdlock(&l);
	for (unsigned at = 8; at <= 12; at += 4) {
		words_of(&l, sizeof(l), at, w);
		w[WORD] = 3;
		assert_int_equal(holder(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 3, w, &kind), 0);
	}
	pthread_rwlock_unlock(&l);
}

static void what_is_no_lock(void **state)
{
	/* A condition variable's second word, with a locked mutex behind it. */
	uint32_t w[WORDS] = {2, 2, 0, TID, 1, 0};
	enum ty_lock_kind kind;

	assert_int_equal(holder(FUTEX_WAIT_PRIVATE, 2, w, &kind), 0);
	w[WORD] = 3;
	assert_int_equal(holder(FUTEX_WAIT_PRIVATE, 3, w, &kind), 0);
	/* A lock of one word, and data. */
	memcpy(w + WORD, ((uint32_t[]){2, 0, TID, 1, 0x4000}), 20);
	assert_int_equal(holder(FUTEX_WAIT_PRIVATE, 2, w, &kind), 0);
	memset(w, 0xff, sizeof(w));
	for (uint64_t op = 0; op < 16; op++)
		for (uint64_t val = 0; val < 4; val++)
			assert_true(holder(op, val, w, &kind) == 0 ||
				    (op & FUTEX_CMD_MASK) == FUTEX_LOCK_PI ||
				    (op & FUTEX_CMD_MASK) == FUTEX_LOCK_PI2);
}

static void file_locks(void **state)
{
	static const char text[] = "1: POSIX  ADVISORY  READ  100 fe:00:11 128 128\n"
				   "2: FLOCK  ADVISORY  WRITE 200 fe:00:22 0 EOF\n"
				   "2: -> FLOCK  ADVISORY  WRITE 201 fe:00:22 0 EOF\n"
				   "2: -> FLOCK  ADVISORY  WRITE 202 fe:00:22 0 EOF\n"
				   "3: OFDLCK ADVISORY  WRITE -1 fe:00:33 0 EOF\n"
				   "3: -> OFDLCK ADVISORY  WRITE 201 fe:00:33 0 EOF\n"
				   "4: POSIX  ADVISORY  WRITE 400 fe:00:44 0 EOF\n"
				   "4: -> POSIX  ADVISORY  WRITE 202 fe:00:44 0 EOF\n"
				   "5: FLOCK  ADVISORY  WRITE 500 fe:00:55 0 EOF\n"
				   "5: -> FLOCK  ADVISORY  WRITE 202 fe:00:55 0 EOF\n"
				   "5: -> FLOCK  ADVISORY  WRITE 203 fe:00:55 0 EOF\n"
				   "5: -> FLOCK  ADVISORY  WRITE 203 fe:00:55 0 EOF\n"
				   "6: -> FLOCK  ADVISORY  WRITE 600 fe:00:66 0 EOF\n"
				   "garbage\n7: FLOCK";
	__u64 inode = 0;

	assert_int_equal(ty_file_lock_holder(text, 201, 1, &inode), 200);
	assert_int_equal(inode, 22);
	assert_int_equal(ty_file_lock_holder(text, 202, 0, &inode), 400);
	assert_int_equal(inode, 44);
	assert_int_equal(ty_file_lock_holder(text, 202, 1, &inode), 0); /* for two */
	assert_int_equal(ty_file_lock_holder(text, 203, 1, &inode), 0); /* two threads for one */
	assert_int_equal(ty_file_lock_holder(text, 201, 0, &inode), 0); /* of no thread */
	assert_int_equal(ty_file_lock_holder(text, 200, 1, &inode), 0); /* it has it */
	assert_int_equal(ty_file_lock_holder(text, 600, 1, &inode), 0);
	assert_int_equal(ty_file_lock_holder("", 1, 1, &inode), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutexes_of_this_libc),
		cmocka_unit_test(robust_and_pi),
		cmocka_unit_test(rwlocks),
		cmocka_unit_test(what_is_no_lock),
		cmocka_unit_test(file_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
