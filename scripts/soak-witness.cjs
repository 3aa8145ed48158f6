/** Preloaded into a gateway that is soaked: at SIGUSR2 it writes down what keeps it alive and what it holds. */

const { renameSync, writeFileSync } = require('node:fs');

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const held = process.getActiveResourcesInfo();
  const facts = {
    timers: held.filter((kind) => kind === 'Timeout').length,
    others: held.filter((kind) => kind !== 'Timeout').length,
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
  };
  const file = process.env.SOAK_WITNESS;
  writeFileSync(`${file}.part`, JSON.stringify(facts));
  renameSync(`${file}.part`, file);
});
