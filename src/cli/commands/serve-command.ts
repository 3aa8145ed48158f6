/** `plugboard serve`: serves all configured servers as one MCP server, for any agent. */

import type { AgentTools } from '../../chat/agent-tools.ts';
import type { ClusterReplica } from '../../cluster/open-cluster.ts';
import type { Settings } from '../../config/entry.ts';
import { loadConfig } from '../../config/load.ts';
import { type Approvals, isApprovals } from '../../daemon/protocol/daemon-messages.ts';
import { allowsDaemon } from '../../daemon/protocol/daemon-use.ts';
import { checkReach } from '../../endpoint/listen-http.ts';
import { PlugboardError } from '../../errors.ts';
import type { Host } from '../../host/host.ts';
import type { HostOptions } from '../../host/host-options.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { tuneForServing } from '../../lib/tune-for-serving.ts';
import { closeAfter } from '../../lib/waits.ts';
import { oneLine } from '../../policy/clean.ts';
import { describeConnecting, reachableUrl, STOP_LINE } from '../../serve/connect-lines.ts';
import type { GatewayOptions } from '../../serve/gateway.ts';
import { DEFAULT_PORT, type GatewayHttpOptions, REACH_HINT } from '../../serve/gateway-http.ts';
import { SERVED_SESSIONS } from '../../serve/served-host.ts';
import { type NewToken, readTokenFile, tokenFileOf } from '../../serve/token-file.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { misuse, wholeNumber } from '../flags.ts';
import { adoptOldToken, firstToken, givenToken, pageToken, plainTokenFile } from '../gateway-tokens.ts';
import { checkProfileIn } from '../known-profile.ts';
import { noteConcerning } from '../problems.ts';
import { settleInputsFirst, withOwnHost } from '../with-own-host.ts';

// Exported here to be in the same bundle, so that the serving code is shipped once.
export { dashboard } from './dashboard-command.ts';

const MAX_PORT = 65_535;
const HTTP_FLAGS = ['token', 'tokenFile', 'issuer', 'audience', 'legacySse', 'manageForwarded', 'cluster'];
const EXAMPLES = `
Over HTTP, each agent needs a token: plugboard token add <name>. PLUGBOARD_TOKEN and --token-file add one more token.
These tokens cannot manage Plugboard; the page has its own token, in the file manage-token.

Examples:
  plugboard serve
  plugboard serve --profile read-only
  plugboard serve --http 7420`;

export const serve: CliCommand = {
  configure(command): void {
    command
      .option('--stdio', 'serve on stdin and stdout (the default)')
      .option('--http [address]', `serve over HTTP: [host:]port (127.0.0.1:${DEFAULT_PORT})`)
      .option('--token-file <file>', 'file with an additional token to accept; - reads it from stdin')
      .option('--token <token>', 'additional token to accept; other users of this machine can see it')
      .option('--no-auth', 'do not require a token; only for connections from this machine')
      .option('--issuer <url>', 'accept tokens of this authorization server')
      .option('--audience <name>', 'audience that tokens of --issuer must have')
      .option(
        '--manage-forwarded',
        'accept forwarded requests for the page and the management API, behind a proxy',
      )
      .option('--cluster <url>', 'share clients with other replicas through this Redis; implies --own')
      .option('--own', 'use a separate process that shares nothing with other agents')
      .option('--no-daemon', 'the same as --own')
      .option('--workspace', 'include the built-in server for files and git of the project')
      .option('--no-workspace', 'do not include it, even if config.json sets "workspace"')
      .option('--legacy-sse', 'also serve the HTTP+SSE transport of 2024-11-05 at /sse')
      .option('--approvals <mode>', 'client: the agent asks its own user (default); enforce: Plugboard asks')
      .option('--profile <name>', 'serve only the servers, tools and rules of this profile')
      .option('--agent', 'also serve an agent as tools: agent and agent_reply')
      .option('--model <name>', 'model of that agent: provider:name, or <url>#<name>')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    if (args.length > 0) throw misuse('serve', `Unexpected argument ${JSON.stringify(args[0])}`);
    const approvals = approvalsOf(flags);
    const profile = textFlag(flags, 'profile');
    const config = await loadConfig({ cwd: context.cwd, home: context.home });
    if (profile !== undefined) checkProfileIn(config, context.home, profile);
    noteConcerning(config.problems, 'all', context.output);
    const http = await httpOf(context, flags);
    const workspace = workspaceOf(flags);
    if (flags['agent'] !== true && flags['model'] !== undefined)
      throw misuse('serve', '--model can only be used with --agent');
    if (isShared(context, flags)) {
      if (http === undefined && (await relayed(context, { approvals, profile }, workspace))) return 0;
      if (http !== undefined) {
        const status = await inDaemon(context, { ...http, approvals, profile }, workspace);
        if (status !== undefined) return status;
      }
    }
    if (http !== undefined) context.output.note(OWN_NOTE);
    tuneForServing();
    const replica = await replicaOf(context, flags, http, config.files);
    try {
      const shared = replica === undefined ? {} : sharedBy(replica);
      return await withOwnHost(
        context,
        { workspace, sessions: SERVED_SESSIONS, ...shared },
        async (host, made) => {
          const agent = flags['agent'] === true ? await agentTools(context, host, made, flags) : undefined;
          const tools = agent?.tools ?? [];
          replica?.onListsChanged(() => host.management.relist());
          try {
            return await (http === undefined
              ? onStdio(context, host, { approvals, profile, tools })
              : onHttp(context, host, { ...http, approvals, profile, tools, replicas: replica }));
          } finally {
            await agent?.close();
          }
        },
      );
    } finally {
      await replica?.close();
    }
  },
};

