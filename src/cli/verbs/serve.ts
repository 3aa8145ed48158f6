/** `plugboard serve`: everything that is configured as one MCP server, for any agent. */

import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { allowsDaemon } from '../../daemon/client/wanted.ts';
import { checkReach } from '../../endpoint/http.ts';
import { PlugboardError } from '../../errors.ts';
import type { Host } from '../../host.ts';
import { describeConnecting } from '../../serve/connect-lines.ts';
import type { GatewayOptions } from '../../serve/gateway.ts';
import { DEFAULT_PORT, REACH_HINT, type ServeHttpOptions } from '../../serve/http.ts';
import type { OwnTool } from '../../serve/own-tools.ts';
import { SERVED_SESSIONS } from '../../serve/served-sessions.ts';
import type { GatewayToken } from '../../serve/token.ts';
import { wholeNumber } from '../flags.ts';
import { aborted } from '../interrupt.ts';
import { type Context, type Flags, textFlag, type Verb } from '../verb.ts';
import { settleInputsFirst, withOwnHost } from '../with-own-host.ts';

// In one bundle with it, so that what serves is shipped once.
export { dashboard } from './dashboard.ts';

const MAX_PORT = 65_535;

export const serve: Verb = {
  configure(command: Command): void {
    command
      .option('--stdio', 'serve on stdin and stdout (the default)')
      .option('--http [address]', `serve over HTTP: [host:]port (127.0.0.1:${DEFAULT_PORT})`)
      .option('--token <token>', 'the bearer token that clients need (default: one made once and kept)')
      .option('--no-auth', 'ask MCP clients for no token; on this machine only')
      .option('--issuer <url>', 'accept tokens of this authorization server')
      .option('--audience <name>', 'whom such tokens have to be meant for')
      .option('--own', 'serve from a process of its own, which shares nothing with other agents')
      .option('--no-daemon', 'the same as --own')
      .option('--workspace', 'with the built-in server for files and git of the project')
      .option('--no-workspace', 'without it, also if config.json sets "workspace"')
      .option('--legacy-sse', 'also serve the HTTP+SSE transport of 2024-11-05 at /sse')
      .option(
        '--approvals <mode>',
        'client: the agent asks its own user (default); enforce: all of approval holds',
      )
      .option('--agent', 'also offer an agent as a tool: agent and agent_reply')
      .option('--model <name>', 'the model of that agent: provider:name, or <url>#<name>')
      .addHelpText('after', '\nExamples:\n  plugboard serve\n  plugboard serve --http 7420');
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    if (args.length > 0) throw usage(`serve takes no arguments, and ${JSON.stringify(args[0])} is one.`);
    const approvals = approvalsOf(flags);
    const http = httpOf(flags);
    const workspace = workspaceOf(flags);
    // The token that is kept in the home also manages: other machines need one that was chosen for them.
    if (http !== undefined)
      checkReach(http.host, {
        proof: http.token !== undefined || http.issuer !== undefined,
        hint: REACH_HINT,
      });
    if (flags['agent'] !== true && flags['model'] !== undefined) throw usage('--model belongs to --agent.');
    if (isShared(context, flags)) {
      if (http === undefined && (await relayed(context, approvals, workspace))) return 0;
      if (http !== undefined) {
        const status = await inDaemon(context, { ...http, approvals }, workspace, flags['auth'] !== false);
        if (status !== undefined) return status;
      }
    }
    if (http !== undefined) context.output.note(OWN_NOTE);
    return withOwnHost(context, { workspace, sessions: SERVED_SESSIONS }, async (host) => {
      const tools = flags['agent'] === true ? await agentTools(context, host, flags) : [];
      return http === undefined
        ? onStdio(context, host, { approvals, tools })
        : onHttp(context, host, { ...http, approvals, tools }, flags['auth'] !== false);
    });
  },
};

const OWN_NOTE =
  'note: this process has its own servers; its calls and questions are not on the page of other agents.';

