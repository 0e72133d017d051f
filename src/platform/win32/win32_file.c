/*
 * win32_file.c - the engine's view of Windows: files and mappings.
 *
 * A segment is a file, because a section without one ends with its last handle. It has the
 * attribute TEMPORARY: Windows then keeps its pages in memory while there is room. There is no file
 * system in memory, so every segment lies on a disk, and is brought to rest (core/segment/rest.c).
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "win32.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <winioctl.h>

/* FileRenameInfoEx, which older headers lack. */
#define RENAME_INFO_EX ((FILE_INFO_BY_HANDLE_CLASS) 22)
#define SHARE_ALL      (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#ifndef ERROR_DISK_QUOTA_EXCEEDED
# define ERROR_DISK_QUOTA_EXCEEDED 1295L
#endif
#define CHUNK_MOST (1u << 30) /* bytes of one ReadFile() or WriteFile() */

int bshm__win32_code(void)
{
	switch (GetLastError()) {
		case ERROR_FILE_NOT_FOUND:
		case ERROR_PATH_NOT_FOUND:
		case ERROR_INVALID_NAME:
		case ERROR_BAD_PATHNAME:
		case ERROR_BAD_NETPATH:
		case ERROR_BAD_NET_NAME:
			return ENOENT;
		case ERROR_ACCESS_DENIED:
		case ERROR_SHARING_VIOLATION:
		case ERROR_USER_MAPPED_FILE:
		case ERROR_DELETE_PENDING:
		case ERROR_PRIVILEGE_NOT_HELD:
			return EACCES;
		case ERROR_LOCK_VIOLATION:
		case ERROR_IO_PENDING:
			return EAGAIN;
		case ERROR_FILE_EXISTS:
		case ERROR_ALREADY_EXISTS:
			return EEXIST;
		case ERROR_DISK_FULL:
		case ERROR_HANDLE_DISK_FULL:
		case ERROR_DISK_QUOTA_EXCEEDED:
			return ENOSPC;
		case ERROR_FILE_TOO_LARGE:
			return EFBIG;
		case ERROR_NOT_ENOUGH_MEMORY:
		case ERROR_OUTOFMEMORY:
		case ERROR_NO_SYSTEM_RESOURCES:
		case ERROR_COMMITMENT_LIMIT:
			return ENOMEM;
		case ERROR_TOO_MANY_OPEN_FILES:
			return EMFILE;
		case ERROR_INVALID_HANDLE:
			return EBADF;
		case ERROR_INVALID_PARAMETER:
		case ERROR_INVALID_FUNCTION:
		case ERROR_NOT_SUPPORTED:
		case ERROR_FILE_INVALID:
			return EINVAL;
		case ERROR_FILENAME_EXCED_RANGE:
			return ENAMETOOLONG;
		case ERROR_WRITE_PROTECT:
			return EROFS;
		default:
			return EIO;
	}
}

bool bshm_os_no_space(int code)
{
	return code == ENOSPC || code == EFBIG || code == ENOMEM;
}

bool bshm__win32_path(const char *path, WCHAR wide[BSHM_WIDE_PATH])
{
	const int room = (int) BSHM_WIDE_PATH;
	return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, room) != 0 ||
		   MultiByteToWideChar(CP_ACP, 0, path, -1, wide, room) != 0;
}

/* ------------------------------------------------------------------ opening */

/* Opens a folder too, which is found to be no regular file then; lends a server behind a pipe no
 * identity. */
#define ANYTHING (FILE_FLAG_BACKUP_SEMANTICS | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS)

static int open_wide(const WCHAR *path, DWORD access, SECURITY_ATTRIBUTES *attributes,
	DWORD disposition, DWORD flags, int *fd)
{
	const HANDLE file = CreateFileW(path, access, SHARE_ALL, attributes, disposition, flags, NULL);
	if (file == INVALID_HANDLE_VALUE) {
		return bshm__win32_code();
	}
	*fd = (int) (intptr_t) file;
	return 0;
}

