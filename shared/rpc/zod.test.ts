import { expect, it } from 'vitest';
import { z } from './zod.ts';

const getMessage = (schema: z.ZodType, value: unknown): string | undefined => schema.safeParse(value).error?.issues[0]?.message;

it('phrases errors so that they can follow a name', () => {
  const known: [schema: z.ZodType, value: unknown, says: string][] = [
    [z.string(), undefined, 'is required'],
    [z.enum(['a', 'b']), undefined, 'is required'],
    [z.union([z.string(), z.array(z.string())]), undefined, 'is required'],
    [z.unknown().nonoptional(), undefined, 'is required'],
    [z.string(), 5, 'must be a string, not a number'],
    [z.array(z.string()), null, 'must be an array, not null'],
    [z.int(), 1.5, 'must be an integer, not 1.5'],
    [z.number(), Number.NaN, 'must be a number, not NaN'],
    [z.boolean(), 'yes', 'must be a boolean, not a string'],
    [z.object({}), [], 'must be an object, not an array'],
    [z.string().min(1), '', 'must have at least 1 character'],
    [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
    [z.number().min(1), 0, 'must be at least 1'],
    [z.number().positive(), 0, 'must be greater than 0'],
    [z.enum(['a', 'b']), 'c', 'must be one of "a", "b"'],
    [z.literal('a'), 'c', 'must be "a"'],
    [z.union([z.string(), z.array(z.string())]), 5, 'does not match any of the allowed forms'],
    [z.record(z.string().regex(/^a/, 'must begin with a'), z.number()), { b: 1 }, 'must begin with a'],
    [z.strictObject({}), { a: 1, b: 2 }, 'has unknown fields: "a", "b"'],
    [z.strictObject({}), { ['a'.repeat(10_000)]: 1 }, `has unknown fields: "${'a'.repeat(128)}…"`],
  ];
  expect(known.map(([schema, value]) => getMessage(schema, value))).toEqual(known.map(([, , says]) => says));
});
