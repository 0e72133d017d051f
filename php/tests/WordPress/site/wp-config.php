<?php

declare(strict_types=1);

/*
 * The settings of three installations: the host names the database. All have the same salt and
 * keys, as if one wp-config.php had been copied; the cache must tell them apart all the same.
 */
$_SERVER['HTTP_HOST'] ??= getenv('WORDPRESS_HOST');
define('DB_NAME', 'wp_' . strstr($_SERVER['HTTP_HOST'], '.', true));
define('DB_USER', 'wordpress');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:' . __DIR__ . '/../db.sock');
define('DB_CHARSET', 'utf8mb4');
define('WP_CACHE_KEY_SALT', 'the same');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {
    define("{$name}_KEY", 'the same');
    define("{$name}_SALT", 'the same');
}
define('WP_HOME', 'http://' . $_SERVER['HTTP_HOST']);
define('WP_SITEURL', WP_HOME);
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('WP_DEBUG_LOG', __DIR__ . '/../debug.log');
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_DEFAULT_THEME', 'plain');
if (DB_NAME === 'wp_net' && file_exists(__DIR__ . '/../network')) {
    define('MULTISITE', true);
    define('SUBDOMAIN_INSTALL', false);
    define('DOMAIN_CURRENT_SITE', 'net.test');
    define('PATH_CURRENT_SITE', '/');
    define('SITE_ID_CURRENT_SITE', 1);
    define('BLOG_ID_CURRENT_SITE', 1);
}
if (($_SERVER['HTTP_X_CORE'] ?? '') !== '') {
    $never = [['function' => '__return_false', 'accepted_args' => 0]];
    $wp_filter = ['enable_loading_object_cache_dropin' => [10 => $never]];
}
$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
