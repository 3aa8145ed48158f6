/**
 * Property tests draw the same values in every run, so that a red run is caused by a change and never by chance.
 * `PROPERTY_SEED=random npx vitest run …` rolls them; a seed that finds something becomes a test of its own.
 */

import fc from 'fast-check';

const FIXED_SEED = 20_261_115;
const { PROPERTY_SEED } = process.env;

if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED ?? FIXED_SEED) });
