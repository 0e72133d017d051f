<?php

/**
 * bloomshm: Bloom filters in shared memory, one set for every PHP process of a host.
 *
 * For editors and static analysers; never loaded at run time. The signatures are those of
 * bloomshm.stub.php, from which the extension itself is built.
 *
 * Words used below:
 *
 *  - Filter name: 1 to 63 bytes, none of them NUL; anything else is a ValueError.
 *  - Key: any bytes, the empty string and NUL bytes included. What is hashed is `(string) $key`, so
 *    123 and "123" are the same key.
 *  - "Maybe": the answer true to a membership question. It is also the answer of a filter that is
 *    missing, being loaded for the first time, damaged or out of reach; false is only ever said by a
 *    complete, published filter.
 *  - Unreachable: bloomshm.enable is 0, or the segment cannot be opened. bloom_status() says why.
 *  - Policy: bloomshm.missing_filter, for questions and adds that name a filter which is not
 *    published. `maybe`: nothing happens. `warn`: one E_WARNING for each filter and request. `throw`:
 *    a BloomShm\Exception with the code NOT_FOUND.
 *
 * Every function that changes a filter throws READ_ONLY while bloomshm.readonly is 1. A function
 * that needs the segment's lock waits at most 1 second for it (an add: 50 milliseconds, and only while
 * its filter is being loaded, copied or cleared), then throws TIMEOUT. A function that creates or moves
 * filters and cannot reach the segment throws UNAVAILABLE, CORRUPT (the file is damaged), INCOMPATIBLE
 * (made by a build with another layout) or NO_SPACE (it cannot be created for want of room). The
 * @throws lines below name the codes that are a function's own.
 */

// Start of bloomshm v.0.1.0

namespace BloomShm {
    /**
     * What came from outside the calling code: no room, no segment, another owner, a damaged file. The
     * code is one of the constants; the message names the limit that was met, what was asked for, what
     * there is, and the INI setting that changes it. Wrong arguments are ValueErrors and TypeErrors.
     */
    class Exception extends \RuntimeException
    {
        /** The segment cannot be used: disabled, not openable, not ours; or the function is not part of this version. */
        public const UNAVAILABLE = 1;

        /** Not enough room: filter memory, directory, journal, private memory, or the file system. */
        public const NO_SPACE = 2;

        /** The keys go beyond the capacity of a filter that does not grow; none of them was added. */
        public const FULL = 3;

        /** A load was offered no key; what was published stays. */
        public const EMPTY = 4;

        /** A filter with this name and other parameters stands already. */
        public const EXISTS = 5;

        /** No filter with this name is published. */
        public const NOT_FOUND = 6;

        /** Another layout of the segment, another kind of filter, or parameters that do not go together. */
        public const INCOMPATIBLE = 7;

        /** The false-positive rate measured before publishing is above the limit; nothing was published. */
        public const ERROR_RATE = 8;

        /** The segment or a file that was to be read is damaged. */
        public const CORRUPT = 9;

        /** A counter would leave the range of integers. */
        public const RANGE = 10;

        /** bloomshm.readonly is 1, and the call would change a filter. */
        public const READ_ONLY = 11;

        /** The segment's lock could not be had in time, or a filter was replaced over and over meanwhile. */
        public const TIMEOUT = 12;

        /** A file could not be opened, read or written. */
        public const IO = 13;
    }
}

