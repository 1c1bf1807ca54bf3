import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toArguments, getToolArguments, toFormValues, toToolForm } from './json-fields.ts';

const SCHEMA = {
  type: 'object',
  required: ['path', 'lines'],
  properties: {
    path: { type: 'string', description: 'Where' },
    limit: { type: 'integer', minimum: 1, maximum: 10 },
    deep: { type: 'boolean' },
    lines: { type: 'array', items: { type: 'string' } },
    options: { type: 'object', properties: { a: { type: 'number' } } },
  },
};

describe('the arguments of a tool', () => {
  it('are told as a person writes types', () => {
    expect(getToolArguments(SCHEMA)).toEqual([
      { name: 'path', type: 'string', about: 'Where', required: true },
      { name: 'limit', type: 'integer 1–10', about: '', required: false },
      { name: 'deep', type: 'boolean', about: '', required: false },
      { name: 'lines', type: 'string[]', about: '', required: true },
      { name: 'options', type: '{ a?: number }', about: '', required: false },
    ]);
  });

  it('have a field each, or are written as JSON', () => {
    const form = toToolForm(SCHEMA);
    expect(form.fields.map(({ name }) => name)).toEqual(['path', 'limit', 'deep']);
    expect(form.rest.map(({ name }) => name)).toEqual(['lines', 'options']);
    const values = { path: 'a', limit: null, deep: false };
    expect(toArguments(form, values, { lines: ' ["x"] ' })).toEqual({ path: 'a', lines: ['x'] });
    expect(toArguments(form, { ...values, deep: true, limit: 3 }, { lines: '[]', options: '{"a": 1}' })).toEqual({
      ...{ path: 'a', deep: true, limit: 3 },
      ...{ lines: [], options: { a: 1 } },
    });
    expect(() => toArguments(form, values, {})).toThrow('lines is required');
    expect(() => toArguments(form, values, { lines: 'x' })).toThrow('lines is not valid JSON');
  });

  it('may be anything', () => {
    fc.assert(fc.property(fc.object(), (schema) => void [getToolArguments(schema), toToolForm({ properties: schema })]));
    expect(getToolArguments({ properties: { x: { type: 'string', description: 'a\u202eb' } } })[0]?.about).not.toContain('\u202e');
  });

  it('written out they are in the form again; what it has no field for is told', () => {
    const form = toToolForm(SCHEMA);
    const args = { path: 'a.md', limit: 3, deep: true, lines: ['x'], options: { a: 1 } };
    const filled = toFormValues(form, args);
    expect(toArguments(form, filled?.values ?? {}, filled?.written ?? {})).toEqual(args);
    for (const other of [{ ...args, limit: 'three' }, { ...args, unknown: 1 }, ['x'], null])
      expect(toFormValues(form, other)).toBeUndefined();
  });
});
