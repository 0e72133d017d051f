<?php

declare(strict_types=1);

/*
 * Installs WordPress for the host in WORDPRESS_HOST, and writes some posts. With the argument
 * `network`, makes a network of the installation, with a second site.
 */
define('WP_INSTALLING', true);
require __DIR__ . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
$host = $_SERVER['HTTP_HOST'];
wp_install("Site $host", 'admin', 'admin@example.com', true, '', 'password');
update_option('permalink_structure', '');
switch_theme('plain');
for ($i = 1; $i <= 8; ++$i) {
    $id = wp_insert_post([
        'post_title' => "Post $i of $host",
        'post_content' => str_repeat("Text of post $i. ", 50),
        'post_status' => 'publish',
        'post_date' => "2024-01-0$i 12:00:00", // the database orders equal ones as it likes
        'tags_input' => ["tag$i", 'all'],
        'post_author' => 1,
    ]);
    update_post_meta($id, 'mood', "mood $i");
    wp_insert_comment(['comment_post_ID' => $id, 'comment_content' => "Comment on $i of $host"]);
}
if (($argv[1] ?? '') === 'network') {
    foreach ($wpdb->tables('ms_global') as $table => $prefixed) {
        $wpdb->$table = $prefixed;
    }
    install_network();
    populate_network(1, $host, 'admin@example.com', 'Network', '/', false);
    touch(__DIR__ . '/../network');
}
