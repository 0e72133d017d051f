/*
 * win32_access.c - who owns a file, and who may use it, on Windows.
 *
 * A user's number is the last part of the SID. Numbers are for messages: a file counts as this
 * process's own only if the whole SID is that of its token, or the one that its token gives to new
 * files (an elevated process: Administrators).
 *
 * An access list is reduced to permission bits. The owner's are those of the owner; of the system
 * and the administrators, who may do everything anyway, none count. The group's are those of single
 * accounts and of groups that an administrator has made; the others' those of all that is left:
 * Everyone, Users, Authenticated Users, Domain Users, and whatever else may contain anyone.
 *
 * The folder decides which group it is: with the mode 0660 a file is open to those accounts and
 * groups that may create files in its folder, and closed to those whom an entry there denies that.
 * Whoever may create files there could have put the file there, so the file of another owner is
 * trusted only in a folder where others may not.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "win32.h"

#include <errno.h>
#include <sddl.h>
#include <stdio.h>
#include <string.h>

#define DESCRIPTOR_BYTES 16384u /* a longer one is refused */
#define LIST_BYTES       8192u
#define IIS_IUSRS        568

typedef union {
	TOKEN_USER user;
	TOKEN_OWNER owner;
	uint8_t bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
} token_sid;

/* Of the thread, which may act for another user: TokenUser or TokenOwner. */
static PSID sid_of_token(TOKEN_INFORMATION_CLASS what, token_sid *out)
{
	HANDLE token;
	DWORD got;
	if (!OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, &token) &&
		!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
		return NULL;
	}
	const BOOL known = GetTokenInformation(token, what, out, sizeof(*out), &got);
	CloseHandle(token);
	return !known ? NULL : what == TokenUser ? out->user.User.Sid : out->owner.Owner;
}

static uint32_t part_of(PSID sid, unsigned number)
{
	return *GetSidSubAuthority(sid, number);
}

static uint32_t number_of(PSID sid)
{
	return part_of(sid, *GetSidSubAuthorityCount(sid) - 1u);
}

uint32_t bshm_os_effective_uid(void)
{
	token_sid room;
	PSID user = sid_of_token(TokenUser, &room);
	return user == NULL ? UINT32_MAX : number_of(user);
}

void bshm_os_user_text(char *out, size_t room)
{
	token_sid token;
	PSID user = sid_of_token(TokenUser, &token);
	char *text = NULL;
	out[0] = '\0';
	if (user != NULL && ConvertSidToStringSidA(user, &text)) {
		snprintf(out, room, "%s", text);
		LocalFree(text);
	}
}

/* ------------------------------------------------------------------ lists */

static bool is_well_known(PSID sid, WELL_KNOWN_SID_TYPE type)
{
	return IsWellKnownSid(sid, type);
}

/* May do everything anyway, or stands for the owner. */
static bool is_master(PSID sid, PSID owner)
{
	return EqualSid(sid, owner) || is_well_known(sid, WinLocalSystemSid) ||
		   is_well_known(sid, WinBuiltinAdministratorsSid) ||
		   is_well_known(sid, WinCreatorOwnerRightsSid);
}

/* One account, or a group whose members were chosen: made by an administrator (numbers from 1000
 * on), a service, an application pool of IIS, or all of these. */
static bool is_chosen(PSID sid)
{
	static const SID_IDENTIFIER_AUTHORITY nt = {SECURITY_NT_AUTHORITY};
	if (memcmp(GetSidIdentifierAuthority(sid), &nt, sizeof(nt)) != 0 ||
		*GetSidSubAuthorityCount(sid) < 2) {
		return false;
	}
	switch (part_of(sid, 0)) {
		case SECURITY_NT_NON_UNIQUE:
			return number_of(sid) >= 1000;
		case SECURITY_SERVICE_ID_BASE_RID:
		case SECURITY_APPPOOL_ID_BASE_RID:
			return number_of(sid) != 0; /* 0: all services */
		default:
			return part_of(sid, 0) == SECURITY_BUILTIN_DOMAIN_RID && number_of(sid) == IIS_IUSRS;
	}
}

static uint32_t bits_of(ACCESS_MASK mask)
{
	const ACCESS_MASK reads = FILE_READ_DATA | GENERIC_READ | GENERIC_ALL;
	const ACCESS_MASK writes = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE |
							   WRITE_DAC | WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
	return ((mask & reads) != 0 ? 4u : 0) | ((mask & writes) != 0 ? 2u : 0);
}

