import { describe, expect, it } from 'vitest';
import { formatSchemaType } from './type-text.ts';
import { z } from './zod.ts';

describe('typeText', () => {
  it.each<[string, z.ZodType, string]>([
    ['plain ones', z.strictObject({ a: z.string(), b: z.boolean().optional(), c: z.null() }), '{ a: string, b?: boolean, c: null }'],
    [
      'bounds',
      z.object({ a: z.number().int().min(1).max(200), b: z.number().min(0), c: z.number().int() }),
      '{ a: integer 1–200, b: number ≥ 0, c: integer }',
    ],
    [
      'lists',
      z.object({ a: z.array(z.string()), b: z.array(z.enum(['x', 'y'])), c: z.array(z.object({ d: z.any() })) }),
      '{ a: string[], b: ("x" | "y")[], c: { d: any }[] }',
    ],
    [
      'what may be null',
      z.object({ a: z.string().nullable(), b: z.object({ c: z.literal(1) }).nullable() }),
      '{ a: string | null, b: { c: 1 } | null }',
    ],
    ['names that are free', z.record(z.string(), z.number()), '{ [name: string]: number }'],
    ['nothing', z.strictObject({}), '{}'],
    ['formats', z.iso.date(), 'string (date)'],
  ])('writes %s', (_what, schema, text) => {
    expect(formatSchemaType(schema, 'output')).toBe(text);
  });

  it('names optional params and their defaults', () => {
    const schema = z.strictObject({ limit: z.number().int().min(1).max(5).default(3) });
    expect(formatSchemaType(schema, 'input')).toBe('{ limit?: integer 1–5 = 3 }');
    expect(formatSchemaType(schema, 'output')).toBe('{ limit: integer 1–5 = 3 }');
  });

  it('lays long ones out', () => {
    const long = z.object({ first: z.string(), second: z.object({ inner: z.enum(['a'.repeat(40), 'b'.repeat(40)]), other: z.string() }) });
    expect(formatSchemaType(long, 'output')).toBe(
      `{\n  first: string,\n  second: {\n    inner: "${'a'.repeat(40)}" | "${'b'.repeat(40)}",\n    other: string\n  }\n}`,
    );
  });

  it('writes documentation as comments above the fields', () => {
    const docs = {
      field: (name: string) =>
        name === 'a' ? { text: 'A list.', field: () => ({ text: 'A field.', field: () => undefined }) } : undefined,
    };
    expect(formatSchemaType(z.object({ a: z.array(z.object({ b: z.string() })), c: z.null() }), 'output', docs)).toBe(
      '{\n  // A list.\n  a: {\n    // A field.\n    b: string\n  }[],\n  c: null\n}',
    );
  });
});
