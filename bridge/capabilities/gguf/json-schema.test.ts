import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { grammarSchema } from './json-schema.ts';

const any = grammarSchema({}, true);

verifies('gguf/json', 'schemas in the words that grammars are made of', () => {
  expect(any).toHaveProperty('oneOf');
  expect(grammarSchema({ anyOf: [{ type: 'integer' }, { type: 'null' }] }, true)).toEqual({
    oneOf: [{ type: 'integer' }, { type: 'null' }],
  });
  expect(grammarSchema({ allOf: [{ $ref: '#/definitions/a' }], definitions: { a: { enum: ['x', 2] } } }, true)).toEqual({
    $ref: '#/$defs/a',
    $defs: { a: { oneOf: [{ const: 'x' }, { const: 2 }] } },
  });
  expect(grammarSchema({ title: 'T', properties: { a: {}, b: { type: 'object' } }, required: ['a'] }, true)).toEqual({
    type: 'object',
    properties: { a: any, b: { type: 'object', additionalProperties: true } },
  });
  expect(grammarSchema({ type: ['object', 'null'], properties: { a: true }, additionalProperties: false }, true)).toMatchObject({
    oneOf: [{ type: 'object', additionalProperties: false }, { type: 'null' }],
  });
  expect(grammarSchema({ type: 'string', format: 'date', minLength: 3 }, true)).toEqual({ type: 'string', format: 'date', minLength: 3 });
});

verifies('gguf/json', 'what no grammar can hold is refused, or left out of tools', () => {
  const odd = [
    { type: 'integer', minimum: 1 },
    { type: 'string', pattern: 'a+' },
    { type: 'string', format: 'email' },
    { not: { type: 'null' }, type: 'string' },
    { allOf: [{ type: 'object' }, { type: 'object' }] },
    { $ref: '#' },
    { enum: [] },
    { const: {} },
    { type: 'nonsense' },
    { type: 'object', properties: { a: 5 } },
  ];
  for (const schema of odd) {
    expect(() => grammarSchema(schema, true), JSON.stringify(schema)).toThrow(/which local models don’t support/);
    expect(() => grammarSchema(schema, false)).not.toThrow();
  }
  expect(grammarSchema({ type: 'integer', minimum: 1 }, false)).toEqual({ type: 'integer' });
});
