--TEST--
Fifty thousand keys added while a load waits for its query are in the published filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_during_many.seg
bloomshm.filter_memory=64M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([false, true] as $stands) {
    bloom_load('f', (function () {
        yield 'a';
        $added = keys('added ', 50000);
        bloom_add_many('f', $added);
        yield 'b';
    })(), seed: 'fixed');
    var_dump(count_no('f', keys('added ', 50000)), count_no('f', ['a', 'b']), bloom_info('f')['estimated_error_rate'] <= 0.015);
}
done();
?>
--EXPECT--
int(0)
int(0)
bool(true)
int(0)
int(0)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
