import { describe, expect, it } from 'vitest';
import type { HostEvents } from '../../src/host/host-options.ts';
import { Emitter } from '../../src/lib/emitter.ts';
import { MAX_KEPT_CALLS, RecentCalls } from '../../src/manage/recent-calls.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';

describe('the calls that are remembered', () => {
  it('SRV-5: the newest are kept, in the order in which they began, however they ended', () => {
    const host = new Emitter<HostEvents>();
    const clock = fakeClock();
    const calls = new RecentCalls(host, clock);
    const at = clock.now();
    const [server, tool, session] = ['files', 'read', 's1'];
    const total = MAX_KEPT_CALLS + 3;
    for (let n = 1; n <= total; n += 1) host.emit('call.begin', { id: `c${n}`, server, tool, session });
    host.emit('call.end', { id: `c${total}`, outcome: 'ok', ms: 7 });
    host.emit('call.end', { id: 'c1', outcome: 'ok', ms: 8 });
    host.emit('call.progress', { id: `c${total - 1}`, progress: 3 });

    const all = calls.list(total);
    expect(all.slice(0, 2)).toEqual([
      { id: `c${total}`, server, tool, session, at, ms: 7, outcome: 'ok' },
      { id: `c${total - 1}`, server, tool, session, at, progress: { progress: 3 } },
    ]);
    expect(all.map(({ id }) => id)).toEqual(
      Array.from({ length: MAX_KEPT_CALLS }, (_, age) => `c${total - age}`),
    );
    expect(calls.list(1)).toEqual(all.slice(0, 1));
    calls.close();
  });
});
