export function generatedPages(): Promise<
  readonly { readonly page: string; readonly text: string; readonly should: string }[]
>;
