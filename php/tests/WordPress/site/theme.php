<?php

declare(strict_types=1);

/*
 * The theme: what most themes ask WordPress for. The last line tells what the page took.
 */
?>
<h1><?php bloginfo('name'); ?></h1>
<?php while (have_posts()) : the_post(); ?>
<article>
<h2><?php the_title(); ?></h2>
<?php the_content(); ?>
<p><?php the_author(); ?>, <?php the_category(', '); ?>, <?php the_tags(); ?>,
<?php comments_number(); ?>, <?php echo get_post_meta(get_the_ID(), 'mood', true); ?></p>
</article>
<?php endwhile; ?>
<?php
wp_list_pages();
wp_list_categories();
wp_get_archives();
foreach (get_comments(['number' => 5]) as $comment) {
    echo '<p>', esc_html($comment->comment_content), '</p>';
}
printf('<!-- %d queries, pid %d -->', get_num_queries(), getmypid());
