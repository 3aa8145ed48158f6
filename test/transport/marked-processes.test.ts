/** One scan of the process table for all servers that end together: how often it is read, and that no process is missed. */

import { describe, expect, it } from 'vitest';
import type { ProcessRow } from '../../src/lib/process-table.ts';
import { MarkedProcesses, type ProcessTable } from '../../src/transport/marked-processes.ts';

interface Entry extends ProcessRow {
  readonly variable?: string;
}

/** A table of our making that counts what is read of it. */
class CountedTable implements ProcessTable {
  readonly entries = new Map<number, Entry>();
  lists = 0;
  rows = 0;
  marks = 0;

  add(pid: number, variable?: string, startedAt = pid): void {
    const entry = { pid, group: pid, parent: 1, startedAt, zombie: false };
    this.entries.set(pid, variable === undefined ? entry : { ...entry, variable });
  }

  ids(): number[] {
    this.lists += 1;
    return [...this.entries.keys()];
  }

  row(pid: number): ProcessRow | undefined {
    this.rows += 1;
    return this.entries.get(pid);
  }

  mark(pid: number, prefix: string): string | null {
    this.marks += 1;
    const { variable = '' } = this.entries.get(pid) ?? {};
    return variable.startsWith(prefix) ? variable.slice(prefix.length) : null;
  }
}

function world(processes: number): { table: CountedTable; marked: MarkedProcesses } {
  const table = new CountedTable();
  for (let pid = 1; pid <= processes; pid += 1) table.add(pid);
  const marked = new MarkedProcesses('MARK', 'host.', table);
  marked.since(0);
  return { table, marked };
}

describe('the processes that carry a mark', () => {
  it('CON-1: two hundred servers that end together read the table twice, not two hundred times', async () => {
    const { table, marked } = world(500);
    for (let server = 0; server < 200; server += 1) table.add(1_000 + server, `MARK=host.${server}`);
    const done = Array.from({ length: 200 }, () => marked.begin());
    const looks = await Promise.all(done.map(() => marked.look()));
    expect(looks.map((found) => found.length)).toEqual(done.map(() => 200));
    // The first look begins at once; everybody else shares the second, which passes over whom the first ruled out.
    expect({ lists: table.lists, rows: table.rows, marks: table.marks }).toEqual({
      lists: 2,
      rows: 700 + 200,
      marks: 700,
    });
  });

  it('F3: a request during a scan finds a process that started after its beginning', async () => {
    const { table, marked } = world(100);
    marked.begin();
    const first = marked.look();
    table.add(1_000, 'MARK=host.7');
    const second = marked.look();
    await first;
    expect(await second).toEqual([{ pid: 1_000, group: 1_000, owner: 'host.7' }]);
  });

  it('F3: a process keeps its mark when it clears its environment, and a process id that came again has none', async () => {
    const { table, marked } = world(1);
    marked.begin();
    table.add(1_000, 'MARK=host.7');
    await marked.look();
    table.add(1_000);
    expect(await marked.look()).toEqual([{ pid: 1_000, group: 1_000, owner: 'host.7' }]);
    table.add(1_000, undefined, 9_999);
    expect(await marked.look()).toEqual([]);
  });

  it('F3: excluded processes are checked again when none was being ended', async () => {
    const { table, marked } = world(10);
    const done = marked.begin();
    expect(await marked.look()).toEqual([]);
    done();
    table.add(5, 'MARK=host.7');
    marked.begin();
    expect(await marked.look()).toEqual([{ pid: 5, group: 5, owner: 'host.7' }]);
  });

  it('a process older than the first server, or marked by another host, is not one of this host', async () => {
    const { table, marked } = world(0);
    table.add(1, 'MARK=host.1', 50);
    table.add(2, 'MARK=host.2', 5);
    table.add(3, 'MARK=other.1', 50);
    const young = new MarkedProcesses('MARK', 'host.', table);
    young.since(10);
    expect(await young.look()).toEqual([{ pid: 1, group: 1, owner: 'host.1' }]);
    expect((await marked.look()).map(({ pid }) => pid)).toEqual([1, 2]);
  });
});
