import assert from 'node:assert/strict';
import { test } from 'node:test';
import { totalOf } from '../src/cart.js';

test('adds the prices of all items', () => {
  const items = [
    { name: 'apple', price: 50, count: 3 },
    { name: 'pear', price: 60, count: 1 },
  ];
  assert.equal(totalOf(items), 210);
});
