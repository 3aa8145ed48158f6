export function installFrameworks(): Promise<number>;
export function versionOf(name: string): string;
export function importFramework(name: string, entry?: string): Promise<unknown>;
