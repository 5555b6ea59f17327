/* SPDX-License-Identifier: MIT */
/* A page that another thread of the program serves (userfaultfd), late. */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "plant.h"

static long fd;
static volatile char *area;

static void server(void)
{
	struct pollfd p = {.fd = (int)fd, .events = POLLIN};
	struct uffdio_zeropage z = {.range = {.len = (size_t)sysconf(_SC_PAGESIZE)}};
	struct uffd_msg m;

	plant_be(&plant->culprit, the.culprit);
	plant_turn(1);
	if (poll(&p, 1, -1) != 1 || read((int)fd, &m, sizeof(m)) != sizeof(m))
		err(1, "userfaultfd");
	plant_spend_ms(the.way, the.ms);
	z.range.start = (uintptr_t)m.arg.pagefault.address & ~(z.range.len - 1);
	if (ioctl((int)fd, UFFDIO_ZEROPAGE, &z))
		err(1, "UFFDIO_ZEROPAGE");
}

static void victim(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_await(1);
	plant_work(the.before);
	t = plant_begin();
	area[0] = 1;
	plant_end(t);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	size_t size = 16 * (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register r = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	if (plant_init(argc, argv))
		return 0;
	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl((int)fd, UFFDIO_API, &api))
		plant_skip("no userfaultfd here");
	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	r.range.start = (uintptr_t)area;
	r.range.len = size;
	if (area == MAP_FAILED || ioctl((int)fd, UFFDIO_REGISTER, &r))
		plant_skip("no userfaultfd here");
	plant_run_as(PLANT_THREAD, victim, plant_pick(2) ? PLANT_THREAD : PLANT_MAIN, server);
	plant_truth("page", NULL);
	return 0;
}
