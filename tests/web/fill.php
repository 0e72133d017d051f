<?php

/*
 * fill.php - filters and records with difficult names: php fill.php [COUNT of more filters]
 */

declare(strict_types=1);

const NAMES = [
    'articles', '"><script>alert(1)</script>', "bad\xFF\xC3utf8", "control\x01\x1B[31m\n",
    "order\u{202E}gpj.exe", 'App\\Filter', 'App\\x01', "App\x01", '123', '</main>', "l\u{2028}s",
];

enum Suit
{
    case Hearts; // the page cannot read it: there is no such enum
}

foreach (NAMES as $name) {
    bloom_load($name, array_map(strval(...), range(1, 1000)));
    bloom_cache_set("key of $name", [$name => 1]);
}
bloom_reserve('window', 5000, window: 3600);
bloom_load('counted', array_map(strval(...), range(1, 3000)), counting: true);
bloom_reserve('grown', 100);
bloom_reserve('full', 1000, expansion: 0);
foreach (['grown' => 20000, 'full' => 1000] as $name => $count) {
    bloom_add_many($name, array_map(strval(...), range(1, $count)));
}
for ($i = 0; $i < 20000; $i++) {
    bloom_maybe_has('articles', "absent $i");
}
bloom_cache_set('an object', new ArrayObject([1]));
bloom_cache_set('an enum', Suit::Hearts);
bloom_cache_set('42', 42);
for ($i = 0; $i < (int) ($argv[1] ?? 0); $i++) {
    // As long as a name may be, and twice as long when it is escaped.
    bloom_reserve(str_pad("<b>&\"'$i", 63, '">&<'), 100);
}
