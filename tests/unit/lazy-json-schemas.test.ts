import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import * as zod from 'zod';
import { createLazyJsonSchemas } from '../../web/lazy-json-schemas.ts';

const folder = join(dirname(createRequire(import.meta.url).resolve('zod/package.json')), 'v4/classic');
const { transform } = createLazyJsonSchemas() as unknown as { transform(code: string, id: string): { code: string } | null };

it('Zod’s schemas in builds of a worker import nothing that makes JSON Schemas, and are described all the same', async () => {
  const path = join(folder, 'schemas.js');
  const code = transform(readFileSync(path, 'utf8'), path)?.code ?? '';
  expect(code).not.toMatch(/^import .*json-schema/m);
  // Imports from its own folder resolve to the shared modules.
  const absolute = code.replaceAll(/from "(\.[^"]+)"/g, (_all, to: string) => `from "${pathToFileURL(join(folder, to)).href}"`);
  const bare = (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(absolute)}`)) as typeof zod.z;
  const described = (z: typeof zod.z): unknown =>
    zod.toJSONSchema(
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
  const whole = described(zod.z);
  expect(described(bare)).toEqual(whole);
  expect(whole).toMatchObject({ type: 'object', required: ['name', 'kinds', 'either', 'by', 'form', 'given'] });
});

it('fails where another version of Zod has it otherwise', () => {
  const path = join(folder, 'schemas.js');
  expect(() => transform('export const nothing = 1;', path)).toThrow('Zod has changed');
  expect(() => transform('inst._zod.processJSONSchema = another;', path)).toThrow('Zod has changed');
  expect(transform('', join(folder, 'parse.js'))).toBeNull();
});
