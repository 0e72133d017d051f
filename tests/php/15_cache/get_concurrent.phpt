--TEST--
What is read while others write is one whole value, the older or the newer
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/get_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=16M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$writer = <<<'PHP'
    mt_srand((int) fgets(STDIN));
    while (going()) {
        for ($i = 0; $i < 200; $i++) {
            $key = 'key ' . mt_rand(0, 19);
            $size = [0, 1, 10, 100, 1000, 10000, 60000][mt_rand(0, 6)];
            $text = str_repeat(hash('xxh3', "$key $size " . $n = mt_rand(0, 9)), $size);
            match (mt_rand(0, 5)) {
                0 => bloom_cache_delete($key),
                1 => bloom_cache_set($key, [$key, $size, $n, $text]),
                2 => bloom_cache_replace($key, "$key $size $n $text"),
                3 => bloom_cache_add($key, "$key $size $n $text"),
                default => bloom_cache_set($key, "$key $size $n $text"),
            };
        }
    }
    PHP;
$children = [];
start_going();
for ($i = 0; $i < 3; $i++) {
    $children[$i] = new Child($writer);
    $children[$i]->say("$i");
}
$read = 0;
$whole = function (string $key, mixed $value, string $how) use (&$read): void {
    if ($value === null) {
        return;
    }
    $read++;
    if (is_string($value)) {
        [, $number, $size, $n, $text] = explode(' ', $value, 5);
        $value = ["key $number", (int) $size, (int) $n, $text];
    }
    [$name, $size, $n, $text] = $value;
    check($name === $key && $text === str_repeat(hash('xxh3', "$key $size $n"), $size), "$how: the value of $key");
};
$end = microtime(true) + 1.5;
$keys = keys('key ', 20);
while (microtime(true) < $end || $read < 100) {
    foreach ($keys as $key) {
        $whole($key, bloom_cache_get($key), 'get');
    }
    foreach (bloom_cache_get_many($keys) as $key => $value) {
        $whole($key, $value, 'get_many');
    }
    $cursor = 0;
    do {
        foreach (bloom_cache_scan($cursor) as $key => $value) {
            $whole($key, $value, 'scan');
        }
    } while ($cursor !== 0);
    if (mt_rand(0, 9) === 0 && ($pair = bloom_cache_pop_oldest()) !== null) {
        $whole(...[...$pair, 'pop_oldest']);
    }
}
stop_going();
foreach ($children as $child) {
    echo $child->end();
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
