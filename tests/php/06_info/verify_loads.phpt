--TEST--
bloom_verify() while others load, rename and drop finds nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/verify_loads.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

create_segment();
$loader = new Child(<<<'PHP'
    for ($i = 0; $i < 300; $i++) {
        bloom_load('f' . $i % 3, keys("$i-", 1 + $i * 101 % 9000));
        bloom_rename('f' . $i % 3, 'g');
        bloom_copy('g', 'h');
        bloom_drop('h');
    }
    PHP);
$problems = [];
do {
    array_push($problems, ...bloom_verify());
} while (bloom_status()['attached'] > 1 || !bloom_ready('g'));
check_same('', $loader->end(), 'the loader');
var_dump($problems);
done();
?>
--EXPECT--
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
