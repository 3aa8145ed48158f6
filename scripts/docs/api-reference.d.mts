export function apiPages(): Promise<{ page: string; text: string; should: string }[]>;
