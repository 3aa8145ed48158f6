export const claudeCode: readonly string[];
export const codex: readonly string[];
export const openCode: readonly string[];
export function installAgents(options?: { isNewest?: boolean }): Promise<number>;
