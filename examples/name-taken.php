<?php

/*
 * Is this name taken? A sign-up form asks while the visitor types.
 *
 *     php -d extension=bloomshm -d bloomshm.path=/dev/shm/ex.seg examples/name-taken.php
 *
 * Almost every free name is denied by the filter: it is free, and no database is asked. For a taken
 * name, and for one free name in a hundred, the filter says "maybe": the database decides.
 */

declare(strict_types=1);

require __DIR__ . '/support.php';

// 4,500,000 users: pairs of names of a public list. On a site: $pdo->query('SELECT name FROM user')
$names = file(fetch('humannames@1.0.5') . '/list.txt', FILE_IGNORE_NEW_LINES);
$users = static function (int $from, int $to) use ($names): Generator {
    for ($i = $from; $i < $to; $i++) {
        $other = $i + 7 * intdiv($i, count($names));
        yield $names[$i % count($names)] . '.' . $names[$other % count($names)];
    }
};

// The batch job.
$info = bloom_load('users', $users(0, 4_500_000), error_rate: 0.01);
printf("loaded %s users in %.1f s\n", number_format($info['keys']), $info['seconds']);

// The form.
foreach (['Aaron.Aaron', 'Ada.Lovelace', 'Grace.Hopper'] as $name) {
    $maybe = bloom_maybe_has('users', $name);
    echo $name, $maybe ? " may be taken: ask the database\n" : " is free\n";
}

figures('users', $users(0, 4_500_000), $users(5_000_000, 5_200_000));
