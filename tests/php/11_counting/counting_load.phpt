--TEST--
bloom_load() with counting: repeated keys are counted, and can be removed
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/counting_load.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$info = bloom_load('f', ['once', 'twice', 'thrice', 'twice', ...array_fill(0, 20, 'often'), 'thrice', 'thrice'], counting: true);
var_dump($info['type'], $info['keys'], $info['items'], $info['expansion']);
foreach (['once', 'twice', 'thrice', 'often', 'never'] as $key) {
    echo $key, ': ', bloom_count('f', $key), "\n";
}
var_dump(bloom_remove('f', 'twice'), bloom_count('f', 'twice'), bloom_remove('f', 'once'), bloom_maybe_has('f', 'once'));

// Its size follows from the different keys, and its rate is kept.
$info = bloom_load('f', [...keys('k', 10000), ...keys('k', 10000)], 0.01, counting: true, seed: 'fixed');
check($info['items'] > 9900 && $info['items'] <= 10000, "items: {$info['items']}");
check($info['capacity'] < 13000, "capacity {$info['capacity']}");
check($info['estimated_error_rate'] <= 0.01, "estimated {$info['estimated_error_rate']}");
foreach (keys('k', 10000) as $key) {
    check(bloom_count('f', $key) >= 2, $key);
}
// With a hint; expansion may be said as 0.
$info = bloom_load('f', ['a'], 0.01, 5000, expansion: 0, counting: true);
var_dump($info['type'], $info['capacity'] >= 5000, bloom_load('empty', [], counting: true, allow_empty: true)['items']);
show_thrown(
    fn () => bloom_load('f', ['b'], expansion: 4, counting: true),
    fn () => bloom_load('f', [], counting: true),
);
var_dump(bloom_maybe_has('f', 'a'));
done();
?>
--EXPECTF--
string(8) "counting"
int(26)
int(4)
int(0)
once: 1
twice: 2
thrice: 3
often: 15
never: 0
bool(true)
int(1)
bool(true)
bool(false)
string(8) "counting"
bool(true)
int(0)
ValueError: bloom_load(): Argument #6 ($expansion) must be 0 or %scount%S
BloomShm\Exception EMPTY: %s
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