static bool is_link(int fd)
{
	BY_HANDLE_FILE_INFORMATION info;
	return GetFileInformationByHandle(bshm__win32_handle(fd), &info) &&
		   (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

int bshm_os_open(const char *path, bool readonly, int *fd)
{
	WCHAR wide[BSHM_WIDE_PATH];
	if (!bshm__win32_path(path, wide)) {
		return ENAMETOOLONG;
	}
	const int code = open_wide(wide, readonly ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE, NULL,
		OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT | ANYTHING, fd);
	if (code == 0 && is_link(*fd)) {
		bshm_os_close(*fd);
		return ELOOP;
	}
	return code;
}

/* Makes the folder of a path if it is the one of the default path. Other folders are made by the
 * administrator, who knows who may use them. True also where another process was faster. */
static bool make_default_folder(const WCHAR *path)
{
	WCHAR folder[MAX_PATH];
	const DWORD length = GetEnvironmentVariableW(L"ProgramData", folder, MAX_PATH - 16);
	if (length == 0 || length >= MAX_PATH - 16) {
		return false;
	}
	wcscpy(folder + length, L"\\bloomshm\\");
	return _wcsnicmp(path, folder, wcslen(folder)) == 0 &&
		   (CreateDirectoryW(folder, NULL) || GetLastError() == ERROR_ALREADY_EXISTS);
}

static int create(const char *path, DWORD access, DWORD attribute, int *fd)
{
	WCHAR wide[BSHM_WIDE_PATH];
	if (!bshm__win32_path(path, wide)) {
		return ENAMETOOLONG;
	}
	bshm__win32_private room;
	SECURITY_ATTRIBUTES *owner_only = bshm__win32_owner_only(&room);
	if (owner_only == NULL) {
		return EACCES;
	}
	access |= GENERIC_READ | GENERIC_WRITE | WRITE_DAC;
	const int code = open_wide(wide, access, owner_only, CREATE_NEW, attribute, fd);
	return code == ENOENT && make_default_folder(wide)
			   ? open_wide(wide, access, owner_only, CREATE_NEW, attribute, fd)
			   : code;
}

int bshm_os_create(const char *path, int *fd)
{
	return create(path, 0, FILE_ATTRIBUTE_TEMPORARY, fd);
}

void bshm_os_close(int fd)
{
	if (fd >= 0) {
		CloseHandle(bshm__win32_handle(fd));
	}
}

static uint64_t index_of(const BY_HANDLE_FILE_INFORMATION *info)
{
	return (uint64_t) info->nFileIndexHigh << 32 | info->nFileIndexLow;
}

bool bshm_os_is_file(int fd, uint64_t device, uint64_t inode)
{
	BY_HANDLE_FILE_INFORMATION info;
	return fd >= 0 && GetFileInformationByHandle(bshm__win32_handle(fd), &info) &&
		   info.dwVolumeSerialNumber == device && index_of(&info) == inode;
}

int bshm_os_stat_fd(int fd, bshm_os_stat *out)
{
	const HANDLE file = bshm__win32_handle(fd);
	BY_HANDLE_FILE_INFORMATION info;
	FILE_STANDARD_INFO sizes;
	if (!GetFileInformationByHandle(file, &info) ||
		!GetFileInformationByHandleEx(file, FileStandardInfo, &sizes, sizeof(sizes))) {
		return bshm__win32_code();
	}
	const DWORD with_holes = FILE_ATTRIBUTE_SPARSE_FILE | FILE_ATTRIBUTE_COMPRESSED;
	out->bytes = (uint64_t) sizes.EndOfFile.QuadPart;
	out->reserved_bytes = (info.dwFileAttributes & with_holes) == 0
							  ? out->bytes
							  : (uint64_t) sizes.AllocationSize.QuadPart;
	out->device = info.dwVolumeSerialNumber;
	out->inode = index_of(&info);
	out->regular =
		(info.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) == 0 &&
		GetFileType(file) == FILE_TYPE_DISK;
	return bshm__win32_access(file, out);
}

int bshm_os_stat_path(const char *path, bshm_os_stat *out)
{
	WCHAR wide[BSHM_WIDE_PATH];
	int fd = -1;
	if (!bshm__win32_path(path, wide)) {
		return ENAMETOOLONG;
	}
	int code = open_wide(wide, FILE_READ_ATTRIBUTES | READ_CONTROL, NULL, OPEN_EXISTING,
		FILE_FLAG_OPEN_REPARSE_POINT | ANYTHING, &fd);
	if (code == 0) {
		code = bshm_os_stat_fd(fd, out);
		bshm_os_close(fd);
	}
	return code;
}

/* ------------------------------------------------------------------ contents */

/* A sparse file becomes an ordinary one, whose clusters are all its own. Clusters first, then the
 * length: the length alone would be enough on NTFS, but does not say so. Wine has no clusters. */
int bshm_os_reserve(int fd, uint64_t bytes, bool huge)
{
	const HANDLE file = bshm__win32_handle(fd);
	FILE_SET_SPARSE_BUFFER sparse = {FALSE};
	FILE_ALLOCATION_INFO clusters;
	FILE_END_OF_FILE_INFO end;
	FILE_BASIC_INFO basic;
	DWORD unused;
	(void) huge; /* large pages exist for sections without a file only */
	if (GetFileInformationByHandleEx(file, FileBasicInfo, &basic, sizeof(basic)) &&
		(basic.FileAttributes & FILE_ATTRIBUTE_SPARSE_FILE) != 0 &&
		!DeviceIoControl(file, FSCTL_SET_SPARSE, &sparse, sizeof(sparse), NULL, 0, &unused, NULL)) {
		return bshm__win32_code();
	}
	clusters.AllocationSize.QuadPart = (LONGLONG) bytes;
	end.EndOfFile.QuadPart = (LONGLONG) bytes;
	if (!SetFileInformationByHandle(file, FileAllocationInfo, &clusters, sizeof(clusters)) &&
		bshm_os_no_space(bshm__win32_code())) {
		return bshm__win32_code();
	}
	return SetFileInformationByHandle(file, FileEndOfFileInfo, &end, sizeof(end))
			   ? 0
			   : bshm__win32_code();
}

/* What was changed in mappings, also of other processes, goes to the file first. */
int bshm_os_sync(int fd)
{
	void *base;
	bshm_os_stat st;
	int code = bshm_os_stat_fd(fd, &st);
	code = code != 0 || st.bytes == 0 ? code : bshm_os_map(fd, st.bytes, false, &base);
	if (code == 0 && st.bytes != 0) {
		code = FlushViewOfFile(base, 0) ? 0 : bshm__win32_code();
		bshm_os_unmap(base, st.bytes);
	}
	return code != 0 ? code : FlushFileBuffers(bshm__win32_handle(fd)) ? 0 : bshm__win32_code();
}

static OVERLAPPED place_of(uint64_t offset)
{
	OVERLAPPED place;
	memset(&place, 0, sizeof(place));
	place.Offset = (DWORD) offset;
	place.OffsetHigh = (DWORD) (offset >> 32);
	return place;
}

int bshm_os_write_at(int fd, const void *bytes, size_t count, uint64_t offset)
{
	OVERLAPPED place = place_of(offset);
	DWORD put;
	if (!WriteFile(bshm__win32_handle(fd), bytes, (DWORD) count, &put, &place)) {
		return bshm__win32_code();
	}
	return put == count ? 0 : EIO;
}

int bshm_os_read_at(int fd, void *bytes, size_t count, uint64_t offset)
{
	OVERLAPPED place = place_of(offset);
	DWORD got;
	if (!ReadFile(bshm__win32_handle(fd), bytes, (DWORD) count, &got, &place)) {
		return GetLastError() == ERROR_HANDLE_EOF ? EIO : bshm__win32_code();
	}
	return got == count ? 0 : EIO;
}

/* ------------------------------------------------------------------ names */

int bshm_os_link(const char *from, const char *to)
{
	WCHAR wide_from[BSHM_WIDE_PATH];
	WCHAR wide_to[BSHM_WIDE_PATH];
	if (!bshm__win32_path(from, wide_from) || !bshm__win32_path(to, wide_to)) {
		return ENAMETOOLONG;
	}
	return MoveFileExW(wide_from, wide_to, MOVEFILE_WRITE_THROUGH) ? 0 : bshm__win32_code();
}

void bshm_os_unlink(const char *path)
{
	WCHAR wide[BSHM_WIDE_PATH];
	if (bshm__win32_path(path, wide)) {
		DeleteFileW(wide);
	}
}

int bshm_os_file_open(const char *path, int *fd)
{
	WCHAR wide[BSHM_WIDE_PATH];
	return bshm__win32_path(path, wide)
			   ? open_wide(wide, GENERIC_READ, NULL, OPEN_EXISTING, ANYTHING, fd)
			   : ENAMETOOLONG;
}

/* The folder of a path, with what ends it; "" for none. */
static int folder_length(const char *path)
{
	int length = (int) strlen(path);
	while (length > 0 && strchr("/\\:", path[length - 1]) == NULL) {
		length--;
	}
	return length;
}

void bshm_os_folder(const char *path, char *out, size_t room)
{
	const int length = folder_length(path);
	/* A drive keeps what ends it: "C:" is the drive's working folder. */
	const int shown = length > 3 ? length - 1 : length;
	snprintf(out, room, "%.*s", length == 0 ? 1 : shown, length == 0 ? "." : path);
}

bool bshm_os_disk_free(const char *folder, uint64_t *bytes)
{
	WCHAR wide[BSHM_WIDE_PATH];
	ULARGE_INTEGER mine;
	if (!bshm__win32_path(folder, wide) || !GetDiskFreeSpaceExW(wide, &mine, NULL, NULL)) {
		return false;
	}
	*bytes = mine.QuadPart;
	return true;
}

int bshm_os_file_create(const char *path, char *name, int *fd)
{
	uint64_t number;
	const int code = bshm_os_random(&number, sizeof(number));
	if (code != 0) {
		return code;
	}
	const int folder = folder_length(path);
	memcpy(name, path, (size_t) folder);
	snprintf(name + folder, 32, ".bloomshm.%08lx%08lx.tmp", (unsigned long) (number >> 32),
		(unsigned long) (number & 0xffffffff));
	return create(name, DELETE, FILE_ATTRIBUTE_NORMAL, fd); /* DELETE: to be renamed */
}

int bshm_os_file_write(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;
	while (count != 0) {
		DWORD put;
		const DWORD part = count > CHUNK_MOST ? CHUNK_MOST : (DWORD) count;
		if (!WriteFile(bshm__win32_handle(fd), at, part, &put, NULL)) {
			return bshm__win32_code();
		}
		at += put;
		count -= put;
	}
	return 0;
}

/* Also if another process has the old file open: with the semantics of POSIX the name changes at
 * once. Only newer systems, and NTFS, have them. */
static bool rename_open(HANDLE file, const WCHAR *to)
{
	struct {
		FILE_RENAME_INFO info;
		WCHAR rest[BSHM_WIDE_PATH];
	} rename;
	const DWORD length = GetFullPathNameW(to, BSHM_WIDE_PATH, rename.info.FileName, NULL);
	if (length == 0 || length >= BSHM_WIDE_PATH) {
		return false;
	}
	rename.info.Flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
	rename.info.RootDirectory = NULL;
	rename.info.FileNameLength = length * (DWORD) sizeof(WCHAR);
	return SetFileInformationByHandle(file, RENAME_INFO_EX, &rename, sizeof(rename));
}

int bshm_os_file_publish(int fd, const char *name, const char *path)
{
	const HANDLE file = bshm__win32_handle(fd);
	WCHAR from[BSHM_WIDE_PATH];
	WCHAR to[BSHM_WIDE_PATH];
	if (!bshm__win32_path(name, from) || !bshm__win32_path(path, to)) {
		return ENAMETOOLONG;
	}
	if (!FlushFileBuffers(file)) {
		return bshm__win32_code();
	}
	return rename_open(file, to) ||
				   MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)
			   ? 0
			   : bshm__win32_code();
}

int bshm_os_file_read(int fd, void *bytes, size_t count, size_t *got)
{
	char *at = bytes;
	*got = 0;
	while (*got < count) {
		DWORD part;
		const size_t left = count - *got;
		if (!ReadFile(bshm__win32_handle(fd), at + *got,
				left > CHUNK_MOST ? CHUNK_MOST : (DWORD) left, &part, NULL)) {
			return bshm__win32_code();
		}
		if (part == 0) {
			break;
		}
		*got += part;
	}
	return 0;
}

int bshm_os_file_seek(int fd, uint64_t offset)
{
	const LARGE_INTEGER to = {.QuadPart = (LONGLONG) offset};
	return SetFilePointerEx(bshm__win32_handle(fd), to, NULL, FILE_BEGIN) ? 0 : bshm__win32_code();
}

/* ------------------------------------------------------------------ mappings */

static int map_view(HANDLE file, uint64_t bytes, bool writable, void **base)
{
	const HANDLE section =
		CreateFileMappingW(file, NULL, writable ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
	if (section == NULL) {
		return bshm__win32_code();
	}
	*base = MapViewOfFile(
		section, writable ? FILE_MAP_READ | FILE_MAP_WRITE : FILE_MAP_READ, 0, 0, (SIZE_T) bytes);
	const int code = *base == NULL ? bshm__win32_code() : 0;
	CloseHandle(section); /* the view keeps it */
	return code;
}

/* Windows refuses to make a page writable that was mapped for reading. So a read-only mapping is
 * made writable, where the file is, and protected then. */
int bshm_os_map(int fd, uint64_t bytes, bool readonly, void **base)
{
	const HANDLE file = bshm__win32_handle(fd);
	int code = map_view(file, bytes, true, base);
	if (!readonly || code == ENOMEM) {
		return code;
	}
	DWORD before;
	if (code == 0 && !VirtualProtect(*base, (SIZE_T) bytes, PAGE_READONLY, &before)) {
		code = bshm__win32_code();
		bshm_os_unmap(*base, bytes);
	}
	return code == 0 ? 0 : map_view(file, bytes, false, base);
}

int bshm_os_protect(void *begin, uint64_t bytes)
{
	DWORD before;
	return VirtualProtect(begin, (SIZE_T) bytes, PAGE_READWRITE, &before) ? 0 : bshm__win32_code();
}

void bshm_os_unmap(void *base, uint64_t bytes)
{
	(void) bytes;
	UnmapViewOfFile(base);
}

void bshm_os_advise_huge(void *base, uint64_t bytes)
{
	(void) base;
	(void) bytes;
}

bool bshm_os_in_memory(int fd)
{
	(void) fd;
	return false;
}

void bshm_os_disk_set(bool on_disk)
{
	(void) on_disk;
}

void *bshm_os_private(size_t bytes)
{
	return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void bshm_os_private_release(void *memory, size_t bytes)
{
	(void) bytes;
	if (memory != NULL) {
		VirtualFree(memory, 0, MEM_RELEASE);
	}
}
