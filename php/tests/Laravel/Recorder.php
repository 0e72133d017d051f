<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

use Illuminate\Contracts\Validation\UncompromisedVerifier;

final class Recorder implements UncompromisedVerifier
{
    /** @var list<mixed> */
    public array $asked = [];

    public function __construct(private readonly bool $answer) {}

    public function verify($data): bool
    {
        $this->asked[] = $data;

        return $this->answer;
    }
}
