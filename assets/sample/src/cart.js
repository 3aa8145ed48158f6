/** Prices are in cents. */
export function totalOf(items) {
  let total = 0;
  for (const item of items) {
    total += item.price;
  }
  return total;
}

export function describeCart(items) {
  const lines = items.map(({ name, price, count }) => `${count} × ${name}: ${price * count}`);
  return [...lines, `Total: ${totalOf(items)}`].join('\n');
}
