import type { z } from '#shared/rpc/zod.ts';

/** Converts a parse error of a shape to a readable error. `names`: names of arguments by field. */
export function toShapeError(kind: string, error: z.ZodError, names: Readonly<Record<string, string>>): RangeError {
  const [issue] = error.issues;
  const [field = '', ...subpath] = issue?.path ?? [];
  const location = [
    names[String(field)] ?? String(field),
    ...subpath.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)),
  ].join('');
  const problem = (issue?.message ?? 'is invalid').replace(/\.$/, '');
  return new RangeError(`The ${kind} can’t be drawn: ${location === '' ? 'it' : `“${location}”`} ${problem}.`, { cause: error });
}
