export function installAuthorServers(): Promise<number>;
