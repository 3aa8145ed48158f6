/**
 * Removes types from a program. A library, because Node 20 has no `stripTypeScriptTypes`; sucrase loads in 13 ms and
 * needs 1.3 ms for a program (amaro, which Node 22 contains: 60 ms and 0.2 to 0.8 ms; esbuild starts a process). It is
 * copied into the package, and loaded only for programs with types.
 */

/** A call with type arguments, which is also valid JavaScript with another meaning. */
const TYPED_CALL = /[\w\])]<[^<>;=()]*>\s*\(/;

/** True if a program must be stripped before it is tried as JavaScript. */
export function mayHaveTypeArguments(code: string): boolean {
  return TYPED_CALL.test(code);
}

export async function stripTypes(code: string): Promise<string> {
  const { transform } = await import('sucrase');
  return transform(code, { transforms: ['typescript'], disableESTransforms: true }).code;
}
