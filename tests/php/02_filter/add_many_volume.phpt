--TEST--
bloom_add_many() of many keys: none is denied afterwards
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_many_volume.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 300000, expansion: 0, seed: 'fixed');
$new = bloom_add_many('f', keys('k', 100000));
$new += bloom_add_many('f', (function () {
    yield from keys('k', 50000);
    yield from keys('other ', 100000);
})());
// At this rate a few new keys look as if they were there.
check($new > 198000 && $new <= 200000, "new: $new");
check_same($new, bloom_info('f')['items'], 'items');
var_dump(count_no('f', keys('k', 100000)), count_no('f', keys('other ', 100000)));
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
