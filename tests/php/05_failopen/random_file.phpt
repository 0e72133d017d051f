--TEST--
Random bytes at the path are refused
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/random_file.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 8);
$output = [];
for ($round = 0; $round < 12; $round++) {
    $bytes = '';
    for ($i = 0; $i < 1 << 15; $i++) {
        $bytes .= pack('V', mt_rand());
    }
    file_put_contents(segment(), str_repeat($bytes, 1 + $round % 3 * 4));
    chmod(segment(), 0600);
    $output[] = Child::run(<<<'PHP'
        echo json_encode([bloom_maybe_has('f', 'x'), bloom_list(), bloom_info('f')]);
        echo strstr(thrown_by(fn () => bloom_load('f', ['a'])), ':', true);
        PHP);
}
var_dump(array_unique($output));
?>
--EXPECTF--
array(1) {
  [0]=>
  string(%d) "[true,[],null]BloomShm\Exception CORRUPT"
}
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
