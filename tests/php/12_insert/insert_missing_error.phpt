--TEST--
bloom_insert() with create: false throws NOT_FOUND, whatever the policy; with create the policy has no say
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_missing_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['maybe', 'warn', 'throw'] as $policy) {
    echo Child::run(<<<'PHP'
        show_thrown(
            fn () => bloom_insert('missing', ['a'], create: false),
            fn () => bloom_insert('missing', [], create: false),
            fn () => bloom_insert(ini_get('bloomshm.missing_filter'), ['a']),
        );
        check_same(0, bloom_status()['missing_answers'], 'missing_answers');
        PHP, ['bloomshm.missing_filter' => $policy]);
}
var_dump(bloom_list());
done();
?>
--EXPECTF--
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
nothing thrown, returned [true]
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
nothing thrown, returned [true]
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
nothing thrown, returned [true]
array(3) {
  [0]=>
  string(5) "maybe"
  [1]=>
  string(5) "throw"
  [2]=>
  string(4) "warn"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
