--TEST--
bloom_cache_remember(): one that waits gets a value that another sets, and no lock is held meanwhile
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_waits.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set('other', 1);
$owner = new Child(<<<'PHP'
    echo bloom_cache_remember('k', function () {
        echo "loading\n";
        fgets(STDIN);
        return 'loaded';
    }), "\n";
    PHP);
check_same('loading', $owner->hear(), 'the owner');
$at = own_time();
// Everything else works on this key and on others.
bloom_cache_increment('other');
check_same([null, false, null], [bloom_cache_get('k'), bloom_cache_has('k'), bloom_cache_get_many(['k'])['k']], 'the key is not there yet');
check_same(100, bloom_cache_set_many(array_fill_keys(keys('key ', 100), 1)), 'others are stored');
check_same('mine', bloom_cache_remember('another', fn () => 'mine'), 'another key is loaded');
check_same(true, bloom_cache_set('k', 'set'), 'the key is set');
check_same('set', bloom_cache_remember('k', fn () => 'mine'), 'what was set is what is remembered');
check(own_time() - $at < 2, 'no call waited');
$owner->say('go on');
check_same('loaded', $owner->hear(), 'what the owner returns is what it loaded');
$owner->end();
check(in_array(bloom_cache_get('k'), ['set', 'loaded'], true), 'one of the two is kept');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
