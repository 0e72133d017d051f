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
 *  - "Maybe": the answer true to a membership question. It is also the answer if the filter is
 *    missing, being loaded for the first time, being cleared, damaged or unreachable: only a
 *    complete, published filter answers false.
 *  - Unreachable: bloomshm.enable is 0, or the segment cannot be opened. bloom_status() says why.
 *  - No segment yet: only a call that stores something creates it, and none while bloomshm.readonly
 *    is 1. Until then every filter is missing, bloom_count() gives 15, bloom_remove() gives false,
 *    nothing is stored, and reports say "no segment yet".
 *  - Kinds of filters: fixed (a capacity, and no more), scalable (grows when it is full), sliding
 *    (forgets a key some time after its last add), counting (keys can be taken out again).
 *  - Policy: bloomshm.missing_filter, for questions and adds that name a filter which is not
 *    published. `maybe`: nothing happens. `warn`: one E_WARNING for each filter and request.
 *    `throw`: a BloomShm\Exception with the code NOT_FOUND.
 *
 * Every function that changes a filter throws READ_ONLY while bloomshm.readonly is 1. A function
 * that needs the segment's lock waits 1 second for it, then throws TIMEOUT; adds and removals wait
 * 50 milliseconds, and most adds need no lock (see bloom_add()); changes of records wait 50
 * milliseconds for the lock of a part of the store. On a busy machine a wait takes up to 150
 * milliseconds more: the time that the waiting process has no processor is not counted. A function
 * that creates, moves or saves filters and cannot reach the segment throws UNAVAILABLE, CORRUPT
 * (the segment is damaged), INCOMPATIBLE (made by a build with another layout) or NO_SPACE (there
 * is no room to create it). The @throws lines below name the codes of each function.
 *
 * A ttl is in whole seconds: a record lives that long, give or take half a second.
 */

// Start of bloomshm

namespace BloomShm {
    /**
     * A failure outside the calling code: no room, no segment, another owner, a damaged file. The
     * code is one of the constants. The message names the limit, the amount asked for, the amount
     * available, and the INI setting that changes it. Wrong arguments are ValueErrors and
     * TypeErrors.
     */
    class Exception extends \RuntimeException
    {
        /**
         * The segment cannot be used: disabled, not openable, of another user; or the function is
         * not part of this version.
         */
        public const UNAVAILABLE = 1;

        /**
         * Not enough room: filter memory, directory, journal, private memory, or the file system.
         */
        public const NO_SPACE = 2;

        /** The keys exceed the capacity of a filter that does not grow; none of them was added. */
        public const FULL = 3;

        /** A load was offered no key; the published filter stays. */
        public const EMPTY = 4;

        /** A filter with this name and other parameters exists already. */
        public const EXISTS = 5;

        /** No filter with this name is published. */
        public const NOT_FOUND = 6;

        /**
         * Another layout of the segment or format of a file, another kind of filter, or parameters
         * that exclude each other.
         */
        public const INCOMPATIBLE = 7;

        /**
         * The false-positive rate measured before publishing is above the limit; nothing was
         * published.
         */
        public const ERROR_RATE = 8;

        /** The segment, a filter in it, or the file to read is damaged. */
        public const CORRUPT = 9;

        /** A counter would leave the range of integers. */
        public const RANGE = 10;

        /** bloomshm.readonly is 1, and the call would change a filter. */
        public const READ_ONLY = 11;

        /**
         * The segment's lock was not free in time, or a filter was replaced over and over
         * meanwhile.
         */
        public const TIMEOUT = 12;

        /** A file could not be opened, read or written. */
        public const IO = 13;
    }
}

namespace {
    /**
     * Creates an empty filter that answers at once.
     *
     * The filter is divided into partitions of 65,536 bits; a key has its bits in one of them. At
     * error rate p with k probes a partition is planned for 0.955 x -65536 / k x ln(1 - p^(1/k))
     * keys, where k is the smallest number of probes within 1 % of the best size (B. H. Bloom,
     * Space/Time Trade-offs in Hash Coding with Allowable Errors, CACM 13(7), 1970). 4.5 % are kept
     * back because the partitions of one filter fill unevenly. 1 % takes 10.1 bits a key.
     *
     *  - Fixed ($expansion 0): an add beyond the capacity throws FULL.
     *  - Scalable ($expansion 2 to 32, the default): when the filter is full, it gets a layer that
     *    is $expansion times as large as the one before. The rate of all layers together stays at
     *    or below $error_rate at every size. The first layer leaves the others their share of it,
     *    which costs at most 1.2 bits a key more than a fixed filter (1 %: 11.0). The filter begins
     *    with at least 8 kB, and holds as many keys as fit there (1 %: 3,399) before it grows. The
     *    add that makes it grow zeroes the new layer. Older layers stay, and a question reads all
     *    of them.
     *  - Sliding ($window): a key is found for at least $window seconds after its last add and is
     *    gone at most 4/3 x $window after it, whether or not it is used in between. $capacity is
     *    the number of different keys in a window, if they come at an even flow; more keys are
     *    never FULL, but raise the estimated rate. 1 %: 18.3 bits a key.
     *  - Counting ($counting): each bit is a counter of 4 bits, so that bloom_remove() and
     *    bloom_count() work. Its capacity is fixed, and removals give it back. 1 %: 40.3 bits a
     *    key.
     *
     * Cost: zeroing the memory, about 0.1 s a GB; the lock is held for microseconds.
     *
     * @param string $filter Its name.
     * @param int $capacity Keys, 1 to 2^40 (1,099,511,627,776).
     * @param float $error_rate Share of absent keys that are answered "maybe"; above 0, at most
     *     0.5.
     * @param int $expansion 0: never grows. 2 to 32: grows when full, each layer that many times
     *     the size of the one before. With $window or $counting only 0 and the default 2, which are
     *     the same there.
     * @param int $window Seconds, 0 (keys are not forgotten) or 1 to 315,360,000 (ten years).
     * @param bool $counting Keeps counts, so that keys can be removed. Not together with $window.
     * @param string|null $seed 1 to 64 bytes from which the seed of the hash is made, for filters
     *     that must be alike on several hosts or are to be merged. null: random and secret, so that
     *     no attacker can choose keys that collide.
     * @return bool true: created; false: a filter with the same parameters exists already and stays
     *     as it is (a null seed accepts any).
     * @throws \BloomShm\Exception EXISTS: a filter with other parameters exists. NO_SPACE: it does
     *     not fit into the free part of bloomshm.filter_memory, or the directory is full. CORRUPT:
     *     the filter is damaged; it answers "maybe" until it is dropped, loaded or restored.
     *     READ_ONLY, TIMEOUT.
     * @throws \ValueError An argument is outside its range, or window, counting and expansion
     *     exclude each other.
     */
    function bloom_reserve(
        string $filter,
        int $capacity,
        float $error_rate = 0.01,
        int $expansion = 2,
        int $window = 0,
        bool $counting = false,
        ?string $seed = null,
    ): bool {}

