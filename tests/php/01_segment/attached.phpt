--TEST--
bloom_status()['attached'] counts living processes, killed ones do not stay
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/attached.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

create_segment();
var_dump(bloom_status()['attached']);
$children = [];
for ($i = 0; $i < 3; $i++) {
    $children[] = $child = new Child('bloom_list(); echo "here\n"; fgets(STDIN);');
    $child->hear();
}
var_dump(bloom_status()['attached']);
array_pop($children)->kill();
var_dump(bloom_status()['attached']);
array_map(fn ($child) => $child->end(), $children);
var_dump(bloom_status()['attached']);
done();
?>
--EXPECT--
int(1)
int(4)
int(3)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
