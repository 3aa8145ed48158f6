import { describe, expect, it } from 'vitest';
import { variablesOf, withStoredValues } from '../../src/config/variables.ts';

const ENTRY = {
  command: `\${BIN}`,
  args: [`--key=\${KEY}`, `$\${KEEP}`, `\${input:other}`],
  env: { A: `\${KEY:-none}`, B: 'plain' },
  envVars: ['TOKEN', 'LEFT'],
  enabledTools: [`\${NOT_A_REFERENCE}`],
};

describe('MOV-8: variables of an entry', () => {
  it('names every variable once, wherever the entry refers to it', () => {
    expect(variablesOf(ENTRY)).toEqual(['BIN', 'KEY', 'TOKEN', 'LEFT']);
    expect(
      variablesOf({ url: `https://x.test/\${T}`, headersFromEnv: { 'X-Key': 'K' }, bearerTokenEnvVar: 'B' }),
    ).toEqual(['T', 'K', 'B']);
  });

  it('replaces the given ones by stored values and leaves everything else as it is', () => {
    expect(withStoredValues(ENTRY, new Set(['KEY', 'TOKEN']))).toEqual({
      command: `\${BIN}`,
      args: [`--key=\${input:KEY}`, `$\${KEEP}`, `\${input:other}`],
      env: { A: `\${input:KEY}`, B: 'plain', TOKEN: `\${input:TOKEN}` },
      envVars: ['LEFT'],
      enabledTools: [`\${NOT_A_REFERENCE}`],
    });
    expect(
      withStoredValues(
        { url: 'https://x.test', headersFromEnv: { 'X-Key': 'K' }, bearerTokenEnvVar: 'B' },
        new Set(['K', 'B']),
      ),
    ).toEqual({
      url: 'https://x.test',
      headers: { 'X-Key': `\${input:K}`, Authorization: `Bearer \${input:B}` },
    });
  });
});
