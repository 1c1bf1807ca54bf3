import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stripContractDocs } from './strip-contract-docs.ts';

const { transform } = stripContractDocs() as unknown as { transform(code: string, id: string): { code: string } | undefined };

it('every text about a contract is taken out in workers, and nothing else', () => {
  const folders = ['rpc/methods', 'ports'].map((folder) => join(import.meta.dirname, '../shared', folder));
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  let texts = 0;
  for (const file of files.filter((name) => !name.endsWith('.test.ts'))) {
    const code = readFileSync(file, 'utf8');
    const lines = transform(code, file)?.code.split('\n') ?? [];
    expect(lines.filter((line) => /\bdocs: ['"`](?!',)/.test(line))).toEqual([]);
    const changed = code.split('\n').filter((line, at) => line !== lines[at]);
    expect(changed.filter((line) => !/\bdocs: /.test(line))).toEqual([]);
    texts += changed.length;
  }
  expect(texts).toBeGreaterThan(200);
  expect(transform('docs', join(import.meta.dirname, '../shared/rpc/contract.ts'))).toBeUndefined();
});
