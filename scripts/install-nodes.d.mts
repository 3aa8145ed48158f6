export const nodes: ReadonlyMap<number, string>;
export function installNodes(): Promise<number>;
