--TEST--
bloom_fetch(): adds void a remembered null in filters of every kind
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_null_void_kinds.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('fixed', ['k'], expansion: 0);
bloom_insert('growing', [...keys('x', 1000), 'k']);
bloom_reserve('sliding', 1000, window: 36_000_000);
bloom_add('sliding', 'k');
bloom_load('counting', ['k'], counting: true);
foreach (['fixed', 'growing', 'sliding', 'counting'] as $filter) {
    check_same(null, bloom_fetch($filter, 'k', fn () => null), "$filter: not known");
    check_same(null, bloom_fetch($filter, 'k', fn () => 'asked'), "$filter: remembered");
    check_same(1, bloom_info($filter)['false_positives'], "$filter: counted");
    bloom_add($filter, 'k');
    check_same('found', bloom_fetch($filter, 'k', fn () => 'found'), "$filter: asked again");
}
// A full filter takes what it has already: the null is void all the same.
bloom_load('full', ['k', 'l'], capacity: 2, expansion: 0);
bloom_fetch('full', 'k', fn () => null);
bloom_add('full', 'k');
var_dump(bloom_fetch('full', 'k', fn () => 'found'));
done();
?>
--EXPECT--
string(5) "found"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
