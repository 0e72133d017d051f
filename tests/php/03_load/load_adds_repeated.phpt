--TEST--
The same few keys added again and again while a load waits for its query do not make it fail
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_repeated.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([false, true] as $stands) {
    bloom_load('f', (function () {
        yield 'a';
        for ($i = 0; $i < 20000; $i++) {
            bloom_add('f', 'hot ' . $i % 10);
        }
        yield 'b';
    })());
    var_dump(count_no('f', [...keys('hot ', 10), 'a', 'b']));
}
done();
?>
--EXPECT--
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
