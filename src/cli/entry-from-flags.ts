/** Builds the entry that `add` writes from its arguments and flags. */

import { transportTypes } from '../config/transport-kinds.ts';
import { PlugboardError } from '../errors.ts';
import { type Flags, listFlag, textFlag } from './cli-command.ts';
import { isUrl } from './extra-server.ts';
import { environment, headers, milliseconds, port } from './flags.ts';

/** The arguments of `add` after the name. */
export interface Target {
  /** Arguments before `--`. */
  readonly words: readonly string[];
  /** Arguments after `--`; undefined without `--`. */
  readonly afterDashes: readonly string[] | undefined;
}

type Entry = Record<string, unknown>;

function needs(key: 'command' | 'url', transport: string | undefined): boolean {
  return transport !== undefined && transportTypes(key).includes(transport);
}

const SHAPES = 'plugboard add <name> -- <command> [args…], or plugboard add <name> <url>';

export function newEntry(target: Target, flags: Flags): Entry {
  const [first] = target.words;
  if (target.afterDashes !== undefined) {
    if (first !== undefined) throw twoTargets(first);
    return stdioEntry(target.afterDashes, flags);
  }
  if (first === undefined) {
    throw new PlugboardError('USAGE', 'The server has neither a command nor a url.', {
      hint: `Write ${SHAPES}.`,
    });
  }
  const transport = textFlag(flags, 'transport');
  if (isUrl(first) || needs('url', transport)) return remoteEntry(target.words, flags);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(first)) {
    throw new PlugboardError('USAGE', `"${first}" is not an http or https url.`, {
      hint: `Write ${SHAPES}.`,
    });
  }
  return stdioEntry(target.words, flags);
}

function twoTargets(word: string): PlugboardError {
  return new PlugboardError('USAGE', `Unexpected "${word}" before --; the server's command comes after it.`, {
    hint: `Write ${SHAPES}.`,
  });
}

function stdioEntry(words: readonly string[], flags: Flags): Entry {
  refuse(flags, REMOTE_ONLY, 'is for servers with a url');
  const transport = textFlag(flags, 'transport');
  if (transport !== undefined && !needs('command', transport)) {
    throw new PlugboardError('USAGE', `--transport ${transport} needs a url, but a command was given.`, {
      hint: 'Leave --transport out, or give a url in place of the command.',
    });
  }
  const [command, ...args] = words;
  if (!command) {
    throw new PlugboardError('USAGE', 'There is no command after --.', { hint: `Write ${SHAPES}.` });
  }
  const env = environment(listFlag(flags, 'env'));
  const cwd = textFlag(flags, 'serverCwd');
  return {
    ...(transport === undefined ? {} : { type: transport }),
    command,
    ...(args.length === 0 ? {} : { args }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...timeouts(flags),
  };
}

function remoteEntry(words: readonly string[], flags: Flags): Entry {
  refuse(flags, STDIO_ONLY, 'is for servers that are started by a command');
  const [url = '', excess] = words;
  const transport = textFlag(flags, 'transport');
  if (needs('command', transport)) {
    throw new PlugboardError('USAGE', `--transport ${transport} needs a command, but a url was given.`, {
      hint: 'Leave --transport out, or put the command after --.',
    });
  }
  if (!isUrl(url) || !URL.canParse(url)) {
    throw new PlugboardError('USAGE', `"${url}" is not an http or https url.`, {
      hint: 'Write it whole, for example https://example.com/mcp.',
    });
  }
  if (excess !== undefined) {
    throw new PlugboardError('USAGE', `A server with a url takes no arguments, but "${excess}" was given.`, {
      hint: "Flags such as -H 'Name: value' say more about it.",
    });
  }
  const sent = headers(listFlag(flags, 'header'));
  const bearer = bearerVariable(flags);
  const oauth = oauthDetails(flags);
  return {
    // Written because other agents that read the same file require it; for Plugboard a url alone implies http.
    type: transport ?? 'http',
    url,
    ...(Object.keys(sent).length === 0 ? {} : { headers: sent }),
    ...(bearer === undefined ? {} : { bearerTokenEnvVar: bearer }),
    ...(Object.keys(oauth).length === 0 ? {} : { oauth }),
    ...timeouts(flags),
  };
}

function bearerVariable(flags: Flags): string | undefined {
  const name = textFlag(flags, 'bearerTokenEnvVar');
  if (name === undefined || /^[A-Za-z_]\w*$/.test(name)) return name;
  // The value may be the token, so the message does not repeat it.
  throw new PlugboardError(
    'USAGE',
    '--bearer-token-env-var needs the name of a variable, such as DOCS_TOKEN.',
    {
      hint: 'The token itself stays in your environment: export DOCS_TOKEN=…',
    },
  );
}

function oauthDetails(flags: Flags): Entry {
  const clientId = textFlag(flags, 'clientId');
  const clientSecret = textFlag(flags, 'clientSecret');
  if (clientSecret !== undefined && clientId === undefined) {
    throw new PlugboardError('USAGE', 'A client secret needs its client: --client-id is missing.', {
      hint: 'Give both, as the server registered them.',
    });
  }
  const callback = textFlag(flags, 'callbackPort');
  const scopes = listFlag(flags, 'oauthScope').flatMap((value) => value.split(/[\s,]+/).filter(Boolean));
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scopes.length === 0 ? {} : { scopes }),
    ...(callback === undefined ? {} : { callbackPort: port('--callback-port', callback) }),
  };
}

function timeouts(flags: Flags): Entry {
  const startup = textFlag(flags, 'startupTimeout');
  const tool = textFlag(flags, 'toolTimeout');
  return {
    ...(startup === undefined ? {} : { startupTimeoutMs: milliseconds('--startup-timeout', startup) }),
    ...(tool === undefined ? {} : { toolTimeoutMs: milliseconds('--tool-timeout', tool) }),
  };
}

const STDIO_ONLY = { env: '--env', serverCwd: '--server-cwd' };
const REMOTE_ONLY = {
  header: '--header',
  bearerTokenEnvVar: '--bearer-token-env-var',
  clientId: '--client-id',
  clientSecret: '--client-secret',
  callbackPort: '--callback-port',
  oauthScope: '--oauth-scope',
};

function refuse(flags: Flags, names: Readonly<Record<string, string>>, why: string): void {
  for (const [name, flag] of Object.entries(names)) {
    if (flags[name] === undefined) continue;
    throw new PlugboardError('USAGE', `${flag} ${why}.`, {
      hint: 'Run plugboard add --help to see which flag is for which.',
    });
  }
}
