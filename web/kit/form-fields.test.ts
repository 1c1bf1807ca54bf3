import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toFormContent, toFormFields } from './form-fields.ts';

describe('fieldsOf', () => {
  it('reads texts, numbers, switches and choices of every form', () => {
    const fields = toFormFields({
      type: 'object',
      required: ['name', 'pet'],
      properties: {
        name: { type: 'string', title: 'Your name', minLength: 2, maxLength: 9, default: 'Ana' },
        mail: { type: 'string', format: 'email', description: 'Where to write' },
        age: { type: 'integer', minimum: 1, maximum: 120, default: 7 },
        well: { type: 'boolean', default: true },
        pet: { type: 'string', enum: ['c', 'd'], enumNames: ['Cat', 'Dog'] },
        tea: { oneOf: [{ const: 'g', title: 'Green' }, { const: 'b' }] },
        days: { type: 'array', items: { type: 'string', enum: ['mo', 'tu'] }, default: ['tu'] },
        deep: { type: 'object', properties: {} },
        odd: 5,
      },
    });
    expect(fields.map(({ name, label, kind, required, initial }) => [name, label, kind, required, initial])).toEqual([
      ['name', 'Your name', 'text', true, 'Ana'],
      ['mail', 'mail', 'text', false, ''],
      ['age', 'age', 'number', false, 7],
      ['well', 'well', 'switch', false, true],
      ['pet', 'pet', 'choice', true, ''],
      ['tea', 'tea', 'choice', false, ''],
      ['days', 'days', 'choices', false, ['tu']],
    ]);
    expect(fields.find(({ name }) => name === 'pet')?.options).toEqual([
      { value: 'c', label: 'Cat' },
      { value: 'd', label: 'Dog' },
    ]);
    expect(fields[0]).toMatchObject({ min: 2, max: 9 });
    expect(fields[1]).toMatchObject({ input: 'email', about: 'Where to write' });
  });

  it('takes any schema, and shows no characters that turn text around', () => {
    fc.assert(fc.property(fc.object(), (schema) => void toFormFields(schema)));
    expect(toFormFields({ properties: { x: { type: 'string', title: 'a\u202eb' } } })[0]?.label).not.toContain('\u202e');
  });
});

describe('contentOf', () => {
  it('leaves out what was left empty', () => {
    const fields = toFormFields({
      required: ['a'],
      properties: {
        a: { type: 'string' },
        b: { type: 'string' },
        n: { type: 'number' },
        s: { type: 'boolean' },
        c: { enum: ['x'] },
        t: { type: 'string', format: 'date-time' },
      },
    });
    expect(toFormContent(fields, { a: '', b: '', n: null, s: false, c: '', t: '' })).toEqual({ a: '', s: false });
    expect(toFormContent(fields, { a: 'A', b: 'B', n: 0, s: true, c: 'x', t: '2026-11-22T10:00' })).toEqual({
      ...{ a: 'A', b: 'B', n: 0, s: true, c: 'x' },
      t: new Date('2026-11-22T10:00').toISOString(),
    });
  });
});
