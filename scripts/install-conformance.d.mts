export const folder: string;
export const suite: string;
export const node: string;
export function installConformance(): Promise<number>;
