export function installMoreServers(): Promise<number>;
