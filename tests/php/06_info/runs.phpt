--TEST--
bloom_runs says where a filter lies: no two filters share a partition; bloom_fills how full each is
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/runs.seg
bloomshm.filter_memory=2M
--FILE--
<?php
var_dump(bloom_runs('none'));

/** The partitions of a filter, in their order. */
function partitions(string $filter): array
{
    $found = [];
    foreach (bloom_runs($filter) as [$first, $count]) {
        array_push($found, ...range($first, $first + $count - 1));
    }
    return $found;
}

bloom_load('one', range(1, 20_000));
echo json_encode(bloom_runs('one')), "\n";

// Every other one of many small filters goes: what is left free is scattered.
$names = array_map(fn ($i) => "small$i", range(1, 240));
foreach ($names as $name) {
    bloom_reserve($name, 100);
}
foreach ($names as $i => $name) {
    $i % 2 === 0 && bloom_drop($name);
}
bloom_load('scattered', range(1, 100_000), 0.001);
bloom_reserve('growing', 100);
for ($i = 0; $i < 20_000; $i++) {
    bloom_add('growing', "key $i");
}
$all = [];
foreach (bloom_list() as $name) {
    $mine = partitions($name);
    count($mine) === bloom_info($name)['partitions'] || print("$name: another number\n");
    array_push($all, ...$mine);
}
var_dump(count(bloom_runs('scattered')) > 1, count(bloom_runs('growing')) > 1);
var_dump(count($all) === count(array_unique($all)), min($all), max($all) < 2 << 20 >> 13);
$status = bloom_status();
var_dump(count($all) * 8192 === $status['filter_bytes'] - $status['filter_bytes_free']);
// The mean of the partitions' fills is the filter's.
foreach (bloom_list() as $name) {
    $fills = bloom_fills($name);
    $info = bloom_info($name);
    count($fills) === $info['partitions'] || print("$name: another number of fills\n");
    abs(array_sum($fills) / count($fills) - $info['fill']) < 1e-9 || print("$name: another fill\n");
}
var_dump(bloom_fills('none'), max(bloom_fills('one')) > min(bloom_fills('one')));
try {
    bloom_runs('');
} catch (ValueError $e) {
    echo $e->getMessage(), "\n";
}
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/runs.seg');
?>
--EXPECT--
NULL
[[0,4]]
bool(true)
bool(true)
bool(true)
int(0)
bool(true)
bool(true)
NULL
bool(true)
bloom_runs(): Argument #1 ($filter) must be a filter name of 1 to 63 bytes without NUL bytes