    /**
     * Adds keys and says of each whether it was new. Creates the filter first if it does not exist
     * (as BF.INSERT does).
     *
     * An existing filter keeps its own parameters. $capacity, $error_rate and $expansion are always
     * checked, and are used for a new filter only. A new filter has a random seed, and is created
     * even if $keys is empty or does not fit.
     *
     * All keys are read out of $keys before the filter is touched. If a filter that does not grow
     * has room for some keys only, none is added. A key that is offered twice counts once, and is
     * new at most once.
     *
     * Cost: slightly more than bloom_add_many(), which does not say which keys were new.
     *
     * @param string $filter Its name.
     * @param iterable $keys string, int, float, Stringable, or database rows whose first column is
     *     the key.
     * @param int $capacity Keys, 1 to 2^40, for a new filter.
     * @param float $error_rate Above 0, at most 0.5; for a new filter.
     * @param int $expansion 0, or 2 to 32; for a new filter.
     * @param bool $create false: a missing filter is not created; NOT_FOUND is thrown, whatever the
     *     policy.
     * @return array<bool> For each key, true if it was certainly not there before: under the array
     *     keys of $keys and in their order, or as a list for any other iterable.
     * @throws \BloomShm\Exception FULL: the keys exceed the capacity of a filter that does not
     *     grow; none was added. NO_SPACE: the filter cannot be created, or cannot grow (some keys
     *     may have been added), or no private memory for the list. NOT_FOUND: only with $create
     *     false. CORRUPT: it is damaged, and stays so until it is loaded, restored or dropped.
     *     READ_ONLY, TIMEOUT, UNAVAILABLE, INCOMPATIBLE.
     * @throws \TypeError Names the first element that is no key; nothing was created or added.
     * @throws \ValueError An argument is outside its range.
     */
    function bloom_insert(
        string $filter,
        iterable $keys,
        int $capacity = 100,
        float $error_rate = 0.01,
        int $expansion = 2,
        bool $create = true,
    ): array {}

    /**
     * Adds one key to a published filter.
     *
     * When the call has returned, every process finds the key. A missing filter is not created: its
     * answer is "maybe" already. A key that is added while its filter is being loaded is
     * in the new filter too. While it is loaded for the first time it is still missing: the load
     * will have the key, but if the load fails, no filter has it.
     *
     * In a sliding filter an add of a present key counts too: the key is found for another window.
     * In a counting filter each add is counted.
     *
     * Cost: as a question, and an atomic operation for each bit that was not set. Takes the lock
     * only in these cases:
     *
     *  - A load, merge, copy, restore or clear of this filter runs.
     *  - The filter is a counting filter.
     *  - A scalable filter grows. Then memory is zeroed, 0.1 ms a MB; as a rule one adder does it
     *    for all, before the layer in use is full.
     *  - It is the first add to a partition of a sliding filter in a third of the window.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return bool true: the key was certainly not there before. false: it was (maybe) there, or
     *     there is no filter to add it to.
     * @throws \BloomShm\Exception FULL: the filter does not grow and is at its capacity (a key that
     *     is maybe present needs no room). NO_SPACE: the filter is full, and there is no room for
     *     it to grow; or no set is published under the name at the moment, and the journal of added
     *     keys is full. READ_ONLY, TIMEOUT; NOT_FOUND by the policy.
     */
    function bloom_add(string $filter, string $key): bool {}

    /**
     * Adds many keys to a published filter.
     *
     * All keys are read out of $keys before the filter is touched. If a filter that does not grow
     * has room for some keys only, none is added. A key that is offered twice counts once.
     *
     * @param string $filter Its name.
     * @param iterable $keys string, int, float, Stringable, or database rows whose first column is
     *     the key.
     * @return int How many were certainly not there before; 0 when there is no filter to add them
     *     to.
     * @throws \BloomShm\Exception FULL, READ_ONLY; NO_SPACE (as bloom_add(), or no private memory
     *     for the list) and TIMEOUT: some may have been added, and adding them again does no harm
     *     (in a counting filter it counts again); NOT_FOUND by the policy.
     * @throws \TypeError Names the first element that is no key; nothing was added.
     */
    function bloom_add_many(string $filter, iterable $keys): int {}

    /**
     * Is the key (maybe) in the filter?
     *
     * false is certain. true is wrong for a share of the absent keys: the filter's error rate.
     * Takes no lock, never waits, and writes no shared memory.
     *
     * Cost: one hash (XXH3, 128 bits) and one memory read for each of the filter's probes (6 at 1
     * %), all within 8 kB; in a scalable filter one line of memory for each of its layers, all
     * requested at once.
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
     * Up to 64 keys at a time are hashed and their memory requested before the first bit is read,
     * so a filter larger than the processor's caches is asked several times faster than key by key.
     *
     * @param string $filter Its name.
     * @param array $keys string, int, float or Stringable.
     * @return array<bool> One answer, as bloom_maybe_has() gives it, under each array key of $keys,
     *     in their order.
     * @throws \BloomShm\Exception NOT_FOUND, only with bloomshm.missing_filter = throw.
     * @throws \TypeError Names the first element that is no key.
     */
    function bloom_maybe_has_many(string $filter, array $keys): array {}

