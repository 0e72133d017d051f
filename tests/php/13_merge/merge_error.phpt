--TEST--
bloom_merge() of what does not fit
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_error.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('a', 20000, expansion: 0, seed: 'shared');
bloom_reserve('size', 40000, expansion: 0, seed: 'shared');
bloom_reserve('seed', 20000, expansion: 0);
bloom_reserve('kind', 20000, seed: 'shared');
$generation = bloom_info('a')['generation'];
show_thrown(
    fn () => bloom_merge('a', 'size'),
    fn () => bloom_merge('a', 'seed'),
    fn () => bloom_merge('a', 'kind'),
    fn () => bloom_merge('a', 'missing'),
    fn () => bloom_merge('missing', 'missing'),
    fn () => bloom_merge('missing'),
    fn () => bloom_merge('a', ''),
    fn () => bloom_merge('', 'a'),
    fn () => bloom_merge('a', []),
);
var_dump(bloom_info('a')['generation'] === $generation, bloom_list());
done();
?>
--EXPECTF--
BloomShm\Exception INCOMPATIBLE: filter "size" cannot be merged with the others: it has another geometry%S
BloomShm\Exception INCOMPATIBLE: filter "seed" cannot be merged with the others: it has another seed
BloomShm\Exception INCOMPATIBLE: filter "kind" cannot be merged with the others: it has another kind
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
ValueError: bloom_merge(): Argument #2 must be a filter name of 1 to 63 bytes without NUL bytes
ValueError: bloom_merge(): Argument #1 ($into) must be a filter name of 1 to 63 bytes without NUL bytes
TypeError: bloom_merge(): Argument #2 must be of type string, array given
bool(true)
array(4) {
  [0]=>
  string(1) "a"
  [1]=>
  string(4) "kind"
  [2]=>
  string(4) "seed"
  [3]=>
  string(4) "size"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