/** Returns the parts of a host that all replicas share. */
function sharedBy({
  counters,
  credentials,
}: ClusterReplica): Pick<HostOptions, 'sharedCounters' | 'credentials'> {
  return { sharedCounters: counters, credentials };
}

/** Joins the cluster of `--cluster`; undefined without it. Nothing of Redis is loaded before. */
async function replicaOf(
  { env, home, output }: Context,
  flags: Flags,
  http: HttpOptions | undefined,
  files: readonly string[],
): Promise<ClusterReplica | undefined> {
  const url = textFlag(flags, 'cluster');
  if (url === undefined || http === undefined) return undefined;
  if (http.legacySse === true) throw misuse('serve', '--legacy-sse cannot be combined with --cluster');
  const [{ openCluster }, { openSecrets }] = await Promise.all([
    import('../../cluster/open-cluster.ts'),
    import('../../secrets/store.ts'),
  ]);
  const secrets = openSecrets({ home, env, notice: (message) => output.note(message) });
  return openCluster({
    url,
    env,
    host: http.host,
    home,
    files,
    localCredential: (key) => secrets.get(key),
  });
}

const OWN_NOTE =
  'note: this process has its own servers. Its calls and questions are not on the page of other agents.';

/** False for `--agent`, which reads its model from this environment, and `--verbose`, which logs in this process. */
function isShared({ env, verbose }: Context, flags: Flags): boolean {
  const own =
    flags['own'] === true ||
    flags['daemon'] === false ||
    flags['agent'] === true ||
    flags['cluster'] !== undefined;
  return !own && !verbose && allowsDaemon(env);
}

/** False if the daemon cannot serve this session. */
async function relayed(
  context: Context,
  { approvals, profile }: { readonly approvals: Approvals; readonly profile: string | undefined },
  workspace: boolean | undefined,
): Promise<boolean> {
  const { cwd, env, home, extra, signal } = context;
  const { relayServe } = await import('../../daemon/client/relay.ts');
  return relayServe({
    home,
    env,
    signal,
    request: { kind: 'mcp', cwd, env, approvals, profile, workspace, servers: extra },
  });
}

/** Undefined if the configuration disables the daemon. */
async function inDaemon(
  context: Context,
  options: HttpOptions,
  workspace: boolean | undefined,
): Promise<number | undefined> {
  const { cwd, env, home, extra, signal } = context;
  await settleInputsFirst(context);
  const tokens = await tokensFor(context, options);
  const { holdHttp } = await import('../../daemon/client/hold-http.ts');
  const { host, port = DEFAULT_PORT, approvals = 'client', profile, issuer, legacySse, token } = options;
  const held = await holdHttp({
    home,
    env,
    signal,
    onWarning: (message) => warn(context.output, message),
    request: {
      kind: 'http',
      cwd,
      env,
      servers: extra,
      workspace,
      listen: {
        host,
        port,
        approvals,
        profile,
        token,
        namedTokens: options.takesNamed,
        tokenOptional: options.tokenOptional,
        manageToken: tokens.manage.token,
        manageForwarded: options.forwarded,
        issuer,
        legacySse,
      },
    },
  });
  if (held === undefined) return undefined;
  announce(context.output, held, tokens, options);
  if ((await held.closed) === 'stopped') context.output.note('note: the daemon was stopped.');
  return 0;
}

