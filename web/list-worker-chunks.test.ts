import type { Rolldown } from 'vite';
import { expect, it } from 'vitest';
import { listLazyChunks } from './list-worker-chunks.ts';

type Chunk = Pick<Rolldown.OutputChunk, 'imports' | 'dynamicImports' | 'facadeModuleId'>;

const toBundle = (chunks: Record<string, Partial<Chunk>>): Rolldown.OutputBundle =>
  Object.fromEntries(
    Object.entries(chunks).map(([fileName, chunk]) => [
      fileName,
      { type: 'chunk', fileName, imports: [], dynamicImports: [], facadeModuleId: null, ...chunk } as unknown as Rolldown.OutputChunk,
    ]),
  );

it('lists each chunk that is imported on demand, also by static imports and by other such chunks, once', () => {
  const bundle = toBundle({
    'worker.js': { imports: ['start.js'], dynamicImports: ['cron.js'] },
    'start.js': { dynamicImports: ['cron.js', 'mcp.js'] },
    'cron.js': { imports: ['shared.js'] },
    'shared.js': { dynamicImports: ['dreamer.js'] },
    'mcp.js': { dynamicImports: ['mcp.js'] },
    'dreamer.js': {},
    'page.js': { dynamicImports: ['page-only.js'] },
    'page-only.js': {},
  });
  const entry = bundle['worker.js'] as Rolldown.OutputChunk;
  expect(listLazyChunks(entry, bundle, () => false)).toEqual(['cron.js', 'mcp.js', 'dreamer.js']);
});

it('leaves out heavy modules, and what they alone import', () => {
  const bundle = toBundle({
    'worker.js': { dynamicImports: ['pdf.js', 'cron.js'] },
    'pdf.js': { facadeModuleId: '/web/gateway/documents/pdf.ts', dynamicImports: ['fonts.js', 'yaml.js'] },
    'fonts.js': {},
    'cron.js': { dynamicImports: ['yaml.js'] },
    'yaml.js': {},
  });
  const entry = bundle['worker.js'] as Rolldown.OutputChunk;
  expect(listLazyChunks(entry, bundle, (module) => module.includes('/documents/'))).toEqual(['cron.js', 'yaml.js']);
});
