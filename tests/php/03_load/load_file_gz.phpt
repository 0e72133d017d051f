--TEST--
bloom_load_file() decompresses a path that ends in .gz
--EXTENSIONS--
bloomshm
zlib
--INI--
bloomshm.path={PWD}/load_file_gz.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch('.gz'), gzencode(implode("\n", keys('k', 20000))));
var_dump(bloom_load_file('f', scratch('.gz'), seed: 'fixed')['keys'], count_no('f', keys('k', 20000)), bloom_maybe_has('f', 'absent'));
// Several members one after the other, as gzip makes them of appended files.
file_put_contents(scratch('.gz'), gzencode("a\nb\n") . gzencode("c\nd"));
var_dump(bloom_load_file('f', scratch('.gz'))['keys'], count_no('f', ['a', 'b', 'c', 'd']));
// Another name: the bytes are the keys.
copy(scratch('.gz'), scratch('.gz.txt'));
bloom_load_file('f', scratch('.gz.txt'));
var_dump(bloom_maybe_has('f', 'a'));
done();
?>
--EXPECT--
int(20000)
int(0)
bool(false)
int(4)
int(0)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
