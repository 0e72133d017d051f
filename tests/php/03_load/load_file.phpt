--TEST--
bloom_load_file() takes one key a line
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), "alpha\nbeta\n\ngamma delta\n\n\n\xe3\x82\xbf\n 0 \n0\nlast without newline");
$info = bloom_load_file('f', scratch());
var_dump($info['keys'], $info['type'], is_float($info['seconds']));
unset($info['keys'], $info['seconds']);
check_same(bloom_info('f'), $info, 'the rest is bloom_info()');
var_dump(count_no('f', ['alpha', 'beta', 'gamma delta', "\xe3\x82\xbf", ' 0 ', '0', 'last without newline']));
var_dump(count_yes('f', ['', "alpha\n", 'gamma', 'delta', "\n", 'last without newline' . "\n"]));
done();
?>
--EXPECT--
int(7)
string(8) "scalable"
bool(true)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