    /**
     * Takes one add of a key back out of a counting filter. Once each add is taken back, the key is
     * not found any more.
     *
     * A key that is certainly absent is refused. A key that was never added but is "maybe" there
     * (the filter's error rate) looks like an added one. Removing it lowers the counters of other
     * keys, which may then be denied. So remove only keys that were added. A key whose counters
     * have reached 15 stays for good, because the true count is not known any more.
     *
     * A load that runs meanwhile publishes the keys that it was given, including this one if it is
     * among them.
     *
     * Cost: as a question, and the lock for a moment.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return bool true: taken back. false: the key was certainly absent, and nothing changed; or
     *     the segment is unreachable.
     * @throws \BloomShm\Exception INCOMPATIBLE: the filter does not count. NOT_FOUND: there is
     *     none, whatever the policy. CORRUPT: it is damaged. READ_ONLY, TIMEOUT.
     */
    function bloom_remove(string $filter, string $key): bool {}

    /**
     * How often a key was added to a counting filter (and not removed), at most.
     *
     * An upper bound: other keys may share its counters, also those of an absent key (the filter's
     * error rate). Takes no lock.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return int 0 to 15. 0: certainly absent. 15: fifteen times or more, or the filter cannot say
     *     (it is damaged, being cleared, or unreachable).
     * @throws \BloomShm\Exception INCOMPATIBLE: the filter does not count. NOT_FOUND: there is
     *     none, whatever the policy.
     */
    function bloom_count(string $filter, string $key): int {}

    /**
     * The batch job: builds a new filter from all keys beside the old one, and publishes it in one
     * step.
     *
     * Readers see the old set or the new one, never a mixture and never a gap; two loads of one
     * name both publish a complete set, and the later one wins. Any failure before publishing (an
     * exception out of $keys, the process killed, one of the codes below) leaves the old filter as
     * it was, and the memory is freed. Keys that other processes add meanwhile are in the new
     * filter too.
     *
     * The last step before publishing measures every bit: the rate is the mean over the partitions
     * of fill^probes, exact for keys that are absent. The new filter has one layer, sized for its
     * keys.
     *
     * Cost: 16 bytes of private memory a key until it is published; one pass over $keys. Needs room
     * in the segment for the old and the new filter together.
     *
     * @param string $filter Its name.
     * @param iterable $keys string, int, float, Stringable, or database rows whose first column is
     *     the key: a PDO statement works as it is.
     * @param float $error_rate Above 0, at most 0.5.
     * @param int|null $capacity Room for at least so many keys, 1 to 2^40. null, or fewer than the
     *     number of different keys: the size follows from the keys.
     * @param float|null $max_error_rate The measured rate above which nothing is published; above
     *     0, at most 1. null: 1.5 x $error_rate.
     * @param int $expansion 0: later adds beyond the capacity throw FULL. 2 to 32: the filter grows
     *     then, and the error rate is kept; its keys take at most 1.2 bits more. With $counting
     *     only 0 and the default 2.
     * @param bool $counting true: a counting filter; a key that is offered twice counts 2.
     * @param string|null $seed As in bloom_reserve().
     * @param bool $allow_empty true: a load without a key publishes an empty filter, which says no
     *     to every question.
     * @param bool $like true: like the filter that stands when the load begins. Its seed, type,
     *     error rate and expansion are kept; arguments other than the defaults must be the same. If
     *     it has one layer, and the keys are 0.6 to 1.0 of its capacity, its size is kept too: then
     *     two loads that differ in few keys differ in few bits. Otherwise the capacity is the keys
     *     divided by 0.8, so that the next loads fit: a quarter more memory. If none stands, or a
     *     damaged one, the other arguments count, with the same room. $seed must be null.
     * @return array<string, mixed> As bloom_info() of the new filter, and `keys` (offered, repeated
     *     ones counted) and `seconds` (float, from call to return).
     * @throws \BloomShm\Exception EMPTY: no key was offered. ERROR_RATE: the measured rate is above
     *     the limit. NO_SPACE: does not fit, 64 loads, copies and clears run already, other
     *     processes added more keys meanwhile than the journal holds, or no private memory. EXISTS:
     *     with $like, the filter has another parameter than the one given. CORRUPT, READ_ONLY,
     *     TIMEOUT, UNAVAILABLE, INCOMPATIBLE.
     * @throws \TypeError Names the first element that is no key; nothing was published.
     * @throws \ValueError An argument is outside its range.
     */
    function bloom_load(
        string $filter,
        iterable $keys,
        float $error_rate = 0.01,
        ?int $capacity = null,
        ?float $max_error_rate = null,
        int $expansion = 2,
        bool $counting = false,
        ?string $seed = null,
        bool $allow_empty = false,
        bool $like = false,
    ): array {}

