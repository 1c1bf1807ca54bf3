import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';
import * as zod from 'zod';
import { createLazyJsonSchemas, isJsonSchemaModule } from './lazy-json-schemas.ts';

/** Builds a module with the plugin. */
async function build(code: string): Promise<{ exports: unknown; moduleIds: readonly string[] }> {
  await using bundle = await rolldown({
    input: 'entry',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? `${import.meta.dirname}/entry.js` : null),
        load: (id) => (id.endsWith('/entry.js') ? code : null),
      },
      createLazyJsonSchemas(),
    ],
  });
  const { output } = await bundle.generate();
  return { exports: await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`), moduleIds: output[0].moduleIds };
}

it('schemas in builds of a worker come without what makes JSON Schemas', async () => {
  const { exports, moduleIds } = await build("import { z } from 'zod'; export const schema = z.object({ at: z.string().min(1) });");
  expect(moduleIds.filter(isJsonSchemaModule)).toEqual([]);
  const { schema } = exports as { schema: zod.ZodType };
  expect(schema.safeParse({ at: 'x' }).success).toBe(true);
  expect(schema.safeParse({ at: '' }).success).toBe(false);
  expect(() => schema.toJSONSchema()).toThrow('z.toJSONSchema alone');
});

it('z.toJSONSchema describes them all the same', async () => {
  const { exports } = await build("export * from 'zod';");
  const describe = ({ z, toJSONSchema }: typeof zod): unknown =>
    toJSONSchema(
      z.strictObject({
        name: z.string().min(1).max(20).regex(/^\w+$/),
        at: z.string().optional(),
        size: z.number().int().min(0).default(3),
        kinds: z.array(z.enum(['a', 'b'])).max(4),
        either: z.union([z.literal('x'), z.null(), z.boolean()]),
        by: z.record(z.string(), z.unknown()),
        form: z.discriminatedUnion('kind', [z.object({ kind: z.literal('one') }), z.looseObject({ kind: z.literal('two') })]),
        given: z.string().transform((text) => text.trim()),
      }),
      { io: 'input' },
    );
  const whole = describe(zod);
  expect(describe(exports as typeof zod)).toEqual(whole);
  expect(whole).toMatchObject({ type: 'object', required: ['name', 'kinds', 'either', 'by', 'form', 'given'] });
});
