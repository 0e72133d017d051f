--TEST--
bloom_fetch() and a missing filter: the loader is asked; the policy says whether that is told
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_missing.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['maybe', 'warn', 'throw'] as $policy) {
    echo "$policy:\n", Child::run(<<<'PHP'
        bloom_cache_clear();
        $calls = 0;
        foreach (['value', 'nothing', 'value', 'nothing'] as $key) {
            echo thrown_by(function () use ($key, &$calls) {
                return bloom_fetch('missing', $key, function (string $key) use (&$calls) {
                    $calls++;
                    return $key === 'value' ? 'loaded' : null;
                });
            }), "\n";
        }
        var_dump($calls, bloom_list(), bloom_forget('missing', 'value'), bloom_forget('missing', 'other'));
        PHP, ['bloomshm.missing_filter' => $policy, 'html_errors' => '0']);
}
// A null of a missing filter is not kept when the filter comes.
bloom_load('missing', ['nothing']);
var_dump(bloom_fetch('missing', 'nothing', fn () => 'found'), bloom_info('missing')['false_positives']);
done();
?>
--EXPECTF--
maybe:
nothing thrown, returned "loaded"
nothing thrown, returned null
nothing thrown, returned "loaded"
nothing thrown, returned null
int(3)
array(0) {
}
bool(true)
bool(false)
warn:

Warning: bloom_fetch(): %S"missing"%S in %s on line %d
nothing thrown, returned "loaded"
nothing thrown, returned null
nothing thrown, returned "loaded"
nothing thrown, returned null
int(3)
array(0) {
}
bool(true)
bool(false)
throw:
BloomShm\Exception NOT_FOUND: %S"missing"%S
BloomShm\Exception NOT_FOUND: %S"missing"%S
BloomShm\Exception NOT_FOUND: %S"missing"%S
BloomShm\Exception NOT_FOUND: %S"missing"%S
int(0)
array(0) {
}
bool(false)
bool(false)
string(5) "found"
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