    /**
     * bloom_load() from a file: one key a line, read without creating PHP values.
     *
     * Empty lines are skipped. With the delimiter "\n" a "\r" before it belongs to the line's end,
     * not to the key. The last line needs no delimiter. open_basedir applies.
     *
     * @param string $filter Its name.
     * @param string $path A file or any PHP stream, php://stdin too. If the name ends in .gz, the
     *     file is decompressed, and its checksums are checked: a file that was cut short publishes
     *     nothing.
     * @param float $error_rate As in bloom_load().
     * @param int|null $capacity As in bloom_load().
     * @param float|null $max_error_rate As in bloom_load().
     * @param string $delimiter One byte.
     * @param int $expansion As in bloom_load().
     * @param string|null $seed As in bloom_reserve().
     * @param bool $allow_empty As in bloom_load().
     * @param bool $like As in bloom_load().
     * @return array<string, mixed> As bloom_load().
     * @throws \BloomShm\Exception IO: the file could not be opened or read to its end, or its
     *     compressed data are damaged; otherwise as bloom_load().
     * @throws \ValueError An argument is outside its range.
     */
    function bloom_load_file(
        string $filter,
        string $path,
        float $error_rate = 0.01,
        ?int $capacity = null,
        ?float $max_error_rate = null,
        string $delimiter = "\n",
        int $expansion = 2,
        ?string $seed = null,
        bool $allow_empty = false,
        bool $like = false,
    ): array {}

    /**
     * Removes a filter. Questions about it are "maybe" from then on, and its memory is free at
     * once.
     *
     * A load that is running is not disturbed, and publishes the name again when it is done.
     *
     * @param string $filter Its name.
     * @return bool false: there was none, or the segment is unreachable.
     * @throws \BloomShm\Exception READ_ONLY, TIMEOUT.
     */
    function bloom_drop(string $filter): bool {}

    /**
     * Empties a filter and keeps its parameters and seed; one that has grown is back to its first
     * layer.
     *
     * While the bits are being zeroed (about 0.1 s a GB) questions are answered "maybe"; keys that
     * are added meanwhile are in the emptied filter. A sliding filter is empty at once, whatever
     * its size.
     *
     * @param string $filter Its name.
     * @return bool false: there is none, or the segment is unreachable.
     * @throws \BloomShm\Exception CORRUPT: the filter is damaged. NO_SPACE: 64 loads, copies and
     *     clears run already. READ_ONLY, TIMEOUT (another clear of it runs, or the lock).
     */
    function bloom_clear(string $filter): bool {}

    /**
     * Gives a filter another name, in one step for readers of the new name. A filter that had that
     * name is replaced.
     *
     * No bit is copied. Renaming a filter to its own name changes nothing.
     *
     * @param string $from Its name.
     * @param string $to Its new name.
     * @return bool true.
     * @throws \BloomShm\Exception NOT_FOUND: no filter $from. NO_SPACE: the directory is full.
     *     READ_ONLY, TIMEOUT, CORRUPT, UNAVAILABLE, INCOMPATIBLE.
     */
    function bloom_rename(string $from, string $to): bool {}

    /**
     * Publishes a copy of a filter, seed included, under another name, in one step. A filter that
     * had that name is replaced.
     *
     * A copy of a filter that follows another host's is a local one: it has no lag, and says "no"
     * also where a stale filter says "maybe".
     *
     * Cost: the filter's memory once more, and the time to copy it. Copying a filter onto itself
     * changes nothing.
     *
     * @param string $from Its name.
     * @param string $to The copy's name.
     * @return bool true.
     * @throws \BloomShm\Exception NOT_FOUND: no filter $from. NO_SPACE: the copy does not fit.
     *     READ_ONLY, TIMEOUT (also: $from was replaced again and again meanwhile), CORRUPT,
     *     UNAVAILABLE, INCOMPATIBLE.
     */
    function bloom_copy(string $from, string $to): bool {}

    /**
     * Publishes the union of filters under the name of $into, in one step: the keys of $into, if it
     * exists, and of each of the others, which stay as they are.
     *
     * Filters can be united if the same key has the same bits in all of them: one kind, one seed
     * (given by $seed, or the filters are copies of one another), one window, and layers of the
     * same sizes. Of scalable filters one may have grown further than another. Counts are added up,
     * to 15 at most. A key of a sliding filter is found for as long as in its source. The union may
     * hold more keys than its capacity: a fixed one is then full, and its estimated rate is higher.
     *
     * `items` of the union is an estimate from its bits, because the number of common keys is not
     * known.
     *
     * Without any $from, or if all are $into, nothing changes. Adds to $into meanwhile are in the
     * union; adds to one of $from may come too late.
     *
     * Cost: the union's memory once more, and the time to read all sources.
     *
     * @param string $into The filter that takes the keys; it need not exist, unless it is the only
     *     one.
     * @param string ...$from The filters that they come from.
     * @return bool true.
     * @throws \BloomShm\Exception INCOMPATIBLE: names the filter that does not fit the others, and
     *     what differs. NOT_FOUND: names the one that is missing. NO_SPACE: the union does not fit.
     *     CORRUPT, READ_ONLY, TIMEOUT (also: a source was replaced again and again meanwhile),
     *     UNAVAILABLE.
     */
    function bloom_merge(string $into, string ...$from): bool {}

    /**
     * Saves a filter to a file: all layers, counts and lanes, the parameters, the seed and the
     * number of keys.
     *
     * The file is written under another name in the same folder, synced, and then renamed, so that
     * at $path there is the old file or the new one, always complete. Only its owner can read it
     * (0600), because the seed in it is a secret. A symbolic link at $path is replaced, not
     * followed. docs/FORMAT.md has the format.
     *
     * Filters can be used and added to meanwhile; keys that are added during the call may or may
     * not be in the file. Takes no lock, and works with bloomshm.readonly too.
     *
     * @param string $filter Its name.
     * @param string $path A file of the local file system, no stream; open_basedir applies to it
     *     and to its folder.
     * @return int Bytes written: the filter's, 200 more, and 72 for each layer.
     * @throws \BloomShm\Exception IO: the file cannot be written; the message has the system's
     *     reason. NOT_FOUND. CORRUPT: the filter is damaged. TIMEOUT: it was replaced again and
     *     again meanwhile. UNAVAILABLE, INCOMPATIBLE, NO_SPACE.
     * @throws \ValueError $path is empty or has NUL bytes.
     */
    function bloom_dump(string $filter, string $path): int {}

