export const bun: string;
export const deno: string;
export const jest: string;
export const miniflare: string;
export const postject: string;
export const bundlerPackages: string;
export function installBundlers(): Promise<number>;
