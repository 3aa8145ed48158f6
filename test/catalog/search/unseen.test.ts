import { describe, expect, it } from 'vitest';
import { oppositesOf } from '../../../src/catalog/search/opposites.ts';
import { termsOf } from '../../../src/catalog/search/terms.ts';
import { buildIndex, withoutTail } from '../../../src/catalog/search/tool-index.ts';
import type { Tool } from '../../../src/catalog/tool.ts';
import { GUARD_TOOLS } from './guard-set.ts';

function tool(server: string, name: string, description: string): Tool {
  return {
    name: `mcp__${server}__${name}`,
    server,
    tool: name,
    description,
    inputSchema: { type: 'object' },
  };
}

const CLOUD = [
  tool('digitalocean', 'machine_power_on', 'Powers a machine on.'),
  tool('digitalocean', 'machine_power_off', 'Powers a machine off.'),
  tool('home', 'light_enable', 'Enables a light.'),
  tool('home', 'light_disable', 'Disables a light.'),
  tool('shop', 'create_invoice', 'Creates an invoice for a customer.'),
  tool('shop', 'list_invoices', 'Lists invoices.'),
  tool('shop', 'delete_customer', 'Deletes a customer.'),
  tool('files', 'rename_file', 'Renames a file.'),
  tool('files', 'upload_file', 'Uploads a file to the server.'),
];
const index = buildIndex([...GUARD_TOOLS, ...CLOUD]);
const first = (query: string): string | undefined => index.search(query)[0]?.tool.tool;

describe('CAT-8: verbs and their particles', () => {
  it('a verb and its particle are one more term, in names and in sentences', () => {
    expect(termsOf('power off, powerOff, power_off')).toEqual(
      Array.from({ length: 3 }, () => ['power', 'poweroff']).flat(),
    );
    expect(termsOf('files in the folder')).toEqual(['file', 'folder']);
  });

  it.each([
    ['power on the machine', 'machine_power_on'],
    ['power off the machine', 'machine_power_off'],
    ['power the machine off', 'machine_power_off'],
    ['disable the light', 'light_disable'],
    ['enable the light', 'light_enable'],
  ])('%s → %s', (query, expected) => {
    expect(first(query)).toBe(expected);
  });

  it('finds opposites by pair and by particle', () => {
    expect([oppositesOf('enabl'), oppositesOf('poweron'), oppositesOf('assign')]).toEqual([
      ['disabl'],
      ['poweroff'],
      ['unassign'],
    ]);
  });
});

describe('CAT-8: spellings', () => {
  it.each(['DigitalOcean machine', 'digital ocean machine', 'digitalocean machine'])('%s', (query) => {
    expect(index.search(query)[0]?.tool.server).toBe('digitalocean');
  });
});

describe('CAT-8: other languages', () => {
  it.each([
    ['Rechnung für einen Kunden erstellen', 'create_invoice'],
    ['crear una factura', 'create_invoice'],
    ['renommer un fichier', 'rename_file'],
    ['excluir um cliente', 'delete_customer'],
    ['创建发票', 'create_invoice'],
    ['ファイルをアップロードする', 'upload_file'],
    ['Rechnungen auflisten', 'list_invoices'],
  ])('%s → %s', (query, expected) => {
    expect(first(query)).toBe(expected);
  });
});

describe('CAT-8: the score', () => {
  it('is higher with an answer than without, and marks a search in which nothing fits', () => {
    const [right] = index.search('create an invoice for a customer');
    const [wrong] = index.search('solve a sudoku with pencil marks');
    expect(right?.weak).toBeUndefined();
    expect(wrong?.weak).toBe(true);
    expect((right?.score ?? 0) > (wrong?.score ?? 1)).toBe(true);
  });

  it('ends a list where scores fall off', () => {
    const hits = [0.8, 0.4, 0.1, 0.0001, 0.00001].map((score) => ({ score }));
    expect(withoutTail(hits)).toEqual(hits.slice(0, 3));
    expect(withoutTail([])).toEqual([]);
  });
});
