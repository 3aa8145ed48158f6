/** The routes for the beginning: presets, pasted text, agents of this machine, and import of their servers. */

import { AGENTS } from '../config/import/agents.ts';
import type { Agent } from '../config/import/foreign-agent.ts';
import { type EditableScope, isForeign } from '../config/scopes.ts';
import { markUnapproved } from '../config/written-over-api.ts';
import type { Host } from '../host/host.ts';
import type { JsonObject } from '../lib/json.ts';
import { writeImport } from '../setup/import-inputs.ts';
import { isPlugboard, type Planned, plannedDocument } from '../setup/import-plan.ts';
import { readPasted } from '../setup/pasted-text.ts';
import { PRESETS } from '../setup/preset-table.ts';
import { describedPreset, filledPreset } from '../setup/preset-values.ts';
import { foreignPlaces } from '../setup/setup-context.ts';
import { isInstalled, takeSurvey } from '../setup/survey.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref, text } from './api-schemas.ts';
import { type JsonRoute, refusal } from './route.ts';
import { describeServer } from './routes-servers.ts';

export function setupRoutes({ host }: Pick<RouteParts, 'host'>): readonly JsonRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/presets',
      operation: 'listPresets',
      summary: 'Well-known servers, with the values that each needs.',
      answer: object({ presets: list(ref('Preset')) }),
      handle: () => ({ presets: PRESETS.map(describedPreset) }),
    },
    {
      method: 'POST',
      path: '/api/presets/{id}',
      operation: 'addPreset',
      summary:
        'Add a well-known server. Secrets go to the keyring; one that runs a program waits for an approval.',
      body: 'PresetChoice',
      status: 201,
      answer: ref('Server'),
      fails: [404, 409],
      handle: ({ params, body, signal }) => addPreset(host, params['id'] ?? '', body, signal),
    },
    {
      method: 'POST',
      path: '/api/parse',
      operation: 'parseServers',
      summary:
        'Read servers from a pasted text: JSON in any known format, a command line, or an address. Nothing is written.',
      body: 'PastedText',
      answer: object({
        kind: { type: 'string', enum: ['json', 'command', 'url'] },
        servers: list(object({ name: text, entry: { type: 'object' }, lost: list(text), notes: list(text) })),
      }),
      handle: ({ body }) => readPasted(host.management.setup, String(body['text'])),
    },
    {
      method: 'GET',
      path: '/api/agents',
      operation: 'listAgents',
      summary:
        'The agents of this machine, whether Plugboard is in them, and their servers that could be imported.',
      answer: object({ agents: list(ref('Agent')) }),
      handle: () => agentsOf(host),
    },
    {
      method: 'POST',
      path: '/api/import',
      operation: 'importServers',
      summary:
        'Import the servers of agents, or show what would be imported (by default). Those that run a program wait for an approval.',
      body: 'ImportChoice',
      answer: object({
        dryRun: { type: 'boolean' },
        servers: list({ type: 'object' }),
        inputs: list({ type: 'object' }),
      }),
      fails: [409],
      handle: ({ body, signal }) => importServers(host, body as ImportChoice, signal),
    },
  ];
}

async function addPreset(
  host: Host,
  id: string,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<object> {
  const { name = id, values = {}, scope = 'local', replace } = body as PresetChoice;
  if (!PRESETS.some((preset) => preset.id === id))
    throw refusal(404, `There is no preset called ${JSON.stringify(id)}`);
  const { setup, inputValues } = host.management;
  const { entry, secrets } = filledPreset(setup, id, values, { name, scope });
  // Stored first: the server is started when it is saved.
  for (const [input, secret] of secrets) await inputValues.set({ id: input, owner: '' }, secret);
  await host.save(name, entry as Parameters<Host['save']>[1], { scope, replace, unapproved: true, signal });
  return describeServer(host, name);
}

async function agentsOf(host: Host): Promise<object> {
  const { setup, config } = host.management;
  const where = foreignPlaces(setup, config.projectRoot);
  const { planned, found } = await takeSurvey(setup, AGENTS);
  return {
    agents: AGENTS.map((agent) => {
      const own = planned.filter((each) => each.found.agent === agent);
      const others = own.filter(({ raw }) => !isPlugboard(raw));
      return {
        id: agent.id,
        title: agent.title,
        isInstalled: isInstalled(agent, where),
        isConnected: others.length < own.length,
        files: found.files.filter((each) => each.agent === agent).map(({ file }) => file),
        servers: others.map(({ found: { name }, action, scope, reason }) => ({
          name,
          scope,
          action,
          ...(reason === undefined ? {} : { reason }),
        })),
        importable: others.filter(isWritten).length,
      };
    }),
  };
}

async function importServers(host: Host, choice: ImportChoice, signal: AbortSignal): Promise<object> {
  const { agents, servers, dryRun = true, overwrite = false, scope } = choice;
  const setup = { ...host.management.setup, signal };
  const sources: readonly Agent[] =
    agents === undefined ? AGENTS : AGENTS.filter(({ id }) => agents.includes(id));
  const survey = await takeSurvey(setup, sources, { scope, overwrite });
  const isChosen = ({ found: { agent, name } }: Planned): boolean =>
    servers === undefined || servers.some((each) => each.agent === agent.id && each.name === name);
  const planned = survey.planned.filter(isChosen);
  if (!dryRun) {
    const { config } = host.management;
    for (const one of planned.filter(isWritten)) {
      const hides = config.servers.some(({ name }) => name === one.found.name);
      // As everything that is added over the API: the person approves what would run.
      const marked = (raw: JsonObject, before: unknown): JsonObject =>
        isForeign(one) ? raw : markUnapproved(raw, before, hides);
      const inputs = survey.inputs;
      await writeImport(setup, survey.config.projectRoot, { servers: [one], inputs, finish: marked });
    }
    await host.reload(undefined, { settle: false });
  }
  return { dryRun, servers: planned.map(plannedDocument), inputs: survey.inputs };
}

function isWritten({ action }: Planned): boolean {
  return action === 'add' || action === 'replace';
}

interface PresetChoice {
  readonly name?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly scope?: EditableScope;
  readonly replace?: boolean;
}

interface ImportChoice {
  readonly agents?: readonly string[];
  readonly servers?: readonly { readonly agent: string; readonly name: string }[];
  readonly dryRun?: boolean;
  readonly overwrite?: boolean;
  readonly scope?: EditableScope;
}
