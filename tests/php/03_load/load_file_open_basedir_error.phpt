--TEST--
open_basedir holds for bloom_load_file(), not for the segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_open_basedir_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(scratch('.inside'));
file_put_contents(scratch('.inside') . '/keys', "a\nb\n");
file_put_contents(scratch('.outside'), "a\nb\n");
copy(scratch('.outside'), scratch('.outside.gz'));
symlink(scratch('.outside'), scratch('.inside') . '/link');
echo Child::run(<<<'PHP'
    ini_set('open_basedir', scratch('.inside'));
    var_dump(bloom_load_file('f', scratch('.inside') . '/keys')['keys']);
    show_thrown(
        fn () => @bloom_load_file('f', scratch('.outside')),
        fn () => @bloom_load_file('f', scratch('.inside') . '/../' . basename(scratch('.outside'))),
        fn () => @bloom_load_file('f', scratch('.inside') . '/link'),
        fn () => @bloom_load_file('f', scratch('.outside.gz')),
    );
    var_dump(bloom_maybe_has('f', 'a'), bloom_status()['available']);
    PHP);
done();
?>
--EXPECTF--
int(2)
BloomShm\Exception IO: %s
BloomShm\Exception IO: %s
BloomShm\Exception IO: %s
BloomShm\Exception IO: %s
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
