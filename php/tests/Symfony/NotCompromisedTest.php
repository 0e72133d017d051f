<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony;

use BloomShm\Symfony\NotCompromised;
use BloomShm\Symfony\NotCompromisedValidator;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Validator\Constraints\NotBlank;
use Symfony\Component\Validator\Constraints\NotCompromisedPassword;
use Symfony\Component\Validator\Exception\RuntimeException;
use Symfony\Component\Validator\Exception\UnexpectedTypeException;
use Symfony\Component\Validator\Exception\UnexpectedValueException;
use Symfony\Component\Validator\Validation;

final class NotCompromisedTest extends TestCase
{
    /** SHA-1 sums and counts, as the files of Have I Been Pwned have them. */
    private const LINES = "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:10434004\r\n"
        . "7C4A8D09CA3762AF61E59520943DC26494F8941B:42542807\r\n";

    protected function tearDown(): void
    {
        \bloom_drop('breached-passwords');
    }

    #[Group('extension')]
    public function testBreachedPasswordsAreRefused(): void
    {
        \bloom_load('breached-passwords', \array_map(
            static fn(string $line): string => \strtok($line, ':'),
            \explode("\r\n", \trim(self::LINES)),
        ), 0.0001);

        self::assertSame(
            [[NotCompromised::COMPROMISED_PASSWORD_ERROR, (new NotCompromisedPassword())->message]],
            self::validate('password', new NotCompromised()),
        );
        self::assertCount(1, self::validate('123456', new NotCompromised()));
        self::assertCount(1, self::validate(123456, new NotCompromised()));
        self::assertSame([], self::validate('correct horse battery staple', new NotCompromised()));
        self::assertSame([], self::validate('Password', new NotCompromised()));
        self::assertSame([], self::validate('', new NotCompromised()));
        self::assertSame([], self::validate(null, new NotCompromised()));
    }

    #[Group('extension')]
    public function testTheFilterMayHoldThePasswordsThemselves(): void
    {
        \bloom_load('breached-passwords', ['geheim', 'päßwort'], 0.0001);
        $plain = new NotCompromised(sha1: false, message: 'no!', groups: ['new']);

        self::assertSame(['new'], $plain->groups);
        self::assertSame(
            [[NotCompromised::COMPROMISED_PASSWORD_ERROR, 'no!']],
            self::validate('päßwort', $plain),
        );
        self::assertSame([], self::validate('päßword', $plain));
        self::assertSame([], self::validate('geheim', new NotCompromised()));
    }

    #[Group('extension')]
    public function testAMillionPasswordsOfABreach(): void
    {
        $list = \getenv('BLOOMSHM_TEST_PASSWORDS');
        self::assertIsString($list, 'script/test-library names the file');
        $passwords = \file($list, \FILE_IGNORE_NEW_LINES);
        \bloom_load('breached-passwords', (static function () use ($passwords): \Generator {
            foreach ($passwords as $password) {
                yield \strtoupper(\sha1($password));
            }
        })(), 0.001);
        $validator = Validation::createValidator();
        $constraint = new NotCompromised();

        for ($i = 0; $i < \count($passwords); $i += 500) {
            self::assertCount(1, $validator->validate($passwords[$i], $constraint), $passwords[$i]);
        }
        $refused = 0;
        for ($i = 0; $i < 5000; $i++) {
            $refused += \count($validator->validate(\hash('sha256', "good $i"), $constraint));
        }
        self::assertLessThan(25, $refused); // 5 are to be expected
    }

    #[Group('disabled')]
    public function testAFilterThatIsNotReadyThrows(): void
    {
        $this->expectException(RuntimeException::class);
        $this->expectExceptionMessage('"breached-passwords" of breached passwords is not ready');
        self::validate('password', new NotCompromised());
    }

    #[Group('disabled')]
    public function testAFilterThatIsNotReadyAcceptsWithSkipOnError(): void
    {
        self::assertSame([], self::validate('password', new NotCompromised(skipOnError: true)));
    }

    #[Group('disabled')]
    public function testValuesWithoutAPasswordAskNoFilter(): void
    {
        self::assertSame([], self::validate('', new NotCompromised()));
        self::assertSame([], self::validate(null, new NotCompromised()));
    }

    public function testOtherValuesAreRefused(): void
    {
        $this->expectException(UnexpectedValueException::class);
        (new NotCompromisedValidator())->validate([], new NotCompromised());
    }

    public function testOtherConstraintsAreRefused(): void
    {
        $this->expectException(UnexpectedTypeException::class);
        (new NotCompromisedValidator())->validate('password', new NotBlank());
    }

    public function testAnAttributeOfAProperty(): void
    {
        $user = new class {
            #[NotCompromised(filter: 'others', skipOnError: true)]
            public string $password = 'password';
        };
        $validator = Validation::createValidatorBuilder()->enableAttributeMapping()->getValidator();

        self::assertCount(0, $validator->validate($user));
        $constraint = $validator->getMetadataFor($user)
            ->getPropertyMetadata('password')[0]->getConstraints()[0];
        self::assertInstanceOf(NotCompromised::class, $constraint);
        self::assertSame('others', $constraint->filter);
        // as caches of metadata do
        self::assertEquals($constraint, \unserialize(\serialize($constraint)));
    }

    /**
     * @return list<array{string, string}> Code and message of each violation.
     */
    private static function validate(mixed $value, NotCompromised $constraint): array
    {
        $violations = [];
        $validator = Validation::createValidator();
        foreach ($validator->validate($value, $constraint, $constraint->groups) as $violation) {
            $violations[] = [$violation->getCode(), $violation->getMessage()];
        }
        return $violations;
    }
}
