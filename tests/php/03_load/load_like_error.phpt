--TEST--
bloom_load() with like: an argument that is not the filter's, or a seed
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_like_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
$generation = bloom_info('f')['generation'];
foreach ([
    fn () => bloom_load('f', ['b'], 0.001, like: true),
    fn () => bloom_load('f', ['b'], expansion: 0, like: true),
    fn () => bloom_load('f', ['b'], counting: true, like: true),
    fn () => bloom_load('f', ['b'], seed: 's', like: true),
    fn () => bloom_load_file('f', __FILE__, 0.001, like: true),
    fn () => bloom_load_file('f', __FILE__, seed: 's', like: true),
] as $call) {
    try {
        $call();
        echo "nothing was thrown\n";
    } catch (BloomShm\Exception $e) {
        echo $e->getCode() === BloomShm\Exception::EXISTS ? 'EXISTS: ' : 'another code: ', $e->getMessage(), "\n";
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
check_same($generation, bloom_info('f')['generation'], 'nothing was published');
done();
?>
--EXPECT--
EXISTS: filter "f" exists already, with error_rate: 0.01; asked for: 0.001
EXISTS: filter "f" exists already, with expansion: 2; asked for: 0
EXISTS: filter "f" exists already, with counting: false; asked for: true
bloom_load(): Argument #8 ($seed) must be null with like: the seed is that of the filter
EXISTS: filter "f" exists already, with error_rate: 0.01; asked for: 0.001
bloom_load_file(): Argument #8 ($seed) must be null with like: the seed is that of the filter
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
