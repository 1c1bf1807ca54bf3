import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';

const app = join(import.meta.dirname, '../../dist/app');

verifies('walls/imports', 'the built worker has nothing of Node or Svelte in it', () => {
  const workers = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((file) => /workers?[\\/].*\.js$/.test(file));
  // ONNX Runtime counts the processors by Node where there is no navigator, which no worker is without; NATS names a module of Node in a sentence.
  const texts = workers.map((file) =>
    readFileSync(join(app, file), 'utf8')
      .replace(/\w+\([`"']node:os[`"']\)\.cpus\(\)/, '')
      .replace('but `node:crypto` is not available in this runtime', '')
      // Examples in the user guide, which the built-in guide quotes.
      .replaceAll(/import \{[\w, ]+\} from \\?'node:\w+\\?';/g, ''),
  );
  const gateway = texts.filter((text) => text.includes('chat.send'));
  expect(gateway).not.toEqual([]);
  for (const text of texts) {
    expect(text).not.toMatch(/["'`]node:[a-z]/);
    expect(text).not.toMatch(/svelte\.dev|__svelte|\bimport\s*["'][^"']*svelte/);
  }
});

verifies('walls/imports', 'the built worker paints drawings in a part of its own, without what only a page has', () => {
  const workers = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((file) => /workers?[\\/].*\.js$/.test(file));
  const texts = workers.map((file) => readFileSync(join(app, file), 'utf8'));
  // Error message of the painter for an unsupported size.
  const painting = texts.filter((text) => text.includes('Can’t export an image of'));
  expect(painting).toHaveLength(1);
  expect(painting[0]).not.toContain('chat.send');
  for (const text of texts) expect(text).not.toContain('FabricObject');
});

verifies('app/offline', 'the service worker keeps every file that the app loads', () => {
  const serviceWorker = readFileSync(join(app, 'service-worker.js'), 'utf8');
  const files = readdirSync(join(app, '_app/immutable'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.(js|css)$/.test(file));
  expect(files.some((file) => file.startsWith('workers/'))).toBe(true);
  expect(files.filter((file) => !serviceWorker.includes(`_app/immutable/${file}`))).toEqual([]);
});
