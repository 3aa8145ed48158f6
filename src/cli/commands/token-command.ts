/** `plugboard token`: manages the named tokens with which agents call tools over HTTP. */

import { Argument } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { isChain, profileChain } from '../../config/profiles.ts';
import { defined } from '../../lib/defined.ts';
import { describeConnecting } from '../../serve/connect-lines.ts';
import {
  addToken,
  readTokenFile,
  revokeToken,
  type StoredToken,
  tokenFileOf,
} from '../../serve/token-file.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { duration, misuse } from '../flags.ts';
import { adoptOldToken } from '../gateway-tokens.ts';
import { checkProfile } from '../known-profile.ts';
import { layOut } from '../text-layout.ts';

const ACTIONS = ['add', 'list', 'revoke'] as const;
/** Placeholder while no gateway runs: another program could listen on a guessed port and would receive the token. */
const NO_ADDRESS = '<address>';

export const token: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('<action>', 'action').choices(ACTIONS))
      .argument('[name]', 'name of the token, such as claude-laptop')
      .option('--profile <name>', 'profile of its client: the servers, tools and rules that it has')
      .option('--expires <time>', 'validity: 30d, 12h, 45m, 90s or 2w (default: until it is revoked)')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [action = '', name] = args;
    const expires = textFlag(flags, 'expires');
    if (expires !== undefined && action !== 'add')
      throw misuse('token', '--expires can only be used with token add');
    const profile = textFlag(flags, 'profile');
    if (profile !== undefined && action !== 'add')
      throw misuse('token', '--profile can only be used with token add');
    await adoptOldToken(context);
    if (action === 'list') {
      if (name !== undefined) throw misuse('token', 'plugboard token list does not take a name');
      return list(context);
    }
    if (name === undefined) throw misuse('token', `plugboard token ${action} needs a name`);
    return action === 'add' ? add(context, name, { lifetime: expires, profile }) : revoke(context, name);
  },
};

const EXAMPLES = `
Give each client its own token. It is shown once, when it is created; only its hash is stored. Tokens can call tools,
but not manage Plugboard: the page has its own token. Revoking a token also closes its open sessions.

Examples:
  plugboard token add claude-laptop
  plugboard token add ci --expires 30d --json
  plugboard token add reviewer --profile read-only
  plugboard token revoke claude-laptop`;

interface Added {
  readonly lifetime: string | undefined;
  readonly profile: string | undefined;
}

async function add(context: Context, name: string, { lifetime, profile }: Added): Promise<number> {
  const { home, output } = context;
  const now = Date.now();
  const expires = lifetime === undefined ? undefined : now + duration('token', '--expires', lifetime);
  if (profile !== undefined) await checkProfile(context, profile);
  const made = await addToken(home, name, { now, expires, profile });
  const until = dateOf(expires);
  const url = await servedAt(context);
  const about = `${profile === undefined ? '' : ` with the profile ${profile}`}${until === undefined ? '' : `, valid until ${until}`}`;
  output.answer({ name, token: made.token, ...defined({ profile, expires: until, url }) }, () =>
    [
      `${made.token}`,
      `This is the token ${name}${about}. It is shown only once.`,
      url === undefined
        ? `Connect an agent, replacing ${NO_ADDRESS} with the url that plugboard serve --http prints:`
        : 'Connect an agent:',
      describeConnecting({ url: url ?? NO_ADDRESS, token: made.token }),
    ].join('\n'),
  );
  return 0;
}

async function list({ cwd, home, output }: Context): Promise<number> {
  const now = Date.now();
  const stored = readTokenFile(tokenFileOf(home)).tokens;
  const isProfiled = stored.some(({ profile }) => profile !== undefined);
  const { settings } = isProfiled ? await loadConfig({ cwd, home }) : { settings: {} };
  const tokens = stored.map((each) => document(each, now));
  const shown = (profile: string | undefined): string => {
    if (profile === undefined) return 'everything';
    const isUsable = isChain(profileChain(settings, profile));
    return `profile ${profile}${isUsable ? '' : ' (cannot be used, so it is refused)'}`;
  };
  output.answer({ tokens }, () => {
    if (tokens.length === 0) return 'There are no tokens. Add one: plugboard token add <name>';
    const rows = tokens.map(({ name, created, expires, expired, profile }) => [
      name,
      shown(profile),
      `created ${created}`,
      expires === undefined ? 'until it is revoked' : `${expired ? 'expired' : 'until'} ${expires}`,
    ]);
    return layOut(rows, { columns: [{}, {}, {}, {}], total: output.columns }).join('\n');
  });
  return 0;
}

async function revoke({ home, output }: Context, name: string): Promise<number> {
  await revokeToken(home, name);
  output.answer({ name, revoked: true }, () => `${output.paint.good('Revoked')} ${name}.`);
  return 0;
}

interface TokenDocument {
  readonly name: string;
  readonly created: string;
  readonly expires?: string;
  readonly expired: boolean;
  readonly profile?: string;
}

function document({ name, created, expires, profile }: StoredToken, now: number): TokenDocument {
  const until = dateOf(expires);
  return {
    name,
    created: new Date(created).toISOString(),
    ...(until === undefined ? {} : { expires: until }),
    expired: expires !== undefined && expires <= now,
    ...(profile === undefined ? {} : { profile }),
  };
}

function dateOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** Returns the url at which the daemon of this home serves now. */
async function servedAt({ home }: Context): Promise<string | undefined> {
  const { reportDaemons } = await import('../../daemon/client/control.ts');
  // The token already exists, so it is printed even if the status cannot be read.
  const daemons = await reportDaemons(home).catch(() => []);
  return daemons.flatMap(({ pages = [] }) => pages)[0]?.url;
}
