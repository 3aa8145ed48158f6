/** Tools of usual size whose words differ as those of real servers do: the same for the same number, every time. */

const VERBS = [
  'list',
  'get',
  'create',
  'update',
  'delete',
  'search',
  'move',
  'copy',
  'merge',
  'close',
  'open',
  'sync',
];
const THINGS = [
  'issue',
  'branch',
  'file',
  'table',
  'bucket',
  'queue',
  'page',
  'event',
  'user',
  'invoice',
  'alert',
  'image',
  'route',
  'label',
  'secret',
  'build',
];
const PLACES = [
  'repository',
  'project',
  'cluster',
  'workspace',
  'account',
  'calendar',
  'channel',
  'database',
  'folder',
  'board',
];

export function madeUpTools(count) {
  return Array.from({ length: count }, (_, n) => {
    const verb = VERBS[n % VERBS.length];
    const thing = THINGS[Math.floor(n / VERBS.length) % THINGS.length];
    const place = PLACES[Math.floor(n / (VERBS.length * THINGS.length)) % PLACES.length];
    return {
      name: `${verb}_${thing}_in_${place}_${n}`,
      description: `${verb} the ${thing}s of a ${place}, newest first, and say how many there are. Variant ${n}.`,
      inputSchema: {
        type: 'object',
        properties: {
          [place]: { type: 'string', description: `The ${place} to look in.` },
          limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most.' },
          state: { type: 'string', enum: ['open', 'closed', 'all'], description: `Which ${thing}s.` },
        },
        required: [place],
      },
    };
  });
}
