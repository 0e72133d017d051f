/*
 * msvc.c - functions that Microsoft's compiler makes inline. They return int, because PHP's sources
 * do not declare them.
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
