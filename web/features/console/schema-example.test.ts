import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { toArguments, toFormValues, toToolForm } from '#kit/json-fields.ts';
import { createExample } from './schema-example.ts';
import { getMethodDocs } from './method-docs.ts';

it('every method has an example; what its contract refuses of it only lacks a value that it cannot know', () => {
  const docs = getMethodDocs();
  expect(docs.map(({ name }) => name).sort()).toEqual(
    Object.keys(contracts)
      .filter((name) => name !== 'connect')
      .sort(),
  );
  const refused = docs.flatMap(({ name, example }) => {
    const parsed = contracts[name as keyof typeof contracts].params.safeParse(JSON.parse(example));
    return parsed.success ? [] : parsed.error.issues.map(({ code }) => code);
  });
  // Patterns of ids, and rules between params: no name is missing, and no type is wrong.
  expect(new Set(refused)).toEqual(
    new Set(refused.filter((code) => code === 'invalid_format' || code === 'custom' || code === 'invalid_union')),
  );
  expect(refused.length).toBeLessThan(docs.length / 4);
});

it('every method that takes something has a form, which sends what its example says and what its contract would have taken anyway', () => {
  const without = getMethodDocs().flatMap(({ name, schema, example }) => {
    const form = toToolForm(schema);
    const { params } = contracts[name as keyof typeof contracts];
    const filled = toFormValues(form, JSON.parse(example));
    if (!filled || form.fields.length + form.rest.length === 0) return params.safeParse({}).success ? [] : [name];
    const sent = params.safeParse(toArguments(form, filled.values, filled.written));
    const result = params.safeParse(JSON.parse(example));
    expect({ name, sent: sent.data }).toEqual({ name, sent: result.data });
    return [];
  });
  expect(without).toEqual([]);
});

it('danger is where something is taken away for good', () => {
  const dangerous = new Set(getMethodDocs().flatMap(({ name, dangerous: is }) => (is ? [name] : [])));
  for (const name of ['sessions.delete', 'models.deleteLocal', 'keys.revoke', 'agents.remove', 'sessions.reset'])
    expect(dangerous).toContain(name);
  for (const name of ['health', 'sessions.list', 'tools.run', 'plan.resume']) expect(dangerous).not.toContain(name);
});

it('any schema has an example', () => {
  fc.assert(
    fc.property(
      fc.object({ key: fc.constantFrom('type', 'items', 'properties', 'required', 'enum', 'anyOf') }),
      (schema) => void createExample(schema),
    ),
  );
});
