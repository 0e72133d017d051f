/*
 * msvc.c - functions that Microsoft's compiler makes inline, and the start of a DLL that is none
 * here. The functions return int, because PHP's sources do not declare them.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
int _InterlockedOr8(char volatile *word, char bits);
int _InterlockedCompareExchange8(char volatile *word, char to, char from);

int _InterlockedOr8(char volatile *word, char bits)
{
	return __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST);
}

int _InterlockedCompareExchange8(char volatile *word, char to, char from)
{
	return __sync_val_compare_and_swap(word, from, to);
}

/* What php8.dll does when Windows loads it; here it is a part of php.exe. */
int __stdcall DllMain(void *dll, unsigned long reason, void *reserved);

static __attribute__((constructor)) void attach(void)
{
	DllMain((void *) 0, 1 /* DLL_PROCESS_ATTACH */, (void *) 0);
}
