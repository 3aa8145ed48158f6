export function installWebServers(): Promise<number>;
export function importWebServer(name: string): Promise<unknown>;
