/** `plugboard add --preset`: lists the presets, or adds one of them as a server. */

import { isForeign } from '../../config/scopes.ts';
import { PlugboardError } from '../../errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Context, Flags } from '../cli-command.ts';
import { ownProgram } from '../own-program.ts';
import { saveServer } from '../save-server.ts';
import { scopeFlag } from '../scope-flag.ts';
import { layOut } from '../table.ts';
import { fill, parseValues } from './fill.ts';
import { entryOf, type Need, type Preset } from './preset.ts';
import { PRESETS } from './preset-table.ts';

/** Flags that can be combined with a preset; every other flag describes a custom entry. */
const FITTING: ReadonlySet<string> = new Set(['preset', 'scope', 'force']);
/**
 * The installed command. `npx plugboard` in a cloned folder would start any program that the folder calls plugboard.
 */
const PORTABLE: readonly string[] = ['plugboard'];

export async function addPreset(context: Context, args: readonly string[], flags: Flags): Promise<number> {
  const other = Object.keys(flags).find((name) => !FITTING.has(name));
  if (other !== undefined || context.afterDashes !== undefined) {
    throw new PlugboardError('USAGE', '--preset can only be combined with --scope and --force.', {
      hint: 'plugboard add --preset <id> [name] [key=value…]; everything else is in the entry, which you can change.',
    });
  }
  const id = flags['preset'];
  if (typeof id !== 'string') return listPresets(context);
  const preset = find(id);
  const [first] = args;
  const name = first === undefined || first.includes('=') ? preset.id : first;
  const given = parseValues(preset, name === first ? args.slice(1) : args);
  const scope = scopeFlag(flags) ?? 'local';
  const { values, version, unset, secrets } = await fill(context, preset, given, { name, scope });
  const raw = entryOf(preset, values, {
    version,
    ownProgram: isForeign({ scope }) ? PORTABLE : ownProgram(context.env),
    // A project's servers start in the project, and other agents that read the file do not support ${PROJECT_DIR}.
    project: isForeign({ scope }) ? '.' : '${PROJECT_DIR}',
  });
  const replace = flags['force'] === true;
  // Secrets were rejected above; the remaining values are the preset's own.
  const status = await saveServer(context, { name, raw, scope, replace, allowSecret: false });
  for (const [id, secret] of secrets) {
    const { openInputs } = await import('../settle-inputs.ts');
    await openInputs(context).set({ id, owner: '' }, secret);
  }
  for (const note of [preset.note?.replace('<name>', name), ...unset.map(notSet)]) {
    if (note !== undefined) context.output.note(note);
  }
  return status;
}

function find(id: string): Preset {
  const found = PRESETS.find((preset) => preset.id === id);
  if (found !== undefined) return found;
  const [meant] = nearest(
    id,
    PRESETS.map((preset) => preset.id),
  );
  const more = 'plugboard add --preset lists all of them.';
  throw new PlugboardError('USAGE', `There is no preset called ${JSON.stringify(id)}.`, {
    hint: meant === undefined ? more : `Did you mean ${meant}? ${more}`,
  });
}

function listPresets({ output }: Context): number {
  output.answer({ presets: PRESETS.map(described) }, () => {
    const rows = PRESETS.map(({ id, title, needs = [] }) => [id, needs.map(shortly).join(', '), title]);
    const lines = layOut([['preset', 'needs', 'for'], ...rows], {
      columns: [
        { paint: (cell, row) => (row === 0 ? output.paint.faint(cell) : output.paint.strong(cell)) },
        { paint: output.paint.faint },
        { paint: (cell, row) => (row === 0 ? output.paint.faint(cell) : cell) },
      ],
      total: output.columns,
    });
    return [...lines, '', 'Add one: plugboard add --preset <id> [name] [key=value…]'].join('\n');
  });
  return 0;
}

function shortly(need: Need): string {
  if (need.kind === 'secret') return need.variable;
  return need.fallback === undefined ? need.key : `[${need.key}]`;
}

/** Returns a preset's data, without its functions. */
function described(preset: Preset): Readonly<Record<string, unknown>> {
  const { id, title, needs = [], note } = preset;
  return {
    id,
    title,
    transport: 'url' in preset ? 'http' : 'stdio',
    ...('package' in preset ? { package: preset.package, version: preset.version } : {}),
    ...('url' in preset ? { url: preset.url } : {}),
    needs,
    ...(note === undefined ? {} : { note }),
  };
}

function notSet(variable: string): string {
  return `${variable} is not set yet; the server needs it when it is started.`;
}