namespace {
    /**
     * Creates an empty filter that answers at once.
     *
     * The filter is divided into partitions of 65,536 bits; a key lives in one of them. At error rate p
     * with k probes a partition is planned for 0.955 x -65536 / k x ln(1 - p^(1/k)) keys, where k is the
     * smallest number of probes within 1 % of the best size (B. H. Bloom, Space/Time Trade-offs in Hash
     * Coding with Allowable Errors, CACM 13(7), 1970). 4.5 % are kept back because the partitions of one
     * filter fill unevenly. 1 % takes 10.1 bits a key.
     *
     * Cost: zeroing the memory, about 0.1 s a GB; the lock is held for microseconds.
     *
     * This version has filters of fixed capacity only: expansion other than 0, window and counting throw
     * UNAVAILABLE.
     *
     * @param string $filter Its name.
     * @param int $capacity Keys, 1 to 2^40 (1,099,511,627,776).
     * @param float $error_rate Share of absent keys that are answered "maybe"; above 0, at most 0.5.
     * @param int $expansion 0: never grows, adds beyond the capacity throw FULL. 2 to 32: grows when full, each
     *     layer that many times the size of the one before, and the error rate of all layers together is kept.
     * @param int $window Seconds, 0 or 1 to 315,360,000. Above 0: a key is found for at least this long after
     *     its last add, and gone after at most 4/3 of it.
     * @param bool $counting Keeps a count of 0 to 15 for each key, so that bloom_remove() works.
     * @param string|null $seed 1 to 64 bytes from which the seed of the hash is made, for filters that must be
     *     alike on several hosts. null: random and secret, which no attacker can aim at.
     * @return bool true: created; false: a filter with the same parameters stands already and is left as it is
     *     (a null seed accepts any).
     * @throws \BloomShm\Exception EXISTS: one with other parameters stands. NO_SPACE: it does not fit into what
     *     is free of bloomshm.filter_memory, or the directory is full. READ_ONLY, TIMEOUT.
     * @throws \ValueError An argument is outside its range, or window, counting and expansion exclude each other.
     */
    function bloom_reserve(string $filter, int $capacity, float $error_rate = 0.01, int $expansion = 2, int $window = 0, bool $counting = false, ?string $seed = null): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Adds keys and tells of each whether it was new; creates the
     * filter first where there is none. A filter that stands keeps its own parameters.
     *
     * @param string $filter Its name.
     * @param iterable $keys string, int, float, Stringable, or database rows whose first column is the key.
     * @param int $capacity Keys, for a filter that is created.
     * @param float $error_rate Above 0, at most 0.5; for a filter that is created.
     * @param int $expansion 0, or 2 to 32; for a filter that is created.
     * @param bool $create false: do not create a missing filter; the policy applies.
     * @return array<bool> For each key, true if it was certainly not there before: under the array keys of $keys, or
     *     as a list for any other iterable.
     * @throws \BloomShm\Exception FULL, NO_SPACE, READ_ONLY, TIMEOUT; NOT_FOUND by the policy.
     */
    function bloom_insert(string $filter, iterable $keys, int $capacity = 100, float $error_rate = 0.01, int $expansion = 2, bool $create = true): array {}

    /**
     * Adds one key to a published filter.
     *
     * Once this has returned, every process finds the key. A missing filter is not created: everything is
     * "maybe" there already. A key added while its filter is being loaded anew is in the new filter too.
     *
     * Cost: as a question, and an atomic operation for each bit that was not set. Takes a lock only while
     * a load, copy or clear of this filter runs.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return bool true: the key was certainly not there before. false: it was (maybe) there, or there is no
     *     filter to add it to.
     * @throws \BloomShm\Exception FULL: the filter does not grow and is at its capacity (a key that is maybe
     *     there already never is too many). NO_SPACE: nothing is published under the name just now, and the
     *     journal of what is added meanwhile is full. READ_ONLY, TIMEOUT; NOT_FOUND by the policy.
     */
    function bloom_add(string $filter, string $key): bool {}

