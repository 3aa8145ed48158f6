/** Generates the file that runs the daemon as a user service: a systemd unit or a launchd plist. Pure. */

import { createHash } from 'node:crypto';
import { delimiter, isAbsolute, join } from 'node:path';
import { configFolder } from '../../config/import/agent-files.ts';

/** Arguments that run the daemon in the foreground. */
export const DAEMON_ARGS: readonly string[] = ['daemon', 'run'];

/** Seconds between a crash and the next start. */
const RESTART_SECONDS = 2;

export interface ServiceOptions {
  /** Absolute argv that starts Plugboard, without the command. */
  readonly program: readonly string[];
  /** The home to serve; undefined: the default. */
  readonly home: string | undefined;
  /** PATH of the shell that installs the service, used to find servers for clients that do not send an environment. */
  readonly path: string;
}

export interface ServiceFile {
  /** Name of the service in the service manager. */
  readonly name: string;
  readonly file: string;
  readonly text: string;
}

export interface ServicePlace {
  readonly env: NodeJS.ProcessEnv;
  readonly userHome: string;
}

export function systemdUnit(options: ServiceOptions, { env, userHome }: ServicePlace): ServiceFile {
  const name = `plugboard${suffixOf(options.home)}.service`;
  const lines = [
    '[Unit]',
    'Description=Plugboard: MCP servers for your coding agents',
    '',
    '[Service]',
    'Type=simple',
    `ExecStart=${[...executable(options.program), ...DAEMON_ARGS].map(commandWord).join(' ')}`,
    ...Object.entries(environmentOf(options)).map(
      ([key, value]) => `Environment=${unitWord(`${key}=${value}`)}`,
    ),
    'Restart=on-failure',
    `RestartSec=${RESTART_SECONDS}`,
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ];
  return { name, file: join(systemdFolder({ env, userHome }), name), text: lines.join('\n') };
}

/** Returns the folder of the user's own units. */
export function systemdFolder(place: ServicePlace): string {
  return join(configFolder(place), 'systemd', 'user');
}

export function launchdPlist(options: ServiceOptions, { userHome }: ServicePlace): ServiceFile {
  const name = `plugboard.daemon${suffixOf(options.home).replace('-', '.')}`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  ${string(name)}`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...[...options.program, ...DAEMON_ARGS].map((word) => `    ${string(word)}`),
    '  </array>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...Object.entries(environmentOf(options)).flatMap(([key, value]) => [
      `    <key>${escapeXml(key)}</key>`,
      `    ${string(value)}`,
    ]),
    '  </dict>',
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict>',
    '    <key>SuccessfulExit</key>',
    '    <false/>',
    '  </dict>',
    '  <key>ThrottleInterval</key>',
    `  <integer>${RESTART_SECONDS}</integer>`,
    '</dict>',
    '</plist>',
    '',
  ];
  return { name, file: join(userHome, 'Library', 'LaunchAgents', `${name}.plist`), text: lines.join('\n') };
}

function environmentOf({ home, path }: ServiceOptions): Readonly<Record<string, string>> {
  // Skips folders that only exist while npm runs.
  const folders = path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/node_modules|_npx/.test(folder));
  return {
    ...(folders.length === 0 ? {} : { PATH: folders.join(delimiter) }),
    ...(home === undefined ? {} : { PLUGBOARD_HOME: home }),
  };
}

/** True if two files start the same program for the same home; PATH is ignored, as it differs between shells. */
export function startsTheSame(one: string, other: string): boolean {
  return withoutPath(one) === withoutPath(other);
}

function withoutPath(text: string): string {
  return text.replace(/^Environment="PATH=.*\n/m, '').replace(/ *<key>PATH<\/key>\n.*\n/, '');
}

/** Gives each home its own service name. */
function suffixOf(home: string | undefined): string {
  return home === undefined ? '' : `-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`;
}

/** systemd rejects quotes and backslashes in the path of an executable, and does not expand a dollar there. */
function executable(program: readonly string[]): readonly string[] {
  return /["'\\$]/.test(program[0] ?? '') ? ['/usr/bin/env', ...program] : program;
}

/** Escapes an argument of a command line, where a dollar would be a variable. */
function commandWord(word: string): string {
  return unitWord(word.replaceAll('$', () => '$$'));
}

/** Quotes text and doubles percent signs, because a single one is a specifier. */
function unitWord(word: string): string {
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%');
  return `"${escaped}"`;
}

function string(text: string): string {
  return `<string>${escapeXml(text)}</string>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
