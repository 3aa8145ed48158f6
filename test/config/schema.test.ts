import { describe, expect, it } from 'vitest';
import { formatJson } from '../../src/config/json-edit.ts';
import { configFileSchema, mcpFileSchema } from '../../src/config/json-schema.ts';

const STYLE = { unit: '  ', eol: '\n' } as const;

// After a change of the table of keys, `npm run docs` writes the files.
describe('the JSON Schemas that ship', () => {
  it('CFG-1: .mcp.json has the schema that the table of keys generates', async () => {
    await expect(`${formatJson(mcpFileSchema(), STYLE)}\n`).toMatchFileSnapshot(
      '../../schemas/mcp.schema.json',
    );
  });

  it('CFG-2: config.json has the schema that the table of keys generates', async () => {
    await expect(`${formatJson(configFileSchema(), STYLE)}\n`).toMatchFileSnapshot(
      '../../schemas/config.schema.json',
    );
  });

  it('every key of the contract is described', () => {
    const schema = JSON.parse(JSON.stringify(mcpFileSchema()));
    expect(Object.keys(schema.definitions.server.properties).sort()).toEqual(
      [
        ...[
          'type',
          'command',
          'args',
          'env',
          'envVars',
          'inheritEnv',
          'cwd',
          'url',
          'headers',
          'headersFromEnv',
        ],
        ...[
          'headersHelper',
          'bearerTokenEnvVar',
          'proxy',
          'oauth',
          'disabled',
          'enabled',
          'unapproved',
          'required',
          'startupTimeoutMs',
          'toolTimeoutMs',
        ],
        ...[
          'maxTotalMs',
          'enabledTools',
          'disabledTools',
          'approval',
          'trusted',
          'tools',
          'maxOutputTokens',
          'maxConcurrentCalls',
          'backgroundAfter',
        ],
        ...['alwaysLoad', 'lifecycle', 'shared', 'sandbox', 'pins', 'directStart', 'npxCheckMs'],
        ...['installScripts', 'minAge'],
      ].sort(),
    );
  });
});
