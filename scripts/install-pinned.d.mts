export function installPinned(name: string, packages: Readonly<Record<string, string>>): Promise<number>;
