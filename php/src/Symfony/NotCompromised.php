<?php

declare(strict_types=1);

namespace BloomShm\Symfony;

use Symfony\Component\Validator\Attribute\HasNamedArguments;
use Symfony\Component\Validator\Constraint;

/**
 * The password is not among those of known data breaches, as a filter knows them: a check like
 * Symfony's NotCompromisedPassword, without a request over the network.
 *
 * Of the good passwords a filter rejects as many as its error rate says: 0.001 is one in 1,000.
 *
 * @see NotCompromisedValidator
 */
#[\Attribute(\Attribute::TARGET_PROPERTY | \Attribute::TARGET_METHOD | \Attribute::IS_REPEATABLE)]
final class NotCompromised extends Constraint
{
    public const COMPROMISED_PASSWORD_ERROR = '74a29316-47d5-48cb-96e6-e7ab2b7518a1';

    protected const ERROR_NAMES = [
        self::COMPROMISED_PASSWORD_ERROR => 'COMPROMISED_PASSWORD_ERROR',
    ];

    /**
     * @param string $filter The filter's name.
     * @param bool $sha1 Whether its keys are SHA-1 sums in upper-case hexadecimal digits, as in the
     *     files of Have I Been Pwned; else they are the passwords.
     * @param string $message That of NotCompromisedPassword, so that its translations apply.
     * @param bool $skipOnError Whether each password is valid while the filter is not ready. Else
     *     the validator throws.
     * @param array<string>|null $groups
     */
    #[HasNamedArguments]
    public function __construct(
        public readonly string $filter = 'breached-passwords',
        public readonly bool $sha1 = true,
        public readonly string $message = 'This password has been leaked in a data breach, '
            . 'it must not be used. Please use another password.',
        public readonly bool $skipOnError = false,
        ?array $groups = null,
        mixed $payload = null,
    ) {
        parent::__construct(groups: $groups, payload: $payload);
    }
}