/** SRV-4. A model that cannot be used is reported at startup instead of by the first call. */
async function agentTools(
  { env, home, cwd }: Context,
  host: Host,
  hostOptions: HostOptions,
  flags: Flags,
): Promise<AgentTools> {
  const [{ openModel }, { createAgentTools }] = await Promise.all([
    import('../../chat/chat-model.ts'),
    import('../../chat/agent-tools.ts'),
  ]);
  const { name: model } = await openModel(textFlag(flags, 'model') ?? env['PLUGBOARD_MODEL'], env);
  return createAgentTools({
    host,
    home,
    hostOptions,
    model,
    env,
    profiles: async () => usableProfiles((await loadConfig({ cwd, home })).settings),
    roots: async () => {
      const { projectRoot, settings } = await loadConfig({ cwd, home });
      return [projectRoot, ...(settings.agentRoots ?? [])];
    },
  });
}

/** A profile with a problem is an error of every thread: the default one must not be replaced by no restrictions. */
function usableProfiles({ profiles = {}, brokenProfiles = [] }: Settings): NonNullable<Settings['profiles']> {
  const [broken] = brokenProfiles.filter((name) => !Object.hasOwn(profiles, name));
  if (broken === undefined) return profiles;
  throw new PlugboardError(
    'CONFIG_INVALID',
    `The profile ${JSON.stringify(broken)} in config.json has a problem`,
    {
      hint: 'Run plugboard profile list to see it.',
    },
  );
}

async function onStdio({ signal }: Context, host: Host, options: GatewayOptions): Promise<number> {
  const { serveStdio } = await import('../../serve/serve-stdio.ts');
  const served = serveStdio(host, options);
  await closeAfter(served, signal);
  return 0;
}

async function onHttp(context: Context, host: Host, options: HttpOptions): Promise<number> {
  const { signal, home, output } = context;
  const { serveHttp } = await import('../../manage/serve-http.ts');
  await host.requiredReady('all');
  const tokens = await tokensFor(context, options);
  const { takesNamed, typed: _typed, forwarded, ...listen } = options;
  const tokensOf = takesNamed || options.tokenOptional === true ? home.dir : undefined;
  const manage = { token: tokens.manage.token, forwarded };
  // With --verbose, the log is printed anyway.
  const onRefusedClient = context.verbose ? undefined : (message: string): void => warn(output, message);
  const served = await serveHttp(host, { ...listen, tokensOf, manage, onRefusedClient });
  announce(output, served, tokens, options);
  await closeAfter(served, signal);
  return 0;
}

function warn(output: Context['output'], message: string): void {
  output.note(`${output.notePaint.warn('warning:')} ${oneLine(message)}`);
}

interface HttpOptions extends GatewayHttpOptions {
  /** Whether a token created by `plugboard token`, or `token`, is needed. */
  readonly takesNamed: boolean;
  /** The token given on the command line; repeated in the setup lines for agents. */
  readonly typed: string | undefined;
  /** Whether management accepts forwarded requests. */
  readonly forwarded: boolean;
}

interface Tokens {
  /** Created now because this home had no tokens. */
  readonly first: NewToken | undefined;
  /** Token of the page and the management API. */
  readonly manage: { readonly token: string; readonly file: string };
  /** Path of the 0.1.0 token file, whose token agents may still use. */
  readonly plainFile: string | undefined;
}

async function tokensFor(context: Context, { takesNamed, token }: HttpOptions): Promise<Tokens> {
  const manage = await pageToken(context, token);
  const first = takesNamed && token === undefined ? await firstToken(context) : undefined;
  return { manage, first, plainFile: takesNamed ? await plainTokenFile(context) : undefined };
}

/** Does not print the page's token, because people copy this output into their agents' settings. */
function announce(
  output: Context['output'],
  { url, page }: { readonly url: string; readonly page: string | undefined },
  { first, manage, plainFile }: Tokens,
  { issuer, takesNamed, typed }: HttpOptions,
): void {
  output.answer(
    {
      url,
      page,
      ...(first === undefined ? {} : { token: first.token }),
      ...(plainFile === undefined ? {} : { tokenFile: plainFile }),
      manageTokenFile: manage.file,
    },
    () => {
      const token = takesNamed ? (first?.token ?? typed ?? '<token>') : undefined;
      // The setup lines can read a token of 0.1.0 from its file.
      const isStored = token === '<token>' && plainFile !== undefined;
      const shellToken = isStored ? `$(cat ${shellWord(plainFile)})` : undefined;
      const address = { url: reachableUrl(url), token, shellToken };
      const how = issuer === undefined ? ['Connect an agent:', describeConnecting(address)] : [];
      return [
        `Serving at ${url}`,
        ...how,
        ...(takesNamed ? aboutToken(first, typed, plainFile) : []),
        `Dashboard (for you, not for agents): ${page}`,
        `Run plugboard dashboard to open it; its token is in ${manage.file}.`,
        STOP_LINE,
      ].join('\n');
    },
  );
}

