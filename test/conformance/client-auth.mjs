// The product as the client under test of the conformance suite's auth scenarios: client-auth.mjs <server url>
//
// It does what a person does with any server: connect, list, call, and log in on request. It has no code for a scenario.
// The context that the suite hands over is read for what that person would have put into the entry.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost } from '../../dist/index.js';

/** The document under which this client is known, wherever an authorization server takes one. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json';
/** A person gives up as well. */
const MAX_LOGINS = 5;

const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const home = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));

function oauth() {
  const secrets = {
    clientId: context.client_id ?? CLIENT_DOCUMENT,
    ...(context.client_secret === undefined ? {} : { clientSecret: context.client_secret }),
  };
  if (context.private_key_pem !== undefined) {
    const grant = {
      type: 'client_credentials',
      privateKeyEnvVar: 'KEY',
      algorithm: context.signing_algorithm,
    };
    return { ...secrets, grant };
  }
  if (context.idp_id_token !== undefined) {
    const idp = {
      clientId: context.idp_client_id,
      tokenUrl: context.idp_token_endpoint,
      idTokenEnvVar: 'ID_TOKEN',
    };
    return { ...secrets, grant: { type: 'cross_app', idp } };
  }
  if (context.valid_jwt !== undefined)
    return { ...secrets, grant: { type: 'jwt_bearer', assertionEnvVar: 'JWT' } };
  // The one thing that the context does not say: which clients are machines.
  if (context.name?.includes('client-credentials')) return { ...secrets, grant: 'client_credentials' };
  return secrets;
}

/** The person's browser: it follows the authorization server back to the listener. */
async function browse(address) {
  const back = (await fetch(address, { redirect: 'manual' })).headers.get('location');
  if (back !== null) void fetch(back).catch(() => {});
}

const host = await createHost({
  home,
  cwd: home,
  watch: false,
  servers: { target: { type: 'http', url, oauth: oauth() } },
  approve: () => 'allow',
  openUrl: browse,
  env: {
    ...process.env,
    PLUGBOARD_CREDENTIALS: 'file',
    KEY: context.private_key_pem,
    ID_TOKEN: context.idp_id_token,
    JWT: context.valid_jwt,
  },
});

async function use() {
  await host.connect('target');
  for (const { name } of host.tools()) await host.call(name, {});
}

try {
  for (let logins = 0; ; logins++) {
    try {
      await use();
      break;
    } catch (error) {
      if (error.code !== 'NEEDS_AUTH' || error.detail?.permanent || logins === MAX_LOGINS) throw error;
      console.error(`${error.message} ${error.hint}`);
      await host.login('target');
    }
  }
} catch (error) {
  console.error(JSON.stringify(error));
  process.exitCode = 1;
} finally {
  await host.close();
  await rm(home, { recursive: true, force: true });
}