    /**
     * Publishes a filter that bloom_dump() saved, and replaces any filter of that name.
     *
     * Nothing changes before the whole file has been read and its checksums agree. Checksums find
     * damage, not malice: a user with write access to the file decides the filter's answers. Keys
     * that are added to the name meanwhile are in the restored filter too. A sliding filter has
     * aged by the wall-clock time that passed.
     *
     * Cost: reading the file; room in the segment for the old and the new filter together.
     *
     * @param string $filter The name to publish it under; it may differ from the name at the dump.
     * @param string $path A file of the local file system, no stream; open_basedir applies.
     * @return bool true.
     * @throws \BloomShm\Exception IO: the file cannot be read. CORRUPT: it is damaged, cut short,
     *     has bytes after its end, or is another kind of file. INCOMPATIBLE: another format version
     *     or byte order. NO_SPACE: it does not fit. READ_ONLY, TIMEOUT, UNAVAILABLE.
     * @throws \ValueError $path is empty or has NUL bytes.
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
     *  - name, type: `fixed`, `scalable`, `sliding` or `counting`
     *  - error_rate, expansion, window: as asked for
     *  - capacity: keys, as asked for; after a load the number that its size holds; scalable: that
     *    of its layers
     *  - items: different keys, as far as an add could tell; sliding: the keys still found,
     *    estimated from the bits
     *  - hashes: probes a key, in the newest layer; partitions; bytes: 8,192 a partition; of all
     *    layers
     *  - bits_per_key: 8 x bytes / items; null when it is empty
     *  - fill: share of the bits that are set; counting: of the counters that are not 0; sliding:
     *    mean of the lanes in use
     *  - estimated_error_rate: how many of all absent keys are answered "maybe", from the bits: for
     *    a fixed filter the mean over the partitions of fill^hashes. worst_partition_error_rate: of
     *    those whose partition, in each layer, is the worst
     *  - generation: grows with every publication of the name, and with every layer; published_at:
     *    when it was published, unix time with fractions
     *  - questions: keys asked about since then; maybes: those of them that were answered "maybe";
     *    the difference is what the filter saved. A process adds its counts once a second while it
     *    asks, and when it ends; this call adds the caller's. It reads the clock at one of 64
     *    questions, so in a long request that asks seldom it adds them later. A process that is
     *    killed loses the counts of its last second, and of up to 64 questions before. One with
     *    bloomshm.readonly is not counted
     *  - fetches: an array of what bloom_fetch() got since then. asked: calls that the filter has
     *    answered; denied: null, by the filter; found: a stored value; loaded: a value of the
     *    loader; confirmed: the loader found none, so the filter was wrong. A loader that throws
     *    counts in asked only
     *  - false_positives: the same number as confirmed
     *  - source: where the filter comes from, if it follows one of another host; else null, as
     *    version and lag. version: the number of the set there; lag: seconds since the source last
     *    said that this is its newest version: a "no" is certain as of then. max_lag: the lag above
     *    which the filter is stale, or null; stale: true: every answer is "maybe", until the source
     *    is heard again
     *  - unsent: keys of adds that cannot be sent to other hosts, because the room for them was
     *    full, or they have more than 4,072 bytes: other hosts lack them, and this one loses them
     *    with the next version, if the source does not have them. null: none are to be sent
     *  - layers: one array each, the oldest first, with capacity, items, error_rate (the layer's
     *    share), hashes, partitions, bytes, fill, estimated_error_rate; only scalable filters have
     *    several
     *
     * @param string $filter Its name.
     * @return array<string, mixed>|null null: not published, damaged, being cleared, or
     *     unreachable.
     */
    function bloom_info(string $filter): ?array {}

    /**
     * Where a filter lies: its runs of neighbouring partitions, from the oldest layer on, each as
     * its first partition and their number. Partitions have 8,192 bytes and are counted from 0 on.
     * For pictures of the memory: a run says nothing of the keys. Cost: a step for each partition;
     * reads no bit.
     *
     * @param string $filter Its name.
     * @return list<array{int, int}>|null null: there is no such filter, or it cannot be trusted.
     * @throws \ValueError $filter is not a filter's name.
     */
    function bloom_runs(string $filter): ?array {}

    /**
     * The fill of each partition of a filter (see `fill` of bloom_info()), from the oldest layer
     * on. For pictures of it. Cost: reads every bit, about 0.1 s a GB; 16 bytes a partition.
     *
     * @param string $filter Its name.
     * @return list<float>|null null: there is no such filter, or it cannot be trusted.
     * @throws \ValueError $filter is not a filter's name.
     */
    function bloom_fills(string $filter): ?array {}

    /**
     * The state of the segment and of this process's attachment to it. Never throws.
     *
     * Frees the memory of dead loaders on the way. Attaches where there is a segment, and never
     * creates one.
     *
     *  - available: the segment is attached; reason: why it is not ("no segment yet ..." where
     *    nothing was stored, or the file was removed), or a remark on it, or null
     *  - path: in use, or the one that would be; layout_version; owner_uid, mode (int): of the file
     *  - filter_bytes, filter_bytes_free, largest_free_bytes (the largest contiguous part; a filter
     *    can use all free memory all the same)
     *  - cache_bytes, cache_bytes_free: the record store; free are empty pages
     *  - filters; attached: processes that may write, exact up to 255
     *  - repairs: how often a process repaired what a dead process had left; lock_timeouts: both
     *    since the segment was created
     *  - questions, maybes: the sums of all filters; see bloom_info()
     *  - outbox_keys: keys that pages have added to followed filters, and that wait to be sent to
     *    other hosts; outbox_bytes, outbox_bytes_free: the room for them, 0 in a segment that has
     *    none; unsent: the sum of all filters; see bloom_info()
     *  - missing_answers: keys of this process answered "maybe" because their filter is not
     *    published, or the segment cannot be used; not with bloomshm.enable = 0
     *  - last_error: the newest exception's message in this thread, or why it could not attach, or
     *    null
     *
     * @return array<string, mixed>
     */
    function bloom_status(): array {}

