<?php

declare(strict_types=1);

namespace BloomShm\Symfony;

use Symfony\Component\Validator\Constraint;
use Symfony\Component\Validator\ConstraintValidator;
use Symfony\Component\Validator\Exception\RuntimeException;
use Symfony\Component\Validator\Exception\UnexpectedTypeException;
use Symfony\Component\Validator\Exception\UnexpectedValueException;

/**
 * Validates NotCompromised: one question to a filter, about a microsecond.
 */
final class NotCompromisedValidator extends ConstraintValidator
{
    /**
     * null and '' are valid.
     *
     * @throws RuntimeException The filter is not ready: not loaded, or out of reach. It would say
     *     "maybe" to each password.
     */
    public function validate(mixed $value, Constraint $constraint): void
    {
        if (!$constraint instanceof NotCompromised) {
            throw new UnexpectedTypeException($constraint, NotCompromised::class);
        }
        if ($value !== null && !\is_scalar($value) && !$value instanceof \Stringable) {
            throw new UnexpectedValueException($value, 'string');
        }
        $password = (string) $value;
        if ($password === '') {
            return;
        }
        if (!\bloom_ready($constraint->filter)) {
            if ($constraint->skipOnError) {
                return;
            }
            throw new RuntimeException(\sprintf(
                'The filter "%s" of breached passwords is not ready: load it, or set skipOnError.',
                $constraint->filter,
            ));
        }
        $key = $constraint->sha1 ? \strtoupper(\sha1($password)) : $password;
        if (\bloom_maybe_has($constraint->filter, $key)) {
            $this->context->buildViolation($constraint->message)
                ->setCode(NotCompromised::COMPROMISED_PASSWORD_ERROR)
                ->addViolation();
        }
    }
}