    /**
     * Adds many keys to a published filter.
     *
     * All keys are read out of $keys before the filter is touched. When a filter that does not grow has
     * room for some only, none is added; a key that is offered twice takes one place.
     *
     * @param string $filter Its name.
     * @param iterable $keys string, int, float, Stringable, or database rows whose first column is the key.
     * @return int How many were certainly not there before; 0 when there is no filter to add them to.
     * @throws \BloomShm\Exception FULL, READ_ONLY; NO_SPACE (as bloom_add(), or no private memory for the list) and
     *     TIMEOUT: some may have been added, and adding them again does no harm; NOT_FOUND by the policy.
     * @throws \TypeError Names the first element that is no key; nothing was added.
     */
    function bloom_add_many(string $filter, iterable $keys): int {}

    /**
     * Is the key (maybe) in the filter?
     *
     * false is certain. true is wrong for the filter's error rate of all absent keys. Takes no lock, never
     * waits, and writes nothing that others share.
     *
     * Cost: one hash (XXH3, 128 bits) and one memory read for each of the filter's probes (6 at 1 %), all
     * within 8 kB.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return bool false: certainly absent. true: maybe present, or the filter cannot say.
     * @throws \BloomShm\Exception NOT_FOUND, only with bloomshm.missing_filter = throw.
     */
    function bloom_maybe_has(string $filter, string $key): bool {}

    /**
     * Asks about many keys at once; all answers come from one generation of the filter.
     *
     * Up to 64 keys at a time are hashed and their memory requested before the first bit is read, so a
     * filter larger than the processor's caches is asked several times faster than key by key.
     *
     * @param string $filter Its name.
     * @param array $keys string, int, float or Stringable.
     * @return array<bool> One answer, as bloom_maybe_has() gives it, under each array key of $keys, in their order.
     * @throws \BloomShm\Exception NOT_FOUND, only with bloomshm.missing_filter = throw.
     * @throws \TypeError Names the first element that is no key.
     */
    function bloom_maybe_has_many(string $filter, array $keys): array {}

    /**
     * Not part of this version: throws UNAVAILABLE. Takes a key back out of a counting filter, once for each time
     * that it was added.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return bool false: the key was certainly absent, and nothing changed.
     * @throws \BloomShm\Exception INCOMPATIBLE: the filter does not count. NOT_FOUND, READ_ONLY.
     */
    function bloom_remove(string $filter, string $key): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. How often a key was added to a counting filter, at most.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return int 0: certainly absent. 15: fifteen times or more, or unreachable.
     * @throws \BloomShm\Exception INCOMPATIBLE: the filter does not count. NOT_FOUND.
     */
    function bloom_count(string $filter, string $key): int {}

    /**
     * The batch job: builds a filter from all keys beside the one that stands, and publishes it in one step.
     *
     * Readers see the old set or the new one, never a mixture and never a gap; two loads of one name both
     * publish a whole set, and the later one stands. Whatever goes wrong before publishing (an exception out
     * of $keys, the process killed, one of the codes below) leaves the old filter as it was, and the memory
     * comes back. Keys that others add meanwhile are in the new filter too.
     *
     * The last step before publishing measures every bit: the rate is the mean over the partitions of
     * fill^probes, exact for keys that are absent.
     *
     * Cost: 16 bytes of private memory a key until it is published; one pass over $keys. Needs room in the
     * segment for the old and the new filter together.
     *
     * @param string $filter Its name.
     * @param iterable $keys string, int, float, Stringable, or database rows whose first column is the key: a PDO
     *     statement works as it is.
     * @param float $error_rate Above 0, at most 0.5.
     * @param int|null $capacity Room for at least so many keys, 1 to 2^40. null or fewer than the different keys
     *     that come: the size follows from the keys.
     * @param float|null $max_error_rate The measured rate above which nothing is published; above 0, at most 1.
     *     null: 1.5 x $error_rate.
     * @param int $expansion 0: later adds beyond the capacity throw FULL. 2 to 32: they are taken; in this version
     *     into the one layer there is, and the estimated rate shows it.
     * @param bool $counting true: not part of this version, throws UNAVAILABLE.
     * @param string|null $seed As in bloom_reserve().
     * @param bool $allow_empty true: a load without a key publishes an empty filter, which says no to every question.
     * @return array As bloom_info() of what was published, and `keys` (offered, repeated ones counted) and
     *     `seconds` (float, from call to return).
     * @throws \BloomShm\Exception EMPTY: no key was offered. ERROR_RATE: the measured rate is above the limit.
     *     NO_SPACE: does not fit, 64 loads, copies and clears run already, more keys were added by others meanwhile
     *     than the journal holds, or private memory ended. CORRUPT, READ_ONLY, TIMEOUT, UNAVAILABLE, INCOMPATIBLE.
     * @throws \TypeError Names the first element that is no key; nothing was published.
     * @throws \ValueError An argument is outside its range.
     */
    function bloom_load(string $filter, iterable $keys, float $error_rate = 0.01, ?int $capacity = null, ?float $max_error_rate = null, int $expansion = 2, bool $counting = false, ?string $seed = null, bool $allow_empty = false): array {}