    /**
     * Checks the whole segment: header, directory, descriptors, memory that two filters claim, work
     * in progress, and the record store.
     *
     * Any filter bits are valid, so they are not looked at. Repairs nothing. Waits a second for a
     * lock that another process holds; if it is not free then, a sentence says so.
     *
     * @return list<string> One sentence for each fault, at most 64; empty: no fault. Names the
     *     reason when the segment is unreachable, or when there is none yet.
     */
    function bloom_verify(): array {}

    /**
     * The read path of a page: a stored record, else null if the filter says no, else the result of
     * $load, which is stored. A null from $load is a confirmed false positive: it is counted and
     * remembered until the key is added or the filter is published anew. So write to the backend
     * first, and add the key to the filter second.
     *
     * One process loads a key; the others wait for it, at most 5 seconds, or take a value that
     * expired at most 5 seconds before that load began. A value that is loaded while the key is
     * added, forgotten or stored anew is returned and not stored. A value that can no longer be
     * unserialized is loaded anew: see bloom_cache_remember(). The record belongs to filter and
     * key; bloom_cache_scan() does not show it. Without a record store, or with a key of more than
     * about 65,000 bytes, nothing is stored, and every call that the filter lets through loads.
     *
     * Cost of a stored record: two look-ups, about 100 ns.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @param callable $load Called as $load($key), by one process at a time for each key.
     * @param int $ttl Seconds the record lives, 0 (no limit) or 1 to 315,360,000.
     * @return mixed The record, or null.
     * @throws \BloomShm\Exception NOT_FOUND, only with bloomshm.missing_filter = throw.
     *     INCOMPATIBLE: the loaded value cannot be stored: see bloom_cache_set(). Exceptions of
     *     $load pass through.
     */
    function bloom_fetch(string $filter, string $key, callable $load, int $ttl = 0): mixed {}

    /**
     * bloom_fetch() for all keys of a page: one answer for each, in the order and under the array
     * keys of $keys. The filter is asked for all at once, from one generation, and the records are
     * looked up at once. $load is called once, with a list of the keys that are neither stored nor
     * denied, and that no other process is loading. A key comes only once in it, as a string.
     *
     * $load returns an array key => value. A key that is missing from it, or null, is a confirmed
     * false positive, as a null from the $load of bloom_fetch(). (In a PHP array the key "12" is
     * the int 12; both are found.) Other keys in the array are ignored.
     *
     * Then the call waits for the keys that other processes load, at most 5 seconds in all. It
     * loads its own first, and holds nothing while it waits: so two processes that want each
     * other's keys do not wait for each other. For a key that it did not get (the other loader has
     * died, or thrown) it calls $load once more.
     *
     * All that bloom_fetch() promises holds for each key. If one loaded value cannot be stored
     * (INCOMPATIBLE), none of them is.
     *
     * Cost: with all keys stored or denied about 1.5 microseconds for 20 keys. A call that loads
     * takes at most 192 of the 256 places for loaders in each part of the store (one part up to 64
     * MB): values of more keys are returned, and stored only by later calls.
     *
     * @param string $filter Its name.
     * @param array $keys Keys of any bytes: string, int, float or Stringable.
     * @param callable $load Called as $load(list of keys), returns an array key => value.
     * @param int $ttl Seconds the records live, 0 (no limit) or 1 to 315,360,000.
     * @return array<mixed> By the array keys of $keys: the records, or null.
     * @throws \TypeError $load did not return an array, or returned a list of which no index is one
     *     of the keys. Nothing is stored.
     * @throws \BloomShm\Exception NOT_FOUND, INCOMPATIBLE: as bloom_fetch(). Exceptions of $load
     *     pass through.
     */
    function bloom_fetch_many(string $filter, array $keys, callable $load, int $ttl = 0): array {}

    /**
     * Removes the record that bloom_fetch() stored for a key. A value that is being loaded for the
     * key is not stored. Call it after the backend's value has changed.
     *
     * @param string $filter Its name.
     * @param string $key Any bytes.
     * @return bool false: there was none.
     * @throws \BloomShm\Exception TIMEOUT: the record is still there, because a writer holds its
     *     lock; call again.
     */
    function bloom_forget(string $filter, string $key): bool {}

    /**
     * Reads a record; counts as use of it. About 40 ns and the copy of the value. Takes no lock and
     * never waits, but for one case: a record of more than 4 kB of which no copy was undisturbed
     * for 10 milliseconds, because it was replaced, or records of other sizes took over memory
     * beside it. Then it waits for a lock as a change does; without the lock the record counts as
     * missing.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $default Returned when there is no such record.
     * @return mixed The value, of the type it was stored with.
     * @throws \BloomShm\Exception INCOMPATIBLE: igbinary wrote it, and that extension is not
     *     loaded. Exceptions of the value's class in unserializing pass through. The record stays.
     */
    function bloom_cache_get(string $key, mixed $default = null): mixed {}

    /**
     * Reads many records.
     *
     * @param array $keys Cache keys.
     * @param mixed $default The value of each absent key.
     * @return array<mixed> By cache key; every one of $keys is there.
     * @throws \BloomShm\Exception INCOMPATIBLE: as bloom_cache_get().
     */
    function bloom_cache_get_many(array $keys, mixed $default = null): array {}

