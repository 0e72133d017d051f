--TEST--
bloom_load_file() of php://stdin
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_stdin.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$input = implode("\n", keys('k', 20000));
echo Child::run('var_dump(bloom_load_file("f", "php://stdin", seed: "fixed")["keys"]);', input: $input);
var_dump(count_no('f', keys('k', 20000)), bloom_maybe_has('f', 'absent'));
echo Child::run('show_thrown(fn () => bloom_load_file("f", "php://stdin"));', input: '');
done();
?>
--EXPECTF--
int(20000)
int(0)
bool(false)
BloomShm\Exception EMPTY: %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
