/** Names of environment variables that make programs load code, or decide which program is found. */

const NAMES: ReadonlySet<string> = new Set([
  'PATH',
  'PATHEXT',
  'COMSPEC',
  'SHELL',
  'NODE_OPTIONS',
  'NODE_PATH',
  'BASH_ENV',
  'ENV',
  'ZDOTDIR',
  'RUBYOPT',
  'RUBYLIB',
  'PERL5OPT',
  'PERL5LIB',
  'PHPRC',
  'PHP_INI_SCAN_DIR',
  'LUA_INIT',
  'LUA_PATH',
  'LUA_CPATH',
  'CLASSPATH',
  'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'DOTNET_STARTUP_HOOKS',
  'MAKEFLAGS',
  'MAKEFILES',
  'EDITOR',
  'VISUAL',
  'PAGER',
]);
/** Families: of loaders and interpreters, and settings of launchers (registries, script shells, folders of packages). */
const FAMILIES = /^(?:ld_|dyld_|python|git_|npm_config_|yarn_|pnpm_|bun_|uv_|pip_|cargo_|bundle_)/i;

/** True for a known one. The list helps a person to look; it cannot be complete. */
export function loadsCode(name: string): boolean {
  return NAMES.has(name.toUpperCase()) || FAMILIES.test(name);
}
