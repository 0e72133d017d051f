--TEST--
Keys whose __toString() throws, drops or loads the filter meanwhile
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/stringable_hostile.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

class Hostile
{
    public function __construct(private Closure $act)
    {
    }

    public function __toString(): string
    {
        ($this->act)();
        return 'hostile';
    }
}

$throws = new Hostile(fn () => throw new LogicException('no string'));
$drops = new Hostile(fn () => bloom_drop('f'));
$loads = new Hostile(fn () => bloom_load('f', ['loaded meanwhile'], expansion: 0, capacity: 100));

bloom_reserve('f', 100, expansion: 0);
show_thrown(
    fn () => bloom_add_many('f', ['a', $throws, 'b']),
    fn () => bloom_maybe_has_many('f', ['a', $throws]),
    fn () => bloom_maybe_has('f', $throws),
    fn () => bloom_add('f', $throws),
    fn () => bloom_load('f', ['a', $throws]),
    fn () => bloom_load('f', [['a'], [$throws]]),
);
var_dump(bloom_info('f')['items'], bloom_maybe_has('f', 'a'));

// Dropped while the keys are read: the question is about a filter that is missing.
var_dump(bloom_maybe_has_many('f', ['a', $drops, 'b']));
bloom_reserve('f', 100, expansion: 0);
bloom_add_many('f', ['a', $drops, 'b']);
var_dump(bloom_list(), bloom_maybe_has('f', 'a'));
// Replaced while the keys are read: all answers are from one generation.
bloom_reserve('f', 100, expansion: 0);
bloom_add('f', 'old');
$answers = bloom_maybe_has_many('f', ['old', $loads, 'loaded meanwhile']);
check(in_array($answers, [[true, false, false], [false, false, true]], true), 'mixed answers: ' . json_encode($answers));
bloom_add_many('f', ['c', $loads, 'd']);
var_dump(count_no('f', ['loaded meanwhile', 'c', 'hostile', 'd']));
done();
?>
--EXPECT--
LogicException: no string
LogicException: no string
LogicException: no string
LogicException: no string
LogicException: no string
LogicException: no string
int(0)
bool(false)
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
}
array(0) {
}
bool(true)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
