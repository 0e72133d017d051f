--TEST--
bloom_load_file() handles \r\n; a \r elsewhere belongs to the key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_crlf.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), "a\r\nb\r\n\r\nc\rd\r\ne\n\rf\r\n\ng\r\r\nlast\r\n");
var_dump(bloom_load_file('f', scratch())['keys']);
var_dump(count_no('f', ['a', 'b', "c\rd", 'e', "\rf", "g\r", 'last']));
var_dump(count_yes('f', ['', "\r", "a\r", 'c', 'd', 'f', 'g', "last\r"]));
done();
?>
--EXPECT--
int(7)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
