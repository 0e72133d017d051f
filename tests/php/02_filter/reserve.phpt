--TEST--
bloom_reserve() makes an empty, live filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_reserve('f', 1000, expansion: 0));
var_dump(bloom_ready('f'), bloom_maybe_has('f', 'a'), bloom_info('f')['items'], bloom_info('f')['capacity']);
bloom_add('f', 'a');
// The same parameters: it stands already, with what is in it.
var_dump(bloom_reserve('f', 1000, 0.01, 0), bloom_maybe_has('f', 'a'));
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
int(0)
int(1000)
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
