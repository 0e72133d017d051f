<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Fixture;

use Psr\Log\AbstractLogger;

final class Log extends AbstractLogger
{
    /** @var list<string> */
    public array $lines = [];

    public function log($level, string|\Stringable $message, array $context = []): void
    {
        $this->lines[] = (string) $message;
    }
}
