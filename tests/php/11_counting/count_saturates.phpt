--TEST--
A count stays at 15 once it was reached, whatever is removed: 15 means "15 or more"
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/count_saturates.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, counting: true, seed: 'fixed');
for ($i = 0; $i < 14; $i++) {
    bloom_add('f', 'fourteen');
    bloom_add('f', 'fifteen');
    bloom_add('f', 'forty');
}
bloom_add('f', 'fifteen');
for ($i = 14; $i < 40; $i++) {
    bloom_add('f', 'forty');
}
var_dump(bloom_count('f', 'fourteen'), bloom_count('f', 'fifteen'), bloom_count('f', 'forty'));
for ($i = 0; $i < 14; $i++) {
    check_same([true, true, true], array_map(fn ($key) => bloom_remove('f', $key), ['fourteen', 'fifteen', 'forty']), "round $i");
}
var_dump(bloom_count('f', 'fourteen'), bloom_count('f', 'fifteen'), bloom_count('f', 'forty'));
for ($i = 0; $i < 100; $i++) {
    bloom_remove('f', 'forty');
}
var_dump(bloom_maybe_has('f', 'forty'), bloom_count('f', 'forty'), bloom_maybe_has('f', 'fourteen'), bloom_remove('f', 'fourteen'));
done();
?>
--EXPECT--
int(14)
int(15)
int(15)
int(0)
int(15)
int(15)
bool(true)
int(15)
bool(false)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
