--TEST--
Three thousand filters: names come and go
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/many_filters.seg
bloomshm.filter_memory=100M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($i = 0; $i < 3000; $i++) {
    bloom_reserve("filter number $i", 10, expansion: 0);
    bloom_add("filter number $i", "key $i");
}
$wrong = 0;
for ($i = 0; $i < 3000; $i++) {
    $wrong += (int) !bloom_maybe_has("filter number $i", "key $i");
    $wrong += (int) bloom_maybe_has("filter number $i", 'key ' . ($i + 1));
}
var_dump($wrong, count(bloom_list()), bloom_status()['filters'], bloom_maybe_has('filter number 3000', 'x'));
// Names come and go for ever: what is dropped leaves no trace in the way.
for ($i = 0; $i < 3000; $i += 2) {
    check(bloom_drop("filter number $i"), "dropped $i");
}
for ($i = 0; $i < 1500; $i++) {
    check(bloom_reserve("another name $i", 10, expansion: 0), "reserved $i");
}
for ($i = 1; $i < 3000; $i += 2) {
    $wrong += (int) !bloom_maybe_has("filter number $i", "key $i");
    $wrong += (int) !bloom_maybe_has('filter number ' . $i - 1, 'missing is maybe');
}
var_dump($wrong, count(bloom_list()));
done();
?>
--EXPECT--
int(0)
int(3000)
int(3000)
bool(true)
int(0)
int(3000)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
