--TEST--
Keys whose __toString() or iterator changes things while bloom_insert() reads them
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_hostile.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Meddling implements Stringable
{
    public function __construct(private Closure $action)
    {
    }

    public function __toString(): string
    {
        ($this->action)();
        return 'meddling';
    }
}
$list = ['x' => 'a', 'y' => null, 'z' => 'c'];
$list['y'] = new Meddling(function () use (&$list) {
    $list['more'] = 'd';
    unset($list['x'], $list['z']);
});
var_dump(bloom_insert('f', $list), count($list));

// Made, dropped, loaded while the keys are read: it is looked at afterwards.
foreach ([
    fn () => bloom_reserve('g', 10, 0.003, 0),
    fn () => bloom_drop('g'),
    fn () => bloom_load('g', ['loaded', 'b'], 0.002),
    fn () => bloom_rename('g', 'h'),
    fn () => bloom_insert('g', ['b']),
] as $action) {
    $answer = bloom_insert('g', ['a', new Meddling($action), 'b']);
    echo json_encode($answer), ' ', bloom_info('g')['error_rate'], "\n";
    check_same(0, count_no('g', ['a', 'meddling', 'b']), 'denied');
}
// A generator that never ends is ended by an exception, and nothing is left behind.
show_thrown(fn () => bloom_insert('i', (function () {
    for ($i = 0;; $i++) {
        $i < 1000 || throw new RuntimeException('enough');
        yield "k$i";
    }
})()));
var_dump(bloom_ready('i'));
done();
?>
--EXPECT--
array(3) {
  ["x"]=>
  bool(true)
  ["y"]=>
  bool(true)
  ["z"]=>
  bool(true)
}
int(2)
[true,true,true] 0.003
[true,true,true] 0.01
[true,true,false] 0.002
[true,true,true] 0.01
[false,false,false] 0.01
RuntimeException: enough
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
