<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Fixture;

/**
 * It can be stored, and not be read again.
 */
final class Unreadable
{
    /**
     * @param class-string<\Throwable> $error
     */
    public function __construct(private readonly string $error) {}

    /**
     * @return array<string>
     */
    public function __serialize(): array
    {
        return [$this->error];
    }

    /**
     * @param array<class-string<\Throwable>> $data
     */
    public function __unserialize(array $data): void
    {
        throw new $data[0]('unreadable');
    }
}
