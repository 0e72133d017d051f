/*
 * win32_clock.c - clocks, the boot, sleep, numbers of process and thread, and random bytes, on
 * Windows.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#include "win32.h"

#include "platform/atomic.h"

#include <errno.h>

#include <bcrypt.h>

#define SECOND_NS        UINT64_C(1000000000)
#define TICKS_FROM_1601  UINT64_C(116444736000000000) /* of 100 ns, until 1970 */
#define SYSTEM_TIMEOFDAY 3                            /* of NtQuerySystemInformation() */
#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
# define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2
#endif

uint64_t bshm_os_process_id(void)
{
	return GetCurrentProcessId();
}

uint64_t bshm_os_descriptor_limit(void)
{
	return 16711680; /* handles of a process: fixed */
}

uint32_t bshm_os_thread_id(void)
{
	return GetCurrentThreadId();
}

/* ------------------------------------------------------------------ clocks */

uint64_t bshm_os_monotonic_ns(void)
{
	LARGE_INTEGER count;
	LARGE_INTEGER frequency;
	QueryPerformanceCounter(&count);
	QueryPerformanceFrequency(&frequency);
	const uint64_t ticks = (uint64_t) count.QuadPart;
	const uint64_t per_second = (uint64_t) frequency.QuadPart;
	return ticks / per_second * SECOND_NS + ticks % per_second * SECOND_NS / per_second;
}

static uint64_t test_clock_ns; /* 0: not in a test */

uint64_t bshm_os_clock_ns(void)
{
	const uint64_t set = BSHM_LOAD(&test_clock_ns, RELAXED);
	return set != 0 ? set : bshm_os_monotonic_ns();
}

/* GetTickCount64() lags 15.6 ms behind, and the performance counter costs no more than that clock
 * does on Linux. */
uint64_t bshm_os_clock_cheap_ns(void)
{
	return bshm_os_clock_ns();
}

void bshm_os_clock_set(uint64_t ns)
{
	BSHM_STORE(&test_clock_ns, ns, RELAXED);
}

/* ------------------------------------------------------------------ the boot */

static uint64_t registry_boot_id(void)
{
	DWORD id = 0;
	DWORD bytes = sizeof(id);
	const LSTATUS status = RegGetValueW(HKEY_LOCAL_MACHINE,
		L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management\\"
		L"PrefetchParameters",
		L"BootId", RRF_RT_REG_DWORD, NULL, &id, &bytes);
	return status == ERROR_SUCCESS ? id : 0;
}

/* When the system was started, by the clock that it had then: setting the clock does not change
 * this. */
static uint64_t boot_time(void)
{
	struct {
		LARGE_INTEGER boot_time;
		LARGE_INTEGER now;
		LARGE_INTEGER zone;
		ULONG zone_id;
		ULONG reserved;
		LARGE_INTEGER boot_time_bias; /* by how much the clock was set since */
		LARGE_INTEGER sleep_time_bias;
	} times = {0};
	typedef LONG(WINAPI * query)(int, void *, ULONG, ULONG *);
	const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
	const FARPROC found = ntdll == NULL ? NULL : GetProcAddress(ntdll, "NtQuerySystemInformation");
	if (found == NULL ||
		((query) (void (*)(void)) found)(SYSTEM_TIMEOFDAY, &times, sizeof(times), NULL) < 0) {
		return 0;
	}
	return (uint64_t) (times.boot_time.QuadPart - times.boot_time_bias.QuadPart);
}

/* The number of the boot is small, so the machine's own number makes it another one elsewhere. */
static uint64_t boot_number(void)
{
	WCHAR machine[64] = {0};
	DWORD bytes = sizeof(machine) - sizeof(WCHAR);
	const uint64_t id = registry_boot_id();
	uint64_t number = id != 0 ? id : boot_time();
	if (number == 0) {
		return 0;
	}
	RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid",
		RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY, NULL, machine, &bytes);
	for (const WCHAR *c = machine; *c != 0; c++) {
		number = (number ^ *c) * UINT64_C(0x100000001b3); /* FNV-1a */
	}
	return number == 0 ? 1 : number;
}

static const bshm_os_host *test_host;

bshm_os_host bshm_os_host_now(bool with_boot)
{
	if (test_host != NULL) {
		return *test_host;
	}
	const uint64_t boot = with_boot ? boot_number() : 0;
	return (bshm_os_host){.boot = boot, .shift_known = true}; /* no clock is shifted */
}

void bshm_os_host_set(const bshm_os_host *host)
{
	test_host = host;
}

uint64_t bshm_os_clock_less_ticks_ns(void)
{
	if (BSHM_LOAD(&test_clock_ns, RELAXED) != 0) {
		return test_host == NULL ? 0 : test_host->shift_ns;
	}
	return bshm_os_monotonic_ns() - GetTickCount64() * 1000000;
}

static double test_wall_ahead_s;

double bshm_os_wall_s(void)
{
	FILETIME now;
	GetSystemTimePreciseAsFileTime(&now);
	const uint64_t ticks = (uint64_t) now.dwHighDateTime << 32 | now.dwLowDateTime;
	return (double) (ticks - TICKS_FROM_1601) / 1e7 + test_wall_ahead_s;
}

void bshm_os_wall_set(double ahead_s)
{
	test_wall_ahead_s = ahead_s;
}

/* ------------------------------------------------------------------ waiting */

/* Sleep() takes a tick of the system at least. */
void bshm_os_sleep_us(unsigned microseconds)
{
	LARGE_INTEGER span;
	span.QuadPart = -(LONGLONG) microseconds * 10; /* of 100 ns, from now on */
	HANDLE timer =
		CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, TIMER_ALL_ACCESS);
	if (timer == NULL) { /* before Windows 10 1803 */
		timer = CreateWaitableTimerExW(NULL, NULL, 0, TIMER_ALL_ACCESS);
	}
	if (timer == NULL || !SetWaitableTimer(timer, &span, 0, NULL, NULL, FALSE) ||
		WaitForSingleObject(timer, INFINITE) != WAIT_OBJECT_0) {
		Sleep(microseconds / 1000 + 1);
	}
	if (timer != NULL) {
		CloseHandle(timer);
	}
}

void bshm_os_yield(void)
{
	SwitchToThread();
}

int bshm_os_random(void *out, size_t bytes)
{
	return BCryptGenRandom(NULL, out, (ULONG) bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0 ? 0
																						   : EIO;
}

/* There is no fork(). */
void bshm_os_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
	(void) before;
	(void) in_parent;
	(void) in_child;
}
