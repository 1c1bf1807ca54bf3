import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { toGrammarSchema } from './grammar-schema.ts';

const any = toGrammarSchema({}, true);

verifies('gguf/json', 'schemas in the words that grammars are made of', () => {
  expect(any).toHaveProperty('oneOf');
  expect(toGrammarSchema({ anyOf: [{ type: 'integer' }, { type: 'null' }] }, true)).toEqual({
    oneOf: [{ type: 'integer' }, { type: 'null' }],
  });
  expect(toGrammarSchema({ allOf: [{ $ref: '#/definitions/a' }], definitions: { a: { enum: ['x', 2] } } }, true)).toEqual({
    $ref: '#/$defs/a',
    $defs: { a: { oneOf: [{ const: 'x' }, { const: 2 }] } },
  });
  expect(toGrammarSchema({ title: 'T', properties: { a: {}, b: { type: 'object' } }, required: ['a'] }, true)).toEqual({
    type: 'object',
    properties: { a: any, b: { type: 'object', additionalProperties: true } },
  });
  expect(toGrammarSchema({ type: ['object', 'null'], properties: { a: true }, additionalProperties: false }, true)).toMatchObject({
    oneOf: [{ type: 'object', additionalProperties: false }, { type: 'null' }],
  });
  expect(toGrammarSchema({ type: 'string', format: 'date', minLength: 3 }, true)).toEqual({ type: 'string', format: 'date', minLength: 3 });
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
    expect(() => toGrammarSchema(schema, true), JSON.stringify(schema)).toThrow(/which local models don’t support/);
    expect(() => toGrammarSchema(schema, false)).not.toThrow();
  }
  expect(toGrammarSchema({ type: 'integer', minimum: 1 }, false)).toEqual({ type: 'integer' });
});
