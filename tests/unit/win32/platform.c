/*
 * platform.c - what src/platform/win32 decides by itself: whom an access list lets in, and what a
 * lock says while others ask. Prints TAP lines.
 *
 * Wine derives the access list of a file from the mode of the file below it, so these lists are
 * made by hand.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "platform/win32/win32_access.c"
#include "platform/win32/win32_file.c"

#include "platform/atomic.h"
#include "platform/counted.h"

#include <stdlib.h>

BSHM_THREAD_LOCAL bshm_held bshm__held;

void test_skip(const char *why) /* of posix.h */
{
	puts(why);
	exit(1);
}

static bool all_held = true;
static bool failed;

#define CHECK_INT(got, wanted)                                                                     \
 do {                                                                                              \
  const long long is = (long long) (got);                                                          \
  const long long should = (long long) (wanted);                                                   \
  if (is != should) {                                                                              \
   printf("# line %d: %s is %#llo, not %#llo\n", __LINE__, #got, is, should);                      \
   failed = true;                                                                                  \
  }                                                                                                \
 } while (0)

/* ------------------------------------------------------------------ access lists */

#define ACCOUNT(number) "S-1-5-21-1-2-3-" number
#define OWNER           ACCOUNT("1001")
#define OWN             "(A;;FA;;;" OWNER ")"
#define WEBDATA         ACCOUNT("1002") /* a group that an administrator has made */
#define GUESTS          ACCOUNT("1003")
#define DOMAIN_USERS    ACCOUNT("513")
#define ALL_SERVICES    "S-1-5-80-0"

/* Of entries in Windows' own language of such lists; not freed, because the program is short. */
static ACL *list_of(const char *entries)
{
	char text[512];
	void *made;
	BOOL present;
	BOOL defaulted;
	ACL *list;
	snprintf(text, sizeof(text), "D:%s", entries);
	if (!ConvertStringSecurityDescriptorToSecurityDescriptorA(text, 1, &made, NULL) ||
		!GetSecurityDescriptorDacl(made, &present, &list, &defaulted)) {
		printf("# not a list: %s\n", entries);
		exit(1);
	}
	return list;
}

static PSID owner(void)
{
	static PSID sid;
	if (sid == NULL && !ConvertStringSidToSidA(OWNER, &sid)) {
		exit(1);
	}
	return sid;
}

static uint32_t mode(const char *entries)
{
	return mode_of(list_of(entries), owner());
}

static void the_mode_is_never_narrower_than_the_list(void)
{
	CHECK_INT(mode_of(NULL, owner()), 0666);
	CHECK_INT(mode(OWN), 0600);
	CHECK_INT(mode(OWN "(A;;FA;;;SY)(A;;FA;;;BA)"), 0600);
	CHECK_INT(mode(OWN "(A;;FR;;;" WEBDATA ")"), 0640);
	CHECK_INT(mode(OWN "(A;;FA;;;S-1-5-82-1-2-3-4-5)(A;;FA;;;S-1-5-80-1-2-3-4-5)"), 0660);
	CHECK_INT(mode(OWN "(A;;FA;;;" ALL_SERVICES ")"), 0606);
	CHECK_INT(mode(OWN "(A;;FR;;;WD)"), 0604);
	CHECK_INT(mode(OWN "(A;;WD;;;" DOMAIN_USERS ")"), 0602);
	CHECK_INT(mode(OWN "(A;IO;FA;;;WD)"), 0600);
	CHECK_INT(mode("(D;;FA;;;WD)" OWN "(A;;FA;;;WD)"), 0606);
	for (BYTE type = 0; type < 0x20; type++) {
		ACL *list = list_of("(A;;FA;;;WD)");
		ACE_HEADER *only;
		GetAce(list, 0, (void **) &only);
		only->AceType = type;
		const bool denies = type == 1 || type == 6 || type == 10 || type == 12;
		CHECK_INT((mode_of(list, owner()) & 6) == 6, !denies);
	}
}

static void those_who_may_create_files_in_the_folder_are_let_in(void)
{
	ACL *folder =
		list_of("(D;;FW;;;" GUESTS ")(D;;SD;;;WD)(A;;FA;;;BA)(A;;FRFW;;;" WEBDATA
				")(A;;0x4;;;" ACCOUNT("1004") ")(A;;FW;;;BU)(A;IO;FA;;;" ACCOUNT("1005") ")");
	ACL *wanted = list_of("(D;;FRFW;;;" GUESTS ")(A;;FR;;;" WEBDATA ")");
	uint64_t room[LIST_BYTES / sizeof(uint64_t)];
	ACL *list = (ACL *) room;
	InitializeAcl(list, sizeof(room), ACL_REVISION);
	CHECK_INT(add_group(list, folder, 4), true);
	CHECK_INT(list->AceCount, wanted->AceCount);
	for (DWORD i = 0; i < list->AceCount && i < wanted->AceCount; i++) {
		ACE_HEADER *made;
		ACE_HEADER *entry;
		GetAce(list, i, (void **) &made);
		GetAce(wanted, i, (void **) &entry);
		CHECK_INT(memcmp(made, entry, entry->AceSize), 0);
	}
}

/* ------------------------------------------------------------------ folders */

static void a_folder_that_another_process_has_just_made_will_do(void)
{
	WCHAR program_data[MAX_PATH];
	WCHAR path[BSHM_WIDE_PATH];
	char text[MAX_PATH];
	const char *base = getenv("TEST_FOLDER");
	snprintf(text, sizeof(text), "%s\\data", base == NULL ? "." : base);
	bshm__win32_path(text, path);
	GetFullPathNameW(path, MAX_PATH, program_data, NULL);
	CreateDirectoryW(program_data, NULL);
	SetEnvironmentVariableW(L"ProgramData", program_data);
	swprintf(path, BSHM_WIDE_PATH, L"%ls\\bloomshm-2\\a.seg", program_data);
	CHECK_INT(make_default_folder(path), false);
	swprintf(path, BSHM_WIDE_PATH, L"%ls\\bloomshm", program_data);
	CHECK_INT(GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES, true);
	swprintf(path, BSHM_WIDE_PATH, L"%ls\\BloomShm\\a.seg", program_data);
	CHECK_INT(make_default_folder(path), true);
	CHECK_INT(make_default_folder(path), true);
}

/* ------------------------------------------------------------------ locks */

#define BYTE_OFF (INT64_C(1) << 62)
#define ASKED    3000 /* questions while another thread locks */

static int open_here(void)
{
	char path[MAX_PATH];
	const char *base = getenv("TEST_FOLDER");
	int fd = -1;
	snprintf(path, sizeof(path), "%s\\locks", base == NULL ? "." : base);
	if (bshm_os_create(path, &fd) != 0 && bshm_os_open(path, false, &fd) != 0) {
		printf("# %s does not open\n", path);
		exit(1);
	}
	return fd;
}

static uint32_t stop;

static DWORD WINAPI lock_again_and_again(void *unused)
{
	const int fd = open_here();
	(void) unused;
	while (BSHM_LOAD(&stop, RELAXED) == 0) {
		bshm_os_lock_byte(fd, BYTE_OFF);
		bshm_os_release_byte(fd, BYTE_OFF);
	}
	bshm_os_close(fd);
	return 0;
}

static DWORD WINAPI ask_again_and_again(void *unused)
{
	const int fd = open_here();
	(void) unused;
	while (BSHM_LOAD(&stop, RELAXED) == 0) {
		bshm_os_byte_shared(fd, BYTE_OFF);
	}
	bshm_os_close(fd);
	return 0;
}

/* How many of ASKED questions say that the byte is shared, while another thread works? */
static unsigned shared_beside(LPTHREAD_START_ROUTINE work, int fd)
{
	unsigned shared = 0;
	BSHM_STORE(&stop, 0, RELAXED);
	const HANDLE thread = CreateThread(NULL, 0, work, NULL, 0, NULL);
	for (unsigned i = 0; i < ASKED; i++) {
		shared += bshm_os_byte_shared(fd, BYTE_OFF);
	}
	BSHM_STORE(&stop, 1, RELAXED);
	WaitForSingleObject(thread, INFINITE);
	CloseHandle(thread);
	return shared;
}

static void who_asks_is_told_of_a_shared_lock_only_where_one_is(void)
{
	const int asks = open_here();
	const int shares = open_here();
	CHECK_INT(shared_beside(lock_again_and_again, asks), 0);
	CHECK_INT(bshm_os_share_byte(shares, BYTE_OFF), 0);
	CHECK_INT(shared_beside(ask_again_and_again, asks), ASKED);
	CHECK_INT(bshm_os_lock_byte(asks, BYTE_OFF), EAGAIN);
	CHECK_INT(bshm_os_share_byte(asks, BYTE_OFF), 0);
	CHECK_INT(bshm_os_release_byte(asks, BYTE_OFF), 0);
	CHECK_INT(bshm_os_lock_byte(shares, BYTE_OFF), 0);
	CHECK_INT(bshm_os_byte_shared(asks, BYTE_OFF), false);
	CHECK_INT(bshm_os_share_byte(shares, BYTE_OFF), 0);
	CHECK_INT(bshm_os_byte_shared(asks, BYTE_OFF), true);
	bshm_os_close(shares); /* as at a process's end */
	CHECK_INT(bshm_os_byte_shared(asks, BYTE_OFF), false);
	CHECK_INT(bshm_os_lock_byte(asks, BYTE_OFF), 0);
	bshm_os_close(asks);
}

static void run(const char *name, void (*test)(void))
{
	failed = false;
	test();
	printf("%s - platform: %s\n", failed ? "not ok" : "ok", name);
	all_held = all_held && !failed;
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	run("the mode is never narrower than the list", the_mode_is_never_narrower_than_the_list);
	run("those who may create files in the folder are let in",
		those_who_may_create_files_in_the_folder_are_let_in);
	run("a folder that another process has just made will do",
		a_folder_that_another_process_has_just_made_will_do);
	run("who asks is told of a shared lock only where one is",
		who_asks_is_told_of_a_shared_lock_only_where_one_is);
	return all_held ? 0 : 1;
}
