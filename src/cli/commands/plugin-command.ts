/** `plugboard plugin`: manages plugins, folders whose servers are added and are enabled and disabled together. */

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Argument } from 'commander';
import { setValue } from '../../config/edit-config.ts';
import type { PluginSetting, ServerSpec } from '../../config/entry.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { checkPluginName, type Plugin, readPlugin } from '../../config/plugins.ts';
import { supplierOf } from '../../config/scopes.ts';
import { didYouMean } from '../../config/unknown-server.ts';
import { PlugboardError } from '../../errors.ts';
import { defined } from '../../lib/defined.ts';
import { nearest } from '../../lib/nearest.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { admit } from '../../policy/admit.ts';
import { oneLine } from '../../policy/clean.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { consentStore, trustDecisions } from '../config-report.ts';
import { askForTrust } from '../consent.ts';
import { noteProblems } from '../problems.ts';

const ACTIONS = ['add', 'remove', 'list', 'enable', 'disable'] as const;

export const plugin: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('<action>', 'action').choices(ACTIONS))
      .argument('[plugin]', 'folder to add, or name of a plugin')
      .option('--name <name>', 'name for the plugin (default: the one it declares)')
      .option('-y, --yes', 'approve its servers without asking')
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [action = '', what] = args;
    if (action === 'list') return list(context);
    if (what === undefined) throw noName(action);
    switch (action as (typeof ACTIONS)[number]) {
      case 'add':
        return add(context, what, flags);
      case 'remove':
        return remove(context, what);
      case 'enable':
        return switchTo(context, what, true, flags);
      default:
        return switchTo(context, what, false, flags);
    }
  },
};

const EXAMPLES = `
A plugin is a folder with .mcp.json, or with plugin.json (also in .claude-plugin/) that has "mcpServers". Its servers are called
<plugin>:<server>, are used in every project, and run after you have approved each.

Examples:
  plugboard plugin add ./acme-tools
  plugboard plugin list
  plugboard plugin disable acme-tools`;

async function add(context: Context, folder: string, flags: Flags): Promise<number> {
  const path = existingFolder(resolve(context.cwd, folder));
  const config = await load(context);
  const found = await readPlugin({
    folder: path,
    home: context.home.dir,
    projectRoot: config.projectRoot,
  });
  const name = textFlag(flags, 'name') ?? found.name;
  const wrong = checkPluginName(name);
  if (wrong !== undefined) {
    throw new PlugboardError('USAGE', wrong, { hint: 'Choose another one: --name <name>.' });
  }
  if (!found.isPlugin) {
    throw new PlugboardError('CONFIG_INVALID', `${path} is not a plugin: it defines no servers`, {
      hint: 'A plugin has .mcp.json, or plugin.json with "mcpServers".',
    });
  }
  const present = config.settings.plugins?.[name];
  if (present !== undefined && resolve(context.home.dir, present.path) !== path) {
    throw new PlugboardError('USAGE', `A plugin called "${name}" already exists in ${present.path}`, {
      hint: 'Remove it first, or choose another name: --name <name>.',
    });
  }
  await write(context, name, { path, enabled: true });
  return answer(context, name, { done: 'Added', consent: flags });
}

async function switchTo(context: Context, name: string, enabled: boolean, flags: Flags): Promise<number> {
  const setting = settingOf(await load(context), name);
  await write(context, name, { ...setting, enabled });
  return answer(context, name, {
    done: enabled ? 'Enabled' : 'Disabled',
    ...(enabled ? { consent: flags } : {}),
  });
}

async function remove(context: Context, name: string): Promise<number> {
  const config = await load(context);
  const { path } = settingOf(config, name);
  const { servers } = await readPlugin({
    folder: resolve(context.home.dir, path),
    home: context.home.dir,
    projectRoot: config.projectRoot,
    name,
  });
  await write(context, name, undefined);
  // Adding the plugin again requires a new approval.
  await (await consentStore(context)).revoke(servers);
  context.output.answer(
    { name, path, removed: true },
    () => `Removed ${name}; its folder ${path} is untouched.`,
  );
  return 0;
}

async function list(context: Context): Promise<number> {
  const config = await load(context);
  const all = Object.entries(config.settings.plugins ?? {});
  const documents = await Promise.all(
    all.map(([name, setting]) => documentOf(context, config, name, setting)),
  );
  for (const { problems } of documents) noteProblems(problems, context.output);
  context.output.answer({ plugins: documents }, () =>
    documents.length === 0
      ? 'No plugins. Add one: plugboard plugin add <folder>'
      : documents.map((document) => describe(document, context)).join('\n'),
  );
  return 0;
}

