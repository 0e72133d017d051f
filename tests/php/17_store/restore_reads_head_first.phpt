--TEST--
bloom_cache_restore(), bloom_restore(): a file that is something else is refused for its first bytes, however long it is
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_reads_head_first.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--SKIPIF--
<?php
if (!is_readable('/proc/self/io')) { die('skip needs /proc/self/io'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

/** Bytes that this process has read from files. */
function bytes_read(): int
{
    preg_match('/rchar: (\d+)/', file_get_contents('/proc/self/io'), $match);
    return (int) $match[1];
}

bloom_cache_set('a', 1);
bloom_cache_dump(scratch('.records'));
$head = substr(file_get_contents(scratch('.records')), 0, 64);
$files = [
    'zeros' => '',
    'a text' => 'these are no records, and there are many of them',
    'of another version' => substr_replace($head, "\x63", 8, 1),
];
foreach ($files as $sort => $begin) {
    $file = fopen(scratch('.long'), 'w');
    fwrite($file, $begin);
    ftruncate($file, 3 << 30); // a hole, which takes no room on disk
    fclose($file);
    foreach (['bloom_cache_restore', 'bloom_restore'] as $function) {
        $before = bytes_read();
        $arguments = $function === 'bloom_restore' ? ['f', scratch('.long')] : [scratch('.long')];
        echo "$function, $sort: ", preg_replace('/:.*/', '', thrown_by(fn () => $function(...$arguments))), "\n";
        check(bytes_read() - $before < 1 << 20, "$function, $sort: read " . (bytes_read() - $before));
    }
}
done();
?>
--EXPECT--
bloom_cache_restore, zeros: BloomShm\Exception CORRUPT
bloom_restore, zeros: BloomShm\Exception CORRUPT
bloom_cache_restore, a text: BloomShm\Exception CORRUPT
bloom_restore, a text: BloomShm\Exception CORRUPT
bloom_cache_restore, of another version: BloomShm\Exception INCOMPATIBLE
bloom_restore, of another version: BloomShm\Exception CORRUPT
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
