/*
 * php_settings.h - the INI settings.
 *
 * Licensed under the MIT licence; see LICENSE.
 */
#ifndef PHP_BLOOMSHM_SETTINGS_H
#define PHP_BLOOMSHM_SETTINGS_H

void php_bloomshm_settings_register(int module_number);

#endif
