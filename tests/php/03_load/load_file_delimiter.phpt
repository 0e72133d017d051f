--TEST--
bloom_load_file() with another delimiter: newlines belong to the keys
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_delimiter.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([',', "\0", "\t", "\xff", 'x', "\r"] as $delimiter) {
    file_put_contents(scratch(), implode($delimiter, ['a', "b\nc", '', 'd e', '']));
    check_same(3, bloom_load_file('f', scratch(), delimiter: $delimiter)['keys'], 'keys with ' . bin2hex($delimiter));
    check_same([true, true, true], bloom_maybe_has_many('f', ['a', "b\nc", 'd e']), 'found with ' . bin2hex($delimiter));
    check_same([false, false, false], bloom_maybe_has_many('f', ['b', 'c', '']), 'denied with ' . bin2hex($delimiter));
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
