import { describe, expect, it } from 'vitest';
import { editTable } from '../../../src/config/import/toml-edit.ts';

const PLACE = ['mcp_servers', 'plugboard'] as const;
const ENTRY = { command: 'plugboard', args: ['serve'] };
const TABLE = '[mcp_servers.plugboard]\ncommand = "plugboard"\nargs = [ "serve" ]\n';

describe('one table of a TOML text', () => {
  it('CFG-6: is appended after an empty line, and nothing else changes', () => {
    const before = '# mine\nmodel = "x"  # why\n\n[mcp_servers.a]\ncommand = "b"';
    expect(editTable(before, PLACE, ENTRY)).toBe(`${before}\n\n${TABLE}`);
    expect(editTable('', PLACE, ENTRY)).toBe(TABLE);
  });

  it('CFG-6: is replaced and removed with the tables inside it; comments of the next table stay', () => {
    const before = [
      '[mcp_servers."plugboard"] # old',
      'command = "old"',
      '# inside',
      'args = []',
      '[mcp_servers.plugboard.env]',
      'A = "1"',
      '',
      '# about b',
      '[mcp_servers.b]',
      'command = "b"',
      '',
    ].join('\n');
    const rest = '\n# about b\n[mcp_servers.b]\ncommand = "b"\n';
    expect(editTable(before, PLACE, undefined)).toBe(rest);
    expect(editTable(before, PLACE, ENTRY)).toBe(`${TABLE}\n${rest}`);
  });

  it('CFG-6: keeps line ends and a byte order mark', () => {
    expect(editTable('\uFEFFa = 1\r\n', PLACE, { command: 'x' })).toBe(
      '\uFEFFa = 1\r\n\r\n[mcp_servers.plugboard]\r\ncommand = "x"\r\n',
    );
  });

  it('CFG-6: is not touched where a line only looks like its header', () => {
    const text = 'text = """\n[mcp_servers.plugboard]\nx = 1\n"""\n';
    expect(editTable(text, PLACE, undefined)).toBe(text);
    expect(editTable(text, PLACE, ENTRY)).toBe(`${text}\n${TABLE}`);
    expect(() => editTable(`${text}\n${TABLE}`, PLACE, undefined)).toThrow('cannot be edited safely');
    const dotted = 'mcp_servers.plugboard.command = "x"\n';
    expect(() => editTable(dotted, PLACE, ENTRY)).toThrow('cannot be edited safely');
    expect(() => editTable('a = ', PLACE, ENTRY)).toThrow('it is not valid TOML');
  });
});
