--TEST--
Names that are made and dropped without end never fill the directory
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/names_come_and_go.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($i = 0; $i < 50000; $i++) {
    if (!bloom_reserve("name $i", 10, expansion: 0) || !bloom_drop("name $i")) {
        check(false, "name $i");
        break;
    }
}
var_dump(bloom_list(), bloom_status()['filters'], bloom_maybe_has('name 7', 'a'));
done();
?>
--EXPECT--
array(0) {
}
int(0)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
