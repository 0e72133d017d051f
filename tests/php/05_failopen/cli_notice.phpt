--TEST--
A CLI process says once that another user has a default segment, whether it makes its own or not
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/cli_notice.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (ini_get('opcache.preload')) { die('skip a preload script has called before'); }
if (posix_geteuid() !== 0) { die('skip needs root to act as two users'); }
exec('unshare -m sh -c "mount -t tmpfs none /dev/shm" 2>&1', $output, $code);
if ($code !== 0) { die('skip mounting is not permitted here'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// In a private /dev/shm, with the default path.
$ini = ['bloomshm.path' => '/dev/shm/bloomshm.%u'];
$code = 'bloom_load("f", ["a"]); bloom_load("g", ["a"]); bloom_status(); echo "end\n";';
$other = Child::command('posix_setgid(33); posix_setuid(33);' . $code, $ini);
$shell = 'mount -t tmpfs -o mode=1777 none /dev/shm; echo other user; ' . $other
    . '; echo root; ' . Child::command($code, $ini)
    . '; echo root again; ' . Child::command($code, $ini)
    . '; rm /dev/shm/bloomshm.0; echo root, stderr apart; ' . Child::command($code, $ini) . ' 2>&-';
echo Child::run('', command: 'unshare -m sh -c ' . escapeshellarg($shell));
?>
--EXPECTF--
other user
end
root
%s/dev/shm/bloomshm.33%S
end
root again
%s/dev/shm/bloomshm.33%S
end
root, stderr apart
end
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
