--TEST--
bloom_info() and bloom_status() count questions, of all processes and of this set only
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info_usage.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 1000), error_rate: 0.0001);
bloom_load('g', keys('k', 10), error_rate: 0.0001);
function show(): void
{
    $info = bloom_info('f');
    echo "{$info['questions']} questions, {$info['maybes']} maybes, ", json_encode($info['fetches']), "\n";
}
show();
foreach (keys('k', 100) as $key) {
    bloom_maybe_has('f', $key);
}
show();
bloom_maybe_has_many('f', keys('k', 150));
bloom_maybe_has_many('f', ['a' => 'k1', 'b' => 'absent']);
show();
// asked again as strings, because of the number
bloom_maybe_has_many('f', [...keys('k', 100), 5]);
show();
foreach (['absent', 'absent 2', 'k1', 'k1'] as $key) {
    bloom_fetch('f', $key, fn (string $key): string => $key);
}
try {
    bloom_fetch('f', 'k2', fn () => throw new LogicException('loader'));
} catch (LogicException) {
}
bloom_fetch('f', 'k3', fn () => null);
bloom_fetch('f', 'k3', fn () => 'not asked');
show();
$status = bloom_status();
var_dump($status['questions'] === bloom_info('f')['questions'], $status['maybes'] === bloom_info('f')['maybes']);

// A process hands in when it ends, and while it asks, however seldom.
$child = new Child('foreach (keys("k", 7) as $key) { bloom_maybe_has("g", $key); } echo "done\n";');
$child->hear();
$child->end();
var_dump(bloom_info('g')['questions']);
$child = new Child('while (true) { bloom_maybe_has("g", "k1"); usleep(100000); }');
for ($waited = 0; $waited < 1200 && bloom_info('g')['questions'] === 7; $waited++) {
    usleep(50000);
}
check(bloom_info('g')['questions'] > 7, 'the questions of a process that goes on asking');
$child->kill();

// Counts are those of the published set.
bloom_load('f', keys('k', 1000));
show();
bloom_rename('g', 'f');
show();
bloom_maybe_has('f', 'k1');
show();
?>
--EXPECT--
0 questions, 0 maybes, {"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}
100 questions, 100 maybes, {"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}
252 questions, 251 maybes, {"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}
353 questions, 351 maybes, {"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}
360 questions, 356 maybes, {"asked":7,"denied":2,"found":2,"loaded":1,"confirmed":1}
bool(true)
bool(true)
int(7)
0 questions, 0 maybes, {"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}
0 questions, 0 maybes, {"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}
1 questions, 1 maybes, {"asked":0,"denied":0,"found":0,"loaded":0,"confirmed":0}
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
