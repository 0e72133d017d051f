--TEST--
bloom_load() of a PDO statement, whatever its fetch mode
--EXTENSIONS--
bloomshm
pdo
pdo_sqlite
--INI--
bloomshm.path={PWD}/load_pdo.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (!in_array('sqlite', PDO::getAvailableDrivers(), true)) { die('skip needs PDO with sqlite'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$pdo = new PDO('sqlite::memory:');
$pdo->exec('CREATE TABLE article (tag, id INTEGER); INSERT INTO article VALUES (\'php\', 1001), (\'c\', 1002), (77, 1003)');
foreach ([[], [PDO::FETCH_NUM], [PDO::FETCH_ASSOC], [PDO::FETCH_BOTH], [PDO::FETCH_COLUMN, 0]] as $mode) {
    $statement = $pdo->query('SELECT tag, id FROM article', ...$mode);
    var_dump(bloom_load('articles', $statement)['keys']);
    check_same([true, true, true, false, false], bloom_maybe_has_many('articles', ['php', 'c', '77', '1001', 'tag']), 'mode ' . json_encode($mode));
    bloom_drop('articles');
}
done();
?>
--EXPECT--
int(3)
int(3)
int(3)
int(3)
int(3)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
