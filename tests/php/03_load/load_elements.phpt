--TEST--
bloom_load() takes string, int, float, Stringable and the first column of rows
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_elements.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$stringable = new class {
    public function __toString(): string
    {
        return 'stringable';
    }
};
$info = bloom_load('f', ['string', 123, 1.5, $stringable, ['column', 'second'], ['name' => 456], [$stringable], '', "\0", '123']);
// Keys that are offered twice count twice.
var_dump($info['keys'], $info['items']);
var_dump(bloom_maybe_has_many('f', ['string', '123', '1.5', 'stringable', 'column', 'second', '456', '', "\0", 'name']));
done();
?>
--EXPECT--
int(10)
int(8)
array(10) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
  [3]=>
  bool(true)
  [4]=>
  bool(true)
  [5]=>
  bool(false)
  [6]=>
  bool(true)
  [7]=>
  bool(true)
  [8]=>
  bool(true)
  [9]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
