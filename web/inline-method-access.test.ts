import { join } from 'node:path';
import { expect, it } from 'vitest';
import { METHOD_ACCESS } from '#shared/rpc/method-access.ts';
import { inlineMethodAccess } from './inline-method-access.ts';

it('builds of the gateway contain the access to each method as the contracts give it, and import none of them', async () => {
  const { transform } = inlineMethodAccess() as unknown as { transform(code: string, id: string): Promise<{ code: string }> };
  const { code } = await transform('', join(import.meta.dirname, '../shared/rpc/method-access.ts'));
  expect(code).not.toMatch(/^import|\bimport\(/m);
  const built = (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as unknown;
  expect({ ...(built as object) }).toEqual({ METHOD_ACCESS });
  expect(METHOD_ACCESS['chat.send']).toEqual({ scope: 'write', idempotent: true, metered: true, area: 'chat' });
});
