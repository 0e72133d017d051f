--TEST--
bloom_load_file(): a last line without newline that ends in \r
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_crlf_last.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), "a\r\nb\r");
var_dump(bloom_load_file('f', scratch())['keys'], bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'b') || bloom_maybe_has('f', "b\r"));
done();
?>
--EXPECT--
int(2)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
