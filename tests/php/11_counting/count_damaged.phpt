--TEST--
A damaged counting filter: 15 of everything, removals throw CORRUPT, adds change nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/count_damaged.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('a rather unusual name', 10, counting: true);
bloom_add('a rather unusual name', 'a');
$file = fopen(segment(), 'r+');
$name = strpos(stream_get_contents($file), 'a rather unusual name');
// The first byte of the seed, behind the generation, in both descriptors. The next call sees it.
foreach ([64, 64 + 192] as $descriptor) {
    fseek($file, $name - 1 + $descriptor + 8);
    $seed = fread($file, 1);
    fseek($file, $name - 1 + $descriptor + 8);
    fwrite($file, ~$seed);
}
fclose($file);
echo Child::run(<<<'PHP'
    $name = 'a rather unusual name';
    var_dump(bloom_count($name, 'a'), bloom_count($name, 'b'), bloom_maybe_has($name, 'b'), bloom_ready($name), bloom_info($name));
    show_thrown(fn () => bloom_remove($name, 'a'), fn () => bloom_add($name, 'b'));
    check(bloom_verify() !== [], 'bloom_verify()');
    check_same(true, bloom_drop($name), 'bloom_drop()');
    PHP);
done();
?>
--EXPECTF--
int(15)
int(15)
bool(true)
bool(false)
NULL
BloomShm\Exception CORRUPT: filter "a rather unusual name" in %s is damaged%S
nothing thrown, returned false
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