    /**
     * bloom_load() from a file: one key a line, read without making PHP values of them.
     *
     * Empty lines are skipped. With the delimiter "\n" a "\r" before it belongs to the line's end, not to the
     * key. The last line needs no delimiter. open_basedir applies.
     *
     * @param string $filter Its name.
     * @param string $path A file or any PHP stream, php://stdin too. One that ends in .gz is decompressed, and
     *     its checksums are checked: one that was cut short publishes nothing.
     * @param float $error_rate As in bloom_load().
     * @param int|null $capacity As in bloom_load().
     * @param float|null $max_error_rate As in bloom_load().
     * @param string $delimiter One byte.
     * @param int $expansion As in bloom_load().
     * @param string|null $seed As in bloom_reserve().
     * @param bool $allow_empty As in bloom_load().
     * @return array As bloom_load().
     * @throws \BloomShm\Exception IO: the file could not be opened or read to its end, or its compressed data are
     *     damaged; otherwise as bloom_load().
     * @throws \ValueError An argument is outside its range.
     */
    function bloom_load_file(string $filter, string $path, float $error_rate = 0.01, ?int $capacity = null, ?float $max_error_rate = null, string $delimiter = "\n", int $expansion = 2, ?string $seed = null, bool $allow_empty = false): array {}

    /**
     * Removes a filter. Questions about it are "maybe" from then on, and its memory is free at once.
     *
     * A load that is running is not disturbed, and publishes the name again when it is done.
     *
     * @param string $filter Its name.
     * @return bool false: there was none, or the segment is unreachable.
     * @throws \BloomShm\Exception READ_ONLY, TIMEOUT.
     */
    function bloom_drop(string $filter): bool {}

    /**
     * Empties a filter and keeps its parameters, seed and size.
     *
     * While the bits are being zeroed (about 0.1 s a GB) questions are answered "maybe"; keys that are added
     * meanwhile are in the emptied filter.
     *
     * @param string $filter Its name.
     * @return bool false: there is none, or the segment is unreachable.
     * @throws \BloomShm\Exception CORRUPT: the filter is damaged. NO_SPACE: 64 loads, copies and clears run already.
     *     READ_ONLY, TIMEOUT (another clear of it runs, or the lock).
     */
    function bloom_clear(string $filter): bool {}

    /**
     * Gives a filter another name, in one step for readers of the new name. A filter that had that name is replaced.
     *
     * No bit is copied. Renaming a filter to its own name changes nothing.
     *
     * @param string $from Its name.
     * @param string $to Its new name.
     * @return bool true.
     * @throws \BloomShm\Exception NOT_FOUND: no filter $from. NO_SPACE: the directory is full. READ_ONLY, TIMEOUT,
     *     CORRUPT, UNAVAILABLE, INCOMPATIBLE.
     */
    function bloom_rename(string $from, string $to): bool {}

