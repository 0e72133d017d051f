--TEST--
A merge of a filter onto itself, or of nothing, changes nothing and gives true
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_itself.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('fixed', 100, expansion: 0);
bloom_reserve('scalable', 100);
bloom_reserve('sliding', 100, window: 36_000_000);
bloom_reserve('counting', 100, counting: true);
foreach (['fixed', 'scalable', 'sliding', 'counting'] as $name) {
    bloom_add_many($name, keys('k', 90));
    $before = bloom_info($name);
    foreach ([[], [$name], [$name, $name, $name]] as $from) {
        check_same(true, bloom_merge($name, ...$from), "$name and " . count($from));
    }
    check_same($before, bloom_info($name), $name);
}
var_dump(bloom_count('counting', 'k1'));
show_thrown(fn () => bloom_merge('missing'), fn () => bloom_merge('missing', 'missing'));
done();
?>
--EXPECTF--
int(1)
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
