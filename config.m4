PHP_ARG_ENABLE([bloomshm],
  [whether to enable bloomshm],
  [AS_HELP_STRING([--enable-bloomshm],
    [Enable shared-memory Bloom filters and records])],
  [no])

PHP_ARG_ENABLE([bloomshm-dev],
  [whether to enable bloomshm developer checks],
  [AS_HELP_STRING([--enable-bloomshm-dev],
    [bloomshm: assertions, and warnings as errors])],
  [no], [no])

if test "$PHP_BLOOMSHM" != "no"; then
  AC_MSG_CHECKING([for xxHash 0.8.1 or newer])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
    #define XXH_INLINE_ALL
    #include <xxhash.h>
    #if XXH_VERSION_NUMBER < 801
    # error "too old"
    #endif
  ]], [[return (int) XXH3_128bits_withSeed("", 0, 1).low64;]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR(m4_normalize([bloomshm needs the header of xxHash 0.8.1 or newer
       (Debian: apt-get install libxxhash-dev)]))])

  AC_MSG_CHECKING([for natively lock-free 64-bit atomics])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
    #if !defined(__GCC_ATOMIC_LLONG_LOCK_FREE) || __GCC_ATOMIC_LLONG_LOCK_FREE != 2
    # error "not lock-free"
    #endif
    typedef char pointers_are_64_bit[sizeof(void *) == 8 ? 1 : -1];
  ]], [[]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([bloomshm needs a 64-bit system with natively lock-free 64-bit atomics])])

  PHP_CHECK_LIBRARY([z], [inflateInit2_],
    [AC_CHECK_HEADER([zlib.h],
      [PHP_ADD_LIBRARY([z], [1], [BLOOMSHM_SHARED_LIBADD])],
      [AC_MSG_ERROR([bloomshm needs the header of zlib (Debian: apt-get install zlib1g-dev)])])],
    [AC_MSG_ERROR([bloomshm needs zlib (Debian: apt-get install zlib1g-dev)])])
  PHP_SUBST([BLOOMSHM_SHARED_LIBADD])

  AC_CHECK_DECL([F_OFD_SETLK], [],
    [AC_MSG_ERROR([bloomshm needs open file description locks (F_OFD_SETLK: Linux 3.15 or newer)])],
    [[#define _GNU_SOURCE
      #include <fcntl.h>]])

  bloomshm_cflags="-std=gnu11 -Wall -Wextra -fvisibility=hidden"
  if test "$PHP_THREAD_SAFETY" = "yes"; then
    dnl PHP with threads is built so, and its headers declare a longer struct of globals then.
    bloomshm_cflags="$bloomshm_cflags -D_REENTRANT"
  fi
  if test "$PHP_BLOOMSHM_DEV" != "no"; then
    bloomshm_cflags="$bloomshm_cflags -Werror -DBSHM_DEBUG"
    dnl A warning in a header of PHP's is no fault of bloomshm.
    INCLUDES=$(echo "$INCLUDES" | sed 's/-I/-isystem /g')
  fi

  PHP_NEW_EXTENSION([bloomshm],
    m4_normalize([src/core/status.c
     src/core/hash.c
     src/core/host.c
     src/core/file.c
     src/core/segment/regions.c
     src/core/segment/owners.c
     src/core/segment/clock.c
     src/core/segment/rest.c
     src/core/segment/create.c
     src/core/segment/attach.c
     src/core/segment/lock.c
     src/core/segment/run.c
     src/core/segment/sound.c
     src/core/segment/space.c
     src/core/segment/source.c
     src/core/segment/ops.c
     src/core/segment/outbox.c
     src/core/segment/journal.c
     src/core/segment/directory.c
     src/core/segment/layers.c
     src/core/segment/blocks.c
     src/core/filter/lag.c
     src/core/filter/lay.c
     src/core/filter/kinds.c
     src/core/filter/partition.c
     src/core/filter/plain.c
     src/core/filter/growing.c
     src/core/filter/counting.c
     src/core/filter/mend.c
     src/core/filter/sliding.c
     src/core/filter/geometry.c
     src/core/filter/query.c
     src/core/filter/filter_remove.c
     src/core/filter/spool.c
     src/core/filter/usage.c
     src/core/filter/build.c
     src/core/filter/load.c
     src/core/filter/image.c
     src/core/filter/origin.c
     src/core/filter/add_layer.c
     src/core/filter/add_aging.c
     src/core/filter/add.c
     src/core/filter/clear.c
     src/core/filter/manage.c
     src/core/filter/merge.c
     src/core/filter/filter_head.c
     src/core/filter/filter_file.c
     src/core/delta/rice.c
     src/core/delta/delta_image.c
     src/core/delta/delta_make.c
     src/core/delta/delta_apply.c
     src/core/cache/shard.c
     src/core/cache/quota.c
     src/core/cache/slab.c
     src/core/cache/index.c
     src/core/cache/table.c
     src/core/cache/walk.c
     src/core/cache/recency.c
     src/core/cache/aging.c
     src/core/cache/record.c
     src/core/cache/find.c
     src/core/cache/gain.c
     src/core/cache/shadow.c
     src/core/cache/locate.c
     src/core/cache/chain.c
     src/core/cache/remove.c
     src/core/cache/move.c
     src/core/cache/lease_table.c
     src/core/cache/repair.c
     src/core/cache/shard_lock.c
     src/core/cache/quota_recount.c
     src/core/cache/sample.c
     src/core/cache/size.c
     src/core/cache/evict.c
     src/core/cache/evict_page.c
     src/core/cache/evict_old.c
     src/core/cache/ghost.c
     src/core/cache/room.c
     src/core/cache/put.c
     src/core/cache/parked.c
     src/core/cache/large.c
     src/core/cache/change.c
     src/core/cache/lease.c
     src/core/cache/copy.c
     src/core/cache/scan.c
     src/core/cache/record_file.c
     src/core/cache/records_clear.c
     src/core/cache/store_stat.c
     src/core/cache/verify.c
     src/core/stat.c
     src/core/check.c
     src/platform/posix/posix_os.c
     src/platform/posix/posix_lock.c
     src/message/message.c
     src/php/php_module.c
     src/php/php_state.c
     src/php/php_settings.c
     src/php/php_path.c
     src/php/php_mapping.c
     src/php/php_segment.c
     src/php/php_message.c
     src/php/php_error.c
     src/php/php_arguments.c
     src/php/php_keys.c
     src/php/php_filter.c
     src/php/php_admin.c
     src/php/php_info.c
     src/php/php_load.c
     src/php/php_file.c
     src/php/php_value.c
     src/php/php_cache.c
     src/php/php_store.c
     src/php/php_fetch.c
     src/php/php_fetch_many.c
     src/php/php_fetch_open.c
     src/php/php_cleanup.c]),
    [$ext_shared],, [$bloomshm_cflags -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
  PHP_ADD_INCLUDE([$ext_srcdir])
  PHP_ADD_INCLUDE([$ext_srcdir/src])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/core/segment], [1])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/core/filter], [1])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/core/delta], [1])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/core/cache], [1])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/platform/posix], [1])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/message], [1])
  PHP_ADD_BUILD_DIR([$ext_builddir/src/php], [1])
  PHP_INSTALL_HEADERS([ext/bloomshm], [php_bloomshm.h])
fi