    /**
     * Stores a record, in one step: readers see the old value or the new one. When there is no
     * room, a record that has not been used for long is evicted, never one of the most recently
     * used quarter.
     *
     * Key and stored value together may have 64 MB, and a quarter of bloomshm.cache_memory.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $value Arrays and objects go through bloomshm.serializer.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return bool false: not stored. Refused for its size (counted in `rejected`): an older value
     *     of the key is removed too, because a reader could take it for the new one. No lock in
     *     time (counted in `lock_timeouts`), or no record store: an older value stays. (In a store
     *     of several shards, one of a seventh of the store, or of 35 MB, may have gone.)
     * @throws \BloomShm\Exception INCOMPATIBLE: the value cannot be stored: a resource (one in an
     *     array is stored as 0, as serialize() does); an array or object deeper than
     *     unserialize_max_depth (PHP's setting, 4,096 levels), which could not be read again; or
     *     any array or object, if bloomshm.serializer is none. Exceptions in serializing pass
     *     through, for instance PHP's own for a closure.
     */
    function bloom_cache_set(string $key, mixed $value, int $ttl = 0): bool {}

    /**
     * Stores many records.
     *
     * @param array $values Cache key => value.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return int How many were stored.
     * @throws \BloomShm\Exception INCOMPATIBLE: a value cannot be stored; none was. Exceptions in
     *     serializing pass through, and none was stored.
     */
    function bloom_cache_set_many(array $values, int $ttl = 0): int {}

    /**
     * Stores a record if there is none. Else it counts as use of the record, which stays as it is.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $value As in bloom_cache_set().
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return bool false: there is one, the value was refused, or no lock was free in time
     *     (counted in `lock_timeouts`); nothing changed.
     * @throws \BloomShm\Exception INCOMPATIBLE: as bloom_cache_set().
     */
    function bloom_cache_add(string $key, mixed $value, int $ttl = 0): bool {}

    /**
     * Stores a record if there is one.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $value As in bloom_cache_set().
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000; counts anew.
     * @return bool false: there is none, the value was refused, or no lock was free in time
     *     (counted in `lock_timeouts`); nothing changed.
     * @throws \BloomShm\Exception INCOMPATIBLE: as bloom_cache_set().
     */
    function bloom_cache_replace(string $key, mixed $value, int $ttl = 0): bool {}

    /**
     * Is there a record? Does not count as use of it.
     *
     * @param string $key 0 to 65,535 bytes.
     * @return bool true: there is.
     */
    function bloom_cache_has(string $key): bool {}

    /**
     * Removes a record. A value that bloom_cache_remember() is loading for the key is not stored.
     *
     * @param string $key 0 to 65,535 bytes.
     * @return bool false: there was none; or no lock was free in time (counted in `lock_timeouts`):
     *     then the record stays.
     */
    function bloom_cache_delete(string $key): bool {}

    /**
     * Removes many records.
     *
     * @param array $keys Cache keys.
     * @return int How many there were. Those whose lock was not free in time stay, and are not
     *     counted (`lock_timeouts` has them).
     */
    function bloom_cache_delete_many(array $keys): int {}

    /**
     * Adds to an integer record. If there is none, creates one of $initial + $by, or does nothing.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param int $by May be negative.
     * @param int $initial The value before the first step.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000, of a record that is created; an
     *     existing one keeps its own.
     * @param bool $create false: only if there is a record.
     * @return int|false The new value; false, only if $create is false: there is no record.
     * @throws \BloomShm\Exception RANGE: outside the range of integers. INCOMPATIBLE: not an
     *     integer. TIMEOUT: no lock was free in time. The record stays as it was. UNAVAILABLE:
     *     there is no record store.
     */
    function bloom_cache_increment(
        string $key,
        int $by = 1,
        int $initial = 0,
        int $ttl = 0,
        bool $create = true,
    ): int|false {}

    /**
     * The same as bloom_cache_increment(), but subtracts.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param int $by May be negative.
     * @param int $initial The value before the first step.
     * @param int $ttl Seconds, as in bloom_cache_increment().
     * @param bool $create As in bloom_cache_increment().
     * @return int|false The new value, or false as in bloom_cache_increment().
     * @throws \BloomShm\Exception RANGE, INCOMPATIBLE, TIMEOUT, UNAVAILABLE: as
     *     bloom_cache_increment().
     */
    function bloom_cache_decrement(
        string $key,
        int $by = 1,
        int $initial = 0,
        int $ttl = 0,
        bool $create = true,
    ): int|false {}

    /**
     * Stores a value if the record is still the expected one. Type and bytes are compared, as they
     * are stored. An array or object is serialized as the record was, by whichever serializer.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param mixed $expected null: there must be no record.
     * @param mixed $new As in bloom_cache_set().
     * @param int|null $ttl Seconds, 0 (no limit) or 1 to 315,360,000; counts anew. null: the
     *     existing record's time limit stays; a record that is created has none.
     * @return bool false: the record was another one, $new was refused, or no lock was free in time
     *     (counted in `lock_timeouts`); nothing changed.
     * @throws \BloomShm\Exception INCOMPATIBLE: as bloom_cache_set(); $expected is an array or
     *     object, igbinary wrote the record, and that extension is not loaded.
     */
    function bloom_cache_cas(string $key, mixed $expected, mixed $new, ?int $ttl = 0): bool {}

    /**
     * Lengthens a string record; creates one without a time limit if there is none.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param string $suffix The bytes to append.
     * @param string $delimiter Goes before them, except into a record that is created.
     * @return int The new length in bytes.
     * @throws \BloomShm\Exception INCOMPATIBLE: not a string. NO_SPACE: past the size limit.
     *     TIMEOUT: no lock was free in time. The record stays as it was. UNAVAILABLE: there is no
     *     record store.
     */
    function bloom_cache_append(string $key, string $suffix, string $delimiter = ""): int {}

    /**
     * Sets a record's time limit anew and counts as use of it.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return bool false: there is none, or no lock was free in time (counted in `lock_timeouts`).
     */
    function bloom_cache_touch(string $key, int $ttl): bool {}

