import type { z } from '#shared/rpc/zod.ts';
import { badRequest } from './http-error.ts';

/** Parses a value. Throws a 400 that names the first invalid parameter, such as `messages[0].content`. */
export function parseHttpParams<S extends z.ZodType>(schema: S, value: unknown, prefix: readonly PropertyKey[] = []): z.output<S> {
  const parsed = safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknownKeys = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const param = [...prefix, ...(issue?.path ?? []), ...unknownKeys].reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? String(key) : `${path}.${String(key)}`),
    '',
  );
  throw badRequest(
    `${param === '' ? 'The body' : `\`${param}\``} ${unknownKeys.length > 0 ? 'is not a known parameter' : (issue?.message ?? 'is invalid')}.`,
    param || null,
  );
}

/** Zod collects issues on the stack, which about 100,000 of them overflow. */
function safeParse<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    throw error instanceof RangeError ? badRequest('The body has too many errors to list.') : error;
  }
}
