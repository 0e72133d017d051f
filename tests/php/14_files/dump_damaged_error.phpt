--TEST--
A damaged filter cannot be dumped, and the message does not blame the file
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump_damaged_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('a rather unusual name', keys('k', 100));
bloom_dump('a rather unusual name', scratch());
$file = fopen(segment(), 'r+');
$name = strpos(stream_get_contents($file), 'a rather unusual name');
// The first byte of the seed, behind the generation, in both descriptors.
foreach ([64, 64 + 192] as $descriptor) {
    fseek($file, $name - 1 + $descriptor + 8);
    $seed = fread($file, 1);
    fseek($file, $name - 1 + $descriptor + 8);
    fwrite($file, ~$seed);
}
fclose($file);
echo Child::run(<<<'PHP'
    $name = 'a rather unusual name';
    $sum = md5_file(scratch());
    show_thrown(fn () => bloom_dump($name, scratch()), fn () => bloom_merge($name), fn () => bloom_merge('new', $name));
    var_dump($sum === md5_file(scratch()), bloom_maybe_has($name, 'absent'));
    // The way out of it.
    var_dump(bloom_restore($name, scratch()), bloom_maybe_has($name, 'k7'), bloom_maybe_has($name, 'absent'));
    PHP);
done();
?>
--EXPECTF--
BloomShm\Exception CORRUPT: filter "a rather unusual name" in %s is damaged%S
BloomShm\Exception %s
BloomShm\Exception CORRUPT: filter "a rather unusual name" in %s is damaged%S
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
