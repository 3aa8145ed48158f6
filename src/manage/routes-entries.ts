/** The routes that change entries: switches, edits, tools, and approval of what would run. */

import { definitionCost } from '../catalog/deferral.ts';
import { EDITABLE_SCOPES, type EditableScope } from '../config/scopes.ts';
import { asPlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import type { JsonObject } from '../lib/json.ts';
import { isDestructive } from '../policy/suggested-rules.ts';
import { switchServer } from '../setup/switch-server.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref } from './api-schemas.ts';
import { HttpFailure, type JsonRoute } from './route.ts';
import { describeServer } from './routes-servers.ts';

const SCOPE = {
  scope: { type: 'string', enum: EDITABLE_SCOPES, description: 'The scope to change, when several have it.' },
} as const;

export function entryRoutes({ host }: Pick<RouteParts, 'host'>): readonly JsonRoute[] {
  return [
    switchRoute(host, true),
    switchRoute(host, false),
    {
      method: 'GET',
      path: '/api/servers/{name}/entry',
      operation: 'getEntry',
      summary:
        'The entry of a server for editing, in one scope; secrets are replaced by the place they are in.',
      query: SCOPE,
      answer: ref('EditedEntry'),
      fails: [404],
      handle: ({ params, query }) => host.management.entries.read(nameIn(params), scopeIn(query)),
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/entry',
      operation: 'editEntry',
      summary:
        'Replace the entry that was read. Hidden values that are sent back unchanged stay. What runs must be approved again if it changed.',
      body: 'EntryEdit',
      answer: ref('Server'),
      fails: [404, 409],
      handle: async ({ params, body, signal }) => {
        const name = nameIn(params);
        const { entry, digest, scope } = body as unknown as EntryEdit;
        const edited = await conflict(host.management.entries.edited(name, { entry, digest, scope }));
        // `save` validates it, with the errors of the configuration.
        await host.save(name, edited.entry as Parameters<Host['save']>[1], {
          scope: edited.scope,
          replace: true,
          unapproved: true,
          signal,
        });
        return describeServer(host, name);
      },
    },
    {
      method: 'GET',
      path: '/api/servers/{name}/tools',
      operation: 'inspectTools',
      summary:
        'All tools of a server, also those that are switched off or held back, with the decision about calls.',
      answer: object({ tools: list(ref('InspectedTool')) }),
      fails: [404],
      handle: ({ params }) => ({ tools: inspected(host, nameIn(params)) }),
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/tools',
      operation: 'switchTool',
      summary: 'Switch one tool of a server on or off, in its entry.',
      body: 'ToolSwitch',
      answer: object({ tools: list(ref('InspectedTool')) }),
      fails: [404, 409],
      handle: async ({ params, body, signal }) => {
        const name = nameIn(params);
        const { tool, enabled, scope } = body as unknown as ToolSwitch;
        const changed = await conflict(host.management.entries.withTool(name, tool, enabled, scope));
        await host.save(name, changed.entry as Parameters<Host['save']>[1], {
          scope: changed.scope,
          replace: true,
          unapproved: true,
          signal,
        });
        return { tools: inspected(host, name) };
      },
    },
    ...trustRoutes(host),
  ];
}

function switchRoute(host: Host, enabled: boolean): JsonRoute {
  const verb = enabled ? 'enable' : 'disable';
  return {
    method: 'POST',
    path: `/api/servers/{name}/${verb}`,
    operation: `${verb}Server`,
    summary: enabled
      ? 'Enable a server; one of a project for you only, unless the scope is project.'
      : 'Disable a server; one of a project for you only, unless the scope is project.',
    body: 'ScopeChoice',
    answer: ref('Server'),
    fails: [404, 409],
    handle: async ({ params, body, signal }) => {
      const name = nameIn(params);
      const { scope } = body as { readonly scope?: EditableScope };
      await switchServer({ ...host.management.setup, signal }, name, enabled, scope);
      await host.reload(undefined, { settle: false });
      if (enabled) await host.connect(name).catch(() => {});
      return describeServer(host, name);
    },
  };
}

function trustRoutes(host: Host): readonly JsonRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/servers/{name}/trust',
      operation: 'getTrust',
      summary:
        'Everything that an approval of a server covers: its whole entry, its command line, and hashes of its files.',
      answer: ref('Trust'),
      fails: [403, 404],
      handle: ({ params }) => host.management.entries.consent(nameIn(params)),
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/trust',
      operation: 'trustServer',
      summary:
        'Approve a server of a project, of a plugin or of this API, and start it: for a person who was shown all of it.',
      body: 'Approval',
      answer: ref('Server'),
      fails: [404, 409],
      handle: async ({ params, body }) => {
        const name = nameIn(params);
        await conflict(host.management.entries.approve(name, String(body['digest'])));
        await host.reload(undefined, { settle: false });
        await host.connect(name).catch(() => {});
        return describeServer(host, name);
      },
    },
    {
      method: 'DELETE',
      path: '/api/servers/{name}/trust',
      operation: 'withdrawTrust',
      summary: 'Withdraw the approval of a server of a project or plugin, and end it.',
      answer: ref('Server'),
      fails: [404],
      handle: async ({ params }) => {
        const name = nameIn(params);
        await host.management.entries.withdraw(name);
        await host.reload();
        return describeServer(host, name);
      },
    },
  ];
}

function inspected(host: Host, name: string): readonly object[] {
  const isTrusted = host.management.isTrusted(name);
  const deferred = new Set(host.tools({ all: true }).flatMap((tool) => (tool.deferred ? [tool.name] : [])));
  return host.inspect(name).map(({ tool, state, held, approval }) => ({
    name: tool.name,
    tool: tool.tool,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: tool.description,
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    state: state === 'available' ? 'on' : state === 'hidden' ? 'off' : 'held',
    ...(held === undefined ? {} : { held }),
    destructive: isDestructive(tool, isTrusted),
    approval: {
      decision: approval.kind === 'pass' ? 'allow' : approval.kind,
      reason: approval.reason,
      ...(approval.rule === undefined ? {} : { rule: approval.rule }),
    },
    definitionTokens: definitionCost(tool),
    deferred: deferred.has(tool.name),
  }));
}

/** An entry that was changed since, or that cannot be changed here, is a conflict. */
async function conflict<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    throw error.code === 'USAGE' || error.code === 'UNTRUSTED' ? new HttpFailure(409, error) : error;
  }
}

function scopeIn(query: URLSearchParams): EditableScope | undefined {
  return EDITABLE_SCOPES.find((each) => each === query.get('scope'));
}

/** Every path here has a name. */
function nameIn(params: Readonly<Record<string, string>>): string {
  return params['name'] ?? '';
}

interface EntryEdit {
  readonly entry: JsonObject;
  readonly digest: string;
  readonly scope?: EditableScope;
}

interface ToolSwitch {
  readonly tool: string;
  readonly enabled: boolean;
  readonly scope?: EditableScope;
}
