--TEST--
A load that counts takes each key as often as it is offered
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$info = bloom_load('c', [...keys('k', 1000), ...keys('k', 500), 'k0'], counting: true);
var_dump($info['type'], $info['keys'], $info['items'], $info['expansion']);
var_dump(bloom_count('c', 'k0'), bloom_count('c', 'k400'), bloom_count('c', 'k900'), bloom_count('c', 'none'));
var_dump(bloom_remove('c', 'k900'), bloom_maybe_has('c', 'k900'), bloom_maybe_has('c', 'k400'));
show_thrown(fn () => bloom_load('c', ['a'], expansion: 4, counting: true));
done();
?>
--EXPECTF--
string(8) "counting"
int(1501)
int(1000)
int(0)
int(3)
int(2)
int(1)
int(0)
bool(true)
bool(false)
bool(true)
ValueError: bloom_load(): Argument #6 ($expansion) must be 0 or its default for a counting filter
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