    /**
     * Publishes a copy of a filter, seed included, under another name, in one step. A filter that had that name is
     * replaced.
     *
     * Cost: the filter's memory once more, and the time to copy it. Copying a filter onto itself changes nothing.
     *
     * @param string $from Its name.
     * @param string $to The copy's name.
     * @return bool true.
     * @throws \BloomShm\Exception NOT_FOUND: no filter $from. NO_SPACE: the copy does not fit. READ_ONLY, TIMEOUT
     *     (also: $from was replaced again and again meanwhile), CORRUPT, UNAVAILABLE, INCOMPATIBLE.
     */
    function bloom_copy(string $from, string $to): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Adds all that is in other filters, bit by bit; they must have the
     * same seed and, layer by layer, the same geometry.
     *
     * @param string $into The filter that takes the keys.
     * @param string ...$from The filters that they come from.
     * @return bool true.
     * @throws \BloomShm\Exception INCOMPATIBLE: seed or geometry differ. NOT_FOUND, READ_ONLY, TIMEOUT.
     */
    function bloom_merge(string $into, string ...$from): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Saves a filter to a file with checksums, replacing that file in
     * one step; the new file can be read by its owner alone.
     *
     * @param string $filter Its name.
     * @param string $path The file; open_basedir applies.
     * @return int Bytes written.
     * @throws \BloomShm\Exception IO, NOT_FOUND.
     */
    function bloom_dump(string $filter, string $path): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Publishes a filter saved by bloom_dump(), after all of the file has
     * been checked. A sliding filter has aged by the time that passed.
     *
     * @param string $filter The name to publish it under; replaces what has it.
     * @param string $path The file; open_basedir applies.
     * @return bool true.
     * @throws \BloomShm\Exception IO, CORRUPT, INCOMPATIBLE, NO_SPACE, READ_ONLY, TIMEOUT.
     */
    function bloom_restore(string $filter, string $path): bool {}

    /**
     * Is the filter published and sound, so that it can say no?
     *
     * @param string $filter Its name.
     * @return bool false also while it is being cleared, and when the segment is unreachable.
     */
    function bloom_ready(string $filter): bool {}

    /**
     * The names of all published filters.
     *
     * @return list<string> Sorted by their bytes; empty when the segment is unreachable.
     */
    function bloom_list(): array {}

    /**
     * Describes a filter.
     *
     * Reads every bit of it to measure `fill` and the rates: about 0.1 s a GB.
     *
     *  - name, type: `fixed` or `scalable`
     *  - error_rate, capacity, expansion, window: as asked for; after a load `capacity` is what its size holds
     *  - items: different keys, as far as could be told when they were added
     *  - hashes: probes a key; partitions; bytes: 8,192 a partition
     *  - bits_per_key: 8 x bytes / items; null when it is empty
     *  - fill: share of the bits that are set
     *  - estimated_error_rate: mean over the partitions of fill^hashes; worst_partition_error_rate: its largest
     *  - generation: grows with every publication of the name; published_at: unix time with fractions
     *  - false_positives: confirmed by bloom_fetch(), so 0 in this version
     *  - layers: one array each with capacity, items, error_rate, hashes, partitions, bytes, fill,
     *    estimated_error_rate; exactly one in this version
     *
     * @param string $filter Its name.
     * @return array<string, mixed>|null null: not published, damaged, being cleared, or unreachable.
     */
    function bloom_info(string $filter): ?array {}

    /**
     * The state of the segment and of this process's attachment to it. Never throws.
     *
     * Takes back the memory of dead loaders on the way. Attaches, and creates the segment, if this process has
     * not done so yet.
     *
     *  - available: the segment is attached; reason: why not, or what is worth knowing about it, or null
     *  - path: in use, or the one that would be; layout_version; owner_uid, mode (int): of the file
     *  - filter_bytes, filter_bytes_free, largest_free_bytes (the largest contiguous part; a filter can use all that
     *    is free all the same)
     *  - cache_bytes, cache_bytes_free: 0 in this version
     *  - filters; attached: processes that may write; repairs: things left by dead processes and tidied up;
     *    lock_timeouts: all since the segment was created
     *  - missing_answers: keys of this process answered "maybe" because their filter is not published
     *  - last_error: the newest exception's message in this thread, or null
     *
     * @return array<string, mixed>
     */
    function bloom_status(): array {}