interface PluginDocument extends Pick<Plugin, 'name' | 'version' | 'description' | 'problems'> {
  readonly path: string;
  readonly enabled: boolean;
  /** True if the plugin's folder does not exist. */
  readonly missing?: true;
  readonly servers: readonly { readonly name: string; readonly status: string }[];
}

async function documentOf(
  context: Context,
  config: LoadedConfig,
  name: string,
  { path, enabled = true }: PluginSetting,
): Promise<PluginDocument> {
  const folder = resolve(context.home.dir, path);
  const isMissing = !isFolder(folder);
  const { version, description, servers, problems } = await readPlugin({
    folder,
    home: context.home.dir,
    projectRoot: config.projectRoot,
    name,
  });
  const verdicts = await trustDecisions(servers, context);
  const authority = { managed: config.managed, env: context.env };
  const statusOf = (spec: ServerSpec): string =>
    enabled ? admit(spec, verdicts.get(spec.name), authority).status : 'disabled';
  return {
    name,
    path,
    enabled,
    ...(isMissing ? { missing: true as const } : {}),
    ...defined({ version, description }),
    servers: servers.map((spec) => ({ name: spec.name, status: statusOf(spec) })),
    problems,
  };
}

/** Asks for missing approvals if a person can be asked, and prints the plugin's state. */
async function answer(
  context: Context,
  name: string,
  { done, consent }: { readonly done: string; readonly consent?: Flags },
): Promise<number> {
  const config = await load(context);
  const setting = settingOf(config, name);
  if (consent !== undefined) await settle(context, config, name, consent['yes'] === true);
  const document = await documentOf(context, config, name, setting);
  noteProblems(document.problems, context.output);
  const { paint } = context.output;
  context.output.answer(document, () => `${paint.good(done)} ${describe(document, context)}`);
  return 0;
}

async function settle(context: Context, config: LoadedConfig, plugin: string, yes: boolean): Promise<void> {
  const own = config.servers.filter(
    (spec) => supplierOf(spec) === 'plugin' && spec.name.startsWith(`${plugin}:`),
  );
  if (yes) {
    await (await consentStore(context)).grant(own);
    return;
  }
  if (!context.output.canAsk) return;
  const verdicts = await trustDecisions(own, context);
  for (const spec of own) {
    const verdict = verdicts.get(spec.name);
    if (verdict?.state !== 'trusted') await askForTrust(context, spec, verdict);
  }
}

function describe(
  { name, path, enabled, missing, version, servers }: PluginDocument,
  { output }: Context,
): string {
  const { paint } = output;
  const head = [
    paint.strong(name),
    version === undefined ? '' : oneLine(version),
    enabled ? '' : '(disabled)',
    missing === true ? paint.bad('(its folder is missing)') : '',
  ];
  return [
    `${head.filter((word) => word !== '').join(' ')}  ${paint.faint(path)}`,
    ...servers.map((server) => `  ${oneLine(server.name)}  ${server.status}`),
    ...(servers.some(({ status }) => status === 'untrusted')
      ? [
          `  Review and approve its servers: plugboard trust ${servers.map(({ name }) => shellWord(name)).join(' ')}`,
        ]
      : []),
  ].join('\n');
}

function load({ cwd, home }: Context): Promise<LoadedConfig> {
  return loadConfig({ cwd, home });
}

async function write(
  { home, signal }: Context,
  name: string,
  value: PluginSetting | undefined,
): Promise<void> {
  await setValue(home.config, ['plugins', name], value, { home, signal });
}

function settingOf(config: LoadedConfig, name: string): PluginSetting {
  const plugins = config.settings.plugins ?? {};
  const setting = Object.hasOwn(plugins, name) ? plugins[name] : undefined;
  if (setting !== undefined) return setting;
  const near = nearest(name, Object.keys(plugins));
  throw new PlugboardError('USAGE', `There is no plugin called "${name}"`, {
    hint: near.length > 0 ? didYouMean(near) : 'Run plugboard plugin list to see all of them.',
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns the real path, so that a folder has the same path however it was given. */
function existingFolder(path: string): string {
  if (isFolder(path)) return realpathSync(path);
  throw new PlugboardError('USAGE', `There is no folder ${path}`, { hint: 'Name a folder that exists.' });
}

function noName(action: string): PlugboardError {
  const what = action === 'add' ? 'the folder' : 'the name';
  return new PlugboardError('USAGE', `plugboard plugin ${action} needs ${what} of the plugin`, {
    hint: 'Run plugboard plugin --help for examples.',
  });
}
