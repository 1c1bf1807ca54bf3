import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { validateArguments } from './validate-arguments.ts';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string', pattern: '(a+)+$' },
    count: { type: ['integer', 'null'] },
    tags: { type: 'array' },
    any: { $ref: '#/$defs/any' },
    deep: { type: 'object' },
    free: true,
  },
  required: ['path'],
  additionalProperties: false,
};
const check =
  (args: Record<string, unknown>, of: Record<string, unknown> = schema) =>
  () =>
    validateArguments('mcp:x:y', of, args);

verifies('approvals/bound-to-fail', 'what a tool server’s schema plainly does not take, and nothing else', () => {
  const fits = { path: `${'a'.repeat(60)}!`, count: null, tags: [], any: 1, deep: {}, free: 'x' };
  expect(check(fits)).not.toThrow();
  const wrong: [args: Record<string, unknown>, says: string][] = [
    [{}, '`path` is required'],
    [{ path: 1 }, '`path` has the wrong type'],
    [{ path: '', count: 1.5 }, '`count` has the wrong type'],
    [{ path: '', tags: {} }, '`tags` has the wrong type'],
    [{ path: '', deep: [] }, '`deep` has the wrong type'],
    [{ path: '', constructor: 1 }, '`constructor` is unknown'],
  ];
  for (const [args, says] of wrong) expect(check(args), says).toThrow(`Invalid arguments for mcp:x:y: ${says}.`);
  expect(check({ more: 1 }, { type: 'object' })).not.toThrow();
  expect(check({ more: 1 }, { type: 'object', required: 'more', properties: null })).not.toThrow();
  expect(check({ 'x-a': 1 }, { additionalProperties: false, patternProperties: { '^x-': {} } })).not.toThrow();
});