    /**
     * The record, or the result of $load, which is stored. One process loads; the others wait for
     * it at most 5 seconds, and then load for themselves. No lock is held meanwhile.
     *
     * A stale value is returned only while another process loads the key, and only if it expired at
     * most 5 seconds before that load began. Processes wait only once for a value that cannot be
     * stored (too large, for instance): then all load at once. After a loader that throws, one of
     * the waiting processes loads: a backend that fails is asked by one process at a time.
     *
     * A change of the key's value during the load (set, add, replace, cas, increment, decrement,
     * append, delete, clear, restore), in another process or in $load itself, stays: the result of
     * $load is then returned, and not stored. It is not stored either if 256 keys of the same part
     * of the store are being loaded already.
     *
     * A value that can no longer be unserialized, expired or not, is loaded anew; exceptions of its
     * class are dropped.
     *
     * @param string $key 0 to 65,535 bytes.
     * @param callable $load Called as $load($key).
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return mixed The value; null is stored like any other.
     * @throws \BloomShm\Exception INCOMPATIBLE: the loaded value cannot be stored: see
     *     bloom_cache_set(). Exceptions of $load pass through.
     */
    function bloom_cache_remember(string $key, callable $load, int $ttl = 0): mixed {}

    /**
     * bloom_cache_remember() for many keys, as bloom_fetch_many() is bloom_fetch(): one call of
     * $load for all keys that are not stored, and that no other process is loading.
     *
     * A key that is missing from the array that $load returns has the value null, which is stored
     * like any other.
     *
     * @param array $keys Cache keys.
     * @param callable $load Called as $load(list of keys), returns an array key => value.
     * @param int $ttl Seconds, 0 (no limit) or 1 to 315,360,000.
     * @return array<mixed> The values, by the array keys of $keys.
     * @throws \TypeError As bloom_fetch_many().
     * @throws \BloomShm\Exception INCOMPATIBLE: a loaded value cannot be stored; none was.
     *     Exceptions of $load pass through.
     */
    function bloom_cache_remember_many(array $keys, callable $load, int $ttl = 0): array {}

    /**
     * Removes and returns the least recently used record. In a store of one shard (up to 64 MB) the
     * order is exact up to 127 records, else to a 64th of the records; those that have expired, and
     * those of bloom_fetch(), count too, until they are evicted. Several shards have no
     * common clock, and their oldest records are compared by an estimate. Among hundreds of records
     * the result is about one of the oldest tenth; among a few it may be any of them. The search
     * reads all records once for each 64th, and about 200 times in a store that was just filled.
     *
     * Records of bloom_fetch() stay.
     *
     * @return array{string, mixed}|null Key and value; null: there is none, or no lock was free in
     *     time (counted in `lock_timeouts`), or other processes changed it for 50 ms.
     * @throws \BloomShm\Exception INCOMPATIBLE: igbinary wrote it, and that extension is not
     *     loaded; the record stays. Exceptions of the value's class in unserializing pass through;
     *     the record is gone.
     */
    function bloom_cache_pop_oldest(): ?array {}

    /**
     * Walks the records page by page. A record that is not written meanwhile comes exactly once.
     * Does not count as use.
     *
     * When unserializing throws, the records of that page are skipped: the cursor has moved on, and
     * the next call continues behind them.
     *
     * @param int $cursor Start with 0; the call moves it on; it is 0 again after the last page.
     * @param int $count About how many records a page has, 1 or more; never above 2 x $count + 64.
     * @param string $prefix Only keys that begin with it.
     * @return array<mixed> Key => value.
     */
    function bloom_cache_scan(int &$cursor, int $count = 100, string $prefix = ""): array {}

    /**
     * Removes all records, including those of bloom_fetch(), or the ones with a prefix. Values that
     * bloom_cache_remember() and bloom_fetch() are loading, under whatever key, are returned to
     * their callers and, as a rule, not stored.
     *
     * @param string $prefix Only keys that begin with it; "": everything.
     * @return int How many there were, without expired ones and those of bloom_fetch(). Records
     *     whose lock was not free in time stay (`lock_timeouts` has them).
     */
    function bloom_cache_clear(string $prefix = ""): int {}

    /**
     * Saves all records, except those of bloom_fetch(), to a file with checksums, and replaces an
     * old file in one step.
     *
     * @param string $path The file; open_basedir applies.
     * @return int How many records.
     * @throws \BloomShm\Exception IO: the file cannot be written. NO_SPACE: no private memory.
     *     UNAVAILABLE: there is no record store. CORRUPT, INCOMPATIBLE: of the segment.
     * @throws \ValueError $path is empty or has NUL bytes.
     */
    function bloom_cache_dump(string $path): int {}

    /**
     * Adds the records of a saved file that are absent and not expired. A file that is damaged
     * anywhere changes nothing.
     *
     * @param string $path The file; open_basedir applies.
     * @return int How many were added.
     * @throws \BloomShm\Exception IO: the file cannot be read. CORRUPT: it is damaged, or another
     *     kind of file. INCOMPATIBLE: another format version or byte order. NO_SPACE: no private
     *     memory. TIMEOUT: a lock was not free within a second; records that were added stay.
     *     UNAVAILABLE: there is no record store.
     * @throws \ValueError $path is empty or has NUL bytes.
     */
    function bloom_cache_restore(string $path): int {}

    /**
     * Figures of the record store, all 0 without one: records (with expired ones that are still in
     * memory), max_records (0: as many as fit), bytes_used, bytes_total, data_bytes (of keys and
     * values), shards; and counts since the segment was created: hits, misses, sets, evictions,
     * expired, rejected, lock_timeouts, repairs.
     *
     * @return array<string, int>
     */
    function bloom_cache_info(): array {}

    /**
     * The memory of the record store by size: each class of slots that has a page, the smallest
     * slots first. `use`: "records" (one record a slot), "parts" (of records above 2 kB or so),
     * "index". `bytes` are those of its pages. Empty without a record store.
     *
     * @return list<array{use: string, slot_bytes: int, bytes: int, slots: int, used: int}>
     */
    function bloom_cache_classes(): array {}
}

// End of bloomshm
