import { config, z } from 'zod';
import { truncateText } from '../truncate-text.ts';

// Zod's compiled parsers need `new Function`, which the CSP forbids. Without `jitless`, every page
// and worker would report a violation on its first parse.
config({ jitless: true, customError: formatZodIssue });

export { z };

/** A list that reports only its first invalid item. Zod's own array reports all of them, which takes seconds, and overflows the stack, for some 100,000 items. */
export const createListSchema = <S extends z.ZodType>(item: S, minItems = 0): z.ZodType<z.output<S>[]> =>
  z
    .array(z.unknown())
    .min(minItems)
    .transform((values, context) => {
      const list: z.output<S>[] = [];
      for (const [index, value] of values.entries()) {
        const parsed = item.safeParse(value);
        if (!parsed.success) {
          const [first] = parsed.error.issues;
          const unknown = first?.code === 'unrecognized_keys' ? first.keys.slice(0, 1) : [];
          const path = [index, ...(first?.path ?? []), ...unknown];
          context.addIssue({
            code: 'custom',
            message: unknown.length > 0 ? 'is not a known field' : (first?.message ?? 'is invalid'),
            path,
          });
          return z.NEVER;
        }
        list.push(parsed.data);
      }
      return list;
    });

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  tuple: 'an array',
  null: 'null',
};
const UNIT_NAMES: Record<string, [one: string, many: string]> = { string: ['character', 'characters'], array: ['item', 'items'] };

/** Maximum number of unknown keys named in an error. */
const MAX_KEYS = 5;

/** Describes an issue as a predicate that follows the field name: "`messages` is required". */
function formatZodIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_union' || issue.code === 'invalid_value')) {
    return 'is required';
  }
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}, not ${getTypeName(issue.input)}`;
    case 'too_small':
      return formatBound('at least', issue.origin, issue.minimum, issue.inclusive);
    case 'too_big':
      return formatBound('at most', issue.origin, issue.maximum, issue.inclusive);
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys
        .slice(0, MAX_KEYS)
        .map((key) => JSON.stringify(truncateText(key)))
        .join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return 'has an invalid format';
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'invalid_union':
      return 'does not match any of the allowed forms';
    default:
      return 'is invalid';
  }
}

function formatBound(relation: 'at least' | 'at most', origin: string, bound: number | bigint, inclusive = true): string {
  const unit = UNIT_NAMES[origin];
  if (unit) return `must have ${relation} ${bound} ${Number(bound) === 1 ? unit[0] : unit[1]}`;
  return inclusive ? `must be ${relation} ${bound}` : `must be ${relation === 'at least' ? 'greater' : 'less'} than ${bound}`;
}

function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number' && !Number.isInteger(value)) return String(value);
  return TYPE_NAMES[typeof value] ?? typeof value;
}
