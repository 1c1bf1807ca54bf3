import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { getFileKind } from './file-kind.ts';

interface FileHandler {
  name: string;
  accept: Record<string, string[]>;
}

verifies('app/file-handlers', 'the system is told what becomes of a file as the app opens it', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../../public/manifest.webmanifest'), 'utf8')) as {
    file_handlers: FileHandler[];
  };
  const kinds = manifest.file_handlers.map(({ name, accept }) => [
    name,
    ...new Set(Object.entries(accept).flatMap(([type, endings]) => endings.map((ending) => getFileKind({ name: `a${ending}`, type })))),
  ]);
  expect(kinds).toEqual([
    ['Images to annotate', 'drawing'],
    ['Saved chats', 'chat'],
    ['Documents to chat about', 'other'],
  ]);
});
