export const EVERYTHING: readonly string[];
export function bundleWholeProduct(folder: string): Promise<string>;
export function runWholeProduct(node: string, program: string): Promise<string[]>;
