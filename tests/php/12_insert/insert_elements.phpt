--TEST--
bloom_insert() takes string, int, float, Stringable and the first column of rows
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_elements.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Text implements Stringable
{
    public function __construct(private string $text)
    {
    }

    public function __toString(): string
    {
        return $this->text;
    }
}
$elements = ['string', 12, 1.5, -0.0, new Text('text'), ['row', 'ignored'], ['tag' => 7, 'more' => null], [new Text('in a row')], '', "a\0b"];
echo json_encode(bloom_insert('f', $elements)), "\n";
$keys = ['string', '12', '1.5', '-0', 'text', 'row', '7', 'in a row', '', "a\0b"];
check_same(0, count_no('f', $keys), 'denied');
check_same(array_fill(0, 10, false), bloom_insert('f', $keys), 'new again');
// The answers of an array of rows stand under its keys too.
echo json_encode(bloom_insert('f', ['x' => ['p', 1], 'y' => ['row', 2]])), "\n";

$pdo = extension_loaded('pdo_sqlite') ? new PDO('sqlite::memory:') : null;
$rows = $pdo?->query("SELECT 'q', 1 UNION SELECT 'row', 2") ?? [['q'], ['row']];
echo json_encode(bloom_insert('f', $rows)), "\n";
done();
?>
--EXPECT--
[true,true,true,true,true,true,true,true,true,true]
{"x":true,"y":false}
[true,false]
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
