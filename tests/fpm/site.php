<?php

/*
 * How the clients of script/test-fpm talk to the site and print what they found.
 */

declare(strict_types=1);

final class Site
{
    private CurlHandle $connection;

    public function __construct(private readonly string $url)
    {
        $this->connection = curl_init();
    }

    /** The page's answer; anything but a complete answer with status 200 is an exception. */
    public function post(string $page, mixed $posted): array
    {
        curl_setopt_array($this->connection, [
            CURLOPT_URL => "$this->url/$page",
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 300,
            CURLOPT_HTTPHEADER => ['Content-Type: application/json', 'Expect:'],
            CURLOPT_POSTFIELDS => json_encode($posted, JSON_THROW_ON_ERROR),
        ]);
        $body = curl_exec($this->connection);
        $status = curl_getinfo($this->connection, CURLINFO_RESPONSE_CODE);
        if ($body === false || $status !== 200) {
            throw new RuntimeException("$page: status $status " . curl_error($this->connection));
        }
        return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    }
}

/** One line for one check. $problems are counted and the first of them is shown. */
function check(string $what, array $problems): void
{
    if ($problems === []) {
        echo "ok - $what\n";
    } else {
        printf("not ok - %s: %d times, first: %s\n", $what, count($problems), $problems[0]);
    }
}
