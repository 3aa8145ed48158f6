import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { convert, MAX_BYTES } from '../../../src/catalog/schemas/convert.ts';
import type { Provider } from '../../../src/catalog/schemas/provider-profile.ts';
import { anySchema, inputSchema } from './arbitrary.ts';
import { faultsOf } from './rules.ts';

const PROVIDERS: readonly Provider[] = ['openai', 'openai-strict', 'anthropic', 'gemini', 'ai-sdk'];

type Json = Record<string, unknown>;

/** The names the server knows the root's arguments by: what `restore` gives for one value each. */
function originalNames(
  outcome: { schema: Json; restore?: (args: Json) => Json },
  names: readonly string[],
): string[] {
  const args = Object.fromEntries(names.map((name) => [name, 'x']));
  return Object.keys(outcome.restore?.(args) ?? args);
}

describe.each(PROVIDERS)('CAT-5: convert for %s, over generated schemas', (provider) => {
  it('gives what the provider’s rules allow, loses no required argument, and changes nothing the second time', () => {
    fc.assert(
      fc.property(inputSchema, (schema) => {
        const outcome = convert(schema, provider);
        if (!outcome.ok) throw new Error(outcome.reason);
        expect(faultsOf(outcome.schema, provider)).toEqual([]);
        const required = (schema.required as string[] | undefined) ?? [];
        expect(originalNames(outcome, (outcome.schema.required as string[] | undefined) ?? [])).toEqual(
          expect.arrayContaining(required),
        );
        const again = convert(outcome.schema, provider);
        expect(again.ok && again.schema).toEqual(outcome.schema);
      }),
      { numRuns: 150 },
    );
  });

  it('either returns an allowed schema or the reason why not, for every input', () => {
    fc.assert(
      fc.property(fc.oneof(anySchema, fc.jsonValue()), (schema) => {
        const outcome = convert(schema, provider);
        if (outcome.ok) expect(faultsOf(outcome.schema, provider)).toEqual([]);
        else expect(outcome.reason).toMatch(/^the schema (is not|does not describe) an object$/);
      }),
      { numRuns: 150 },
    );
  });

  it('stays within the bytes it is given, required arguments included, and is stable there', () => {
    fc.assert(
      fc.property(inputSchema, fc.integer({ min: 1_024, max: 3_000 }), (schema, maxBytes) => {
        const outcome = convert(schema, provider, { maxBytes });
        if (!outcome.ok) {
          expect(outcome.reason).toBe(`its required arguments alone take more than ${maxBytes} bytes`);
          return;
        }
        expect(Buffer.byteLength(JSON.stringify(outcome.schema))).toBeLessThanOrEqual(
          Math.min(maxBytes, MAX_BYTES),
        );
        expect(faultsOf(outcome.schema, provider)).toEqual([]);
        const again = convert(outcome.schema, provider, { maxBytes });
        expect(again.ok && again.schema).toEqual(outcome.schema);
      }),
      { numRuns: 50 },
    );
  });
});
