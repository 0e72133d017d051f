--TEST--
bloom_maybe_has() finds what was added and denies the rest
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0);
bloom_add_many('f', keys('k', 50));
for ($i = 0, $found = 0; $i < 50; $i++) {
    $found += (int) bloom_maybe_has('f', "k$i");
}
var_dump($found, bloom_maybe_has('f', 'k50'), bloom_maybe_has('f', 'K0'), bloom_maybe_has('f', "k0\0"), bloom_maybe_has('f', ''));
done();
?>
--EXPECT--
int(50)
bool(false)
bool(false)
bool(false)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
