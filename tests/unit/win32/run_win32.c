/*
 * run_win32.c - a process for each test, on Windows. There is no fork(): a test that needs a child
 * ends as one that cannot be carried out.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <windows.h>

#define ALONE "--alone" /* --alone NAME HANDLE: the process of one test */

static HANDLE section; /* of the board */

/* Tests that cannot hold on Windows, or not under Wine, and do not ask for anything that posix.h
 * lacks. */
static const struct {
	const char *name;
	const char *reason;
} left_out[] = {
	{"every_process_has_one_time", "no file lies in memory"},
	{"a_number_that_belongs_to_another_file_is_not_closed", "needs /dev/null"},
	{"owners_are_counted", "Wine has too few descriptors"},
	{"without_a_free_slot_questions_are_answered_still", "Wine has too few descriptors"},
	{"what_is_evicted_is_gone_and_nothing_else_is_wrong", "removes a file that is mapped"},
	{"a_file_that_cannot_be_made_private_is_not_left", "needs fchmod()"},
	{"a_descriptor_that_was_reused_is_neither_written_to_nor_closed", "needs fcntl()"},
	{"visitors_during_a_sync_make_it_begin_anew", "needs fsync()"},
	{"a_process_attaches_while_the_last_one_syncs", "needs fsync()"},
	{"a_mark_that_another_process_set_is_left", "needs fsync()"},
	{"a_word_that_nothing_stores_is_synced_before_the_mark", "needs fsync()"},
	{"a_few_damaged_words_harm_nobody", "cuts a file that is mapped"},
	{"holes_are_filled_before_anything_is_mapped", "files have no holes"},
	{"a_wider_mode_is_refused", "needs chmod()"},
	{"a_segment_is_at_its_path_until_the_file_is_removed_or_replaced",
		"replaces a file that is mapped"},
	{"the_mode_is_as_asked_whatever_the_umask", "the folder decides which group it is"},
};

pid_t spawn(void (*work)(void))
{
	(void) work;
	test_skip("needs fork()");
}

int finish(pid_t child)
{
	(void) child;
	test_skip("needs a child");
}

void kill_child(pid_t child)
{
	finish(child);
}

void stop_child(pid_t child)
{
	finish(child);
}

bool stop_child_when(pid_t child, bool (*condition)(void))
{
	(void) condition;
	return finish(child) == 0;
}

void raise_flag_and_sleep(unsigned flag)
{
	raise_flag(flag);
	for (;;) {
		Sleep(1000);
	}
}

/* ------------------------------------------------------------------ running */

const char *run_is_alone(int argc, char **argv)
{
	_fmode = _O_BINARY;
	if (argc != 4 || strcmp(argv[1], ALONE) != 0) {
		return NULL;
	}
	section = (HANDLE) (intptr_t) strtoll(argv[3], NULL, 10);
	return argv[2];
}

blackboard *run_board(void)
{
	if (section == NULL) {
		SECURITY_ATTRIBUTES inherited = {sizeof(inherited), NULL, TRUE};
		section = CreateFileMappingW(
			INVALID_HANDLE_VALUE, &inherited, PAGE_READWRITE, 0, sizeof(*board), NULL);
	}
	return MapViewOfFile(section, FILE_MAP_ALL_ACCESS, 0, 0, sizeof(*board));
}

bool run_make_directory(void)
{
	static unsigned number;
	const char *base = getenv("TEST_FOLDER"); /* Wine takes TMPDIR for itself */
	base = base != NULL ? base : getenv("TEMP");
	snprintf(board->directory, sizeof(board->directory), "%s/bshm-test-%lu-%u",
		base == NULL ? "." : base, (unsigned long) GetCurrentProcessId(), number++);
	return CreateDirectoryA(board->directory, NULL);
}

static void remove_all(const char *folder)
{
	char path[MAX_PATH];
	WIN32_FIND_DATAA entry;
	snprintf(path, sizeof(path), "%s/*", folder);
	const HANDLE search = FindFirstFileA(path, &entry);
	BOOL found = search != INVALID_HANDLE_VALUE;
	for (; found; found = FindNextFileA(search, &entry)) {
		const bool inside = strcmp(entry.cFileName, ".") != 0 && strcmp(entry.cFileName, "..") != 0;
		snprintf(path, sizeof(path), "%s/%s", folder, entry.cFileName);
		if (inside && (entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
			remove_all(path);
		} else if (inside) {
			DeleteFileA(path);
		}
	}
	FindClose(search);
	RemoveDirectoryA(folder);
}

void run_remove_directory(void)
{
	remove_all(board->directory);
}

static bool is_left_out(const test *t)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
		if (strcmp(left_out[i].name, t->name) == 0) {
			test_note("skipped: %s", left_out[i].reason);
			return true;
		}
	}
	return false;
}

int run_alone(const test *t)
{
	if (is_left_out(t)) {
		return EXIT_SKIPPED;
	}
	char program[MAX_PATH];
	char line[MAX_PATH + 256];
	STARTUPINFOA start = {.cb = sizeof(start)};
	PROCESS_INFORMATION child;
	GetModuleFileNameA(NULL, program, sizeof(program));
	snprintf(line, sizeof(line), "\"%s\" " ALONE " %s %lld", program, t->name,
		(long long) (intptr_t) section);
	if (!CreateProcessA(program, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child)) {
		printf("# no process: error %lu\n", (unsigned long) GetLastError());
		return 1;
	}
	DWORD status = 1;
	if (WaitForSingleObject(child.hProcess, WATCHDOG_SECONDS * 1000) != WAIT_OBJECT_0) {
		TerminateProcess(child.hProcess, 1);
		WaitForSingleObject(child.hProcess, INFINITE);
	}
	GetExitCodeProcess(child.hProcess, &status);
	CloseHandle(child.hProcess);
	CloseHandle(child.hThread);
	if (status > 255) {
		printf("# ended with %#lx\n", (unsigned long) status);
	}
	return status > 255 ? 1 : (int) status;
}

const char *run_why_ended(int signal_number)
{
	(void) signal_number;
	return "";
}