    /**
     * Checks the whole segment: header, directory, descriptors, memory that two filters claim, work in progress.
     *
     * Filter bits have no rule that could be broken and are not looked at. Mends nothing.
     *
     * @return list<string> One sentence a problem, at most 64; empty: sound. Names the reason when the segment is
     *     unreachable.
     */
    function bloom_verify(): array {}

    /**
     * Not part of this version: throws UNAVAILABLE. The read path of a page: a cached record, else null if the filter
     * says no, else what $load returns, which is stored. A null from $load is a confirmed false positive: it is
     * counted and remembered until the key is added or the filter is published anew.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @param callable $load Called as $load($key), by one process at a time for each key.
     * @param int $ttl Seconds the record lives, 0 (no limit) or 1 to 315,360,000.
     * @return mixed The record, or null.
     */
    function bloom_fetch(string $filter, string $key, callable $load, int $ttl = 0): mixed {}

    /**
     * Not part of this version: throws UNAVAILABLE. Removes the record that bloom_fetch() keeps of a key; to be called
     * when what the backend has of it changes.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return bool false: there was none.
     */
    function bloom_forget(string $filter, string $key): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Reads a record; takes no lock.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $default Returned when there is no such record.
     * @return mixed The value, of the type it was stored with.
     */
    function bloom_cache_get(string $key, mixed $default = null): mixed {}

    /**
     * Not part of this version: throws UNAVAILABLE. Reads many records.
     *
     * @param array $keys Cache keys.
     * @param mixed $default Stands for each that is absent.
     * @return array<mixed> By cache key; every one of $keys is there.
     */
    function bloom_cache_get_many(array $keys, mixed $default = null): array {}

    /**
     * Not part of this version: throws UNAVAILABLE. Stores a record.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $value Arrays and objects go through bloomshm.serializer.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return bool false: not stored, and an older value of the key is gone.
     * @throws \BloomShm\Exception INCOMPATIBLE: the value cannot be serialized.
     */
    function bloom_cache_set(string $key, mixed $value, int $ttl = 0): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Stores many records.
     *
     * @param array $values Cache key => value.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return int How many were stored.
     * @throws \BloomShm\Exception INCOMPATIBLE: a value cannot be serialized; none was stored.
     */
    function bloom_cache_set_many(array $values, int $ttl = 0): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Stores a record where there is none.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $value As in bloom_cache_set().
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return bool false: there is one, or it was refused; nothing changed.
     */
    function bloom_cache_add(string $key, mixed $value, int $ttl = 0): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Stores a record where there is one.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $value As in bloom_cache_set().
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000; counts anew.
     * @return bool false: there is none, or it was refused; nothing changed.
     */
    function bloom_cache_replace(string $key, mixed $value, int $ttl = 0): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Is there a record? Does not count as use of it.
     *
     * @param string $key 0 to 65,535 bytes.
     * @return bool true: there is.
     */
    function bloom_cache_has(string $key): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Removes a record.
     *
     * @param string $key 0 to 65,535 bytes.
     * @return bool false: there was none.
     */
    function bloom_cache_delete(string $key): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Removes many records.
     *
     * @param array $keys Cache keys.
     * @return int How many there were.
     */
    function bloom_cache_delete_many(array $keys): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Adds to an integer record; makes one of $initial + $by where there
     * is none.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param int $by May be negative.
     * @param int $initial The value before the first step.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000, of a record that is created; a standing one keeps its own.
     * @return int The new value.
     * @throws \BloomShm\Exception RANGE: past the integers' edge. INCOMPATIBLE: not an integer. The record stays as it was.
     */
    function bloom_cache_increment(string $key, int $by = 1, int $initial = 0, int $ttl = 0): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. bloom_cache_increment() downwards.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param int $by May be negative.
     * @param int $initial The value before the first step.
     * @param int $ttl Seconds, as in bloom_cache_increment().
     * @return int The new value.
     * @throws \BloomShm\Exception RANGE, INCOMPATIBLE: as bloom_cache_increment().
     */
    function bloom_cache_decrement(string $key, int $by = 1, int $initial = 0, int $ttl = 0): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Stores a value if the record is still the expected one, compared as
     * stored: type and bytes.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $expected null: there must be no record.
     * @param mixed $new As in bloom_cache_set().
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000; counts anew.
     * @return bool false: it was another, or the new one was refused; nothing changed.
     */
    function bloom_cache_cas(string $key, mixed $expected, mixed $new, int $ttl = 0): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. Lengthens a string record; makes one without a time limit where there
     * is none.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param string $suffix The bytes to append.
     * @param string $delimiter Goes before them, except into a record that is created.
     * @return int The new length in bytes.
     * @throws \BloomShm\Exception INCOMPATIBLE: not a string. NO_SPACE: past the size limit. The record stays as it was.
     */
    function bloom_cache_append(string $key, string $suffix, string $delimiter = ""): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Sets a record's time limit anew and counts as use of it.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return bool false: there is none.
     */
    function bloom_cache_touch(string $key, int $ttl): bool {}

