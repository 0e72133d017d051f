--TEST--
The first layer of a growing filter takes at most 1.2 bits a key more than a fixed filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_bits_per_key.seg
bloomshm.filter_memory=12M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([0.5, 0.1, 0.01, 0.001, 0.0001, 0.000001] as $rate) {
    foreach ([100_000, 1_000_000] as $capacity) {
        bloom_reserve('fixed', $capacity, $rate, 0);
        bloom_reserve('growing', $capacity, $rate);
        // The last partition of a filter is rarely needed to the full.
        $more = (bloom_info('growing')['bytes'] - bloom_info('fixed')['bytes'] - 8192) * 8 / $capacity;
        check($more <= 1.2, "$rate, $capacity keys: $more bits a key more");
        bloom_drop('fixed');
        bloom_drop('growing');
    }
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