typedef enum {
	NOTHING,
	ALLOWS,
	DENIES,
	UNKNOWN, /* an entry of a kind that files do not have */
} effect;

/* What an entry does on this very file, and to whom. */
static effect read_entry(ACL *list, DWORD index, PSID *sid, ACCESS_MASK *mask)
{
	void *found;
	if (!GetAce(list, index, &found)) {
		return UNKNOWN;
	}
	ACCESS_ALLOWED_ACE *entry = found; /* one that denies has the same shape */
	*sid = &entry->SidStart;
	*mask = entry->Mask;
	if ((entry->Header.AceFlags & INHERIT_ONLY_ACE) != 0) {
		return NOTHING;
	}
	switch (entry->Header.AceType) {
		case ACCESS_ALLOWED_ACE_TYPE:
		case ACCESS_ALLOWED_CALLBACK_ACE_TYPE:
			return ALLOWS;
		case ACCESS_DENIED_ACE_TYPE:
		case ACCESS_DENIED_CALLBACK_ACE_TYPE:
			return DENIES;
		case ACCESS_DENIED_OBJECT_ACE_TYPE:
		case ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE:
			return NOTHING;
		default:
			return UNKNOWN;
	}
}

/* Entries that deny are left out: the list may only look more open than it is. */
static uint32_t mode_of(ACL *list, PSID owner)
{
	if (list == NULL) {
		return 0666; /* no list: open to everyone */
	}
	uint32_t mode = 0;
	for (DWORD i = 0; i < list->AceCount; i++) {
		PSID sid;
		ACCESS_MASK mask;
		const effect does = read_entry(list, i, &sid, &mask);
		if (does == UNKNOWN) {
			return 0666;
		}
		if (does != ALLOWS) {
			continue;
		}
		mode |= is_master(sid, owner) ? (EqualSid(sid, owner) ? bits_of(mask) << 6 : 0)
				: is_chosen(sid)      ? bits_of(mask) << 3
									  : bits_of(mask);
	}
	return mode;
}

typedef struct {
	PSID owner;
	ACL *list;
	uint64_t room[DESCRIPTOR_BYTES / sizeof(uint64_t)];
} descriptor;

static int read_descriptor(HANDLE file, descriptor *out)
{
	DWORD needed;
	BOOL present;
	BOOL defaulted;
	if (!GetKernelObjectSecurity(file, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
			out->room, sizeof(out->room), &needed) ||
		!GetSecurityDescriptorOwner(out->room, &out->owner, &defaulted) || out->owner == NULL ||
		!GetSecurityDescriptorDacl(out->room, &present, &out->list, &defaulted)) {
		return bshm__win32_code();
	}
	out->list = present ? out->list : NULL;
	return 0;
}