    /**
     * Not part of this version: throws UNAVAILABLE. The record, or what $load returns, which is stored; one process loads,
     * the others wait for it at most 5 seconds. No lock is held meanwhile.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param callable $load Called as $load($key).
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return mixed The value; null is stored like any other.
     */
    function bloom_cache_remember(string $key, callable $load, int $ttl = 0): mixed {}

    /**
     * Not part of this version: throws UNAVAILABLE. Takes out the record that was not used for longest.
     *
     * @return array{string, mixed}|null Key and value; null: the store is empty.
     */
    function bloom_cache_pop_oldest(): ?array {}

    /**
     * Not part of this version: throws UNAVAILABLE. Walks the records page by page. One that nobody writes meanwhile comes
     * exactly once. Does not count as use.
     *
     * @param int $cursor Start with 0; it is moved on, and is 0 again after the last page.
     * @param int $count About how many records a page has, 1 or more; never above 2 x $count + 64.
     * @param string $prefix Only keys that begin with it.
     * @return array<mixed> Key => value.
     */
    function bloom_cache_scan(int &$cursor, int $count = 100, string $prefix = ""): array {}

    /**
     * Not part of this version: throws UNAVAILABLE. Removes all records, those of bloom_fetch() too, or the ones with a prefix.
     *
     * @param string $prefix Only keys that begin with it; "": everything.
     * @return int How many there were.
     */
    function bloom_cache_clear(string $prefix = ""): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Saves all records to a file with checksums, replacing it in one step.
     *
     * @param string $path The file; open_basedir applies.
     * @return int How many records.
     * @throws \BloomShm\Exception IO.
     */
    function bloom_cache_dump(string $path): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Adds the records of a saved file that are absent and not expired. A file
     * that is damaged anywhere changes nothing.
     *
     * @param string $path The file; open_basedir applies.
     * @return int How many were added.
     * @throws \BloomShm\Exception CORRUPT, IO.
     */
    function bloom_cache_restore(string $path): int {}

    /**
     * Not part of this version: throws UNAVAILABLE. Figures of the record store: records, max_records, bytes_used, bytes_total,
     * data_bytes, hits, misses, sets, evictions, expired, rejected, lock_timeouts, repairs, shards.
     *
     * @return array<string, int>
     */
    function bloom_cache_info(): array {}
}

// End of bloomshm v.0.1.0
