<?php

declare(strict_types=1);

namespace BloomShm\Laravel;

use Illuminate\Contracts\Validation\UncompromisedVerifier as Verifier;

/**
 * The rule Password::uncompromised() with a filter of breached passwords in place of an HTTPS call
 * for each password.
 *
 * A password that the filter certainly does not hold is accepted. One that it may hold is refused,
 * or, if there is a second verifier, left to that: with an error rate of 0.001 one good password in
 * 1,000 gets there. The threshold of the rule has no effect: what is in the filter is breached.
 */
final readonly class UncompromisedVerifier implements Verifier
{
    /**
     * @param string $filter The filter's name.
     * @param bool $sha1 Whether its keys are SHA-1 sums in upper-case hexadecimal digits, as in the
     *     files of Have I Been Pwned; else they are the passwords.
     * @param Verifier|null $second Decides where the filter says maybe, as it does to each password
     *     while it is not ready.
     */
    public function __construct(
        private string $filter = 'breached-passwords',
        private bool $sha1 = true,
        private ?Verifier $second = null,
    ) {}

    /**
     * @param array<mixed> $data `value`: the password.
     * @return bool true: not breached. An empty password counts as breached, as in Laravel.
     * @throws \RuntimeException There is no second verifier, and the filter is not ready: not
     *     loaded, or out of reach.
     */
    public function verify($data): bool
    {
        $value = $data['value'] ?? '';
        $password = is_scalar($value) || $value instanceof \Stringable ? (string) $value : '';
        if ($password === '') {
            return false;
        }
        // A missing filter is not asked: its "maybe" can be a warning or an exception, as
        // bloomshm.missing_filter says.
        $ready = \bloom_ready($this->filter);
        if ($this->second === null && !$ready) {
            throw new \RuntimeException("The filter \"$this->filter\" of breached passwords is not ready.");
        }
        $key = $this->sha1 ? strtoupper(sha1($password)) : $password;

        return $ready && !\bloom_maybe_has($this->filter, $key)
            || ($this->second?->verify($data) ?? false);
    }
}
