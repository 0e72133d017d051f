--TEST--
More processes at once than cores: each gets answers
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/attach_many.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 100), seed: 'fixed');
$children = [];
for ($i = 0; $i < 24; $i++) {
    $children[] = $child = new Child('echo count_no("f", keys("k", 100)), count_yes("f", keys("x", 100)), "\n"; fgets(STDIN);');
}
foreach ($children as $child) {
    check_same('00', $child->hear(), 'wrong answers');
}
var_dump(bloom_status()['attached']);
array_map(fn ($child) => $child->kill(), $children);
var_dump(bloom_status()['attached']);
done();
?>
--EXPECT--
int(25)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
