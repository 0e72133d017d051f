--TEST--
bloomshm.readonly=1: bloom_fetch() works, its false positives are not counted
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_readonly.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b']);
echo Child::run(<<<'PHP'
    var_dump(bloom_fetch('f', 'a', fn () => 'value'), bloom_fetch('f', 'a', fn () => 'never'));
    var_dump(bloom_fetch('f', 'b', fn () => null), bloom_fetch('f', 'b', fn () => 'never'), bloom_fetch('f', 'absent', fn () => 'never'));
    var_dump(bloom_forget('f', 'a'), bloom_fetch('f', 'a', fn () => 'anew'));
    PHP, ['bloomshm.readonly' => '1']);
var_dump(bloom_info('f')['false_positives'], bloom_fetch('f', 'a', fn () => 'never'), bloom_fetch('f', 'b', fn () => 'never'));
// An add voids what such a process remembered.
bloom_add('f', 'b');
var_dump(bloom_fetch('f', 'b', fn () => 'found'));
done();
?>
--EXPECT--
string(5) "value"
string(5) "value"
NULL
NULL
NULL
bool(true)
string(4) "anew"
int(0)
string(4) "anew"
NULL
string(5) "found"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
