import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as tables from '#shared/rpc/tables.ts';
import { inlineTables } from '../../web/inline-tables.ts';

it('the tables in builds of the gateway are those that the contracts give, and import none of them', async () => {
  const { transform } = inlineTables() as unknown as { transform(code: string, id: string): Promise<{ code: string }> };
  const { code } = await transform('', join(import.meta.dirname, '../../shared/rpc/tables.ts'));
  expect(code).not.toMatch(/^import|\bimport\(/m);
  const built = (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as unknown;
  expect({ ...(built as object) }).toEqual({ ...tables });
  expect(Object.keys(tables.POLICIES)).toContain('chat.send');
});
