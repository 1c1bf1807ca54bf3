import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';

verifies(
  'app/offline',
  'the worker fetches all of its parts but the readers of documents, tokenizers’ tables, what speaks to a cluster and the demo soon after its start',
  () => {
    const root = join(import.meta.dirname, '..');
    const imported = (text: string): string[] => [...text.matchAll(/import\('([^']+)'\)/g)].map(([, path = '']) => basename(path));
    const expected = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter(
        (file) =>
          file.endsWith('.ts') &&
          !file.endsWith('.test.ts') &&
          !/(documents|browser-models|audio)[\\/]|host[\\/](parts|worker|cluster-sharing)|tokens[\\/]tokenizers/.test(file),
      )
      .flatMap((file) => imported(readFileSync(join(root, file), 'utf8')));
    const listed = imported(readFileSync(join(root, 'host/prefetch-chunks.ts'), 'utf8'));
    expect(expected.length).toBeGreaterThan(15);
    expect(new Set(listed)).toEqual(new Set(expected));
  },
);
