--TEST--
A .gz that is cut short or damaged publishes nothing
--EXTENSIONS--
bloomshm
zlib
--INI--
bloomshm.path={PWD}/load_file_gz_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$free = free_bytes();
mt_srand(1);
$lines = '';
for ($i = 0; $i < 50000; $i++) {
    $lines .= mt_rand() . "\n";
}
$packed = gzencode($lines);
$damaged = $packed;
$damaged[intdiv(strlen($packed), 2)] = ~$damaged[intdiv(strlen($packed), 2)];
foreach (['cut' => substr($packed, 0, intdiv(strlen($packed), 2)), 'damaged' => $damaged] as $what => $bytes) {
    file_put_contents(scratch('.gz'), $bytes);
    echo $what, ': ', thrown_by(fn () => @bloom_load_file('f', scratch('.gz'))), "\n";
}
var_dump(bloom_maybe_has_many('f', ['stands', 'absent']) === [true, false], free_bytes() === $free);
done();
?>
--EXPECTF--
cut: BloomShm\Exception IO: %s
damaged: BloomShm\Exception IO: %s
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
