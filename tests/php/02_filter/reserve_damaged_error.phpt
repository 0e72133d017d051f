--TEST--
bloom_reserve() of a damaged filter throws CORRUPT: an empty one in its place would deny what was in it
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_damaged_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('a rather unusual name', keys('k', 100));
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
    show_thrown(fn () => bloom_reserve($name, 100));
    var_dump(count_no($name, [...keys('k', 100), 'absent']));
    var_dump(bloom_drop($name), bloom_reserve($name, 100));
    var_dump(bloom_maybe_has($name, 'absent'));
    PHP);
done();
?>
--EXPECTF--
BloomShm\Exception CORRUPT: filter "a rather unusual name" in %s is damaged (descriptor); drop it, or load it anew
int(0)
bool(true)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
