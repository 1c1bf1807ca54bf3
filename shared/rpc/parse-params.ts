import { formatValuePath } from '../truncate-text.ts';
import { RpcError } from './rpc-error.ts';
import type { z } from './zod.ts';

/** Maximum number of issues per error. */
const MAX_ISSUES = 10;

/** Parses params, or throws `INVALID_PARAMS` with the keys at fault and their problems. */
export function parseParams<T extends z.ZodType>(schema: T, params: unknown): z.output<T> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => {
    const names = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MAX_ISSUES) : [];
    const keys = names.map((name) => formatValuePath([...issue.path, name]));
    const message = keys.length > 0 ? 'is not a known parameter' : lowerFirst(issue.message);
    return { unknown: keys, key: keys.join(', ') || formatValuePath(issue.path), message };
  });
  const [first] = issues;
  throw new RpcError('INVALID_PARAMS', first ? toSentence(first) : 'Invalid parameters.', {
    details: { issues: issues.slice(0, MAX_ISSUES).map(({ key, message }) => ({ key, message })) },
  });
}

function toSentence({ unknown, key, message }: { unknown: readonly string[]; key: string; message: string }): string {
  if (unknown.length > 0) return `Unknown parameter${unknown.length > 1 ? 's' : ''} ${unknown.map((name) => `\`${name}\``).join(', ')}.`;
  return `${key === '' ? 'Parameters' : `\`${key}\``} ${message}.`;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