/** The agent of `--agent` reads its model from this environment, and `--verbose` logs of this process. */
function isShared({ env, verbose }: Context, flags: Flags): boolean {
  const own = flags['own'] === true || flags['daemon'] === false || flags['agent'] === true;
  return !own && !verbose && allowsDaemon(env);
}

/** False if the daemon cannot serve this session. */
async function relayed(
  context: Context,
  approvals: 'client' | 'enforce',
  workspace: boolean | undefined,
): Promise<boolean> {
  const { cwd, env, home, extra, signal } = context;
  const { relayServe } = await import('../../daemon/client/serve.ts');
  return relayServe({
    home,
    env,
    signal,
    hello: { kind: 'mcp', cwd, env, approvals, workspace, servers: extra },
  });
}

/** Undefined if the configuration switches the daemon off. */
async function inDaemon(
  context: Context,
  options: ServeHttpOptions,
  workspace: boolean | undefined,
  auth: boolean,
): Promise<number | undefined> {
  const { cwd, env, home, extra, signal, output } = context;
  await settleInputsFirst(context);
  const tokens = await tokensFor(home, options, auth);
  const { holdHttp } = await import('../../daemon/client/hold-http.ts');
  const { host, port = DEFAULT_PORT, approvals = 'client', issuer, legacySse } = options;
  const listen = { host, port, approvals, token: tokens.mcp, manageToken: tokens.manage, issuer, legacySse };
  const held = await holdHttp({
    home,
    env,
    signal,
    hello: { kind: 'http', cwd, env, servers: extra, workspace, listen },
  });
  if (held === undefined) return undefined;
  announce(output, held, tokens, options);
  if ((await held.closed) === 'stopped') context.output.note('note: the daemon was stopped.');
  return 0;
}

/** SRV-4. A model that cannot be used is reported at the start, not by the first call. */
async function agentTools(
  { env, home, cwd }: Context,
  host: Host,
  flags: Flags,
): Promise<readonly OwnTool[]> {
  const [{ openModel }, { createAgentTools }] = await Promise.all([
    import('../../chat/model.ts'),
    import('../../chat/agent-tools.ts'),
  ]);
  const { name: model } = await openModel(textFlag(flags, 'model') ?? env['PLUGBOARD_MODEL'], env);
  return createAgentTools({
    host,
    home,
    hostOptions: { env, home: home.dir, sessions: SERVED_SESSIONS },
    model,
    env,
    profiles: async () => (await loadConfig({ cwd, home })).settings.profiles ?? {},
    roots: async () => {
      const { projectRoot, settings } = await loadConfig({ cwd, home });
      return [projectRoot, ...(settings.agentRoots ?? [])];
    },
  });
}

async function onStdio({ signal }: Context, host: Host, options: GatewayOptions): Promise<number> {
  const { serveStdio } = await import('../../serve/stdio.ts');
  const served = serveStdio(host, options);
  await Promise.race([served.closed, aborted(signal).catch(() => {})]);
  await served.close();
  return 0;
}

async function onHttp(
  { signal, home, output }: Context,
  host: Host,
  options: ServeHttpOptions,
  auth: boolean,
): Promise<number> {
  const { serveHttp } = await import('../../manage/http.ts');
  const tokens = await tokensFor(home, options, auth);
  const manage = tokens.manage === undefined ? undefined : { token: tokens.manage };
  const served = await serveHttp(host, { ...options, token: tokens.mcp, manage });
  announce(output, served, tokens, options);
  await Promise.race([served.closed, aborted(signal).catch(() => {})]);
  await served.close();
  return 0;
}

interface Tokens {
  /** Of MCP clients; undefined if none is required, or an issuer signs them. */
  readonly mcp: string | undefined;
  /** Of the page and the management API. */
  readonly manage: string | undefined;
  /** The one that is kept in the home, if none was given. */
  readonly kept: GatewayToken | undefined;
}

