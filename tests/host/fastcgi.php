<?php

/*
 * One request to php-fpm without a web server, so that any parameter can be sent:
 *
 *     fastcgi.php SOCKET SCRIPT [NAME=VALUE ...]      prints the body of the answer
 */

declare(strict_types=1);

function record(int $type, string $content): string
{
    return pack('CCnnCC', 1, $type, 1, strlen($content), 0, 0) . $content;
}

function pair(string $name, string $value): string
{
    return pack('NN', strlen($name) | 1 << 31, strlen($value) | 1 << 31) . $name . $value;
}

[, $socket, $script] = $argv;
$parameters = [
    'SCRIPT_FILENAME' => $script, 'REQUEST_METHOD' => 'GET', 'SERVER_PROTOCOL' => 'HTTP/1.1',
];
foreach (array_slice($argv, 3) as $parameter) {
    [$name, $value] = explode('=', $parameter, 2);
    $parameters[$name] = $value;
}
$connection = stream_socket_client("unix://$socket") ?: exit(1);
stream_set_timeout($connection, 600);
fwrite($connection, record(1, pack('nC', 1, 0) . str_repeat("\0", 5)));
fwrite(
    $connection, record(4, implode('', array_map('pair', array_keys($parameters), $parameters))),
);
fwrite($connection, record(4, '') . record(5, ''));
$answer = '';
while (strlen($header = (string) stream_get_contents($connection, 8)) === 8) {
    [
        'type' => $type, 'length' => $length, 'padding' => $padding,
    ] = unpack('Cversion/Ctype/nid/nlength/Cpadding', $header);
    $content = $length === 0 ? '' : stream_get_contents($connection, $length);
    $padding === 0 || stream_get_contents($connection, $padding);
    if ($type === 3) {
        break;
    }
    $answer .= $type === 6 ? $content : '';
}
echo explode("\r\n\r\n", $answer, 2)[1] ?? 'no answer';
