# Builds php.exe for Windows with bloomshm in it, and checks the binding against PHP's headers.
#
#   make -C OUT -f PROJECT/tests/windows/php.mk SOURCE=PHP-SOURCES PROJECT=PROJECT [binding]
#
# OUT is the folder that build_php.js has filled. All folders are absolute.

CC = x86_64-w64-mingw32-gcc-posix
FORCED = -include $(PROJECT)/tests/windows/forced.h
HEADERS = $(CURDIR) $(CURDIR)/main $(CURDIR)/include $(CURDIR)/win32 $(CURDIR)/ext/date/lib \
	$(SOURCE) $(SOURCE)/main $(SOURCE)/Zend $(SOURCE)/TSRM $(SOURCE)/ext \
	$(SOURCE)/ext/hash/sha3/generic64lc
# As win32/build/confutils.js has them, for a PHP without threads.
DEFINES = -D_WINDOWS -DWINDOWS=1 -DZEND_WIN32=1 -DPHP_WIN32=1 -DWIN32 -D_MBCS -D_USE_MATH_DEFINES \
	-DFD_SETSIZE=256 -DPHP_EXPORTS -DLIBZEND_EXPORTS -DTSRM_EXPORTS -DSAPI_EXPORTS -DWINVER=0x0602 \
	-DZEND_DEBUG=0 -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -DHAVE_FUNC_ATTRIBUTE_TARGET=1
OWN = -std=gnu11 -O2 -Wall -Wextra -Werror -D__USE_MINGW_ANSI_STDIO=1 -Uzend_always_inline

# PHP's own sources are not warned about.
PHP_FLAGS = -std=gnu11 -O1 -w $(FORCED) $(HEADERS:%=-I%) $(DEFINES)
# The parameter: GCC 12 takes mingw's reads of the thread's block, at address 0 of a segment, for a
# mistake.
BINDING_FLAGS = $(OWN) --param=min-pagesize=0 $(FORCED) $(HEADERS:%=-isystem %) $(DEFINES)
CORE_FLAGS = $(OWN) -Dzend_always_inline=inline -isystem $(SOURCE)/ext/hash/xxhash
# forced.h makes each inline function of mingw's headers that is not static one of every object.
PHP_LIBRARIES = -static -Wl,--allow-multiple-definition -lole32 -luser32 -ladvapi32 -lshell32 -lws2_32 -ldnsapi -lpsapi -lbcrypt \
	-liphlpapi -lz

all: php.exe

include sources.mk

php.exe: $(OBJECTS) objects/msvc.o
	$(CC) -o $@ $^ $(PHP_LIBRARIES)

objects/msvc.o: $(PROJECT)/tests/windows/msvc.c
	$(CC) -std=c11 -O1 -Wall -Wextra -c -o $@ $<

binding: $(addprefix syntax-,$(notdir $(wildcard $(PROJECT)/src/php/*.c $(PROJECT)/src/message/*.c)))

syntax-php_%.c:
	$(CC) $(BINDING_FLAGS) -I$(PROJECT) -I$(PROJECT)/src -fsyntax-only $(PROJECT)/src/php/php_$*.c
syntax-message.c:
	$(CC) $(CORE_FLAGS) -I$(PROJECT)/src -fsyntax-only $(PROJECT)/src/message/message.c

.PHONY: all binding
-include $(OBJECTS:.o=.d)
