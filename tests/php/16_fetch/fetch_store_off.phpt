--TEST--
bloomshm.cache_memory=0: bloom_fetch() asks the filter, then the loader, every time
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_store_off.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=0
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b']);
$calls = 0;
$load = function (string $key) use (&$calls) {
    $calls++;
    return $key === 'a' ? 'value' : null;
};
for ($i = 0; $i < 3; $i++) {
    var_dump(bloom_fetch('f', 'a', $load), bloom_fetch('f', 'b', $load), bloom_fetch('f', 'absent', $load));
}
var_dump($calls, bloom_info('f')['false_positives'], bloom_forget('f', 'a'));
bloom_add('f', 'b');
show_thrown(fn () => bloom_fetch('f', 'a', fn () => throw new LogicException('thrown by the loader')), fn () => bloom_fetch('f', 'a', $load, -1));
done();
?>
--EXPECTF--
string(5) "value"
NULL
NULL
string(5) "value"
NULL
NULL
string(5) "value"
NULL
NULL
int(6)
int(3)
bool(false)
LogicException: thrown by the loader
ValueError: bloom_fetch(): Argument #4 ($ttl) must be %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
