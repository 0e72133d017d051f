--TEST--
An existing segment keeps its sizes when the INI says others, and says so
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/existing_sizes.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", ["a"]); echo bloom_status()["filter_bytes"], "\n";', ['bloomshm.filter_memory' => '2M']);
$status = bloom_status();
var_dump($status['available'], $status['filter_bytes'], $status['reason'], bloom_maybe_has('f', 'a'));
done();
?>
--EXPECTF--
2097152
bool(true)
int(2097152)
string(%d) "%sbloomshm.filter_memory%s"
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
