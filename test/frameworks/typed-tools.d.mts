export function typedTools(version: number): string;
