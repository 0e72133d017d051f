--TEST--
A child that has copies of all descriptors of its parent does not keep the dead parent alive
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/fork_with_descriptors.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0, seed: 'fixed');
/* Its child waits for the end of input, as long as this test lets it. */
$parent = new Child(<<<'CODE'
    bloom_add('f', 'a');
    $copies = array_map(fn ($fd) => fopen("php://fd/$fd", 'r'), range(3, 20));
    $parent = posix_getpid();
    if (pcntl_fork() !== 0) {
        echo bloom_status()['attached'], ' ', count(array_filter($copies)) > 0 ? 'copies' : 'no copies', "\n";
        posix_kill($parent, SIGKILL);
    }
    while (posix_getppid() === $parent) {
        usleep(1000);
    }
    echo "left\n";
    fgets(STDIN);
    CODE);
var_dump($parent->hear(), $parent->hear());
var_dump(bloom_status()['attached']);
$parent->say('end');
$parent->end();
done();
?>
--EXPECT--
string(8) "2 copies"
string(4) "left"
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