async function tokensFor(home: Context['home'], options: ServeHttpOptions, auth: boolean): Promise<Tokens> {
  const { gatewayToken } = await import('../../serve/token.ts');
  const kept = options.token === undefined ? await gatewayToken(home) : undefined;
  const manage = options.token ?? kept?.token;
  return { kept, manage, mcp: auth && options.issuer === undefined ? manage : options.token };
}

function announce(
  output: Context['output'],
  { url, page }: { readonly url: string; readonly page: string | undefined },
  { kept, manage, mcp }: Tokens,
  { issuer }: ServeHttpOptions,
): void {
  output.answer(
    {
      url,
      page,
      ...(kept?.isNew ? { token: kept.token } : {}),
      ...(kept === undefined ? {} : { tokenFile: kept.file }),
    },
    () => {
      // A token that exists already is in its file and in the agents that use it; it is not printed again.
      const shown = kept === undefined || kept.isNew ? manage : '<token>';
      const about =
        kept === undefined
          ? []
          : [kept.isNew ? `The token is new, and kept in ${kept.file}.` : `The token is in ${kept.file}.`];
      const how =
        issuer === undefined ? describeConnecting({ url, token: mcp === undefined ? undefined : shown }) : '';
      return [
        `Serving at ${url}`,
        `Look at it in a browser: ${page}#token=${shown}`,
        ...about,
        ...(how === '' ? [] : ['Connect an agent:', how]),
        'End with Ctrl-C.',
      ].join('\n');
    },
  );
}

/** Undefined: as config.json says. The agent that is offered as a tool has no file tools but these. */
function workspaceOf({ workspace, agent }: Flags): boolean | undefined {
  if (typeof workspace === 'boolean') return workspace;
  return agent === true ? true : undefined;
}

function approvalsOf(flags: Flags): 'client' | 'enforce' {
  const given = textFlag(flags, 'approvals') ?? 'client';
  if (given !== 'client' && given !== 'enforce')
    throw usage(`--approvals is client or enforce, not ${JSON.stringify(given)}.`);
  return given;
}

/** Undefined for stdio; every combination that would be less safe than it looks is refused. */
function httpOf(flags: Flags): ServeHttpOptions | undefined {
  const { http } = flags;
  const token = textFlag(flags, 'token');
  const issuer = textFlag(flags, 'issuer');
  const audience = textFlag(flags, 'audience');
  const wantsHttp = http !== undefined && http !== false;
  if (wantsHttp && flags['stdio'] === true) throw usage('--stdio and --http exclude each other.');
  if (!wantsHttp) {
    const idle = ['token', 'issuer', 'audience', 'legacySse'].find((name) => flags[name] !== undefined);
    if (idle !== undefined || flags['auth'] === false)
      throw usage('Tokens and --legacy-sse belong to --http.');
    return undefined;
  }
  if ((issuer === undefined) !== (audience === undefined)) {
    throw usage('--issuer and --audience belong together: a token for somebody else must not be good here.');
  }
  if (flags['auth'] === false && (token !== undefined || issuer !== undefined)) {
    throw usage('--no-auth contradicts --token and --issuer.');
  }
  if (token === '') throw usage('--token is empty.');
  return {
    ...addressOf(typeof http === 'string' ? http : ''),
    ...(token === undefined ? {} : { token }),
    ...(issuer === undefined || audience === undefined ? {} : { issuer: { issuer, audience } }),
    legacySse: flags['legacySse'] === true,
  };
}

/** `7420`, `localhost:7420`, `[::1]:7420`, `0.0.0.0:80`. */
function addressOf(text: string): { host?: string; port?: number } {
  if (text === '') return {};
  const colon = text.lastIndexOf(':');
  const host = colon === -1 ? undefined : text.slice(0, colon);
  const digits = text.slice(colon + 1);
  // 0 takes any free port.
  const port = digits === '0' ? 0 : wholeNumber('--http', digits, { max: MAX_PORT, example: '--http 7420' });
  return { port, ...(host === undefined || host === '' ? {} : { host }) };
}

function usage(message: string): PlugboardError {
  return new PlugboardError('USAGE', message, { hint: 'plugboard serve --help shows how it is used.' });
}