/* Of the folder that a file lies in. */
static int read_folder(HANDLE file, descriptor *out)
{
	WCHAR path[BSHM_WIDE_PATH];
	const DWORD length = GetFinalPathNameByHandleW(file, path, BSHM_WIDE_PATH, 0);
	WCHAR *name = length == 0 || length >= BSHM_WIDE_PATH ? NULL : wcsrchr(path, L'\\');
	if (name == NULL) {
		return bshm__win32_code();
	}
	name[1] = 0;
	const HANDLE folder =
		CreateFileW(path, READ_CONTROL, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
			NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
	if (folder == INVALID_HANDLE_VALUE) {
		return bshm__win32_code();
	}
	const int code = read_descriptor(folder, out);
	CloseHandle(folder);
	return code;
}

/* ------------------------------------------------------------------ files */

static bool is_own(PSID owner)
{
	token_sid room;
	PSID user = sid_of_token(TokenUser, &room);
	if (user != NULL && EqualSid(owner, user)) {
		return true;
	}
	PSID gives = sid_of_token(TokenOwner, &room);
	return gives != NULL && EqualSid(owner, gives);
}

int bshm__win32_access(HANDLE file, bshm_os_stat *out)
{
	descriptor d;
	const int code = read_descriptor(file, &d);
	if (code != 0) {
		return code;
	}
	const uint32_t self = bshm_os_effective_uid();
	const uint32_t number = number_of(d.owner);
	const bool own = is_own(d.owner);
	out->owner_uid = own ? self : number == self ? ~number : number;
	out->mode = mode_of(d.list, d.owner);
	out->shares_group = !own && read_folder(file, &d) == 0 && (mode_of(d.list, d.owner) & 2) == 0;
	return 0;
}

SECURITY_ATTRIBUTES *bshm__win32_owner_only(bshm__win32_private *room)
{
	ACL *list = (ACL *) room->list;
	token_sid token;
	PSID user = sid_of_token(TokenUser, &token);
	if (user == NULL || !CopySid(sizeof(room->sids), room->sids, user) ||
		!InitializeAcl(list, sizeof(room->list), ACL_REVISION) ||
		!AddAccessAllowedAce(list, ACL_REVISION, FILE_ALL_ACCESS, room->sids) ||
		!InitializeSecurityDescriptor(&room->descriptor, SECURITY_DESCRIPTOR_REVISION) ||
		!SetSecurityDescriptorOwner(&room->descriptor, room->sids, FALSE) ||
		!SetSecurityDescriptorDacl(&room->descriptor, TRUE, list, FALSE) ||
		!SetSecurityDescriptorControl(&room->descriptor, SE_DACL_PROTECTED, SE_DACL_PROTECTED)) {
		return NULL;
	}
	room->attributes = (SECURITY_ATTRIBUTES){sizeof(room->attributes), &room->descriptor, FALSE};
	return &room->attributes;
}

static ACCESS_MASK mask_of(uint32_t bits)
{
	return ((bits & 4) != 0 ? FILE_GENERIC_READ : 0) | ((bits & 2) != 0 ? FILE_GENERIC_WRITE : 0);
}

static bool creates_files(ACCESS_MASK mask)
{
	return (mask & (FILE_ADD_FILE | GENERIC_WRITE | GENERIC_ALL)) != 0;
}

/* The accounts and groups that may create files in the folder, in its list's order: whom an entry
 * denies that, none after it lets in. */
static bool add_group(ACL *list, ACL *folder, uint32_t bits)
{
	for (DWORD i = 0; i < folder->AceCount; i++) {
		PSID sid;
		ACCESS_MASK mask;
		const effect does = read_entry(folder, i, &sid, &mask);
		if (does == DENIES && creates_files(mask) &&
			!AddAccessDeniedAce(list, ACL_REVISION, mask_of(6), sid)) {
			return false;
		}
		if (does == ALLOWS && creates_files(mask) && is_chosen(sid) &&
			!AddAccessAllowedAce(list, ACL_REVISION, mask_of(bits), sid)) {
			return false;
		}
	}
	return true;
}

int bshm_os_set_mode(int fd, uint32_t mode)
{
	const HANDLE file = bshm__win32_handle(fd);
	descriptor d;
	descriptor folder;
	uint64_t room[LIST_BYTES / sizeof(uint64_t)];
	uint64_t everyone[SECURITY_MAX_SID_SIZE / sizeof(uint64_t) + 1];
	ACL *list = (ACL *) room;
	DWORD bytes = sizeof(everyone);
	SECURITY_DESCRIPTOR changed;
	if (read_descriptor(file, &d) != 0 || !InitializeAcl(list, sizeof(room), ACL_REVISION) ||
		!AddAccessAllowedAce(list, ACL_REVISION, FILE_ALL_ACCESS, d.owner) ||
		((mode & 0070) != 0 && (read_folder(file, &folder) != 0 || folder.list == NULL ||
								   !add_group(list, folder.list, mode >> 3))) ||
		((mode & 0007) != 0 &&
			(!CreateWellKnownSid(WinWorldSid, NULL, everyone, &bytes) ||
				!AddAccessAllowedAce(list, ACL_REVISION, mask_of(mode), everyone))) ||
		!InitializeSecurityDescriptor(&changed, SECURITY_DESCRIPTOR_REVISION) ||
		!SetSecurityDescriptorDacl(&changed, TRUE, list, FALSE) ||
		!SetSecurityDescriptorControl(&changed, SE_DACL_PROTECTED, SE_DACL_PROTECTED) ||
		!SetKernelObjectSecurity(
			file, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, &changed)) {
		return bshm__win32_code();
	}
	return 0;
}
