export const node: string;
export const inspector: string;
export const mcporter: string;
export const mcpRemote: string;
export const opencode: string;
export const sdkV1: string;
