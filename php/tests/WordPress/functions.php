<?php

declare(strict_types=1);

/**
 * What the drop-in needs of WordPress, for tests without one. $GLOBALS['wordpress'] sets the
 * answers, and holds what was reported.
 */
function is_multisite(): bool
{
    return $GLOBALS['wordpress']['multisite'];
}

function get_current_blog_id(): int
{
    return 1;
}

function wp_suspend_cache_addition(): bool
{
    return $GLOBALS['wordpress']['suspended'];
}

function _doing_it_wrong(string $function, string $message, string $version): void
{
    $GLOBALS['wordpress']['reports'][] = "$function: $message";
}

function _deprecated_function(string $function, string $version, string $instead): void
{
    $GLOBALS['wordpress']['reports'][] = "$function: $instead";
}

function __(string $text): string
{
    return $text;
}

function add_action(string $hook, callable $function, int $priority): void
{
    $GLOBALS['wordpress']['actions'][$hook][] = $function;
}

function wp_using_ext_object_cache(?bool $using = null): bool
{
    return $GLOBALS['wordpress']['external'] = $using ?? $GLOBALS['wordpress']['external'];
}

function esc_html(string $text): string
{
    return htmlspecialchars($text);
}

class wpdb
{
    public string $base_prefix = 'wp_';
}
