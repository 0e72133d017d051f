--TEST--
bloomshm.serializer=none, or empty: arrays and objects are refused with INCOMPATIBLE, before anything is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/serializer_none.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['none', ''] as $serializer) {
    echo Child::run(<<<'PHP'
        bloom_cache_clear();
        bloom_cache_set('a', 'old');
        show_thrown(
            fn () => bloom_cache_set('a', [1]),
            fn () => bloom_cache_set('a', new stdClass()),
            fn () => bloom_cache_set_many(['b' => 1, 'a' => []]),
            fn () => bloom_cache_add('b', [1]),
            fn () => bloom_cache_replace('a', [1]),
            fn () => bloom_cache_cas('a', 'old', [1]),
            fn () => bloom_cache_cas('a', [1], 'new'),
            fn () => bloom_cache_remember('b', fn () => [1]),
        );
        foreach ([null, false, true, 1, 1.5, 'text'] as $value) {
            check(bloom_cache_set('scalar', $value) && bloom_cache_get('scalar', 'default') === $value, json_encode($value));
        }
        var_dump(bloom_cache_get('a'), bloom_cache_has('b'));
        PHP, ['bloomshm.serializer' => $serializer]);
}
done();
?>
--EXPECTF--
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %SstdClass%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
string(3) "old"
bool(false)
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %SstdClass%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
BloomShm\Exception INCOMPATIBLE: %Sarray%Sbloomshm.serializer%S
string(3) "old"
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
