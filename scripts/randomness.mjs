/** Random choices that a seed repeats, for runs that break things on purpose. */

export function createRandomness(seed) {
  const random = mulberry32(seed);
  return {
    between: (low, high) => low + Math.floor(random() * (high - low)),
    oneOf: (list) => list[Math.floor(random() * list.length)],
  };
}

function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
