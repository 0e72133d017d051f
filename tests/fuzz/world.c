/*
 * world.c - a system without chance, for fuzzing.
 *
 * The linker puts these functions in the place of the platform's (-Wl,--wrap=...). What they stand
 * for is tested elsewhere (tests/unit/test_owners.c, test_lock.c); here a wait must cost nothing
 * and an input must do the same each time.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "fuzz.h"

#include "platform/platform.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define GUARD_BYTES    65536u
#define FIRST_NS       (UINT64_C(1) << 50)
#define WALL_S         1.8e9
#define FILE_BYTES_MAX (64u << 20)
/* Of the processor, for one input: the machine may be busy with other work. */
#define PROCESSOR_SECONDS 10

fuzz_world world;

static void too_long(int number)
{
	(void) number;
	fuzz_defect("it took too much of the processor", "");
}

void fuzz_world_reset(void)
{
	const struct itimerval limit = {.it_value = {PROCESSOR_SECONDS, 0}};
	signal(SIGPROF, too_long);
	setitimer(ITIMER_PROF, &limit, NULL);
	world.now_ns = FIRST_NS;
	world.chance = 1;
	bshm_clock_set(FIRST_NS);
}

_Noreturn void fuzz_defect(const char *what, const char *name)
{
	fprintf(stderr, "DEFECT: %s%s%s\n", what, name[0] != '\0' ? ": " : "", name);
	abort();
}

/* ------------------------------------------------------------------ files */

static char folder[256];

static void remove_folder(void)
{
	DIR *dir = opendir(folder);
	const struct dirent *file;
	while (dir != NULL && (file = readdir(dir)) != NULL) {
		if (file->d_name[0] != '.' || strlen(file->d_name) > 2) {
			unlinkat(dirfd(dir), file->d_name, 0);
		}
	}
	if (dir != NULL) {
		closedir(dir);
	}
	rmdir(folder);
}

static void make_folder(void)
{
	/* The script that starts the fuzzer removes it, also after a crash. */
	const char *parent = getenv("BLOOMSHM_FUZZ_FOLDER");
	snprintf(
		folder, sizeof(folder), "%s/bloomshm-fuzz.XXXXXX", parent != NULL ? parent : "/dev/shm");
	if (mkdtemp(folder) == NULL) {
		perror(folder);
		exit(1);
	}
	atexit(remove_folder);
	/* A damaged store may have records of any number of bytes: a dump of them ends here. */
	const struct rlimit most = {FILE_BYTES_MAX, FILE_BYTES_MAX};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &most);
}

const char *fuzz_path(const char *file)
{
	static char paths[4][300];
	static unsigned next;
	if (folder[0] == '\0') {
		make_folder();
	}
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, file);
	return path;
}

void fuzz_write_file(const char *path, const void *bytes, size_t count)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, bytes, count) != (ssize_t) count) {
		fuzz_defect("a file could not be written", path);
	}
	close(fd);
}

fuzz_content fuzz_read_file(const char *path, size_t most)
{
	fuzz_content c = {malloc(most), 0};
	const int fd = open(path, O_RDONLY);
	const ssize_t got = fd < 0 || c.bytes == NULL ? -1 : read(fd, c.bytes, most);
	if (got <= 0) {
		fuzz_defect("a file could not be read", path);
	}
	close(fd);
	c.count = (size_t) got;
	return c;
}

/* ------------------------------------------------------------------ memory */

void *__real_mmap(void *address, size_t count, int protection, int flags, int fd, off_t off);
int __real_munmap(void *address, size_t count);
void *__wrap_mmap(void *address, size_t count, int protection, int flags, int fd, off_t off);
int __wrap_munmap(void *address, size_t count);

static size_t pages_of(size_t count)
{
	return (count + 4095) / 4096 * 4096;
}

