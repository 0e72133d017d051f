--TEST--
bloom_add_many() takes string, int, float, Stringable and the first column of rows
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_many_elements.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

class Tag
{
    public function __construct(private string $name)
    {
    }

    public function __toString(): string
    {
        return $this->name;
    }
}

bloom_reserve('f', 1000, expansion: 0);
var_dump(bloom_add_many('f', [
    'string',
    123,
    -7,
    1.5,
    2.0,
    new Tag('stringable'),
    ['column', 'not this'],
    ['tag' => 'named column', 'id' => 9],
    [5 => 456, 0 => 'not this either'],
    ['value' => 2.5],
    [new Tag('stringable column')],
    '',
]));
var_dump(count_no('f', ['string', '123', '-7', '1.5', '2', 'stringable', 'column', 'named column', '456', '2.5', 'stringable column', '']));
var_dump(count_yes('f', ['not this', '9', 'not this either', '2.0', '0']));
done();
?>
--EXPECT--
int(12)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
