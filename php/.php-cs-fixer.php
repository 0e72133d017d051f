<?php

declare(strict_types=1);

return (new PhpCsFixer\Config())
    ->setRules(['@PER-CS' => true, 'declare_strict_types' => true])
    ->setRiskyAllowed(true)
    ->setCacheFile(__DIR__ . '/../build/library/php-cs-fixer.cache')
    ->setFinder(PhpCsFixer\Finder::create()->in(__DIR__));