/* Files are mapped between pages that cannot be touched. */
void *__wrap_mmap(void *address, size_t count, int protection, int flags, int fd, off_t off)
{
	if ((flags & MAP_SHARED) == 0) {
		return __real_mmap(address, count, protection, flags, fd, off);
	}
	const size_t bytes = pages_of(count);
	uint8_t *all =
		__real_mmap(NULL, bytes + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED) {
		return all;
	}
	void *at = __real_mmap(all + GUARD_BYTES, count, protection, flags | MAP_FIXED, fd, off);
	if (at == MAP_FAILED) {
		__real_munmap(all, bytes + 2 * GUARD_BYTES);
		return at;
	}
	world.begin = at;
	world.end = world.begin + bytes;
	return at;
}

int __wrap_munmap(void *address, size_t count)
{
	if (address != world.begin || address == NULL) {
		return __real_munmap(address, count);
	}
	world.begin = world.end = NULL;
	return __real_munmap((uint8_t *) address - GUARD_BYTES, pages_of(count) + 2 * GUARD_BYTES);
}

/* ------------------------------------------------------------------ time, chance, others */

uint64_t __wrap_bshm_os_monotonic_ns(void);
void __wrap_bshm_os_sleep_us(unsigned microseconds);
double __wrap_bshm_os_wall_s(void);
int __wrap_bshm_os_random(void *out, size_t bytes);
uint64_t __wrap_bshm_os_process_id(void);
uint32_t __wrap_bshm_os_thread_id(void);
bshm_os_host __wrap_bshm_os_host_now(bool with_boot);
bool __wrap_bshm_os_in_memory(int fd);
int __wrap_bshm_os_byte_taken(int fd, int64_t offset, bool *taken);

uint64_t __wrap_bshm_os_monotonic_ns(void)
{
	return world.now_ns += 1000;
}

void __wrap_bshm_os_sleep_us(unsigned microseconds)
{
	world.now_ns += microseconds * UINT64_C(1000);
}

double __wrap_bshm_os_wall_s(void)
{
	return WALL_S;
}

int __wrap_bshm_os_random(void *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		world.chance = world.chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
		((uint8_t *) out)[i] = (uint8_t) (world.chance >> 56);
	}
	return 0;
}

uint64_t __wrap_bshm_os_process_id(void)
{
	return FUZZ_OWN_SLOT;
}

uint32_t __wrap_bshm_os_thread_id(void)
{
	return 1;
}

bshm_os_host __wrap_bshm_os_host_now(bool with_boot)
{
	(void) with_boot;
	return (bshm_os_host){.boot = 1, .shift_known = true};
}

bool __wrap_bshm_os_in_memory(int fd)
{
	(void) fd;
	return true;
}

/* A mapping keeps a lock: owners.c tries that out. */
int __wrap_bshm_os_byte_taken(int fd, int64_t offset, bool *taken)
{
	(void) fd;
	*taken = offset < BSHM_OWNER_LOCK_OFF ||
			 (world.stranger_lives && offset == BSHM_OWNER_LOCK_OFF + FUZZ_STRANGER_SLOT);
	return 0;
}

/* ------------------------------------------------------------------ loads */

/* The compiler calls these before each load of the core's (-fsanitize-coverage=trace-loads). */
void __sanitizer_cov_load1(const uint8_t *at);
void __sanitizer_cov_load2(const uint16_t *at);
void __sanitizer_cov_load4(const uint32_t *at);
void __sanitizer_cov_load8(const uint64_t *at);
void __sanitizer_cov_load16(const __int128 *at);

static inline void tell(const void *at)
{
	if (world.before_load != NULL) {
		world.before_load(at);
	}
}

void __sanitizer_cov_load1(const uint8_t *at)
{
	tell(at);
}

void __sanitizer_cov_load2(const uint16_t *at)
{
	tell(at);
}

void __sanitizer_cov_load4(const uint32_t *at)
{
	tell(at);
}

void __sanitizer_cov_load8(const uint64_t *at)
{
	tell(at);
}

void __sanitizer_cov_load16(const __int128 *at)
{
	tell(at);
}