/** Explains which token the setup lines use, and how to create another. */
function aboutToken(
  first: NewToken | undefined,
  typed: string | undefined,
  plainFile: string | undefined,
): string[] {
  if (first !== undefined)
    return [
      `The token is called ${first.name} and is shown only once. To add one for another agent: plugboard token add <name>`,
    ];
  if (typed !== undefined) return ['To add a token for another agent: plugboard token add <name>'];
  return [
    'Use the token of the agent, or add one: plugboard token add <name>',
    ...(plainFile === undefined ? [] : [`The token of 0.1.0 is in ${plainFile}.`]),
  ];
}

/** Undefined: config.json decides. With `--agent` it is on, because the agent has no other file tools. */
function workspaceOf({ workspace, agent }: Flags): boolean | undefined {
  if (typeof workspace === 'boolean') return workspace;
  return agent === true ? true : undefined;
}

function approvalsOf(flags: Flags): Approvals {
  const given = textFlag(flags, 'approvals') ?? 'client';
  if (!isApprovals(given))
    throw misuse('serve', `--approvals must be client or enforce, not ${JSON.stringify(given)}`);
  return given;
}

/** Undefined for stdio. Rejects every combination of flags that would be less safe than it looks. */
async function httpOf(context: Context, flags: Flags): Promise<HttpOptions | undefined> {
  const { http } = flags;
  const issuer = textFlag(flags, 'issuer');
  const audience = textFlag(flags, 'audience');
  const wantsHttp = http !== undefined && http !== false;
  if (wantsHttp && flags['stdio'] === true) throw misuse('serve', '--stdio cannot be combined with --http');
  if (!wantsHttp) {
    const idle = HTTP_FLAGS.find((name) => flags[name] !== undefined);
    if (idle !== undefined || flags['auth'] === false)
      throw misuse(
        'serve',
        'Tokens, --legacy-sse, --manage-forwarded and --cluster can only be used with --http',
      );
    return undefined;
  }
  if ((issuer === undefined) !== (audience === undefined)) {
    throw misuse(
      'serve',
      '--issuer requires --audience, because tokens for another audience must not be accepted',
    );
  }
  const isOpen = flags['auth'] === false;
  if (isOpen && [flags['token'], flags['tokenFile'], issuer].some((given) => given !== undefined)) {
    throw misuse('serve', '--no-auth cannot be combined with --token, --token-file or --issuer');
  }
  const address = addressOf(typeof http === 'string' ? http : '');
  const takesNamed = !isOpen && issuer === undefined;
  const token = await givenToken(context, flags);
  if (takesNamed || isOpen) await adoptOldToken(context);
  const hasNamed = takesNamed && readTokenFile(tokenFileOf(context.home)).tokens.length > 0;
  checkReach(address.host, {
    proof: token !== undefined || issuer !== undefined || hasNamed,
    hint: REACH_HINT,
  });
  return {
    ...address,
    ...(token === undefined ? {} : { token }),
    ...(issuer === undefined || audience === undefined ? {} : { issuer: { issuer, audience } }),
    legacySse: flags['legacySse'] === true,
    takesNamed,
    ...(isOpen ? { tokenOptional: true } : {}),
    typed: textFlag(flags, 'token'),
    forwarded: flags['manageForwarded'] === true,
  };
}

/** Parses `7420`, `localhost:7420`, `[::1]:7420`, `0.0.0.0:80`. */
function addressOf(text: string): { host?: string; port?: number } {
  if (text === '') return {};
  const colon = text.lastIndexOf(':');
  const host = colon === -1 ? undefined : text.slice(0, colon);
  const digits = text.slice(colon + 1);
  // 0 selects any free port.
  const port = digits === '0' ? 0 : wholeNumber('--http', digits, { max: MAX_PORT, example: '--http 7420' });
  return { port, ...(host === undefined || host === '' ? {} : { host }) };
}
