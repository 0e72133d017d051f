<?php

declare(strict_types=1);

/*
 * Does in a request what ?do= says, as a plugin would, and prints the result as JSON.
 */
require __DIR__ . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';
$arguments = json_decode(stripslashes($_GET['arguments'] ?? '[]'), true);
$actions = [
    'flush' => wp_cache_flush(...),
    'get' => wp_cache_get(...),
    'set' => wp_cache_set(...),
    'add' => wp_cache_add(...),
    'incr' => wp_cache_incr(...),
    'flush_group' => wp_cache_flush_group(...),
    'external' => wp_using_ext_object_cache(...),
    'edit' => static fn(int $id, string $title): mixed
        => wp_update_post(['ID' => $id, 'post_title' => $title]),
    'trash' => wp_trash_post(...),
    'comment' => static fn(int $id, string $text): mixed
        => wp_insert_comment(['comment_post_ID' => $id, 'comment_content' => $text]),
    'option' => update_option(...),
    'read_option' => get_option(...),
    'set_transient' => set_transient(...),
    'get_transient' => get_transient(...),
    'delete_transient' => delete_transient(...),
    'set_site_transient' => set_site_transient(...),
    'get_site_transient' => get_site_transient(...),
    'rows' => static fn(string $like): mixed
        => (int) $wpdb->get_var("SELECT COUNT(*) FROM $wpdb->options WHERE option_name LIKE '$like'"),
    'new_site' => static fn(string $path): mixed
        => wpmu_create_blog('net.test', $path, "Site $path", 1, ['public' => 1]),
    'user' => static fn(string $name): mixed
        => wp_update_user(['ID' => 1, 'display_name' => $name]),
    'user_name' => static fn(): mixed => get_userdata(1)->display_name,
    'of_site' => static function (int $site, string $option): mixed {
        switch_to_blog($site);
        $value = get_option($option);
        restore_current_blog();

        return $value;
    },
    'verify' => static fn(): mixed => function_exists('bloom_verify') ? bloom_verify() : [],
    'extension' => static fn(): mixed => extension_loaded('bloomshm'),
    // Of the functions of the object cache: the names and defaults of the parameters.
    'functions' => static function (): mixed {
        $functions = [];
        foreach (get_defined_functions()['user'] as $name) {
            $function = new ReflectionFunction($name);
            $file = basename((string) $function->getFileName());
            if (in_array($file, ['cache.php', 'object-cache.php'], true)) {
                foreach ($function->getParameters() as $p) {
                    $functions[$name][$p->getName()] = [
                        $p->isPassedByReference(),
                        $p->isDefaultValueAvailable() ? $p->getDefaultValue() : 'needed',
                    ];
                }
                $functions[$name] ??= [];
            }
        }
        ksort($functions);

        return $functions;
    },
];
header('Content-Type: application/json');
echo json_encode($actions[$_GET['do']](...$arguments));
