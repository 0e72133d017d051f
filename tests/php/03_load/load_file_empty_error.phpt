--TEST--
bloom_load_file() of a file without keys throws EMPTY, unless allow_empty
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_empty_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
foreach (['', "\n", "\n\n\n", "\r\n\r\n"] as $content) {
    file_put_contents(scratch(), $content);
    show_thrown(fn () => bloom_load_file('f', scratch()));
}
var_dump(bloom_maybe_has_many('f', ['stands', 'a']) === [true, false]);
$info = bloom_load_file('f', scratch(), allow_empty: true);
var_dump($info['keys'], bloom_maybe_has('f', 'stands'));
done();
?>
--EXPECTF--
BloomShm\Exception EMPTY: %s
BloomShm\Exception EMPTY: %s
BloomShm\Exception EMPTY: %s
BloomShm\Exception EMPTY: %s
bool(true)
int(0)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
